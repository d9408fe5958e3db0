//! Files of ours that a container sees: the agent, and what programs look for in `/etc`. They are in the backend's folder, where the
//! engine finds them; those of one sandbox go with it.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use bailiwick_agent_host::{folders, root};
use bailiwick_sandbox::{Outlet, SandboxError};

use crate::mounts::Bound;

/// Where the files of sandboxes are, below the backend's folder.
const FOLDER: &str = "lent";

/// The files of one sandbox. They are removed when this is dropped.
#[derive(Debug)]
pub(crate) struct Lent {
    folder: PathBuf,
    pub(crate) bounds: Vec<Bound>,
}

impl Lent {
    /// Writes the files of a sandbox of this name: those that every one has, and those of its way out, which replace them.
    pub(crate) fn write(state: &Path, name: &str, outlet: Option<&dyn Outlet>) -> Result<Self, SandboxError> {
        let mut lent = Self { folder: state.join(FOLDER).join(name), bounds: Vec::new() };
        let failed = |error: std::io::Error| SandboxError::Failed {
            step: "write the files of a sandbox".to_owned(),
            reason: error.to_string(),
        };
        folders::private(&lent.folder).map_err(failed)?;
        for (number, (at, text)) in root::files(outlet).into_iter().enumerate() {
            let from = lent.folder.join(number.to_string());
            put(&from, text.as_bytes()).map_err(failed)?;
            let from = from.display().to_string();
            lent.bounds.push(Bound { from, to: at, writable: false, checked: None });
        }
        Ok(lent)
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        folders::remove(&self.folder);
    }
}

fn put(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    use std::os::unix::fs::OpenOptionsExt as _;
    // Not one that is there already, whoever made it; read inside by whoever the sandbox is.
    std::fs::OpenOptions::new().write(true).create_new(true).mode(0o444).open(path)?.write_all(bytes)
}

/// Removes the files of sandboxes whose owners are gone.
pub(crate) fn sweep(state: &Path) {
    folders::sweep(&state.join(FOLDER));
}
