//! Going through a folder and what is below it: in order, through no link, and not for ever.

use std::ffi::CStr;
use std::ops::ControlFlow;
use std::os::fd::{AsFd as _, BorrowedFd};

use bailiwick_sys::Errno;
use bailiwick_sys::beneath::{self, Kind, Links, Status};

use super::reason::{Fault, FileReason};
use super::{Stop, names, place};

/// How deep below its root anything may lie.
pub(super) const DEEPEST: usize = 64;

/// Something on the way.
#[derive(Debug)]
pub(super) struct Entry<'a> {
    /// The folder it is in.
    pub(super) folder: BorrowedFd<'a>,
    /// Its name there.
    pub(super) name: &'a CStr,
    /// Its path from where the walk began, as a guest sees it.
    pub(super) below: &'a str,
    /// What it is; a link is a link.
    pub(super) status: Status,
}

/// A walk, and how far it goes.
#[derive(Debug)]
pub(super) struct Walk<'a> {
    /// Whether it goes into folders.
    pub(super) recursive: bool,
    /// How many entries it still looks at.
    pub(super) budget: usize,
    /// Whether it ended before it was through.
    pub(super) cut: bool,
    /// The call's end.
    pub(super) stop: &'a Stop,
}

/// What is done with an entry.
pub(super) type Each<'a> = &'a mut dyn FnMut(&Entry<'_>) -> Result<ControlFlow<()>, Fault>;

impl Walk<'_> {
    /// Goes through a folder that lies so deep below its root.
    pub(super) fn through(
        &mut self,
        folder: BorrowedFd<'_>,
        depth: usize,
        each: Each<'_>,
    ) -> Result<(), Fault> {
        self.enter(folder, depth, ".", each).map(|_| ())
    }

    fn enter(
        &mut self,
        folder: BorrowedFd<'_>,
        depth: usize,
        path: &str,
        each: Each<'_>,
    ) -> Result<ControlFlow<()>, Fault> {
        let (mut found, more) = beneath::names(folder, self.budget)?;
        found.sort_unstable();
        for name in &found {
            self.stop.check()?;
            if names::is_ours(name.to_bytes()) {
                continue;
            }
            if depth >= DEEPEST {
                return Err(FileReason::TooDeep.into());
            }
            if self.budget == 0 {
                self.cut = true;
                return Ok(ControlFlow::Break(()));
            }
            let status = match beneath::status_of(folder, name) {
                // It went while we were looking.
                Err(Errno::NOENT) => continue,
                status => status?,
            };
            self.budget -= 1;
            let below = place::join(path, &names::shown(name));
            if each(&Entry { folder, name, below: &below, status })?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
            if !self.recursive || status.kind != Kind::Folder {
                continue;
            }
            match beneath::folder(folder, &**name, Links::Never) {
                Ok(inner) => {
                    if self.enter(inner.as_fd(), depth + 1, &below, each)?.is_break() {
                        return Ok(ControlFlow::Break(()));
                    }
                }
                // It went, or became something else, or is another file system's: it was named, and is not entered.
                Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP | Errno::XDEV | Errno::ACCESS) => {}
                Err(errno) => return Err(errno.into()),
            }
        }
        if more {
            self.cut = true;
            return Ok(ControlFlow::Break(()));
        }
        Ok(ControlFlow::Continue(()))
    }
}
