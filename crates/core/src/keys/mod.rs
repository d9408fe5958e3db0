//! Keys of the server: made and shown once, recognised from memory, revoked, expired.
//!
//! What opens anything is never kept, logged or told again: a row has a hash of it (see `text.rs`). Start reading at
//! [`Core::authenticate`], then `change.rs`.

mod change;
mod operator;
mod ring;
mod text;

use std::sync::Arc;
use std::time::Duration;

use bailiwick_store::{Durability, KeyRow, Query, StoreError, View};
use bailiwick_types::{CorrelationId, KeyId, Scope, Scopes};
use serde_json::Value;

pub(crate) use change::{create, list, restate, revoke};
pub(crate) use operator::NAME as OPERATOR;
pub use operator::OperatorKey;
pub(crate) use ring::Ring;

use crate::{Core, Happening};

/// A key that was shown and holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyShown {
    /// Its id.
    pub id: KeyId,
    /// Its name, as records tell it.
    pub name: String,
    /// What it covers.
    pub scopes: Scopes,
    /// Until when it holds, in milliseconds since 1970.
    pub expires_ms: Option<u64>,
    /// Requests a second that it may make, where that is its own.
    pub per_second: Option<u32>,
    /// Requests that it may have under way, where that is its own.
    pub at_once: Option<u32>,
    /// Whether a yes in the dialogue of its MCP client counts as a person's answer.
    pub dialogue: bool,
}

/// Why a text opens nothing. No part of it is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotAKey {
    /// It does not have the shape of a key.
    #[error("that is not a key: a key begins with `bwk_` and has 80 characters")]
    Malformed,
    /// It is no key of this server.
    #[error("that is no key of this server")]
    Unknown,
    /// Its time is over.
    #[error("the key has expired")]
    Expired,
    /// Somebody made it worthless.
    #[error("the key was revoked")]
    Revoked,
}

impl Core {
    /// Whose key a text is. From memory: it waits for nothing.
    pub fn authenticate(&self, text: &str) -> Result<KeyShown, NotAKey> {
        let (id, hash) = text::read(text).ok_or(NotAKey::Malformed)?;
        let ring::Recognised { shown, keep } = self.inner.keys.recognise(id, &hash, self.now_ms())?;
        if let Some(used) = keep
            && let Ok(tokio) = tokio::runtime::Handle::try_current()
        {
            let core = self.clone();
            self.inner.late.spawn_on(async move { core.keep_uses(vec![used]).await }, &tokio);
        }
        Ok(shown)
    }

    /// Whether there is any key that holds: somebody could show who they are.
    pub fn somebody_has_a_key(&self) -> bool {
        self.inner.keys.somebody_holds(self.now_ms())
    }

    /// Whether somebody could answer a question by a key that holds.
    pub(crate) fn somebody_has_a_key_to_approve(&self) -> bool {
        self.inner.keys.somebody_has(Scope::Approve, self.now_ms())
    }

    /// What a person should know about keys.
    pub(crate) fn key_troubles(&self) -> Vec<String> {
        let mut told = Vec::new();
        let foreign = self.inner.keys.foreign();
        if foreign > 0 {
            told.push(format!(
                "{foreign} keys in the store are not as we left them and open nothing: make new ones"
            ));
        }
        if self.inner.keys.everybody_lost(Scope::Operate, self.now_ms()) {
            told.push(
                "no key covers `operate` any more: the next start of the server writes a new operator key"
                    .to_owned(),
            );
        }
        told
    }

    /// Takes the keys of the store into memory.
    pub(crate) async fn load_keys(&self) -> Result<(), StoreError> {
        let rows = self.inner.store.read(|view| {
            let rows = view.keys()?.into_iter();
            rows.map(|row| Ok((row.is_ours && is_as_left(view, &row)?, row)))
                .map(|row| row.map(|(is_as_left, row)| (row, is_as_left)))
                .collect()
        });
        self.inner.keys.fill(rows.await?);
        self.tell_expiry();
        Ok(())
    }

    /// Keeps when keys were used last. That is a courtesy: what cannot be kept is told by the log only.
    async fn keep_uses(&self, uses: Vec<(KeyId, u64)>) {
        let kept = self.inner.store.write(Durability::Process, move |tx| -> Result<(), StoreError> {
            for (id, used) in uses {
                if let Some(row) = tx.key(id)?.filter(|row| row.is_ours && row.used_ms < Some(used)) {
                    tx.put_key(&KeyRow { used_ms: Some(used), ..row })?;
                }
            }
            Ok(())
        });
        if let Err(error) = kept.await {
            tracing::warn!(error = %crate::Refusal::from(error), "the last use of a key was not kept");
        }
    }

    /// Keeps every use that only this process knows of.
    pub(crate) async fn keep_all_uses(&self) {
        let uses = self.inner.keys.unkept();
        if !uses.is_empty() {
            self.keep_uses(uses).await;
        }
    }

    /// Tells of keys as they expire, until the core closes.
    fn tell_expiry(&self) {
        /// A clock that is set anew is noticed after so long.
        const LONGEST: Duration = Duration::from_mins(1);
        let (ring, closing) = (Arc::clone(&self.inner.keys), self.inner.closing.clone());
        let inner = Arc::downgrade(&self.inner);
        tokio::spawn(async move {
            loop {
                let Some(core) = inner.upgrade().map(|inner| Self { inner }) else { return };
                let now = core.now_ms();
                let (gone, next) = ring.expired(now);
                for line in gone {
                    core.tell(Happening::KeyGone(line));
                }
                drop(core);
                let pause = async {
                    match next {
                        Some(next) => {
                            let left = Duration::from_millis(next.saturating_sub(now));
                            tokio::time::sleep(left.min(LONGEST)).await;
                        }
                        None => std::future::pending().await,
                    }
                };
                tokio::select! {
                    () = closing.cancelled() => return,
                    () = ring.changed.notified() => {}
                    () = pause => {}
                }
            }
        });
    }
}

/// Under which name the record ties together what became of a key.
fn cause_of(id: KeyId) -> Option<CorrelationId> {
    CorrelationId::parse(&format!("key:{id}")).ok()
}

/// The last change of a key.
fn last_change(id: KeyId) -> Query {
    Query { correlation: cause_of(id), changes: true, newest_first: true, limit: 1, ..Query::default() }
}

/// Whether a row is as the last change of its key left it. One from before it was revoked, put back, is not.
fn is_as_left(view: &View<'_>, row: &KeyRow) -> Result<bool, StoreError> {
    let Some(last) = view.records(&last_change(row.id))?.pop() else { return Ok(false) };
    let body = serde_json::from_str::<Value>(&last.body).unwrap_or_default();
    let is_live = body.pointer("/outcome/holds").and_then(Value::as_bool);
    Ok(is_live == Some(row.revoked_ms.is_none()))
}

#[cfg(test)]
mod tests;
