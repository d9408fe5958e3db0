//! Going down into folders and up again by their own entries, however deep: one descriptor is held, not one for each level,
//! and nothing recurses.
//!
//! The way up is `..`, which a guest that moves folders about may bend; so it has to lead to the folder that was left.

use std::ffi::{CStr, CString};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use bailiwick_sys::Errno;
use rustix::fs::{AtFlags, Mode, Stat, chmodat, fchmod, fstat, statat};

use crate::folder;

/// How deep it goes.
const DEEPEST: usize = 4096;

/// Which folder it is, whatever it is called.
type Identity = (u64, u64);

/// A way down.
#[derive(Debug)]
pub(crate) struct Descent {
    here: OwnedFd,
    above: Vec<(Identity, CString)>,
    device: u64,
}

impl Descent {
    /// Begins in a folder.
    pub(crate) fn begin(folder: OwnedFd) -> Result<Self, Errno> {
        let (device, _) = identity(&folder)?;
        Ok(Self { here: folder, above: Vec::new(), device })
    }

    /// Where it is now.
    pub(crate) fn here(&self) -> BorrowedFd<'_> {
        self.here.as_fd()
    }

    /// Opens a folder that is in this one, see [`open_forced`]. One of another file system is refused: what is mounted there
    /// is not ours.
    pub(crate) fn open(&self, name: &CStr) -> Result<(OwnedFd, Stat), Errno> {
        let before = statat(&self.here, name, AtFlags::SYMLINK_NOFOLLOW)?;
        if before.st_dev != self.device {
            return Err(Errno::XDEV);
        }
        open_forced(&self.here, name)
    }

    /// Goes into a folder that was opened here.
    pub(crate) fn enter(&mut self, name: &CStr, folder: OwnedFd) -> Result<(), Errno> {
        if self.above.len() >= DEEPEST {
            return Err(Errno::NAMETOOLONG);
        }
        self.above.push((identity(&self.here)?, name.to_owned()));
        self.here = folder;
        Ok(())
    }

    /// Goes up, and gives the name of what was left and the folder itself; nothing at the top.
    pub(crate) fn leave(&mut self) -> Result<Option<(CString, OwnedFd)>, Errno> {
        let Some((expected, name)) = self.above.pop() else { return Ok(None) };
        let above = folder::open(&self.here, c"..")?;
        if identity(&above)? != expected {
            return Err(Errno::STALE);
        }
        Ok(Some((name, std::mem::replace(&mut self.here, above))))
    }

    /// The path from the top, and one name more.
    pub(crate) fn path(&self, last: &CStr) -> Vec<u8> {
        let mut path = Vec::new();
        for (_, name) in &self.above {
            path.extend_from_slice(name.to_bytes());
            path.push(b'/');
        }
        path.extend_from_slice(last.to_bytes());
        path
    }
}

/// Opens a folder, for its owner also when its permissions say otherwise, and gives it with what it was before.
pub(crate) fn open_forced(at: impl AsFd, name: &CStr) -> Result<(OwnedFd, Stat), Errno> {
    let before = statat(&at, name, AtFlags::SYMLINK_NOFOLLOW)?;
    let opened = match folder::open(&at, name) {
        Err(Errno::ACCESS) => {
            chmodat(&at, name, Mode::RWXU, AtFlags::empty())?;
            folder::open(&at, name)?
        }
        opened => opened?,
    };
    if before.st_mode & 0o700 != 0o700 {
        fchmod(&opened, Mode::RWXU)?;
    }
    Ok((opened, before))
}

fn identity(folder: impl AsFd) -> Result<Identity, Errno> {
    let stat = fstat(folder)?;
    Ok((stat.st_dev, stat.st_ino))
}
