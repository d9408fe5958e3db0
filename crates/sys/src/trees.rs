//! What it takes to build a tree of files beside what [`crate::beneath`] has: links, times, a share in a folder.
//!
//! Every function takes a held folder and one name in it, so that the caller has resolved the way to it already. None
//! follows a link: neither the name itself nor, for links, what they lead to.

use std::ffi::CStr;
use std::os::fd::{AsFd, BorrowedFd};

use rustix::fs::{AtFlags, FlockOperation, Timespec, Timestamps};
use rustix::io::{Errno, Result};

/// Makes a symbolic link that was not there. Where it leads is not looked at.
pub fn make_link(target: &CStr, folder: impl AsFd, name: &CStr) -> Result<()> {
    rustix::fs::symlinkat(target, folder, name)
}

/// Where a symbolic link leads, as it says.
pub fn read_link(folder: impl AsFd, name: &CStr) -> Result<Vec<u8>> {
    rustix::fs::readlinkat(folder, name, Vec::new()).map(std::ffi::CString::into_bytes)
}

/// Gives a file one more name. A symbolic link is given one itself.
pub fn add_name((from, old): (BorrowedFd<'_>, &CStr), (to, new): (BorrowedFd<'_>, &CStr)) -> Result<()> {
    rustix::fs::linkat(from, old, to, new, AtFlags::empty())
}

/// Sets when the content of an open file last changed, in seconds since 1970.
pub fn set_modified(file: impl AsFd, seconds: i64) -> Result<()> {
    rustix::fs::futimens(file, &both(seconds))
}

/// Sets when a name in a folder last changed: of the link, if it is one.
pub fn set_modified_of(folder: impl AsFd, name: &CStr, seconds: i64) -> Result<()> {
    rustix::fs::utimensat(folder, name, &both(seconds), AtFlags::SYMLINK_NOFOLLOW)
}

fn both(seconds: i64) -> Timestamps {
    let at = Timespec { tv_sec: seconds, tv_nsec: 0 };
    Timestamps { last_access: at, last_modification: at }
}

/// Marks an open file or folder as in use by one of several, until it is closed. `false` when somebody has it alone.
pub fn share(file: impl AsFd) -> Result<bool> {
    match rustix::fs::flock(file, FlockOperation::NonBlockingLockShared) {
        Ok(()) => Ok(true),
        Err(Errno::WOULDBLOCK) => Ok(false),
        Err(errno) => Err(errno),
    }
}

/// Gives back what [`crate::beneath::claim`] or [`share`] took.
pub fn give_back(file: impl AsFd) -> Result<()> {
    rustix::fs::flock(file, FlockOperation::Unlock)
}

/// Waits until everything that was written to the file system of this file is on its disk.
pub fn sync_all(file: impl AsFd) -> Result<()> {
    rustix::fs::syncfs(file)
}
