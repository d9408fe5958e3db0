//! The keys of a store: one pair that signs heads, and one key that seals rows, both made from one seed.

use ring::signature::{Ed25519KeyPair, KeyPair};
use ring::{digest, hmac};

use crate::head::{self, Head};
use crate::hex::{Digest, PublicKey, Signature};

/// The SHA-256 hash of bytes.
pub fn hash_of(bytes: &[u8]) -> Digest {
    let mut hash = Digest::ZERO;
    hash.0.iter_mut().zip(digest::digest(&digest::SHA256, bytes).as_ref()).for_each(|(to, from)| *to = *from);
    hash
}

/// A seed that gives no key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the seed gives no signing key")]
pub struct BadSeed;

/// The keys made from a seed. They are never shown.
pub struct Keys {
    signing: Ed25519KeyPair,
    sealing: hmac::Key,
    public: PublicKey,
}

impl std::fmt::Debug for Keys {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Keys({})", self.public)
    }
}

impl Keys {
    /// Makes both keys. The seed itself is used for neither, so that one says nothing about the other.
    pub fn from_seed(seed: &[u8; 32]) -> Result<Self, BadSeed> {
        let root = hmac::Key::new(hmac::HMAC_SHA256, seed);
        let derived = |label: &[u8]| hmac::sign(&root, label);
        let signing = Ed25519KeyPair::from_seed_unchecked(derived(b"bailiwick audit heads 1").as_ref())
            .map_err(|_| BadSeed)?;
        let sealing = hmac::Key::new(hmac::HMAC_SHA256, derived(b"bailiwick store rows 1").as_ref());
        let public = PublicKey::from_slice(signing.public_key().as_ref()).ok_or(BadSeed)?;
        Ok(Self { signing, sealing, public })
    }

    /// The key that heads can be checked with, by anybody.
    pub const fn public(&self) -> PublicKey {
        self.public
    }

    /// Signs the head of a chain.
    pub fn sign(&self, seq: u64, hash: Digest, time_ms: u64, records_before: u64) -> Head {
        let message = head::message(seq, &hash, time_ms, records_before, &self.public);
        let mut signature = Signature([0; 64]);
        let signed = self.signing.sign(&message);
        signature.0.iter_mut().zip(signed.as_ref()).for_each(|(to, from)| *to = *from);
        Head { seq, hash, time_ms, records_before, key: self.public, signature }
    }

    /// Seals the fields of a row. Each counts with its length, so that nothing can move from one to the next.
    pub fn row_seal(&self, fields: &[&[u8]]) -> [u8; 32] {
        let mut seal = [0; 32];
        hmac::sign(&self.sealing, &framed(fields))
            .as_ref()
            .iter()
            .zip(&mut seal)
            .for_each(|(from, to)| *to = *from);
        seal
    }

    /// Whether a row was sealed with this key. Takes the same time for every wrong seal.
    pub fn row_is_ours(&self, fields: &[&[u8]], seal: &[u8]) -> bool {
        hmac::verify(&self.sealing, &framed(fields), seal).is_ok()
    }
}

fn framed(fields: &[&[u8]]) -> Vec<u8> {
    let mut framed = Vec::with_capacity(fields.iter().map(|field| field.len() + 8).sum());
    for field in fields {
        framed.extend_from_slice(&(field.len() as u64).to_be_bytes());
        framed.extend_from_slice(field);
    }
    framed
}
