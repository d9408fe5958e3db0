//! A Local Pass as it is kept beside its tool.

use bailiwick_types::RiskLevel;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::TestVerdict;

/// What a tool passed under: the hashes it is bound to, and how each run went.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Pass {
    /// SHA-256 of what the pass covers.
    pub(crate) covered: String,
    /// SHA-256 of the effective policy.
    pub(crate) policy_hash: String,
    /// The effective policy, to be compared with later ones.
    pub(crate) policy: Value,
    /// The level it had.
    pub(crate) level: RiskLevel,
    /// What ran it.
    pub(crate) engine: String,
    /// When, RFC 3339.
    pub(crate) time: String,
    /// Each run.
    pub(crate) results: Vec<Ran>,
}

/// One run of a pass.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Ran {
    /// Its name.
    pub(crate) name: String,
    /// How it went.
    pub(crate) verdict: TestVerdict,
    /// How long it took.
    pub(crate) ms: f64,
}

impl Pass {
    /// A pass as it lies in the store; none when that is none.
    pub(crate) fn read(text: &str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }
}

/// What runs a pass.
pub(crate) fn engine() -> String {
    format!("bailiwick {}", env!("CARGO_PKG_VERSION"))
}
