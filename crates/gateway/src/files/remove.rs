//! Moving and removing. Names are taken away and given; nothing that has one is opened but folders.

use std::ffi::CStr;
use std::ops::ControlFlow;
use std::os::fd::{AsFd as _, BorrowedFd};

use bailiwick_sys::Errno;
use bailiwick_sys::beneath::{self, Kind, Links, Status, Taken};
use bailiwick_types::FileAnswer;

use super::ledger::{Change, Usage, sweep};
use super::place::Spot;
use super::reason::{Fault, FileReason};
use super::walk::{DEEPEST, Walk};
use super::write::Desk;
use super::{Stop, answer, names};

/// How many names of a folder are taken in hand at a time.
const BATCH: usize = 4096;
/// The most entries of a folder that is moved.
const MOST_MOVED: usize = 200_000;

/// What a name counts for.
const fn worth(status: &Status) -> Usage {
    let bytes = match status.kind {
        Kind::File => status.size,
        Kind::Folder | Kind::Link | Kind::Special => 0,
    };
    Usage { bytes, entries: 1 }
}

/// How a move ended.
#[derive(Debug)]
pub(super) enum Moved {
    /// It was moved.
    Done,
    /// A file is there already: whether it may go is another question.
    OntoFile,
}

/// Moves a file or a folder. A file that is there already goes only if `taken` says so.
pub(super) fn rename(desk: &mut Desk, from: &Spot, to: &Spot, taken: Taken) -> Result<Moved, Fault> {
    let (old_parent, old) = from.parent()?;
    let (new_parent, new) = to.parent().map_err(|fault| fault.at(to.shown()))?;
    let moving = beneath::status_of(&old_parent, &old)?;
    match moving.kind {
        Kind::File => {}
        Kind::Folder => fits_below(old_parent.as_fd(), &old, to, &desk.stop)?,
        Kind::Link => return Err(FileReason::Link.into()),
        Kind::Special => return Err(FileReason::SpecialFile.into()),
    }
    let at_target = |reason: FileReason| Fault::from(reason).at(to.shown());
    let there = match beneath::status_of(&new_parent, &new) {
        Err(Errno::NOENT) => None,
        status => Some(status.map_err(|errno| Fault::from(errno).at(to.shown()))?),
    };
    if let Some(there) = there {
        if there.identity == moving.identity {
            return Ok(Moved::Done);
        }
        match (moving.kind, there.kind) {
            (Kind::File, Kind::File) if taken == Taken::Refuse => return Ok(Moved::OntoFile),
            (Kind::File, Kind::File) => {}
            (_, Kind::Link) => return Err(at_target(FileReason::Link)),
            (_, Kind::Special) => return Err(at_target(FileReason::SpecialFile)),
            _ => return Err(at_target(FileReason::Exists)),
        }
    } else {
        names::new_name(&names::shown(&new)).map_err(|fault| fault.at(to.shown()))?;
    }
    let change = Change { taken: there.as_ref().map(worth).unwrap_or_default(), ..Change::default() };
    let taken = if there.is_some() { Taken::Replace } else { Taken::Refuse };
    desk.spend(change, || {
        beneath::rename((old_parent.as_fd(), &old), (new_parent.as_fd(), &new), taken).map_err(|errno| {
            match errno {
                Errno::INVAL if moving.kind == Kind::Folder => FileReason::IntoItself.into(),
                Errno::EXIST => at_target(FileReason::Exists),
                errno => Fault::from(errno),
            }
        })
    })?;
    beneath::sync(&new_parent)?;
    beneath::sync(&old_parent)?;
    Ok(Moved::Done)
}

/// Whether all of a folder would still lie within the depth, where it is to go.
fn fits_below(parent: BorrowedFd<'_>, name: &CStr, to: &Spot, stop: &Stop) -> Result<(), Fault> {
    let folder = beneath::folder(parent, name, Links::Never)?;
    let mut walk = Walk { recursive: true, budget: MOST_MOVED, cut: false, stop };
    walk.through(folder.as_fd(), to.depth(), &mut |_| Ok(ControlFlow::Continue(())))?;
    if walk.cut { Err(FileReason::TooLarge.into()) } else { Ok(()) }
}

