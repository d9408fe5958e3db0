//! Whose call it is, as far as a remembered answer and a share of the queue are concerned.

use bailiwick_types::{KeyId, Scopes};
use serde::{Deserialize, Serialize};

use crate::{Actor, Caller};

/// Whoever makes a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Who {
    pub(super) key: Option<KeyId>,
    pub(super) actor: Actor,
    scopes: Scopes,
}

impl Who {
    pub(super) fn of(caller: &Caller) -> Self {
        Self { key: caller.key, actor: caller.actor.clone(), scopes: caller.scopes }
    }

    /// Whether both are the same. A key is proof; without one, everything that is known has to be alike, so that a name
    /// which anybody can take is never enough to pass for somebody with other scopes.
    pub(super) fn is(&self, other: &Self) -> bool {
        match (self.key, other.key) {
            (Some(ours), Some(theirs)) => ours == theirs,
            (None, None) => self.actor == other.actor && self.scopes == other.scopes,
            _ => false,
        }
    }

    /// Whether both take from one share of the queue. The name of a program is left out: whoever has no key can take any,
    /// and by many names one would be many.
    pub(super) fn shares_with(&self, other: &Self) -> bool {
        match (self.key, other.key) {
            (Some(ours), Some(theirs)) => ours == theirs,
            (None, None) => self.actor.key == other.actor.key && self.scopes == other.scopes,
            _ => false,
        }
    }
}

/// Who somebody is in a decision: by their key, or by their program where none is needed.
pub(super) fn name_of(actor: &Actor) -> String {
    actor.key.clone().unwrap_or_else(|| actor.client.clone())
}
