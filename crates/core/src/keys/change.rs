//! Keys made and revoked, each change on the record and in memory together.
//!
//! A change that began is finished, whoever goes away meanwhile: a key that the store says is revoked must not open
//! anything here.

use bailiwick_audit::{Entry, rfc3339};
use bailiwick_store::{Durability, KeyRow, StoreError, StoredRecord, Tx};
use bailiwick_types::{ErrorCode, KeyId, KeyName, Scope, did_you_mean, shortened};
use serde_json::json;
use zeroize::Zeroizing;

use super::ring::words_of;
use super::text::{Fresh, PREFIX};
use super::{cause_of, is_as_left, last_change, operator};
use crate::journal::{self, told};
use crate::{Actor, Caller, Core, Happening, KeyLine, KeyMade, KeyWish, Refusal, Reply};

/// The longest that a key may hold: ten years.
const LONGEST_S: u64 = 10 * 366 * 24 * 3600;

/// Makes a key.
pub(crate) async fn create(core: &Core, caller: &Caller, wish: KeyWish) -> Result<Reply, Refusal> {
    let (row, text) = made(wish, core.now_ms())?;
    if row.name == operator::NAME {
        return Err(wrong(
            "the key `operator` is made by the server itself",
            "choose another name; without operator.key the next start of the server writes a new one",
        ));
    }
    let line = put(core, &caller.actor, row, None).await?;
    Ok(Reply::KeyMade(Box::new(KeyMade { line, key: text.to_string() })))
}

fn wrong(message: impl Into<String>, hint: &str) -> Refusal {
    Refusal::new(ErrorCode::InvalidInput, message).with_hint(hint)
}

/// A row and the key itself, if the wish is one that can be met.
pub(super) fn made(wish: KeyWish, created_ms: u64) -> Result<(KeyRow, Zeroizing<String>), Refusal> {
    let KeyWish { name, scopes, expires_in_s, per_second, at_once, dialogue } = wish;
    let name =
        KeyName::parse(&name).map_err(|error| wrong(error.to_string(), "name it like ci or laptop-2"))?;
    if name.as_str().starts_with(PREFIX) {
        return Err(wrong("the name of a key does not begin like a key", "choose another name"));
    }
    if scopes.is_empty() {
        return Err(wrong(
            "a key without a scope opens nothing",
            "name at least one: call, author, approve, operate",
        ));
    }
    if expires_in_s.is_some_and(|seconds| !(1..=LONGEST_S).contains(&seconds)) {
        return Err(wrong("a key holds from one second to ten years", "leave it out for a key without end"));
    }
    if per_second == Some(0) || at_once == Some(0) {
        return Err(wrong(
            "a key that may do nothing at all is none",
            "leave the limit out, or name a number",
        ));
    }
    if dialogue && !scopes.covers(Scope::Call) {
        return Err(wrong(
            "a key whose dialogue counts has to call tools",
            "add the scope call, or leave --dialogue out",
        ));
    }
    let Fresh { id, hash, text } = Fresh::new(created_ms)?;
    let row = KeyRow {
        id,
        name: name.as_str().to_owned(),
        scopes: words_of(scopes),
        hash,
        created_ms,
        expires_ms: expires_in_s.map(|seconds| created_ms.saturating_add(seconds.saturating_mul(1000))),
        revoked_ms: None,
        used_ms: None,
        per_second,
        at_once,
        dialogue,
        is_ours: true,
    };
    Ok((row, text))
}

