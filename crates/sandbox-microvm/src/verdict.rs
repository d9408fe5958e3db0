//! Whether machines run on this host's KVM: found out by starting one, and remembered. A KVM that is there and on which nothing starts
//! costs one caller a few seconds, and nobody after it.

use std::path::{Path, PathBuf};
use std::time::Duration;

use bailiwick_agent_host::folders;
use serde::{Deserialize, Serialize};

/// For how long it is believed that KVM does not work: what was in the way may have been passing.
const BELIEVED: Duration = Duration::from_hours(1);
/// Where it is remembered, in the folder of this backend.
const FILE: &str = "kvm.json";
/// Where the number of this start of the host is.
const BOOT: &str = "/proc/sys/kernel/random/boot_id";

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

fn now() -> u64 {
    bailiwick_sys::clock::realtime().as_secs()
}

/// What a verdict is of: this start of the host, and the files that machines are made with, as they are now.
pub(crate) fn of(files: &[&Path]) -> String {
    use std::os::unix::fs::MetadataExt as _;
    let mut of = folders::read(Path::new(BOOT)).unwrap_or_default().trim().to_owned();
    for file in files {
        let found = std::fs::metadata(file);
        let seen = found.map(|found| format!("{} {}", found.len(), found.mtime())).unwrap_or_default();
        of = format!("{of}; {} {seen}", file.display());
    }
    of
}

fn place(folder: &Path) -> PathBuf {
    folder.join(FILE)
}

/// What was remembered, if it still counts.
pub(crate) fn recall(folder: &Path, of: &str) -> Option<Verdict> {
    let text = folders::read(&place(folder)).ok()?;
    serde_json::from_str::<Verdict>(&text).ok().filter(|verdict| verdict.counts(of))
}

/// Remembers. What cannot be written is found out again by the next process.
pub(crate) fn remember(folder: &Path, verdict: &Verdict) {
    let write = || -> std::io::Result<()> {
        folders::private(folder)?;
        let text = serde_json::to_vec(verdict)?;
        // Whole or not at all: another process may read it at any time.
        let fresh = folder.join(format!("{FILE}.{}", std::process::id()));
        folders::write(&fresh, &text)?;
        std::fs::rename(&fresh, place(folder))
    };
    if let Err(error) = write() {
        tracing::debug!(%error, "what was found out about KVM is not remembered");
    }
}

#[cfg(test)]
mod tests;
