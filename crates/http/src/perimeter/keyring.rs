//! Where keys are looked up.

use bailiwick_types::{KeyId, Scopes};

/// A key that was shown and holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyShown {
    /// Its id.
    pub id: KeyId,
    /// Its name.
    pub name: String,
    /// What it covers.
    pub scopes: Scopes,
    /// Until when it holds, in milliseconds since 1970.
    pub expires_ms: Option<u64>,
    /// Requests a second that it may make, where that is its own.
    pub per_second: Option<u32>,
    /// Requests that it may have under way, where that is its own.
    pub at_once: Option<u32>,
}

/// Why what was shown is not a key that holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotAKey {
    /// Not the shape of a key.
    #[error("it does not have the shape of a key")]
    Malformed,
    /// No such key.
    #[error("there is no such key")]
    Unknown,
    /// It held until some time ago.
    #[error("the key has expired")]
    Expired,
    /// It was taken back.
    #[error("the key was revoked")]
    Revoked,
}

/// Knows the keys.
pub trait Keyring: Send + Sync {
    /// Whose key it is. Compares in constant time, and keeps nothing of what was shown.
    fn authenticate(&self, shown: &str) -> Result<KeyShown, NotAKey>;
}
