//! What of the host's is put into a container: looked at before the engine is asked, and again when it stands.

use bailiwick_agent_host::mounts::{Looked, refusal};
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
    let Mount { from, to, writable } = mount;
    let looked = Looked::at(from)?;
    let text = from.to_str().ok_or_else(|| refusal(from, "its name is not UTF-8"))?;
    let bound = Bound {
        from: text.to_owned(),
        to: to.as_str().to_owned(),
        writable: *writable,
        checked: Some(looked.identity),
    };
    if !is_plain(&bound, kind) {
        return Err(refusal(from, "Podman would read its name as more than one word"));
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