/// Removes a file, or a link and not what it leads to.
pub(super) fn file(desk: &mut Desk, spot: &Spot) -> Result<FileAnswer, Fault> {
    let (parent, name) = spot.parent()?;
    let status = beneath::status_of(&parent, &name)?;
    match status.kind {
        Kind::File | Kind::Link => {}
        Kind::Folder => return Err(FileReason::IsAFolder.into()),
        Kind::Special => return Err(FileReason::SpecialFile.into()),
    }
    let change = Change { taken: worth(&status), ..Change::default() };
    desk.spend(change, || Ok(beneath::remove(&parent, &name)?))?;
    beneath::sync(&parent)?;
    Ok(answer::nothing())
}

/// Removes a folder, with all that is in it if that is wanted.
pub(super) fn folder(desk: &mut Desk, spot: &Spot, recursive: bool) -> Result<FileAnswer, Fault> {
    let (parent, name) = spot.parent()?;
    let status = beneath::status_of(&parent, &name)?;
    match status.kind {
        Kind::Folder => {}
        Kind::Link => return Err(FileReason::Link.into()),
        Kind::File | Kind::Special => return Err(FileReason::NotAFolder.into()),
    }
    // Measured before anything goes, so that what goes can be taken off.
    desk.usage()?;
    let mut gone = Usage::default();
    let emptied = if recursive {
        let inner = beneath::folder(&parent, &*name, Links::Never)?;
        empty(inner.as_fd(), 0, &mut gone, &desk.stop)
    } else {
        Ok(())
    };
    let removed = emptied.and_then(|()| remove_empty(parent.as_fd(), &name));
    if let Err(fault) = removed {
        if gone != Usage::default() {
            desk.account.forget();
        }
        return Err(fault);
    }
    gone.entries += 1;
    desk.spend(Change { taken: gone, ..Change::default() }, || Ok(()))?;
    beneath::sync(&parent)?;
    answer::number("removed", gone.entries)
}

/// Removes a folder that holds nothing, or nothing but what a crash left over.
fn remove_empty(parent: BorrowedFd<'_>, name: &CStr) -> Result<(), Fault> {
    match beneath::remove_folder(parent, name) {
        Err(Errno::NOTEMPTY | Errno::EXIST) => {}
        removed => return Ok(removed?),
    }
    let inner = beneath::folder(parent, name, Links::Never)?;
    let (found, _) = beneath::names(&inner, BATCH)?;
    for name in found.iter().filter(|name| names::is_ours(name.to_bytes())) {
        sweep(inner.as_fd(), name)?;
    }
    match beneath::remove_folder(parent, name) {
        Err(Errno::NOTEMPTY | Errno::EXIST) => Err(FileReason::NotEmpty.into()),
        removed => Ok(removed?),
    }
}

/// Removes all that is in a folder. Special files go by their name, as everything does: none is opened.
fn empty(folder: BorrowedFd<'_>, depth: usize, gone: &mut Usage, stop: &Stop) -> Result<(), Fault> {
    if depth > 2 * DEEPEST {
        return Err(FileReason::TooDeep.into());
    }
    loop {
        let (found, more) = beneath::names(folder, BATCH)?;
        for name in &found {
            stop.check()?;
            let status = match beneath::status_of(folder, name) {
                Err(Errno::NOENT) => continue,
                status => status?,
            };
            if status.kind == Kind::Folder {
                let inner = beneath::folder(folder, &**name, Links::Never)?;
                empty(inner.as_fd(), depth + 1, gone, stop)?;
                beneath::remove_folder(folder, name)?;
            } else {
                beneath::remove(folder, name)?;
            }
            if names::is_ours(name.to_bytes()) {
                // It was not counted when it came.
                continue;
            }
            let worth = worth(&status);
            gone.bytes = gone.bytes.saturating_add(worth.bytes);
            gone.entries += 1;
        }
        if !more {
            return Ok(());
        }
    }
}
