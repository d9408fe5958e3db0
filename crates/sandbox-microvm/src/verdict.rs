//! Whether machines run on this host's KVM: found out by starting one, and remembered. A KVM that is there and on which nothing starts
//! costs one caller a few seconds, and nobody after it.

use std::path::Path;
use std::time::Duration;

use bailiwick_agent_host::remembered::{self, now};
use serde::{Deserialize, Serialize};

/// For how long it is believed that KVM does not work: what was in the way may have been passing.
const BELIEVED: Duration = Duration::from_hours(1);
/// Where it is remembered, in the folder of this backend.
const FILE: &str = "kvm.json";

/// What was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Verdict {
    /// Of which host, kernel and program.
    of: String,
    /// When, in seconds after 1970.
    at: u64,
    /// Why no machine runs; none where one did.
    pub(crate) why_not: Option<String>,
}

impl Verdict {
    /// A verdict of this moment.
    pub(crate) fn now(of: String, why_not: Option<String>) -> Self {
        Self { of, at: now(), why_not }
    }

    /// Whether it still counts. That machines run is seen again by each of them, so it counts for ever.
    pub(crate) fn counts(&self, of: &str) -> bool {
        let age = now().saturating_sub(self.at);
        self.of == of && (self.why_not.is_none() || age < BELIEVED.as_secs())
    }
}

/// What was remembered, if it still counts.
pub(crate) fn recall(folder: &Path, of: &str) -> Option<Verdict> {
    remembered::read::<Verdict>(&folder.join(FILE)).filter(|verdict| verdict.counts(of))
}

/// Remembers.
pub(crate) fn remember(folder: &Path, verdict: &Verdict) {
    remembered::write(&folder.join(FILE), verdict);
}

#[cfg(test)]
mod tests;
