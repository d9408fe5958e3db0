//! A text value that cannot be shown by accident.
//!
//! It must never gain `Display`, `Serialize`, `Clone` or `PartialEq`: each of them is a way out that a
//! reader would not notice. The only way out is [`Secret::expose_secret`], which grep finds.

use std::fmt;

use zeroize::{Zeroize, ZeroizeOnDrop};

/// A secret value: not printable, not serialisable, wiped when dropped.
///
/// ```
/// use bailiwick_redact::Secret;
///
/// let secret = Secret::new("hunter22".to_owned());
/// assert_eq!(format!("{secret:?}"), "Secret(***)");
/// assert_eq!(secret.expose_secret(), "hunter22");
/// ```
///
/// It has no `Display`:
///
/// ```compile_fail,E0277
/// let secret = bailiwick_redact::Secret::new("hunter22".to_owned());
/// let _ = format!("{secret}");
/// ```
///
/// and so no `to_string`:
///
/// ```compile_fail,E0599
/// let secret = bailiwick_redact::Secret::new("hunter22".to_owned());
/// let _ = secret.to_string();
/// ```
///
/// It cannot be serialised:
///
/// ```compile_fail,E0277
/// let secret = bailiwick_redact::Secret::new("hunter22".to_owned());
/// let _ = serde_json::to_string(&secret);
/// ```
///
/// nor read from a document, which would leave copies in the parser:
///
/// ```compile_fail,E0277
/// let _ = serde_json::from_str::<bailiwick_redact::Secret>("\"hunter22\"");
/// ```
///
/// nor compared:
///
/// ```compile_fail,E0369
/// let secret = bailiwick_redact::Secret::new("hunter22".to_owned());
/// let _ = secret == secret;
/// ```
///
/// nor copied:
///
/// ```compile_fail,E0599
/// let secret = bailiwick_redact::Secret::new("hunter22".to_owned());
/// let _: bailiwick_redact::Secret = secret.clone();
/// ```
pub struct Secret(Box<str>);

impl Secret {
    /// Takes the value over and wipes the string it came in.
    pub fn new(mut value: String) -> Self {
        // `String::into_boxed_str` may move the text and leave the old copy behind, so the text is
        // copied here and the old copy wiped.
        let secret = Self(Box::from(value.as_str()));
        value.zeroize();
        secret
    }

    /// The value in clear. Every use is a place to review.
    pub fn expose_secret(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    /// Without the length, which would help a guesser.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(***)")
    }
}

impl Drop for Secret {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

impl ZeroizeOnDrop for Secret {}
