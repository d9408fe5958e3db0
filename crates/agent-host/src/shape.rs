//! What of a sandbox is in the memory that a snapshot keeps, so that one that goes on has to be asked for with the same.

use std::path::PathBuf;

use bailiwick_sandbox::{SandboxError, SandboxSpec};
use serde::{Deserialize, Serialize};

/// What every backend that keeps memory has to compare.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shape {
    image: Option<String>,
    mounts: Vec<(PathBuf, String, bool)>,
    workdir: String,
    disk: u64,
    processes: u32,
    has_way_out: bool,
}

impl Shape {
    /// Of a sandbox with this spec, and the image of this digest.
    pub fn of(spec: &SandboxSpec, image: Option<&str>, has_way_out: bool) -> Self {
        let mounts = spec.mounts.iter();
        let mounts = mounts.map(|mount| (mount.from.clone(), mount.to.as_str().to_owned(), mount.writable));
        Self {
            image: image.map(str::to_owned),
            mounts: mounts.collect(),
            workdir: spec.workdir.as_str().to_owned(),
            disk: spec.limits.disk.value,
            processes: spec.limits.processes.value,
            has_way_out,
        }
    }

    /// Refuses to go on with something else. A backend adds what else of it differs, by name, and says what its snapshots keep.
    pub fn check(
        &self,
        asked: &Self,
        beside: &[(bool, &str)],
        (backend, keeps): (&str, &str),
    ) -> Result<(), SandboxError> {
        let differences = [
            (self.image != asked.image, "image"),
            (self.mounts != asked.mounts, "mounts"),
            (self.workdir != asked.workdir, "working folder"),
            (self.disk != asked.disk, "limit on disk"),
            (self.processes != asked.processes, "limit on processes"),
            (self.has_way_out != asked.has_way_out, "network"),
        ];
        let Some((_, what)) = differences.iter().chain(beside).find(|(differs, _)| *differs) else {
            return Ok(());
        };
        let what = format!(
            "a snapshot with another {what}: it keeps {keeps}, so the spec has to be the one that it was made with"
        );
        Err(SandboxError::Unsupported { backend: backend.to_owned(), what })
    }
}
