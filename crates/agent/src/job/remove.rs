//! Removing a file, or a folder with all that is in it: a piece each turn, without recursion, and never through a link or
//! into what is mounted there.

use std::ffi::{CStr, CString};
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use bailiwick_sys::Errno;
use rustix::fs::{AtFlags, Mode, OFlags, SeekFrom, unlinkat};

use super::write::last_name;
use super::{Progress, Trouble, at};
use crate::descent::Descent;
use crate::folder;

const STEP: &str = "remove";

/// How many entries go in one turn.
const PIECE: usize = 512;

/// What is removed.
#[derive(Debug)]
pub(crate) struct Remove {
    parent: OwnedFd,
    name: CString,
    emptying: Option<Emptying>,
}

impl Remove {
    pub(crate) fn begin(path: &str) -> Result<Self, Trouble> {
        let path = Path::new(path);
        let name = last_name(path).map_err(at(STEP))?;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let parent = rustix::fs::open(path.parent().unwrap_or(Path::new("/")), flags, Mode::empty())
            .map_err(at("open the folder"))?;
        let emptying = match unlink(&parent, &name) {
            Ok(()) => None,
            Err(Errno::NOTEMPTY) => {
                let above = Descent::begin(parent.try_clone().map_err(|_| at(STEP)(Errno::MFILE))?);
                let (folder, _) = above.and_then(|above| above.open(&name)).map_err(at(STEP))?;
                Some(Emptying::begin(folder).map_err(at(STEP))?)
            }
            Err(errno) => return Err(at(STEP)(errno)),
        };
        Ok(Self { parent, name, emptying })
    }

    pub(super) fn turn(&mut self) -> Result<Progress, Trouble> {
        let Some(emptying) = &mut self.emptying else { return Ok(Progress::Done) };
        if emptying.turn().map_err(at(STEP))? == Progress::More {
            return Ok(Progress::More);
        }
        unlinkat(&self.parent, &self.name, AtFlags::REMOVEDIR).map_err(at(STEP))?;
        Ok(Progress::Done)
    }
}

/// Removes a file or an empty folder.
fn unlink(folder: impl AsFd, name: &CStr) -> Result<(), Errno> {
    match unlinkat(&folder, name, AtFlags::empty()) {
        Err(Errno::ISDIR) => unlinkat(&folder, name, AtFlags::REMOVEDIR),
        done => done,
    }
}

/// How often a folder that should be empty and is not is gone through again: somebody may be filling it.
const AGAIN: usize = 16;

/// A folder that is emptied.
#[derive(Debug)]
pub(crate) struct Emptying {
    descent: Descent,
    again: usize,
}

/// What is left of a folder after its entries were removed.
enum Left {
    Nothing,
    /// A folder that has to be emptied before.
    Folder(CString),
    /// Some; the turn is over.
    Some,
}

impl Emptying {
    /// Begins in a folder, which stays.
    pub(crate) fn begin(folder: OwnedFd) -> Result<Self, Errno> {
        Ok(Self { descent: Descent::begin(folder)?, again: 0 })
    }

    /// Removes some of what is there.
    pub(crate) fn turn(&mut self) -> Result<Progress, Errno> {
        let mut budget = PIECE;
        while budget > 0 {
            budget -= 1;
            match self.empty_here(&mut budget)? {
                Left::Some => break,
                Left::Folder(name) => self.enter(&name)?,
                Left::Nothing => {
                    let Some((name, _)) = self.descent.leave()? else { return Ok(Progress::Done) };
                    match unlinkat(self.descent.here(), &name, AtFlags::REMOVEDIR) {
                        // Somebody was faster.
                        Ok(()) | Err(Errno::NOENT) => self.again = 0,
                        Err(Errno::NOTEMPTY) if self.again < AGAIN => {
                            self.again += 1;
                            self.enter(&name)?;
                        }
                        Err(errno) => return Err(errno),
                    }
                }
            }
        }
        Ok(Progress::More)
    }

    fn enter(&mut self, name: &CStr) -> Result<(), Errno> {
        let (folder, _) = self.descent.open(name)?;
        self.descent.enter(name, folder)
    }

    /// Removes everything here that can go as it is.
    fn empty_here(&self, budget: &mut usize) -> Result<Left, Errno> {
        let here = self.descent.here();
        rustix::fs::seek(here, SeekFrom::Start(0))?;
        let mut left = Left::Nothing;
        folder::each(here, |name| {
            match unlink(here, name) {
                Ok(()) | Err(Errno::NOENT) => *budget = budget.saturating_sub(1),
                Err(Errno::NOTEMPTY) => left = Left::Folder(name.to_owned()),
                Err(errno) => return Err(errno),
            }
            if *budget == 0 && matches!(left, Left::Nothing) {
                left = Left::Some;
            }
            Ok(matches!(left, Left::Nothing))
        })?;
        Ok(left)
    }
}
