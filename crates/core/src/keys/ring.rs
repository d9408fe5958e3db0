//! Every key in memory: who it is, what it covers, whether it still holds. Looking at one waits for nothing.
//!
//! It must never tell by its time whether an id is known, nor take a row for a key that is not as we left it.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use bailiwick_audit::{Digest, rfc3339};
use bailiwick_store::KeyRow;
use bailiwick_types::{KeyId, Scope, Scopes};
use subtle::ConstantTimeEq as _;
use tokio::sync::Notify;

use super::{KeyShown, NotAKey};
use crate::KeyLine;

/// How long a use may be known to this process only.
const KEEP_AFTER_MS: u64 = 60_000;

/// What is compared where there is no such key, so that it takes as long.
const NOBODY: Digest = Digest::ZERO;

/// Every key.
#[derive(Default)]
pub(crate) struct Ring {
    held: RwLock<HashMap<KeyId, Arc<Held>>>,
    /// How many rows lay in the store that are not as we left them.
    foreign: AtomicU64,
    /// Somebody made a key, or the clock was put ahead.
    pub(super) changed: Notify,
}

/// One key.
pub(crate) struct Held {
    row: KeyRow,
    scopes: Scopes,
    /// When it was last used, in milliseconds since 1970; 0 for never.
    used_ms: AtomicU64,
    /// The last use that is on its way to the store, or there.
    kept_ms: AtomicU64,
    /// Whether it was told that it is gone.
    told: AtomicBool,
}

impl Held {
    fn new(row: KeyRow, scopes: Scopes) -> Self {
        let used = row.used_ms.unwrap_or(0);
        let told = AtomicBool::new(row.revoked_ms.is_some());
        Self { row, scopes, used_ms: used.into(), kept_ms: used.into(), told }
    }

    fn fate(&self, now: u64) -> Result<(), NotAKey> {
        if self.row.revoked_ms.is_some() {
            return Err(NotAKey::Revoked);
        }
        match self.row.expires_ms {
            Some(expires) if expires <= now => Err(NotAKey::Expired),
            Some(_) | None => Ok(()),
        }
    }

    fn used(&self) -> Option<u64> {
        Some(self.used_ms.load(Ordering::Relaxed)).filter(|used| *used > 0)
    }

    /// As a list shows it.
    pub(super) fn line(&self) -> KeyLine {
        let KeyRow { id, name, created_ms, expires_ms, revoked_ms, per_second, at_once, dialogue, .. } =
            &self.row;
        KeyLine {
            id: *id,
            name: name.clone(),
            scopes: self.scopes,
            created_at: rfc3339(*created_ms),
            expires_at: expires_ms.map(rfc3339),
            revoked_at: revoked_ms.map(rfc3339),
            // To the minute, since nobody needs to know more; but never before there was a key.
            last_used_at: self.used().map(|used| rfc3339((used - used % KEEP_AFTER_MS).max(*created_ms))),
            per_second: *per_second,
            at_once: *at_once,
            dialogue: *dialogue,
        }
    }
}

/// A key that was recognised, and whether its use is to be kept now.
pub(super) struct Recognised {
    pub(super) shown: KeyShown,
    pub(super) keep: Option<(KeyId, u64)>,
}

impl Ring {
    /// Takes the rows of the store, each with whether it is as we left it.
    pub(crate) fn fill(&self, rows: Vec<(KeyRow, bool)>) {
        let mut foreign = 0;
        for (row, is_as_left) in rows {
            match scopes_of(&row.scopes).filter(|_| is_as_left) {
                Some(_) => self.put(row),
                None => foreign += 1,
            }
        }
        self.foreign.store(foreign, Ordering::Relaxed);
    }

    /// Takes a row, in the place of what is known of its key.
    pub(super) fn put(&self, row: KeyRow) {
        let Some(scopes) = scopes_of(&row.scopes) else { return };
        let id = row.id;
        let held = Held::new(row, scopes);
        let mut all = self.held.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(before) = all.get(&id) {
            held.used_ms.fetch_max(before.used_ms.load(Ordering::Relaxed), Ordering::Relaxed);
        }
        all.insert(id, Arc::new(held));
        drop(all);
        self.changed.notify_one();
    }

    /// The clock was put ahead: keys may have expired.
    pub(crate) fn time_has_gone(&self) {
        self.changed.notify_one();
    }

