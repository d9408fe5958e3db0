//! What of the host's is put into a sandbox: mounts and folders that others are written over. Their descriptors go beside the plan.

use std::path::Path;

use bailiwick_agent_host::mounts::refusal;
use bailiwick_sandbox::{Held, Mount, SandboxError};
use bailiwick_sys::held::HeldFile;
use bailiwick_wire::jail::{Bind, Lower, Place};

/// The path of what is held, as text.
fn text(from: &Path) -> Result<String, SandboxError> {
    from.to_str().map(str::to_owned).ok_or_else(|| refusal(from, "its name is not UTF-8"))
}

/// A folder that others are written over.
pub(crate) fn lower(from: &Path, source: &HeldFile, to: &str, as_root: bool) -> Result<Lower, SandboxError> {
    if !source.is_directory() {
        return Err(refusal(from, "it is not a folder"));
    }
    Ok(Lower {
        from: text(from)?,
        to: to.to_owned(),
        // As an ordinary user the sandbox is the user; as root it is nobody, and has to look like the owner to change anything.
        owner: as_root.then_some(source.owner()),
    })
}

/// Mounts as places of a plan.
pub(crate) fn mounts(mounts: &[Held<Mount>], as_root: bool) -> Result<Vec<Place>, SandboxError> {
    let place = |mount: &Held<Mount>| {
        Ok(Place::Bind(Bind {
            from: text(&mount.from)?,
            to: mount.to.as_str().to_owned(),
            writable: mount.writable,
            is_folder: mount.source().is_directory(),
            is_held: true,
            // As an ordinary user the sandbox is the user; as root it is nobody, and what it makes is to be the owner's.
            owner: (mount.writable && as_root).then_some(mount.source().owner()),
        }))
    };
    mounts.iter().map(place).collect()
}
