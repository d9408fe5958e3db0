//! Who owns containers, for whoever cannot see the owner's process: a file in the backend's folder that is locked as long as the owner
//! lives. The kernel lets go of it with the process, in whatever namespace that was; so the next server of a folder knows what its
//! predecessor left, also where both are in containers that were made anew.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use bailiwick_agent_host::folders;
use bailiwick_sys::beneath;

/// Where the files of owners are, below the backend's folder.
const FOLDER: &str = "owners";
/// How many characters the name of one has.
const LENGTH: usize = 32;
/// How often a file is made, where somebody takes it for a dead owner's before it is locked.
const TRIES: u32 = 8;

/// The file of an owner, locked by this process.
#[derive(Debug)]
pub(crate) struct Held {
    pub(crate) name: String,
    path: PathBuf,
    file: File,
}

impl Held {
    /// The file of a new owner.
    pub(crate) fn new(state: &Path) -> io::Result<Self> {
        let folder = state.join(FOLDER);
        folders::private(&folder)?;
        for _ in 0..TRIES {
            let name = format!("{:032x}", u128::from_le_bytes(beneath::unguessable()?));
            let path = folder.join(&name);
            let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
            if beneath::claim(&file)? && is_at(&path, &file) {
                return Ok(Self { name, path, file });
            }
        }
        Err(io::Error::other("others take it for a dead owner's"))
    }

    /// Removes it: nothing of this owner's is left.
    pub(crate) fn remove(self) -> io::Result<()> {
        // Locked until it has no name, so that nobody else finds it unlocked.
        let removed = std::fs::remove_file(&self.path);
        drop(self.file);
        removed
    }
}

fn is_at(path: &Path, file: &File) -> bool {
    let (Ok(named), Ok(held)) = (std::fs::symlink_metadata(path), file.metadata()) else { return false };
    (named.dev(), named.ino()) == (held.dev(), held.ino())
}

/// The names of all owners that were ever at this folder, and whose containers may be left.
pub(crate) fn all(state: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(state.join(FOLDER)).into_iter().flatten().filter_map(Result::ok);
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    names.filter(|name| name.len() == LENGTH).collect()
}

/// The file of an owner that is gone; none where it lives.
pub(crate) fn left(state: &Path, name: &str) -> io::Result<Option<Held>> {
    let path = state.join(FOLDER).join(name);
    let file = match OpenOptions::new().write(true).open(&path) {
        Ok(file) => file,
        // Somebody else was faster.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let is_left = beneath::claim(&file)? && is_at(&path, &file);
    Ok(is_left.then(|| Held { name: name.to_owned(), path, file }))
}

#[cfg(test)]
mod tests;
