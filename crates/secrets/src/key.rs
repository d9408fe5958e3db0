//! Keys, and the few bytes they are kept in. During a change of key there are two: the old one and the new one.

use bailiwick_sys::clock;
use chacha20poly1305::{KeyInit, XChaCha20Poly1305};
use sha2::{Digest, Sha256};
use zeroize::Zeroizing;

use crate::error::SecretsError;

const MAGIC: &[u8; 8] = b"BWSECKEY";
const FORMAT: u8 = 1;
const SIZE: usize = 32;
const CHECKSUM: usize = 8;
/// The most bytes that keys are kept in.
pub(crate) const MOST_BYTES: u64 = 4096;

/// Which key: a hash of it, in clear in the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct KeyId(pub(crate) [u8; 16]);

/// A key. In a box, so that moving it leaves no copy behind.
pub(crate) struct Key(Box<Zeroizing<[u8; SIZE]>>);

impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Key(***)")
    }
}

impl Key {
    /// A new one.
    pub(crate) fn fresh() -> Result<Self, SecretsError> {
        let mut key = Self(Box::new(Zeroizing::new([0; SIZE])));
        random(key.0.as_mut_slice())?;
        Ok(key)
    }

    /// Which one it is.
    pub(crate) fn id(&self) -> KeyId {
        let hash = Sha256::new().chain_update(b"bailiwick secret key id").chain_update(self.0.as_slice());
        let mut id = [0; 16];
        id.iter_mut().zip(hash.finalize()).for_each(|(to, from)| *to = from);
        KeyId(id)
    }

    /// The cipher under this key.
    pub(crate) fn cipher(&self) -> XChaCha20Poly1305 {
        let key: &[u8; SIZE] = &self.0;
        XChaCha20Poly1305::new(key.into())
    }
}

/// Fills with random bytes of the system.
pub(crate) fn random(bytes: &mut [u8]) -> Result<(), SecretsError> {
    clock::random(bytes).map_err(|errno| SecretsError::Random(errno.into()))
}

/// One key or, during a change, two; the newest last.
#[derive(Debug)]
pub(crate) struct Keys(Vec<Key>);

/// Why bytes are not keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NotKeys {
    Damaged,
    Newer(u8),
}

impl Keys {
    /// One key.
    pub(crate) fn one(key: Key) -> Self {
        Self(vec![key])
    }

    /// These and a newer one.
    pub(crate) fn and(mut self, newer: Key) -> Self {
        self.0.push(newer);
        self
    }

    /// The one with this id.
    pub(crate) fn by_id(&self, id: KeyId) -> Option<&Key> {
        self.0.iter().find(|key| key.id() == id)
    }

    /// Only the one with this id.
    pub(crate) fn only(self, id: KeyId) -> Self {
        Self(self.0.into_iter().filter(|key| key.id() == id).collect())
    }

    /// The one with this id, alone.
    pub(crate) fn take(self, id: KeyId) -> Option<Key> {
        self.0.into_iter().find(|key| key.id() == id)
    }

    /// The newest, alone.
    pub(crate) fn take_newest(mut self) -> Option<Key> {
        self.0.pop()
    }

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        self.0.len()
    }

    /// As they are kept.
    pub(crate) fn to_bytes(&self) -> Zeroizing<Vec<u8>> {
        let room = MAGIC.len() + 2 + self.0.len() * SIZE + CHECKSUM;
        let mut bytes = Zeroizing::new(Vec::with_capacity(room));
        bytes.extend_from_slice(MAGIC);
        bytes.push(FORMAT);
        // There are one or two.
        bytes.push(u8::try_from(self.0.len()).unwrap_or(u8::MAX));
        for key in &self.0 {
            bytes.extend_from_slice(key.0.as_slice());
        }
        let checksum = checksum(&bytes);
        bytes.extend_from_slice(&checksum);
        bytes
    }

    /// Reads them back.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Result<Self, NotKeys> {
        let (body, sum) = bytes.split_last_chunk::<CHECKSUM>().ok_or(NotKeys::Damaged)?;
        let (magic, rest) = body.split_first_chunk::<8>().ok_or(NotKeys::Damaged)?;
        let ([format], rest) = rest.split_first_chunk::<1>().ok_or(NotKeys::Damaged)?;
        if magic != MAGIC || checksum(body) != *sum {
            return Err(NotKeys::Damaged);
        }
        if *format != FORMAT {
            return Err(NotKeys::Newer(*format));
        }
        let ([count], rest) = rest.split_first_chunk::<1>().ok_or(NotKeys::Damaged)?;
        let (keys, left) = rest.as_chunks::<SIZE>();
        if !left.is_empty() || keys.is_empty() || keys.len() != usize::from(*count) {
            return Err(NotKeys::Damaged);
        }
        Ok(Self(
            keys.iter()
                .map(|bytes| {
                    let mut key = Key(Box::new(Zeroizing::new([0; SIZE])));
                    key.0.copy_from_slice(bytes);
                    key
                })
                .collect(),
        ))
    }
}

/// Tells a damaged key from a wrong one; it protects nothing.
fn checksum(bytes: &[u8]) -> [u8; CHECKSUM] {
    let mut sum = [0; CHECKSUM];
    sum.iter_mut().zip(Sha256::digest(bytes)).for_each(|(to, from)| *to = from);
    sum
}
