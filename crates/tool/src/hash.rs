//! SHA-256 of a canonical form.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::canonical;

/// A SHA-256, written as 64 hexadecimal digits in lower case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, std::hash::Hash, PartialOrd, Ord)]
pub struct Hash([u8; 32]);

/// Why a text is not a hash.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a hash has 64 hexadecimal digits in lower case")]
pub struct NotAHash;

impl Hash {
    /// The hash of a value's canonical form.
    pub fn of(value: &Value) -> Self {
        Self::of_bytes(canonical(value).as_bytes())
    }

    /// The hash of bytes as they are.
    pub fn of_bytes(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// Its bytes.
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl FromStr for Hash {
    type Err = NotAHash;

    fn from_str(text: &str) -> Result<Self, NotAHash> {
        let digit = |byte: u8| match byte {
            b'0'..=b'9' => Ok(byte - b'0'),
            b'a'..=b'f' => Ok(byte - b'a' + 10),
            _ => Err(NotAHash),
        };
        let mut bytes = [0; 32];
        let (pairs, rest) = text.as_bytes().as_chunks::<2>();
        if pairs.len() != bytes.len() || !rest.is_empty() {
            return Err(NotAHash);
        }
        for (byte, [high, low]) in bytes.iter_mut().zip(pairs) {
            *byte = digit(*high)? << 4 | digit(*low)?;
        }
        Ok(Self(bytes))
    }
}

impl Serialize for Hash {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Hash {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}
