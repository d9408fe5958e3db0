//! The folders of sandboxes without a root of their own, below the backend's: made for one, removed when it has ended, and found
//! again by the next start if their owner was killed.

use std::path::{Path, PathBuf};

use bailiwick_agent_host::folders;
use bailiwick_sys::privileges;

use crate::plan;

/// Where they are, below the backend's folder.
const FOLDER: &str = "scratch";

/// The folder of the sandbox of this name.
pub(crate) fn place(state: &Path, name: &str) -> PathBuf {
    state.join(FOLDER).join(name)
}

/// Makes a folder that nobody else can look into, a sandbox neither.
pub(crate) fn make_ours(folder: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;
    let private = |recursive| {
        let mut builder = std::fs::DirBuilder::new();
        builder.recursive(recursive).mode(0o700);
        builder
    };
    if let Some(above) = folder.parent() {
        private(true).create(above)?;
    }
    // Not one that is there already, whoever made it.
    private(false).create(folder)
}

/// Makes a folder that nobody can look into but a sandbox.
pub(crate) fn make(folder: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::{PermissionsExt as _, chown};
    make_ours(folder)?;
    if privileges::identity().0 == 0 {
        // The sandbox's own user has to reach its folder, and nothing else below ours.
        let [first, _] = plan::OUTSIDE;
        chown(folder, Some(first), Some(first))?;
        for above in folder.ancestors().skip(1).take(2) {
            std::fs::set_permissions(above, std::fs::Permissions::from_mode(0o711))?;
        }
    }
    Ok(())
}

/// Removes the folders of sandboxes whose owners are gone.
pub(crate) fn sweep(state: &Path) {
    folders::sweep(&state.join(FOLDER));
}
