//! A record read back: in full for whoever shows it, and the few facts that a proof needs.

use bailiwick_types::{CallId, CorrelationId, ToolId};
use serde::{Deserialize, Serialize};

use crate::entry::{Entry, Kind};
use crate::hex::Digest;

/// A text that is no record.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not the text of a record: {0}")]
pub struct UnreadableRecord(String);

/// An entry with its place in the chain, as it is shown and exported.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// Its number, from 1.
    pub seq: u64,
    /// Its time, RFC 3339 in UTC.
    pub time: String,
    /// What is recorded.
    #[serde(flatten)]
    pub entry: Entry,
    /// The hash of the record before.
    pub prev: Digest,
    /// Its own hash.
    pub hash: Digest,
}

#[derive(Deserialize)]
struct Unhashed {
    seq: u64,
    time: String,
    #[serde(flatten)]
    entry: Entry,
    prev: Digest,
}

impl Record {
    /// Reads a record from its text and its hash. That they belong together is for [`crate::Verifier`] to say.
    pub fn parse(body: &str, hash: Digest) -> Result<Self, UnreadableRecord> {
        let Unhashed { seq, time, entry, prev } =
            serde_json::from_str(body).map_err(|error| UnreadableRecord(error.to_string()))?;
        Ok(Self { seq, time, entry, prev, hash })
    }
}

/// What a record says about its place, and what it can be found by.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Facts {
    /// Its number.
    pub seq: u64,
    /// Its time.
    pub time: String,
    /// Its kind.
    pub kind: Kind,
    /// Its call.
    pub call_id: Option<CallId>,
    /// Its correlation.
    pub correlation_id: Option<CorrelationId>,
    /// Its tool.
    tool: Option<ToolFacts>,
    /// The hash of the record before.
    pub prev: Digest,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
struct ToolFacts {
    id: Option<ToolId>,
}

impl Facts {
    /// Reads them from the text of a record, passing over the rest without building it.
    pub fn parse(body: &[u8]) -> Result<Self, UnreadableRecord> {
        serde_json::from_slice(body).map_err(|error| UnreadableRecord(error.to_string()))
    }

    /// The id of the tool it is about.
    pub fn tool_id(&self) -> Option<ToolId> {
        self.tool.as_ref().and_then(|tool| tool.id)
    }
}
