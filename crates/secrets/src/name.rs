//! What a secret may be called.

use std::fmt;

use bailiwick_types::shortened;

/// The longest name.
const MOST: usize = 64;

/// Why a text is not a secret's name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not a secret's name: it must begin with A-Z, go on with A-Z, 0-9 or `_`, and have at most {MOST} characters"
)]
pub struct NameError(String);

/// The name of a secret, such as `GITHUB_TOKEN`. One case only: no two names differ by it alone.
///
/// ```
/// use bailiwick_secrets::SecretName;
///
/// assert_eq!(SecretName::parse("GITHUB_TOKEN")?.as_str(), "GITHUB_TOKEN");
/// assert!(SecretName::parse("github_token").is_err());
/// # Ok::<(), bailiwick_secrets::NameError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SecretName(Box<str>);

impl SecretName {
    /// Reads a name.
    pub fn parse(text: &str) -> Result<Self, NameError> {
        let mut bytes = text.bytes();
        let first = bytes.next().is_some_and(|b| b.is_ascii_uppercase());
        let rest = bytes.all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_');
        if first && rest && text.len() <= MOST {
            Ok(Self(text.into()))
        } else {
            Err(NameError(shortened(text)))
        }
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SecretName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}
