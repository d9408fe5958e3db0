//! Sandboxes that are kept as they are, with their processes: the image of a checkpoint, and what has to be known to go on with it.

use std::path::{Path, PathBuf};

use bailiwick_agent_host::{folders, shape};
use bailiwick_sandbox::{SandboxError, SandboxSpec, Snapshot};
use bailiwick_types::SnapshotId;
use bailiwick_wire::seat::Seen;
use serde::{Deserialize, Serialize};

use crate::{ID, failed};

/// Where it is written what is known of a snapshot, beside its image.
const KNOWN: &str = "known.json";
/// Where the image is.
const IMAGE: &str = "image";

/// What has to be known to go on with a sandbox.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Known {
    /// The first number that its agent does not know.
    pub(crate) next: u32,
    /// What its agent saw before anything of a guest ran.
    pub(crate) seen: Seen,
    /// What it was made of.
    pub(crate) shape: Shape,
}

/// What of a sandbox is in its memory, so that one that goes on has to be asked for with the same.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Shape {
    usual: shape::Shape,
    user: Option<(u32, u32)>,
}

impl Shape {
    /// Of a sandbox.
    pub(crate) fn of(
        spec: &SandboxSpec,
        image: Option<&str>,
        has_way_out: bool,
        user: Option<(u32, u32)>,
    ) -> Self {
        Self { usual: shape::Shape::of(spec, image, has_way_out), user }
    }

    /// Refuses to go on with something else.
    pub(crate) fn check(&self, asked: &Self) -> Result<(), SandboxError> {
        let beside = [(self.user != asked.user, "owner of its writable mounts")];
        self.usual.check(&asked.usual, &beside, (ID, "running processes"))
    }
}

/// The folder of a snapshot that is being made.
pub(crate) fn begin(folder: &Path, id: SnapshotId) -> Result<PathBuf, SandboxError> {
    let place = folder.join(id.to_string());
    folders::private(&place.join(IMAGE)).map_err(|error| failed("make the folder of a snapshot", &error))?;
    Ok(place)
}

/// Where its image goes.
pub(crate) fn image(place: &Path) -> PathBuf {
    place.join(IMAGE)
}

/// Finishes a snapshot.
pub(crate) fn finish(place: &Path, id: SnapshotId, known: &Known) -> Result<Snapshot, SandboxError> {
    let text = serde_json::to_vec(known).map_err(|error| failed("write a snapshot", &error))?;
    let write = || {
        folders::write(&place.join(KNOWN), &text)?;
        let mut bytes = 0_u64;
        for entry in std::fs::read_dir(image(place))? {
            bytes = bytes.saturating_add(entry?.metadata()?.len());
        }
        Ok::<_, std::io::Error>(bytes)
    };
    let bytes = write().map_err(|error| failed("write a snapshot", &error))?;
    Ok(Snapshot { id, backend: ID.to_owned(), bytes })
}

/// What is known of a snapshot, and where its image is.
pub(crate) fn find(folder: &Path, snapshot: &Snapshot) -> Result<(Known, PathBuf), SandboxError> {
    let place = folder.join(snapshot.id.to_string());
    let text = folders::read(&place.join(KNOWN)).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => SandboxError::NoSnapshot(snapshot.id.to_string()),
        _ => failed("open a snapshot", &error),
    })?;
    let known = serde_json::from_str(&text).map_err(|error| failed("read a snapshot", &error))?;
    Ok((known, image(&place)))
}

/// Removes a snapshot.
pub(crate) fn forget(folder: &Path, snapshot: &Snapshot) -> Result<(), SandboxError> {
    let place = folder.join(snapshot.id.to_string());
    if !place.is_dir() {
        return Err(SandboxError::NoSnapshot(snapshot.id.to_string()));
    }
    folders::remove(&place);
    Ok(())
}