    /// Whose key this is. Every wrong one takes as long, known or not.
    pub(super) fn recognise(&self, id: KeyId, hash: &Digest, now: u64) -> Result<Recognised, NotAKey> {
        let held = self.get(id);
        let kept = held.as_ref().map_or(&NOBODY, |held| &held.row.hash);
        let is_same = bool::from(kept.0.ct_eq(&hash.0));
        let Some(held) = held.filter(|_| is_same) else { return Err(NotAKey::Unknown) };
        held.fate(now)?;
        held.used_ms.fetch_max(now, Ordering::Relaxed);
        let kept = held.kept_ms.load(Ordering::Relaxed);
        let is_due = now.saturating_sub(kept) >= KEEP_AFTER_MS
            && held.kept_ms.compare_exchange(kept, now, Ordering::Relaxed, Ordering::Relaxed).is_ok();
        let KeyRow { name, expires_ms, per_second, at_once, dialogue, .. } = &held.row;
        let shown = KeyShown {
            id,
            name: name.clone(),
            scopes: held.scopes,
            expires_ms: *expires_ms,
            per_second: *per_second,
            at_once: *at_once,
            dialogue: *dialogue,
        };
        Ok(Recognised { shown, keep: is_due.then_some((id, now)) })
    }

    /// Whether this opens the key of this name. It is no use of it.
    pub(super) fn opens(&self, id: KeyId, hash: &Digest, name: &str, now: u64) -> bool {
        let held = self.get(id);
        let kept = held.as_ref().map_or(&NOBODY, |held| &held.row.hash);
        let is_same = bool::from(kept.0.ct_eq(&hash.0));
        held.is_some_and(|held| is_same && held.row.name == name && held.fate(now).is_ok())
    }

    fn get(&self, id: KeyId) -> Option<Arc<Held>> {
        self.held.read().unwrap_or_else(PoisonError::into_inner).get(&id).cloned()
    }

    fn all(&self) -> Vec<Arc<Held>> {
        self.held.read().unwrap_or_else(PoisonError::into_inner).values().cloned().collect()
    }

    /// Whether a key holds.
    pub(crate) fn is_live(&self, id: KeyId, now: u64) -> bool {
        self.get(id).is_some_and(|held| held.fate(now).is_ok())
    }

    /// Whether any key holds.
    pub(super) fn somebody_holds(&self, now: u64) -> bool {
        self.all().iter().any(|held| held.fate(now).is_ok())
    }

    /// Whether a key that holds covers this.
    pub(super) fn somebody_has(&self, scope: Scope, now: u64) -> bool {
        self.all().iter().any(|held| held.scopes.covers(scope) && held.fate(now).is_ok())
    }

    /// Whether there were keys that cover this, and none holds any more.
    pub(super) fn everybody_lost(&self, scope: Scope, now: u64) -> bool {
        self.all().iter().any(|held| held.scopes.covers(scope)) && !self.somebody_has(scope, now)
    }

    /// How many rows of the store are not as we left them.
    pub(super) fn foreign(&self) -> u64 {
        self.foreign.load(Ordering::Relaxed)
    }

    /// Every key, by name, the newest of one name last.
    pub(super) fn lines(&self) -> Vec<KeyLine> {
        let mut lines: Vec<KeyLine> = self.all().iter().map(|held| held.line()).collect();
        lines.sort_by(|a, b| (&a.name, &a.created_at, a.id).cmp(&(&b.name, &b.created_at, b.id)));
        lines
    }

    /// The line of one key.
    pub(super) fn line(&self, id: KeyId) -> Option<KeyLine> {
        self.get(id).map(|held| held.line())
    }

    /// Uses that are known to this process only.
    pub(super) fn unkept(&self) -> Vec<(KeyId, u64)> {
        let unkept = |held: &Arc<Held>| {
            let used = held.used()?;
            (held.row.used_ms < Some(used)).then_some((held.row.id, used))
        };
        self.all().iter().filter_map(unkept).collect()
    }

    /// Keys that expired and were not told to be gone yet, and when the next will.
    pub(super) fn expired(&self, now: u64) -> (Vec<KeyLine>, Option<u64>) {
        let (mut gone, mut next) = (Vec::new(), None::<u64>);
        for held in self.all() {
            match held.row.expires_ms.filter(|_| held.row.revoked_ms.is_none()) {
                Some(expires) if expires > now => next = Some(next.map_or(expires, |next| next.min(expires))),
                Some(_) if !held.told.swap(true, Ordering::Relaxed) => gone.push(held.line()),
                Some(_) | None => {}
            }
        }
        (gone, next)
    }
}

/// What a row says it covers; none when it says what this version does not know.
fn scopes_of(words: &str) -> Option<Scopes> {
    let scopes: Result<Vec<Scope>, _> = words.split(' ').map(str::parse).collect();
    scopes.ok().map(Scopes::of).filter(|scopes| !scopes.is_empty())
}

/// Scopes as a row has them.
pub(super) fn words_of(scopes: Scopes) -> String {
    scopes.iter().map(Scope::word).collect::<Vec<_>>().join(" ")
}
