//! The host's folder, held: everything is resolved beneath it, and no link is followed on the way.

use std::ffi::CString;
use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use bailiwick_sys::beneath::{self, Links};
use bailiwick_sys::held::HeldFile;
use rustix::io::Errno;

use crate::RelPath;
use crate::fault::{Doing, Fault};
use crate::seen::{Kind, Seen};

/// A folder of the host that a sandbox has a view of.
#[derive(Debug)]
pub struct Host {
    held: OwnedFd,
    path: PathBuf,
}

/// What a look at a path found.
#[derive(Debug)]
pub(crate) enum Found {
    /// Nothing: neither it nor the way to it.
    Nothing,
    /// Another file system begins there, which no sandbox sees.
    Mount,
    /// This, held but not opened.
    This(OwnedFd, Seen),
}

impl Host {
    /// Holds a folder by its path. The last name may not be a link.
    ///
    /// # Errors
    /// When it cannot be opened or is no folder.
    pub fn open(path: &Path) -> Result<Self, Fault> {
        let held = beneath::hold_itself(path).map_err(Fault::system(Doing::HoldFolder, &RelPath::root()))?;
        Self::of(held)
    }

    /// Opens a folder that is held already, without looking its path up again.
    ///
    /// # Errors
    /// When it cannot be opened or is no folder.
    pub fn held(source: &HeldFile) -> Result<Self, Fault> {
        Self::of(source.list().map_err(Fault::system(Doing::HoldFolder, &RelPath::root()))?)
    }

    /// Takes a folder that is held already.
    ///
    /// # Errors
    /// When the kernel does not say where it is.
    pub fn of(held: OwnedFd) -> Result<Self, Fault> {
        let path = beneath::real_path(&held).map_err(Fault::system(Doing::HoldFolder, &RelPath::root()))?;
        Ok(Self { held, path })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn fd(&self) -> BorrowedFd<'_> {
        self.held.as_fd()
    }

    /// Looks at a path.
    pub(crate) fn look(&self, path: &RelPath) -> Result<Found, Fault> {
        look(self.fd(), path).map_err(Fault::system(Doing::LookAtHost, path))
    }

    /// Looks at a path, and takes a mount for nothing.
    pub(crate) fn seen(&self, path: &RelPath) -> Result<Option<Seen>, Fault> {
        Ok(match self.look(path)? {
            Found::This(_, seen) => Some(seen),
            Found::Nothing | Found::Mount => None,
        })
    }

    /// Opens a regular file for reading; nothing when there is none, or none that we may read.
    pub(crate) fn read(&self, path: &RelPath) -> Result<Option<File>, Fault> {
        let Found::This(held, Seen { kind: Kind::File, .. }) = self.look(path)? else { return Ok(None) };
        match beneath::read_again(held) {
            Ok((file, _)) => Ok(Some(file)),
            Err(Errno::ACCESS | Errno::PERM) => Ok(None),
            Err(errno) => Err(Fault::system(Doing::ReadHost, path)(errno)),
        }
    }

    /// The folder that a path is in, opened, and its last name.
    pub(crate) fn parent(&self, path: &RelPath) -> Result<(OwnedFd, CString), Errno> {
        let (parent, name) = path.split().ok_or(Errno::INVAL)?;
        let folder = beneath::folder(self.fd(), parent.to_c().as_c_str(), Links::Never)?;
        Ok((folder, CString::new(name).map_err(|_| Errno::INVAL)?))
    }
}

/// Looks at a path beneath any held folder.
pub(crate) fn look(held: BorrowedFd<'_>, path: &RelPath) -> Result<Found, Errno> {
    match beneath::look(held, path.to_c().as_c_str(), Links::Itself) {
        Ok(held) => {
            let seen = Seen::of(&held)?;
            Ok(Found::This(held, seen))
        }
        // A link or a file where a folder was has taken the way to it.
        Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => Ok(Found::Nothing),
        Err(Errno::XDEV) => Ok(Found::Mount),
        Err(errno) => Err(errno),
    }
}
