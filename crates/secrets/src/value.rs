//! Which values are kept, and how well redaction can find them.

use bailiwick_redact::Secret;

/// The largest value.
pub const MOST_BYTES: usize = 64 * 1024;

/// Why a value is not kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ValueError {
    /// Nothing was given.
    #[error("the value is empty")]
    Empty,
    /// It is too large to be a secret.
    #[error("the value has more than {MOST_BYTES} bytes")]
    TooLarge,
    /// It could not be put into a header or an environment.
    #[error("the value holds a NUL character")]
    Nul,
    /// It is not text.
    #[error("the value is not UTF-8 text")]
    NotText,
}

impl ValueError {
    /// What to do about it.
    pub const fn hint(self) -> &'static str {
        match self {
            Self::Empty => "to have no value, remove the secret: bailiwick secret rm NAME",
            Self::TooLarge => "keep the file elsewhere, and its password here",
            Self::Nul | Self::NotText => "encode it, for example with base64, and have the tool decode it",
        }
    }
}

/// How well redaction can find a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Strength {
    /// Under 4 characters: not at all.
    NotRedacted,
    /// Under 8 characters: as it is, not in its disguises.
    ExactOnly,
    /// As it is and in its disguises.
    Full,
}

/// Checks a value, and says how well redaction will find it.
pub fn check_value(value: &Secret) -> Result<Strength, ValueError> {
    let text = value.expose_secret();
    if text.is_empty() {
        return Err(ValueError::Empty);
    }
    if text.len() > MOST_BYTES {
        return Err(ValueError::TooLarge);
    }
    if text.contains('\0') {
        return Err(ValueError::Nul);
    }
    Ok(match text.chars().take(8).count() {
        0..4 => Strength::NotRedacted,
        4..8 => Strength::ExactOnly,
        _ => Strength::Full,
    })
}
