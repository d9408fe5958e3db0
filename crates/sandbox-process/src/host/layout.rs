//! What of the host's is put into a sandbox: mounts and folders that others are written over, looked at before they are planned.

use std::path::{Path, PathBuf};

use bailiwick_sandbox::Mount;
use bailiwick_wire::jail::{Bind, Lower, Place};

/// A folder that others are written over: what it is is looked at now, and again when it is covered.
pub(crate) fn lower(from: &Path, to: &str, as_root: bool) -> Result<Lower, (PathBuf, String)> {
    use std::os::unix::fs::MetadataExt as _;
    let refused = |why: String| (from.to_owned(), why);
    let found = std::fs::symlink_metadata(from).map_err(|error| refused(error.to_string()))?;
    if found.is_symlink() || from.canonicalize().ok().as_deref() != Some(from) {
        return Err(refused("there is a symbolic link on the way".to_owned()));
    }
    if !found.is_dir() {
        return Err(refused("it is not a folder".to_owned()));
    }
    let text = from.to_str().ok_or_else(|| refused("its name is not UTF-8".to_owned()))?;
    Ok(Lower {
        from: text.to_owned(),
        to: to.to_owned(),
        checked: (found.dev(), found.ino()),
        // As an ordinary user the sandbox is the user; as root it is nobody, and has to look like the owner to change anything.
        owner: as_root.then(|| (found.uid(), found.gid())),
    })
}

/// Mounts as places of a plan: what they are is looked at now, and again when they are mounted.
pub(crate) fn mounts(mounts: &[Mount], as_root: bool) -> Result<Vec<Place>, (PathBuf, String)> {
    use std::os::unix::fs::MetadataExt as _;
    let mut places = Vec::new();
    for Mount { from, to, writable } in mounts {
        let refused = |why: &str| (from.clone(), why.to_owned());
        let found = std::fs::symlink_metadata(from).map_err(|error| (from.clone(), error.to_string()))?;
        if found.is_symlink() || from.canonicalize().ok().as_ref() != Some(from) {
            return Err(refused("there is a symbolic link on the way"));
        }
        if !found.is_dir() && !found.is_file() {
            return Err(refused("it is neither a file nor a folder"));
        }
        let text = from.to_str().ok_or_else(|| refused("its name is not UTF-8"))?;
        places.push(Place::Bind(Bind {
            from: text.to_owned(),
            to: to.as_str().to_owned(),
            writable: *writable,
            is_folder: found.is_dir(),
            checked: Some((found.dev(), found.ino())),
            // As an ordinary user the sandbox is the user; as root it is nobody, and what it makes is to be the owner's.
            owner: (*writable && as_root).then(|| (found.uid(), found.gid())),
        }));
    }
    Ok(places)
}
