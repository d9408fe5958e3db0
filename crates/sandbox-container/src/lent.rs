//! Files of ours that a container sees: the agent, and what programs look for in `/etc`. They are in the backend's folder, where the
//! engine finds them; those of one sandbox go with it.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use bailiwick_agent_host::label;
use bailiwick_agent_host::root::WHEREABOUTS;
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
        let mut files: Vec<(String, String)> =
            WHEREABOUTS.iter().map(|(at, text)| ((*at).to_owned(), (*text).to_owned())).collect();
        for (at, text) in outlet.map_or_else(Vec::new, Outlet::files) {
            files.retain(|(known, _)| known != at.as_str());
            files.push((at.as_str().to_owned(), text));
        }
        let mut lent = Self { folder: state.join(FOLDER).join(name), bounds: Vec::new() };
        let failed = |error: std::io::Error| SandboxError::Failed {
            step: "write the files of a sandbox".to_owned(),
            reason: error.to_string(),
        };
        make(&lent.folder).map_err(failed)?;
        for (number, (at, text)) in files.into_iter().enumerate() {
            let from = lent.folder.join(number.to_string());
            put(&from, text.as_bytes()).map_err(failed)?;
            let from = from.display().to_string();
            lent.bounds.push(Bound { from, to: at, writable: false, checked: None });
        }
        Ok(lent)
    }
}

impl Drop for Lent {
    #[expect(
        clippy::disallowed_methods,
        reason = "a folder of our own; links in it are removed, not followed"
    )]
    fn drop(&mut self) {
        // What cannot be removed now is found by the next start.
        let _left = std::fs::remove_dir_all(&self.folder);
    }
}

fn make(folder: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

fn put(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    use std::os::unix::fs::OpenOptionsExt as _;
    // Not one that is there already, whoever made it; read inside by whoever the sandbox is.
    std::fs::OpenOptions::new().write(true).create_new(true).mode(0o444).open(path)?.write_all(bytes)
}

/// Removes what is in a folder and has the name of an owner that is gone.
#[expect(clippy::disallowed_methods, reason = "a folder of our own; links in it are removed, not followed")]
pub(crate) fn sweep_folder(folder: &Path) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.filter_map(Result::ok) {
        if entry.file_name().to_str().is_some_and(label::is_left) {
            let _left = std::fs::remove_dir_all(entry.path());
        }
    }
}

/// Removes the files of sandboxes whose owners are gone.
pub(crate) fn sweep(state: &Path) {
    sweep_folder(&state.join(FOLDER));
}
