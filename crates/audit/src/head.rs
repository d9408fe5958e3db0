//! A signed head: up to here the chain is what its owner wrote.

use ring::signature::{ED25519, UnparsedPublicKey};
use serde::{Deserialize, Serialize};

use crate::hex::{Digest, PublicKey, Signature};

/// What a signature of ours is about, so that it can never be taken for one about something else.
const LABEL: &[u8] = b"bailiwick audit head 1\0";

/// Why a head proves nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum HeadError {
    /// Somebody else signed it.
    #[error("the head is signed with another key")]
    ForeignKey,
    /// Nobody signed it.
    #[error("the signature of the head is not right")]
    Signature,
}

/// A statement about a chain, signed over all of its fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Head {
    /// The last record it speaks for.
    pub seq: u64,
    /// The hash of that record, and so of all before.
    pub hash: Digest,
    /// When it was signed, in milliseconds since 1970.
    pub time_ms: u64,
    /// How many records retention had removed from the beginning by then.
    pub records_before: u64,
    /// The key it is signed with.
    pub key: PublicKey,
    /// The signature.
    pub signature: Signature,
}

impl Head {
    /// Checks that the owner of `key` signed exactly this.
    pub fn verify(&self, key: &PublicKey) -> Result<(), HeadError> {
        let Self { seq, hash, time_ms, records_before, key: named, signature } = self;
        if named != key {
            return Err(HeadError::ForeignKey);
        }
        UnparsedPublicKey::new(&ED25519, key.as_bytes())
            .verify(&message(*seq, hash, *time_ms, *records_before, named), signature.as_bytes())
            .map_err(|_| HeadError::Signature)
    }
}

/// The bytes that are signed: a label and fields of fixed length.
pub(crate) fn message(
    seq: u64,
    hash: &Digest,
    time_ms: u64,
    records_before: u64,
    key: &PublicKey,
) -> Vec<u8> {
    [
        LABEL,
        &seq.to_be_bytes(),
        hash.as_bytes(),
        &time_ms.to_be_bytes(),
        &records_before.to_be_bytes(),
        key.as_bytes(),
    ]
    .concat()
}
