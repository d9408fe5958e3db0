//! The chain: each record's text holds the hash of the one before, and the hash of a record is that of its text.
//!
//! The text is the JSON of the record without its own hash, its keys in the order of the shape. The bytes are what is
//! hashed and what is kept: nothing is ever written anew from what was parsed.

use serde::Serialize;

use crate::entry::Entry;
use crate::hex::Digest;
use crate::keys::hash_of;
use crate::time::rfc3339;

/// The most bytes that the text of one record may have.
pub const MOST_BODY_BYTES: usize = 16 << 20;

/// The last number that a row of a table can have.
const LAST_SEQ: u64 = i64::MAX.unsigned_abs();

/// Why an entry was not chained.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ChainError {
    /// The numbers are used up, which no honest chain can do.
    #[error("the record has reached number {LAST_SEQ}, the last there is")]
    Full,
    /// The entry is too large.
    #[error("a record may have {most} bytes, and this one has {bytes}")]
    TooLarge {
        /// What it has.
        bytes: usize,
        /// What it may have.
        most: usize,
    },
    /// The entry has no JSON form.
    #[error("the entry cannot be written as JSON: {0}")]
    Json(String),
}

/// The end of a chain: what the next record refers to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Link {
    /// The number of the last record; 0 before the first.
    pub seq: u64,
    /// Its hash; zeros before the first.
    pub hash: Digest,
}

/// A record that is ready to be kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sealed {
    /// Its number.
    pub seq: u64,
    /// Its time.
    pub time_ms: u64,
    /// Its text, which is what was hashed.
    pub body: String,
    /// Its hash.
    pub hash: Digest,
}

/// What is hashed.
#[derive(Serialize)]
struct Body<'a> {
    seq: u64,
    time: &'a str,
    #[serde(flatten)]
    entry: &'a Entry,
    prev: Digest,
}

impl Link {
    /// Before the first record.
    pub const START: Self = Self { seq: 0, hash: Digest::ZERO };

    /// Chains an entry to the record before.
    pub fn next(&self, entry: &Entry, unix_ms: u64) -> Result<Sealed, ChainError> {
        let seq = self.seq.checked_add(1).filter(|seq| *seq <= LAST_SEQ).ok_or(ChainError::Full)?;
        let time = rfc3339(unix_ms);
        let body = Body { seq, time: &time, entry, prev: self.hash };
        let body = serde_json::to_string(&body).map_err(|error| ChainError::Json(error.to_string()))?;
        if body.len() > MOST_BODY_BYTES {
            return Err(ChainError::TooLarge { bytes: body.len(), most: MOST_BODY_BYTES });
        }
        let hash = hash_of(body.as_bytes());
        Ok(Sealed { seq, time_ms: unix_ms, body, hash })
    }
}

impl Sealed {
    /// What the record after this one refers to.
    pub const fn link(&self) -> Link {
        Link { seq: self.seq, hash: self.hash }
    }
}
