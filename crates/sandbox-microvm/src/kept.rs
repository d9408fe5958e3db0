//! Machines that are kept as they are, with their processes: the memory of each in a file, and what has to be known to go on with it.

use std::collections::HashMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use bailiwick_agent_host::{folders, shape};
use bailiwick_sandbox::{SandboxError, SandboxSpec, Snapshot, Unpacked};
use bailiwick_types::SnapshotId;
use bailiwick_wire::seat::Seen;

use crate::monitor::{Accelerator, Size};
use crate::served::{Names, Shares};
use crate::{ID, failed};

/// What of a sandbox is in its memory, so that one that goes on has to be asked for with the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Shape {
    usual: shape::Shape,
    memory: u64,
    pub(crate) size: Size,
    pub(crate) accelerator: Accelerator,
}

impl Shape {
    /// Of a sandbox.
    pub(crate) fn of(
        spec: &SandboxSpec,
        image: Option<&str>,
        has_way_out: bool,
        size: Size,
        accelerator: Accelerator,
    ) -> Self {
        let usual = shape::Shape::of(spec, image, has_way_out);
        Self { usual, memory: spec.limits.memory.value, size, accelerator }
    }

    /// Refuses to go on with something else.
    pub(crate) fn check(&self, asked: &Self) -> Result<(), SandboxError> {
        let beside = [
            (self.memory != asked.memory, "limit on memory"),
            (self.size != asked.size, "limit on CPU"),
            (self.accelerator != asked.accelerator, "processor"),
        ];
        self.usual.check(&asked.usual, &beside, (ID, "a whole machine"))
    }
}

/// A machine that is kept. Its memory is removed when nobody holds this any more.
#[derive(Debug)]
pub(crate) struct Kept {
    /// The first number that its agent does not know.
    pub(crate) next: u32,
    /// What its agent saw before anything of a guest ran.
    pub(crate) seen: Seen,
    /// What it was made of.
    pub(crate) shape: Shape,
    /// What its kernel knows of the files that it is served.
    pub(crate) names: Names,
    pub(crate) shares: Arc<Shares>,
    /// Held so that it stays.
    pub(crate) _image: Option<Arc<dyn Unpacked>>,
    pub(crate) memory: Memory,
}

/// The memory of a machine in a file of its own, which is removed with this.
#[derive(Debug)]
pub(crate) struct Memory(PathBuf);

impl Memory {
    /// A fresh file, and the way to write to it.
    pub(crate) fn make(path: PathBuf) -> std::io::Result<(Self, File)> {
        use std::os::unix::fs::OpenOptionsExt as _;
        if let Some(folder) = path.parent() {
            folders::private(folder)?;
        }
        let file = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
        Ok((Self(path), file))
    }

    /// The way to read it, from its beginning.
    pub(crate) fn open(&self) -> std::io::Result<File> {
        std::fs::OpenOptions::new().read(true).open(&self.0)
    }

    /// Gives it another name, under which it stays.
    pub(crate) fn stay_as(mut self, path: &Path) -> std::io::Result<()> {
        std::fs::rename(&self.0, path)?;
        self.0 = PathBuf::new();
        Ok(())
    }

    /// How long it is.
    pub(crate) fn length(&self) -> std::io::Result<u64> {
        std::fs::metadata(&self.0).map(|found| found.len())
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // One that stays has another name.
        if self.0.as_os_str().is_empty() {
            return;
        }
        if let Err(error) = std::fs::remove_file(&self.0) {
            tracing::debug!(%error, "the memory of a machine stays until the next start");
        }
    }
}

/// The snapshots of one owner. They end with it: nobody else knows their ids.
#[derive(Debug)]
pub(crate) struct Snapshots {
    folder: PathBuf,
    kept: Mutex<HashMap<String, Arc<Kept>>>,
}

impl Snapshots {
    pub(crate) fn new(folder: &Path) -> Self {
        Self { folder: folder.to_owned(), kept: Mutex::default() }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<String, Arc<Kept>>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Where the memory of a snapshot goes.
    pub(crate) fn begin(&self, id: SnapshotId) -> Result<(Memory, File), SandboxError> {
        Memory::make(self.folder.join(id.to_string()))
            .map_err(|error| failed("make the file of a snapshot", &error))
    }

    /// A snapshot is whole.
    pub(crate) fn finish(&self, id: SnapshotId, kept: Kept) -> Result<Snapshot, SandboxError> {
        let bytes = kept.memory.length().map_err(|error| failed("look at a snapshot", &error))?;
        self.lock().insert(id.to_string(), Arc::new(kept));
        Ok(Snapshot { id, backend: ID.to_owned(), bytes })
    }

    /// What is kept of a snapshot.
    pub(crate) fn find(&self, snapshot: &Snapshot) -> Result<Arc<Kept>, SandboxError> {
        let id = snapshot.id.to_string();
        self.lock().get(&id).cloned().ok_or(SandboxError::NoSnapshot(id))
    }

    /// Removes a snapshot.
    pub(crate) fn forget(&self, snapshot: &Snapshot) -> Result<(), SandboxError> {
        let id = snapshot.id.to_string();
        self.lock().remove(&id).map(drop).ok_or(SandboxError::NoSnapshot(id))
    }
}
