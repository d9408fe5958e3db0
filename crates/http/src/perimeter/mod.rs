//! Who may come in: host and origin, credentials, rates, what every answer carries.
//!
//! A request that passed carries its [`Principal`] as an extension; a route that finds none refuses.

use bailiwick_core::Actor;
use bailiwick_types::{KeyId, Scopes};

/// Whoever asks, as the perimeter knows them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Principal {
    /// As the record names them.
    pub actor: Actor,
    /// What their credentials cover.
    pub scopes: Scopes,
    /// The key they showed; none without one, and for a token.
    pub key: Option<KeyId>,
}
