//! Dropping changes: what the sandbox left is removed, so that it would see the host's folder again.
//!
//! Overlayfs does not bear it when somebody changes its folders beneath it, so this is for a folder that nobody has
//! mounted: the caller's word, which nothing here can check. A tree of any depth is taken apart without recursion and
//! with few descriptors, by moving folders up before they are emptied.

use std::ffi::{CStr, CString};
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};

use bailiwick_sys::beneath::{self, Kind, Links, Taken};
use rustix::io::Errno;

use crate::RelPath;
use crate::fault::{Doing, Fault};
use crate::select::Selection;
use crate::upper::{Entry, Upper};

/// How many names of a folder are taken in one go.
const BATCH: usize = 4096;

/// Drops chosen changes.
pub(crate) fn discard(upper: &Upper, selection: &Selection) -> Result<(), Fault> {
    let paths = match selection {
        Selection::All => vec![RelPath::root()],
        Selection::Paths(paths) => paths.clone(),
    };
    // All are looked for before the first is dropped.
    for path in &paths {
        find(upper, path)?;
    }
    for path in &paths {
        drop_one(upper.0.as_fd(), path).map_err(Fault::system(Doing::Discard, path))?;
    }
    Ok(())
}

/// Makes sure that there is something at a path that can be dropped.
fn find(upper: &Upper, path: &RelPath) -> Result<(), Fault> {
    if path.is_root() {
        return Ok(());
    }
    let mut at = RelPath::root();
    let mut hides: Option<RelPath> = None;
    for name in path.names() {
        if let Entry::Folder(folder, _) = upper.entry(&at, false)? {
            if folder.opaque && hides.is_none() {
                hides = Some(at.clone());
            }
        } else {
            // Its folder was removed, or is a file now: the path went with it.
            hides = hides.or_else(|| Some(at.clone()));
        }
        at = at.join(name);
    }
    let there = beneath::look(&upper.0, path.to_c().as_c_str(), Links::Itself);
    match (there, hides) {
        (Ok(_), _) => Ok(()),
        (Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP), Some(folder))
            if !matches!(upper.entry(&folder, false)?, Entry::Nothing) =>
        {
            Err(Fault::Implied { path: path.clone(), folder })
        }
        (Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP), _) => {
            Err(Fault::NoSuchChange { path: path.clone() })
        }
        (Err(errno), _) => Err(Fault::system(Doing::LookAtUpper, path)(errno)),
    }
}

fn drop_one(upper: BorrowedFd<'_>, path: &RelPath) -> Result<(), Errno> {
    let Some((parent, name)) = path.split() else { return empty(upper, upper) };
    let held = match beneath::folder(upper, parent.to_c().as_c_str(), Links::Never) {
        // It went with another of the chosen paths.
        Err(Errno::NOENT | Errno::NOTDIR) => return Ok(()),
        held => held?,
    };
    let name = CString::new(name).map_err(|_| Errno::INVAL)?;
    match drop_name(held.as_fd(), &name, upper) {
        Err(Errno::NOENT) => Ok(()),
        dropped => dropped,
    }
}

/// Removes a name and everything in it.
fn drop_name(folder: BorrowedFd<'_>, name: &CStr, top: BorrowedFd<'_>) -> Result<(), Errno> {
    if beneath::status_of(folder, name)?.kind != Kind::Folder {
        return beneath::remove(folder, name);
    }
    let mut moved = vec![move_up(folder, name, top)?];
    while let Some(name) = moved.pop() {
        let held = opened(top, &name)?;
        loop {
            let (names, more) = beneath::names(&held, BATCH)?;
            for name in names {
                if beneath::status_of(&held, &name)?.kind == Kind::Folder {
                    moved.push(move_up(held.as_fd(), &name, top)?);
                } else {
                    beneath::remove(&held, &name)?;
                }
            }
            if !more {
                break;
            }
        }
        beneath::remove_folder(top, &name)?;
    }
    Ok(())
}

fn empty(folder: BorrowedFd<'_>, top: BorrowedFd<'_>) -> Result<(), Errno> {
    loop {
        let (names, more) = beneath::names(folder, BATCH)?;
        for name in names {
            drop_name(folder, &name, top)?;
        }
        if !more {
            return Ok(());
        }
    }
}

/// Moves a folder to the top, under a name that nobody can guess.
fn move_up(folder: BorrowedFd<'_>, name: &CStr, top: BorrowedFd<'_>) -> Result<CString, Errno> {
    let new = format!(".bailiwick-{}", crate::content::hex(&beneath::unguessable()?));
    let new = CString::new(new).map_err(|_| Errno::INVAL)?;
    // Moving a folder writes to it, which its mode may forbid.
    allow(folder, name)?;
    beneath::rename((folder, name), (top, &new), Taken::Refuse)?;
    Ok(new)
}

fn opened(top: BorrowedFd<'_>, name: &CStr) -> Result<OwnedFd, Errno> {
    beneath::folder(top, name, Links::Never)
}

/// Makes a folder one that its owner can empty.
fn allow(folder: BorrowedFd<'_>, name: &CStr) -> Result<(), Errno> {
    beneath::set_mode(beneath::look(folder, name, Links::Never)?, 0o700)
}
