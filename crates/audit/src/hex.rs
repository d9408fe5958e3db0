//! Bytes of a fixed length that are written as hexadecimal: hashes, keys, signatures.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A text that does not stand for the bytes it should.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not {bytes} bytes in lower-case hexadecimal")]
pub struct NotHex {
    /// How many bytes it should stand for.
    pub bytes: usize,
}

/// Writes bytes as lower-case hexadecimal.
fn write(bytes: &[u8], f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
    bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
}

/// Reads exactly the form that is written: one text for one value, so that nothing can hide in another spelling.
fn read<const N: usize>(text: &str) -> Result<[u8; N], NotHex> {
    let wrong = NotHex { bytes: N };
    let digit = |byte: u8| match byte {
        b'0'..=b'9' => Ok(byte - b'0'),
        b'a'..=b'f' => Ok(byte - b'a' + 10),
        _ => Err(wrong.clone()),
    };
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    if pairs.len() != N || !rest.is_empty() {
        return Err(wrong);
    }
    let mut bytes = [0; N];
    for (to, [high, low]) in bytes.iter_mut().zip(pairs) {
        *to = digit(*high)? << 4 | digit(*low)?;
    }
    Ok(bytes)
}

macro_rules! fixed_bytes {
    ($($(#[$doc:meta])* $name:ident $size:literal;)+) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash)]
        pub struct $name(pub [u8; $size]);

        impl $name {
            /// The bytes.
            pub const fn as_bytes(&self) -> &[u8; $size] {
                &self.0
            }

            /// From as many bytes as it has; none for any other number.
            pub fn from_slice(bytes: &[u8]) -> Option<Self> {
                bytes.try_into().ok().map(Self)
            }

            /// Reads lower-case hexadecimal.
            pub fn parse(text: &str) -> Result<Self, NotHex> {
                read(text).map(Self)
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write(&self.0, f)
            }
        }

        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, concat!(stringify!($name), "({})"), self)
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = std::borrow::Cow::<'_, str>::deserialize(deserializer)?;
                Self::parse(&text).map_err(serde::de::Error::custom)
            }
        }
    )+};
}

fixed_bytes! {
    /// A SHA-256 hash.
    Digest 32;
    /// The public half of the key that signs heads.
    PublicKey 32;
    /// A signature over a head.
    Signature 64;
}

impl Digest {
    /// What the first record names as the hash before it.
    pub const ZERO: Self = Self([0; 32]);
}
