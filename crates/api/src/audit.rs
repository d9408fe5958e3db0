//! The record: pages of it, its proof, and how much of it is kept.
//!
//! A record itself is passed through as it lies; its schema is [`crate::schema::Record`].

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::shape::shape;

shape! {
    /// What the proof of the chain gave.
    #[derive(Eq)]
    Verified of bailiwick_core::Verified {
        /// Whether nothing is wrong.
        ok: bool,
        /// In one sentence.
        says: String,
        /// Proven up to this record.
        proven_to: u64,
        /// Records behind the last signed head.
        unsigned: u64,
        /// Records that retention removed before the first.
        removed: u64,
        /// The first bad record; as it lies, so it may be a number that no record can have.
        first_bad: Option<i64>,
        /// What is wrong with it.
        why: Option<String>,
        /// The public key that heads are signed with, in hex.
        key: String,
    }
}

/// How much of the record is kept. At least one of the two is said.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Retain {
    /// Keep what is younger than so many days.
    #[serde(default)]
    pub days: Option<u32>,
    /// Keep at most so many.
    #[serde(default)]
    pub records: Option<u64>,
}

/// Records that were removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Retained {
    /// How many.
    pub removed: u64,
}

/// Records, as they lie. Its schema is that of [`crate::schema::RecordPage`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RecordPage {
    /// The records.
    pub records: Vec<Value>,
    /// Give this as `after` for the next page; null on the last.
    pub next: Option<String>,
}

/// Records that belong together. Its schema is that of [`crate::schema::Records`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Records {
    /// Each of them.
    pub records: Vec<Value>,
}
