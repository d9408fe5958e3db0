//! Whose sandboxes an agent's are: those of its key. Agents without one are told apart by nothing but the ids that each was
//! given, which nobody can guess or list.

use bailiwick_types::KeyId;

use crate::Caller;

/// An agent that keeps sandboxes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Holder {
    key: Option<KeyId>,
    /// Whoever shows a token has no key, and a name that was proven.
    name: Option<String>,
}

impl Holder {
    pub(crate) fn of(caller: &Caller) -> Self {
        Self { key: caller.key, name: caller.actor.key.clone() }
    }
}
