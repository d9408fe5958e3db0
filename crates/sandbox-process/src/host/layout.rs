//! What of the host's is put into a sandbox: mounts and folders that others are written over, looked at before they are planned.

use std::path::Path;

use bailiwick_agent_host::mounts::{Looked, refusal};
use bailiwick_sandbox::{Mount, SandboxError};
use bailiwick_wire::jail::{Bind, Lower, Place};

/// The path of what was looked at, as text.
fn text(from: &Path) -> Result<String, SandboxError> {
    from.to_str().map(str::to_owned).ok_or_else(|| refusal(from, "its name is not UTF-8"))
}

/// A folder that others are written over: what it is is looked at now, and again when it is covered.
pub(crate) fn lower(from: &Path, to: &str, as_root: bool) -> Result<Lower, SandboxError> {
    let looked = Looked::at(from)?;
    if !looked.is_folder {
        return Err(refusal(from, "it is not a folder"));
    }
    Ok(Lower {
        from: text(from)?,
        to: to.to_owned(),
        checked: looked.identity,
        // As an ordinary user the sandbox is the user; as root it is nobody, and has to look like the owner to change anything.
        owner: as_root.then_some(looked.owner),
    })
}

/// Mounts as places of a plan: what they are is looked at now, and again when they are mounted.
pub(crate) fn mounts(mounts: &[Mount], as_root: bool) -> Result<Vec<Place>, SandboxError> {
    let place = |mount: &Mount| {
        let Mount { from, to, writable } = mount;
        let looked = Looked::at(from)?;
        Ok(Place::Bind(Bind {
            from: text(from)?,
            to: to.as_str().to_owned(),
            writable: *writable,
            is_folder: looked.is_folder,
            checked: Some(looked.identity),
            // As an ordinary user the sandbox is the user; as root it is nobody, and what it makes is to be the owner's.
            owner: (*writable && as_root).then_some(looked.owner),
        }))
    };
    mounts.iter().map(place).collect()
}
