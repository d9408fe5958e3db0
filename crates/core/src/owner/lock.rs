//! The data folder, held open, and the lock on it. Whoever has the lock owns the folder; nobody else writes there.
//!
//! The lock is the kernel's (`flock`): it ends with the process, however that ends. Its file is never removed, since two
//! processes could then each hold a lock of that name.

use std::ffi::CStr;
use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::{DirBuilderExt as _, FileExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bailiwick_sys::beneath::{self, Kind};
use bailiwick_sys::{Errno, local, privileges};
use bailiwick_types::ErrorCode;

use crate::Refusal;

/// The file that is locked.
const LOCK: &CStr = c"owner.lock";
/// How often a lock is tried when its file is exchanged meanwhile.
const TRIES: u32 = 16;

/// A data folder, held open: made if it was not there, looked at, and ours.
#[derive(Debug, Clone)]
pub(crate) struct Folder(Arc<Held>);

#[derive(Debug)]
struct Held {
    path: PathBuf,
    folder: OwnedFd,
}

/// Shows that this process owns a data folder. The folder is given back when the last copy is gone, so whatever can
/// still write there keeps one.
#[derive(Debug, Clone)]
pub struct Ownership {
    folder: Folder,
    /// Closing it gives the lock back.
    _lock: Arc<File>,
}

impl Folder {
    /// Holds a folder, and makes it first where it is not there.
    pub(crate) fn hold(path: &Path) -> Result<Self, Refusal> {
        let folder = match beneath::hold(path) {
            Err(Errno::NOENT) => {
                let made = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(path);
                made.map_err(|error| disk("make", path, &error))?;
                beneath::hold(path)
            }
            other => other,
        };
        let folder = folder.map_err(|errno| match errno {
            Errno::NOTDIR => wrong_kind(path, "folder"),
            errno => disk("open", path, &errno),
        })?;
        refuse_others(path, &folder, 0o022)?;
        Ok(Self(Arc::new(Held { path: path.to_owned(), folder })))
    }

    /// Its path, for messages.
    pub(crate) fn path(&self) -> &Path {
        &self.0.path
    }

    /// Takes the lock, unless somebody has it.
    pub(crate) fn lock(&self) -> Result<Option<Ownership>, Refusal> {
        let path = self.path().join("owner.lock");
        for _ in 0..TRIES {
            let file = self.lock_file(&path)?;
            if !beneath::claim(&file).map_err(|errno| disk("lock", &path, &errno))? {
                return Ok(None);
            }
            // Somebody may have put another file in its place before it was locked.
            let looked = beneath::status(&file).map_err(|errno| disk("look at", &path, &errno))?;
            match beneath::status_of(&self.0.folder, LOCK) {
                Ok(named) if named.identity == looked.identity => {
                    beneath::set_permissions(&file, 0o600).map_err(|errno| disk("write", &path, &errno))?;
                    sign(&file).map_err(|error| disk("write", &path, &error))?;
                    return Ok(Some(Ownership { folder: self.clone(), _lock: Arc::new(file) }));
                }
                Ok(_) | Err(Errno::NOENT) => {}
                Err(errno) => return Err(disk("look at", &path, &errno)),
            }
        }
        let message = format!("{} is exchanged again and again while it is locked", path.display());
        Err(Refusal::new(ErrorCode::Unavailable, message).with_hint("leave that file alone"))
    }

    /// The process that wrote its number into the lock's file last: the owner, while there is one.
    pub(crate) fn owner(&self) -> Option<u32> {
        let file = self.lock_file(&self.path().join("owner.lock")).ok()?;
        let mut bytes = [0; 16];
        let length = file.read_at(&mut bytes, 0).ok()?;
        std::str::from_utf8(bytes.get(..length)?).ok()?.trim_end().parse().ok()
    }

    fn lock_file(&self, path: &Path) -> Result<File, Refusal> {
        let file = local::lock_file(&self.0.folder, LOCK).map_err(|errno| match errno {
            Errno::LOOP | Errno::NXIO | Errno::ISDIR => wrong_kind(path, "file"),
            errno => disk("open", path, &errno),
        })?;
        let status = beneath::status(&file).map_err(|errno| disk("look at", path, &errno))?;
        if status.kind != Kind::File {
            return Err(wrong_kind(path, "file"));
        }
        // Who can open it can hold the lock, and keep us out.
        refuse_others(path, &file, 0o077)?;
        Ok(file)
    }
}

impl AsFd for Folder {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.folder.as_fd()
    }
}

impl Ownership {
    pub(crate) fn folder(&self) -> &Folder {
        &self.folder
    }
}

/// Leaves this process's number in the file.
fn sign(file: &File) -> std::io::Result<()> {
    file.set_len(0)?;
    file.write_all_at(format!("{}\n", std::process::id()).as_bytes(), 0)
}

fn refuse_others(path: &Path, file: impl AsFd, forbidden: u32) -> Result<(), Refusal> {
    let look_at = |errno| disk("look at", path, &errno);
    let user = local::user_of(&file).map_err(look_at)?;
    if user != privileges::identity().0 {
        let message = format!("{} belongs to another user", path.display());
        let hint = format!("run as its owner, or if it is meant: chown $USER {}", path.display());
        return Err(Refusal::new(ErrorCode::InvalidInput, message).with_hint(hint));
    }
    let mode = beneath::status(&file).map_err(look_at)?.permissions;
    if mode & forbidden != 0 {
        let (can, take_away) =
            if forbidden == 0o022 { ("written", "go-w") } else { ("read or written", "go=") };
        let message = format!("{} can be {can} by other users (mode {mode:03o})", path.display());
        let hint = format!("chmod {take_away} {}", path.display());
        return Err(Refusal::new(ErrorCode::InvalidInput, message).with_hint(hint));
    }
    Ok(())
}

fn wrong_kind(path: &Path, expected: &str) -> Refusal {
    let message = format!("{} is not a {expected}, or is a link to one", path.display());
    let hint = format!("look at it, and move it away: ls -ld {}", path.display());
    Refusal::new(ErrorCode::InvalidInput, message).with_hint(hint)
}

/// A step on the disk that failed.
pub(super) fn disk(step: &str, path: &Path, error: &dyn std::fmt::Display) -> Refusal {
    Refusal::new(ErrorCode::Unavailable, format!("cannot {step} {}: {error}", path.display()))
        .with_hint("check that the data folder exists and can be written")
}
