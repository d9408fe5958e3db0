//! Whoever asks, as the perimeter knows them.

use bailiwick_core::{Actor, Dialogue, Rank};
use bailiwick_types::{KeyId, Scope, Scopes};

use super::KeyShown;

/// Whoever asks, as the perimeter knows them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Principal {
    /// As the record names them.
    pub actor: Actor,
    /// What their credentials cover.
    pub scopes: Scopes,
    /// The key they showed; none without one, and for a token.
    pub key: Option<KeyId>,
    /// Whether their MCP client's own dialogue counts as an answer.
    pub dialogue: Dialogue,
    /// When their token ends, in seconds since 1970: whoever watches by it goes then. A key tells its end by itself.
    pub ends_s: Option<u64>,
}

impl Principal {
    /// Somebody who showed nothing, where that is enough to call tools.
    pub(crate) fn keyless() -> Self {
        let actor = Actor { key: None, client: "keyless".to_owned() };
        Self {
            actor,
            scopes: Scopes::of([Scope::Call]),
            key: None,
            dialogue: Dialogue::Ignored,
            ends_s: None,
        }
    }

    /// How far they are trusted with what all callers share.
    pub const fn rank(&self) -> Rank {
        Rank::of(self.scopes, self.key.is_some() || self.actor.key.is_some())
    }

    /// Somebody who showed a key.
    pub(super) fn of_key(shown: &KeyShown) -> Self {
        let actor = Actor { key: Some(shown.name.clone()), client: "http".to_owned() };
        let dialogue = Dialogue::of_key(shown.dialogue);
        Self { actor, scopes: shown.scopes, key: Some(shown.id), dialogue, ends_s: None }
    }
}
