//! What of the host's is put into a container: looked at before the engine is asked, and again when it stands.

use std::path::Path;

use bailiwick_sandbox::{Mount, SandboxError};

use crate::engine::Kind;

/// A folder or file of the host's in a container.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Bound {
    pub(crate) from: String,
    pub(crate) to: String,
    pub(crate) writable: bool,
    /// What it was when it was looked at: device and number.
    pub(crate) checked: Option<(u64, u64)>,
}

/// The mounts of a spec: with no link on the way to them, and no words that an engine could read in another way.
pub(crate) fn checked(mounts: &[Mount], kind: Kind) -> Result<Vec<Bound>, SandboxError> {
    mounts.iter().map(|mount| one(mount, kind)).collect()
}

fn one(mount: &Mount, kind: Kind) -> Result<Bound, SandboxError> {
    use std::os::unix::fs::MetadataExt as _;
    let Mount { from, to, writable } = mount;
    let refused = |why: &str| refusal(from, why);
    let found = std::fs::symlink_metadata(from).map_err(|error| refused(&error.to_string()))?;
    if found.is_symlink() || from.canonicalize().ok().as_ref() != Some(from) {
        return Err(refused("there is a symbolic link on the way"));
    }
    if !found.is_dir() && !found.is_file() {
        return Err(refused("it is neither a file nor a folder"));
    }
    let text = from.to_str().ok_or_else(|| refused("its name is not UTF-8"))?;
    let bound = Bound {
        from: text.to_owned(),
        to: to.as_str().to_owned(),
        writable: *writable,
        checked: Some((found.dev(), found.ino())),
    };
    if !is_plain(&bound, kind) {
        return Err(refused("Podman would read its name as more than one word"));
    }
    Ok(bound)
}

/// Whether the engine reads the paths as they are: Podman puts them into one line of words with commas.
fn is_plain(bound: &Bound, kind: Kind) -> bool {
    let is_odd = |text: &str| text.contains([',', '"', '\n', '\r']);
    kind == Kind::Docker || !(is_odd(&bound.from) || is_odd(&bound.to))
}

fn refusal(path: &Path, why: &str) -> SandboxError {
    SandboxError::Mount { path: path.display().to_string(), why: why.to_owned() }
}

#[cfg(test)]
mod tests;
