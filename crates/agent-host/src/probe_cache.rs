//! The result of a backend's probe, kept for a minute, so that `bailiwick exec` does not make two sandboxes each time it is called.
//!
//! A probe makes a whole sandbox. Its result is kept only if every wall stood, and counts only for the same program, user, cgroup,
//! namespaces, limits, settings and engine. It decides which backend is chosen and nothing else: each sandbox has a receipt of its own,
//! by which it is judged before a command runs in it.

use std::path::{Path, PathBuf};
use std::time::Duration;

use bailiwick_sandbox::{Available, Probe};
use bailiwick_types::{Tier, WallStatus};
use serde::{Deserialize, Serialize};

use crate::{folders, remembered};

#[cfg(test)]
mod tests;

/// How long a result counts; the same time for which a process believes its own.
const COUNTS_FOR: Duration = Duration::from_mins(1);

/// What the kernel says of this process that a sandbox may depend on.
const PROCESS: [&str; 3] = ["/proc/self/status", "/proc/self/cgroup", "/proc/self/limits"];
/// The lines of `status` that count: the others change all the time.
const STATUS: [&str; 7] = ["Uid:", "Gid:", "Groups:", "CapEff:", "CapBnd:", "NoNewPrivs:", "Seccomp:"];
const NAMESPACES: &str = "/proc/self/ns";
const PROGRAM: &str = "/proc/self/exe";

/// A file for the result of one backend's probe.
#[derive(Debug)]
pub struct ProbeCache {
    file: PathBuf,
    circumstances: String,
}

#[derive(Debug, Serialize, Deserialize)]
struct Stored {
    circumstances: String,
    at: u64,
    tier: Tier,
    probe: Probe,
}

impl ProbeCache {
    /// The file of a backend in a directory. The result depends on these settings and on these files beside this program and process.
    pub fn new(directory: &Path, backend: &str, settings: &impl std::fmt::Debug, files: &[&Path]) -> Self {
        let files: Vec<&Path> = [Path::new(PROGRAM)].into_iter().chain(files.iter().copied()).collect();
        let circumstances = format!("{}\n{settings:?}\n{}", remembered::circumstances(&files), process());
        Self { file: directory.join(format!("{backend}.json")), circumstances }
    }

    /// The result, if there is one that counts. A directory that other users can write to has none.
    fn read(&self) -> Option<(Probe, Tier)> {
        folders::is_own(self.file.parent()?).ok()?;
        let Stored { circumstances, at, tier, probe } = remembered::read(&self.file)?;
        let age = remembered::now().checked_sub(at)?;
        (circumstances == self.circumstances && age < COUNTS_FOR.as_secs()).then_some((probe, tier))
    }

    /// The result that counts, or that of a probe made now, which is then kept.
    pub async fn read_or<F: Future<Output = (Probe, Tier)> + Send>(
        cache: Option<&Self>,
        probe: F,
    ) -> (Probe, Tier) {
        if let Some(known) = cache.and_then(Self::read) {
            return known;
        }
        let (probe, tier) = probe.await;
        if let Some(cache) = cache {
            cache.write(&probe, tier);
        }
        (probe, tier)
    }

    /// Keeps a result, if every wall stood. A person who mends a wall sees the effect at once.
    fn write(&self, probe: &Probe, tier: Tier) {
        let is_enforced = probe.enforces.iter().all(|part| part.status == WallStatus::Enforced);
        if probe.availability != Available::Yes || !is_enforced {
            return;
        }
        let (circumstances, probe) = (self.circumstances.clone(), probe.clone());
        remembered::write(&self.file, &Stored { circumstances, at: remembered::now(), tier, probe });
    }
}

/// What of this process a sandbox may depend on.
fn process() -> String {
    let mut text = String::new();
    for file in PROCESS {
        let content = folders::read(Path::new(file)).unwrap_or_default();
        let counts =
            |line: &&str| !file.ends_with("status") || STATUS.iter().any(|key| line.starts_with(key));
        text.extend(content.lines().filter(counts).flat_map(|line| [line, "\n"]));
    }
    let entries = std::fs::read_dir(NAMESPACES).into_iter().flatten().filter_map(Result::ok);
    let mut namespaces: Vec<PathBuf> =
        entries.filter_map(|entry| std::fs::read_link(entry.path()).ok()).collect();
    namespaces.sort();
    format!("{text}{namespaces:?}")
}
