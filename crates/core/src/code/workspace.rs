//! The workspace of one run of code: its own, and gone with it.
//!
//! It lies beside those of tools, so that the same folders stay closed to it. It must never remove any but its own.

use std::path::{Path, PathBuf};

use bailiwick_gateway::files::WORKSPACES;
use bailiwick_runtime::WorkspaceName;
use bailiwick_types::CallId;

use crate::Refusal;
use crate::pipeline::CODE_WORKSPACE;

/// A workspace that goes with the value.
pub(super) struct Passing {
    name: WorkspaceName,
    folder: PathBuf,
}

impl Passing {
    /// That of a run.
    pub(super) fn of(data: &Path, id: CallId) -> Result<Self, Refusal> {
        let text = format!("{CODE_WORKSPACE}{id}");
        let name = WorkspaceName::parse(&text).map_err(|_| Refusal::internal("run"))?;
        Ok(Self { name, folder: data.join(WORKSPACES).join(text) })
    }

    pub(super) const fn name(&self) -> &WorkspaceName {
        &self.name
    }
}

impl Drop for Passing {
    fn drop(&mut self) {
        remove(&self.folder);
    }
}

/// Removes what runs left behind that were killed with their process. Only the owner of the data folder may, before the
/// first run.
pub(crate) fn sweep(data: &Path) {
    let Ok(workspaces) = data.join(WORKSPACES).read_dir() else { return };
    for entry in workspaces.flatten() {
        let name = entry.file_name();
        let id = name.to_str().and_then(|name| name.strip_prefix(CODE_WORKSPACE));
        if id.is_some_and(|id| CallId::parse(id).is_ok()) {
            remove(&entry.path());
        }
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "a folder that only this program made, for one run that is over"
)]
fn remove(folder: &Path) {
    match std::fs::remove_dir_all(folder) {
        Ok(()) => {}
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
        Err(error) => tracing::warn!(%error, "the workspace of a run could not be removed"),
    }
}
