//! Names for held files, for programs that take paths: container engines and `runsc`.
//!
//! What a guest may write to cannot be named safely, since the guest can exchange what a name stands for. So the held file itself
//! is mounted at a name in a directory that only root can enter, and the program gets that name. The mounts live from before the
//! program is started until the sandbox stands. They must never lie in a directory that is removed with all that is in it: that
//! would remove the files of the host.

use std::os::fd::{AsFd as _, OwnedFd};
use std::path::{Path, PathBuf};

use bailiwick_sandbox::{Held, Mount, SandboxError};
use bailiwick_sys::mounts::{self, Less};
use bailiwick_sys::{beneath, privileges};

use crate::{folders, label};

/// Where the names are. The system empties it when it starts, and removes nothing of what is mounted there.
const DIRECTORY: &str = "/run/bailiwick-staged";

/// What is mounted below a held directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Below {
    /// It comes along.
    Included,
    /// It stays outside.
    Left,
}

/// The names of the mounts of one sandbox. Dropping it unmounts them; what was mounted from them stays.
#[derive(Debug, Default)]
pub struct Staged {
    directory: Option<PathBuf>,
    names: Vec<PathBuf>,
}

impl Staged {
    /// Gives each mount a name. Where none can be made, mounts that no guest can exchange keep their own, and others are refused.
    pub fn new(mounts: &[Held<Mount>], below: Below) -> Result<Self, SandboxError> {
        if mounts.is_empty() {
            return Ok(Self::default());
        }
        Self::stage(Path::new(DIRECTORY), mounts, below).or_else(|why| Self::by_their_names(mounts, &why))
    }

    /// The mounts by their own names, if no guest can exchange what these stand for; `why` says why they have no others.
    pub fn by_their_names(mounts: &[Held<Mount>], why: &str) -> Result<Self, SandboxError> {
        if let Some(mount) = mounts.iter().find(|mount| mount.is_guests()) {
            let why = format!(
                "a sandbox may write to a directory that it lies in, and this backend hands on paths: it needs a private name \
                 for it, which could not be made ({why}); mount the entry of fs.mounts itself, run the server as root, or use \
                 the backend `process` or `microvm`"
            );
            return Err(crate::mounts::refusal(&mount.from, &why));
        }
        Ok(Self { directory: None, names: mounts.iter().map(|mount| mount.from.clone()).collect() })
    }

    fn stage(all: &Path, mounts: &[Held<Mount>], below: Below) -> Result<Self, String> {
        if privileges::identity().0 != 0 {
            return Err("only root can mount".to_owned());
        }
        let told = |error: std::io::Error| error.to_string();
        folders::private(all).and_then(|()| folders::is_own(all)).map_err(told)?;
        let directory = all.join(label::fresh());
        folders::private(&directory).map_err(told)?;
        let mut staged = Self { directory: Some(directory.clone()), names: Vec::new() };
        for (number, mount) in mounts.iter().enumerate() {
            let name = directory.join(number.to_string());
            let place = placed(&name, mount.source().is_directory()).map_err(told)?;
            staged.names.push(name);
            let less = if mount.writable { Less::WRITE } else { Less::READ };
            let made = match below {
                Below::Included => mounts::copy(mount.source(), less),
                Below::Left => mounts::copy_alone(mount.source(), less),
            };
            let made = made.and_then(|made| mounts::attach(&made, place.as_fd()));
            made.map_err(|failed| failed.to_string())?;
        }
        Ok(staged)
    }

    /// The names, in the order of the mounts.
    pub fn names(&self) -> &[PathBuf] {
        &self.names
    }
}

impl Drop for Staged {
    fn drop(&mut self) {
        if let Some(directory) = &self.directory {
            clear(directory);
        }
    }
}

/// Makes an empty directory or file, and holds it.
fn placed(name: &Path, is_directory: bool) -> std::io::Result<OwnedFd> {
    if is_directory {
        std::fs::DirBuilder::new().create(name)?;
    } else {
        std::fs::OpenOptions::new().write(true).create_new(true).open(name)?;
    }
    Ok(bailiwick_sys::held::HeldFile::open(name)?.descriptor()?)
}

/// Unmounts and removes what was staged in a directory. Each name is removed alone, so a mount that stays keeps its files.
fn clear(directory: &Path) {
    let names = beneath::hold_itself(directory).and_then(|held| beneath::names(&held, usize::MAX));
    let names = names.map(|(names, _)| names).unwrap_or_default();
    for name in names {
        let name = directory.join(name.to_string_lossy().as_ref());
        // One that was never mounted cannot be unmounted.
        let _unmounted = mounts::detach(&name);
        if std::fs::remove_dir(&name).or_else(|_| std::fs::remove_file(&name)).is_err() {
            tracing::warn!(name = %name.display(), "a staged mount stays until the next start");
        }
    }
    if let Err(error) = std::fs::remove_dir(directory) {
        tracing::warn!(%error, directory = %directory.display(), "a staging directory stays until the next start");
    }
}

/// Unmounts what owners left that are gone.
pub fn sweep() {
    sweep_in(Path::new(DIRECTORY));
}

fn sweep_in(all: &Path) {
    // As an ordinary user there is none.
    let Ok(entries) = std::fs::read_dir(all) else { return };
    for entry in entries.filter_map(Result::ok) {
        if entry.file_name().to_str().is_some_and(label::is_left) {
            clear(&entry.path());
        }
    }
}

#[cfg(test)]
mod tests;