/// Which keys give way to a new one.
pub(super) struct GivesWay(pub(super) &'static str);

/// Keeps a new key. With `gives_way`, every key of that name is revoked in the same step.
pub(super) async fn put(
    core: &Core,
    actor: &Actor,
    row: KeyRow,
    gives_way: Option<GivesWay>,
) -> Result<KeyLine, Refusal> {
    let (inside, actor, id) = (core.clone(), actor.clone(), row.id);
    let task = core.inner.late.spawn(async move {
        let (fresh, now) = (row.clone(), inside.now_ms());
        let written = inside.inner.store.write(Durability::Machine, move |tx| -> Result<_, Refusal> {
            let mut gone = Vec::new();
            for other in live(tx, now)?.into_iter().filter(|other| other.name == fresh.name) {
                if gives_way.as_ref().is_none_or(|GivesWay(name)| *name != other.name) {
                    return Err(Refusal::new(
                        ErrorCode::Conflict,
                        format!("there is a key `{}` already", fresh.name),
                    )
                    .with_hint(format!(
                        "choose another name, or revoke it: bailiwick key revoke {}",
                        fresh.name
                    )));
                }
                gone.push(end(tx, &actor, other, now)?);
            }
            tx.put_key(&fresh)?;
            tx.append(&entry(&actor, "key.create", &fresh))?;
            Ok(gone)
        });
        let gone = written.await?;
        inside.inner.keys.put(row);
        inside.are_gone(gone);
        Ok(())
    });
    task.await.unwrap_or_else(|_| Err(Refusal::internal("key.create")))?;
    core.inner.keys.line(id).ok_or_else(|| Refusal::internal("key.create"))
}

/// Every key.
pub(crate) fn list(core: &Core) -> Reply {
    Reply::Keys(core.inner.keys.lines())
}

/// Makes a key worthless, by its id or name.
pub(crate) async fn revoke(core: &Core, caller: &Caller, key: &str) -> Result<Reply, Refusal> {
    if key.starts_with(PREFIX) {
        return Err(wrong("a key is revoked by its id or name", "do not show the key itself"));
    }
    let (inside, actor, key) = (core.clone(), caller.actor.clone(), key.to_owned());
    let task = core.inner.late.spawn(async move {
        let now = inside.now_ms();
        let written = inside.inner.store.write(Durability::Machine, move |tx| -> Result<_, Refusal> {
            let row = chosen(tx, &key)?;
            Ok(end(tx, &actor, row, now)?)
        });
        let row = written.await?;
        let id = row.id;
        inside.are_gone(vec![row]);
        Ok(id)
    });
    let id: KeyId = task.await.unwrap_or_else(|_| Err(Refusal::internal("key.revoke")))?;
    Ok(Reply::Keys(core.inner.keys.line(id).into_iter().collect()))
}

impl Core {
    /// Keys that were just revoked open nothing from here on, and whoever watches by one is told.
    fn are_gone(&self, rows: Vec<KeyRow>) {
        for row in rows {
            let id = row.id;
            self.inner.keys.put(row);
            if let Some(line) = self.inner.keys.line(id) {
                self.tell(Happening::KeyGone(line));
            }
        }
    }
}

/// Keys that hold. A row that is not as we left it opens nothing, so its name is free.
fn live(tx: &Tx<'_>, now: u64) -> Result<Vec<KeyRow>, StoreError> {
    let mut live = Vec::new();
    for row in tx.keys()? {
        let holds = row.is_ours && row.revoked_ms.is_none() && row.expires_ms.is_none_or(|end| end > now);
        if holds && is_as_left(tx, &row)? {
            live.push(row);
        }
    }
    Ok(live)
}

/// The key that is meant: by its id, or the one of this name that was not revoked.
fn chosen(tx: &Tx<'_>, key: &str) -> Result<KeyRow, Refusal> {
    let id = KeyId::parse(key).ok();
    let mut meant: Vec<KeyRow> = Vec::new();
    let mut names = Vec::new();
    for row in tx.keys()? {
        names.push(row.name.clone());
        let is_meant = id.map_or(row.name == key, |id| row.id == id);
        if is_meant && row.is_ours && is_as_left(tx, &row)? {
            meant.push(row);
        }
    }
    if let Some(at) = meant.iter().rposition(|row| row.revoked_ms.is_none()) {
        return Ok(meant.swap_remove(at));
    }
    let shown = shortened(key);
    if meant.is_empty() {
        let hint = did_you_mean(key, names.iter().map(String::as_str), || {
            "bailiwick key list tells them".to_owned()
        });
        return Err(Refusal::new(ErrorCode::NotFound, format!("there is no key `{shown}`")).with_hint(hint));
    }
    Err(Refusal::new(ErrorCode::Conflict, format!("the key `{shown}` was revoked before"))
        .with_hint("bailiwick key list tells when"))
}

/// Revokes a row, on the record.
fn end(tx: &mut Tx<'_>, actor: &Actor, row: KeyRow, now: u64) -> Result<KeyRow, StoreError> {
    let row = KeyRow { revoked_ms: Some(now), ..row };
    tx.put_key(&row)?;
    tx.append(&entry(actor, "key.revoke", &row))?;
    Ok(row)
}

/// What the record says of a key. Not what opens, nor a hash of it.
fn entry(actor: &Actor, action: &str, row: &KeyRow) -> Entry {
    let KeyRow { id, name, scopes, expires_ms, revoked_ms, per_second, at_once, dialogue, .. } = row;
    let scopes: Vec<&str> = scopes.split(' ').collect();
    let said = json!({
        "holds": revoked_ms.is_none(),
        "key": {
            "id": id, "name": name, "scopes": scopes, "expiresAt": expires_ms.map(rfc3339),
            "perSecond": per_second, "atOnce": at_once, "dialogue": dialogue,
        },
    });
    let mut entry = told(journal::change(actor, action, None), said);
    entry.correlation_id = cause_of(*id);
    entry
}

/// Tells the last change of every key anew that would go with the oldest records, so that its row can still be held
/// against it.
pub(crate) async fn restate(
    core: &Core,
    actor: Actor,
    goes: impl Fn(&StoredRecord) -> bool,
) -> Result<(), Refusal> {
    let lasts = core.inner.store.read(|view| {
        let rows = view.keys()?.into_iter();
        rows.map(|row| Ok((row.id, view.records(&last_change(row.id))?.pop()))).collect::<Result<Vec<_>, _>>()
    });
    let going: Vec<KeyId> = lasts
        .await?
        .into_iter()
        .filter(|(_, last)| last.as_ref().is_some_and(&goes))
        .map(|(id, _)| id)
        .collect();
    if going.is_empty() {
        return Ok(());
    }
    let written = core.inner.store.write(Durability::Machine, move |tx| -> Result<(), StoreError> {
        for id in going {
            let Some(row) = tx.key(id)?.filter(|row| row.is_ours) else { continue };
            // A row that is not as it was left has nothing to be told anew.
            if is_as_left(tx, &row)? {
                tx.append(&entry(&actor, "key.restate", &row))?;
            }
        }
        Ok(())
    });
    Ok(written.await?)
}
