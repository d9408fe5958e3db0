//! What of the host's is put into a container, by names that the engine is given, and looked at again when it stands.

use std::path::Path;

use bailiwick_agent_host::mounts::refusal;
use bailiwick_agent_host::staged::Staged;
use bailiwick_sandbox::{Held, Mount, SandboxError};

use crate::engine::Kind;

/// A folder or file of the host's in a container.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Bound {
    pub(crate) from: String,
    pub(crate) to: String,
    pub(crate) writable: bool,
    /// What it has to be inside: device and number.
    pub(crate) checked: Option<(u64, u64)>,
}

/// The mounts of a spec by their staged names, with no words that an engine could read in another way.
pub(crate) fn checked(
    mounts: &[Held<Mount>],
    staged: &Staged,
    kind: Kind,
) -> Result<Vec<Bound>, SandboxError> {
    mounts.iter().zip(staged.names()).map(|(mount, name)| one(mount, name, kind)).collect()
}

fn one(mount: &Held<Mount>, name: &Path, kind: Kind) -> Result<Bound, SandboxError> {
    let text = name.to_str().ok_or_else(|| refusal(&mount.from, "its name is not UTF-8"))?;
    let bound = Bound {
        from: text.to_owned(),
        to: mount.to.as_str().to_owned(),
        writable: mount.writable,
        checked: Some(mount.source().identity()),
    };
    if !is_plain(&bound, kind) {
        return Err(refusal(&mount.from, "Podman would read its name as more than one word"));
    }
    Ok(bound)
}

/// Whether the engine reads the paths as they are: Podman puts them into one line of words with commas.
fn is_plain(bound: &Bound, kind: Kind) -> bool {
    let is_odd = |text: &str| text.contains([',', '"', '\n', '\r']);
    kind == Kind::Docker || !(is_odd(&bound.from) || is_odd(&bound.to))
}

#[cfg(test)]
mod tests;
