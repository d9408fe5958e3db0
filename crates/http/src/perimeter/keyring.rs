//! Where keys are looked up.

pub use bailiwick_core::{KeyShown, NotAKey};

use bailiwick_core::Core;

/// Knows the keys.
pub trait Keyring: Send + Sync {
    /// Whose key it is. Compares in constant time, and keeps nothing of what was shown.
    fn authenticate(&self, shown: &str) -> Result<KeyShown, NotAKey>;
}

impl Keyring for Core {
    fn authenticate(&self, shown: &str) -> Result<KeyShown, NotAKey> {
        Self::authenticate(self, shown)
    }
}
