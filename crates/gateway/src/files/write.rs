//! Writing: a file is made beside its place, under a name nobody can guess, and takes the place in one step.
//!
//! What was there is never opened for writing, so no link and no other name of it can lead a write elsewhere, and a
//! reader sees the old content or the new one, never half of either.

use std::ffi::CStr;
use std::io::Write as _;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::sync::Arc;

use bailiwick_sys::Errno;
use bailiwick_sys::beneath::{self, Kind, Links, Status, Taken};
use bailiwick_types::FileAnswer;

use super::ledger::{Account, Change, Quota, Usage};
use super::place::{self, Spot};
use super::reason::{Fault, FileReason};
use super::{Stop, answer, names};

/// How often a write is tried again when others take the same name.
const TRIES: u32 = 8;
const BLOCK: usize = 256 << 10;

/// What a change works with. Whoever has it is the only one who changes the workspace.
#[derive(Debug)]
pub(super) struct Desk {
    pub(super) workspace: Arc<OwnedFd>,
    pub(super) quota: Quota,
    pub(super) account: tokio::sync::OwnedMutexGuard<Account>,
    pub(super) stop: Stop,
}

impl Desk {
    /// Makes a change if there is room for it.
    pub(super) fn spend<T>(
        &mut self,
        change: Change,
        make: impl FnOnce() -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        self.account.spend((self.workspace.as_fd(), self.quota, &self.stop), change, make)
    }

    /// What is in the workspace.
    pub(super) fn usage(&mut self) -> Result<Usage, Fault> {
        self.account.usage(self.workspace.as_fd(), self.quota, &self.stop)
    }
}

/// Puts content at a place: a new file, or instead of the one that is there.
pub(super) fn put(desk: &mut Desk, spot: &Spot, content: &[u8]) -> Result<FileAnswer, Fault> {
    let size = length(content);
    if size > place::MOST_BYTES {
        return Err(FileReason::TooLarge.into());
    }
    let stop = desk.stop.clone();
    let mut tries = 0;
    loop {
        if spot.depth() == 0 {
            return Err(FileReason::IsAFolder.into());
        }
        let (parent, name) = spot.parent()?;
        let old = occupant(parent.as_fd(), &name)?;
        if old.is_none() {
            names::new_name(&names::shown(&name))?;
        }
        let change = Change {
            added: Usage { bytes: size, entries: u64::from(old.is_none()) },
            taken: Usage { bytes: old.map_or(0, |old| old.size), entries: 0 },
        };
        match desk.spend(change, || replace(parent.as_fd(), &name, content, old, &stop)) {
            // Somebody else took the name, or swept away what was being written: look again.
            Err(Fault { reason: FileReason::Exists | FileReason::NotFound, .. }) if tries < TRIES => {
                tries += 1;
            }
            Err(Fault { reason: FileReason::Exists, path }) => {
                return Err(Fault { reason: FileReason::Busy, path });
            }
            done => {
                done?;
                return answer::number("size", size);
            }
        }
    }
}

fn length(content: &[u8]) -> u64 {
    u64::try_from(content.len()).unwrap_or(u64::MAX)
}

/// The file that has a name already, if it is one that may be written.
fn occupant(parent: BorrowedFd<'_>, name: &CStr) -> Result<Option<Status>, Fault> {
    let status = match beneath::status_of(parent, name) {
        Err(Errno::NOENT) => return Ok(None),
        status => status?,
    };
    match status.kind {
        Kind::File if status.names > 1 => Err(FileReason::HardLinked.into()),
        Kind::File => Ok(Some(status)),
        Kind::Folder => Err(FileReason::IsAFolder.into()),
        Kind::Link => Err(FileReason::Link.into()),
        Kind::Special => Err(FileReason::SpecialFile.into()),
    }
}

/// Writes beside the place, then takes it.
fn replace(
    parent: BorrowedFd<'_>,
    name: &CStr,
    content: &[u8],
    old: Option<Status>,
    stop: &Stop,
) -> Result<(), Fault> {
    let part = names::part()?;
    let written = fill(parent, &part, content, old, stop).and_then(|file| {
        let taken = if old.is_some() { Taken::Replace } else { Taken::Refuse };
        beneath::rename((parent, &part), (parent, name), taken)?;
        // Held, and so claimed, until it has its name.
        drop(file);
        Ok(())
    });
    if let Err(fault) = written {
        match beneath::remove(parent, &part) {
            Ok(()) | Err(Errno::NOENT) => {}
            // It is swept away when the workspace is next measured.
            Err(errno) => tracing::warn!(%errno, "a file that was not written to the end stays for now"),
        }
        return Err(fault);
    }
    beneath::sync(parent)?;
    Ok(())
}

fn fill(
    parent: BorrowedFd<'_>,
    part: &CStr,
    content: &[u8],
    old: Option<Status>,
    stop: &Stop,
) -> Result<std::fs::File, Fault> {
    let mut file = beneath::create(parent, part)?;
    if !beneath::claim(&file)? {
        return Err(FileReason::Busy.into());
    }
    if let Some(old) = old {
        beneath::set_permissions(&file, old.permissions)?;
    }
    for block in content.chunks(BLOCK) {
        stop.check()?;
        file.write_all(block)?;
    }
    stop.check()?;
    beneath::sync(&file)?;
    Ok(file)
}

/// Adds to the end of a file, which is made if it is not there.
pub(super) fn append(desk: &mut Desk, spot: &Spot, more: &[u8]) -> Result<FileAnswer, Fault> {
    let stop = desk.stop.clone();
    let mut content = match spot.read_itself(&stop) {
        Err(Fault { reason: FileReason::NotFound, .. }) => Vec::new(),
        content => content?,
    };
    content.extend_from_slice(more);
    put(desk, spot, &content)
}

/// Replaces a text in a file by another.
pub(super) fn edit(
    desk: &mut Desk,
    spot: &Spot,
    old: &str,
    new: &str,
    all: bool,
) -> Result<FileAnswer, Fault> {
    if old.is_empty() {
        return Err(FileReason::BadArgument.into());
    }
    let stop = desk.stop.clone();
    let text = String::from_utf8(spot.read_itself(&stop)?).map_err(|_| FileReason::NotUtf8)?;
    let times = text.matches(old).count();
    match times {
        0 => return Err(FileReason::NoMatch.into()),
        2.. if !all => return Err(FileReason::NotUnique.into()),
        _ => {}
    }
    let grown = times.saturating_mul(new.len()).saturating_add(text.len() - times * old.len());
    if u64::try_from(grown).map_or(true, |grown| grown > place::MOST_BYTES) {
        return Err(FileReason::TooLarge.into());
    }
    put(desk, spot, text.replace(old, new).as_bytes())?;
    answer::number("replaced", u64::try_from(times).unwrap_or(u64::MAX))
}

/// Makes a folder and those above it. One that is there is fine.
pub(super) fn make_folder(desk: &mut Desk, spot: &Spot) -> Result<FileAnswer, Fault> {
    let mut here = Arc::clone(spot.root());
    for part in spot.parts() {
        desk.stop.check()?;
        let name = names::old_name(part)?;
        let inner = match beneath::folder(&here, &*name, Links::Never) {
            Err(Errno::NOENT) => {
                let name = names::new_name(part)?;
                let change = Change { added: Usage { bytes: 0, entries: 1 }, ..Change::default() };
                let made = desk.spend(change, || Ok(beneath::make_folder(&here, &name)?));
                match made {
                    Err(Fault { reason: FileReason::Exists, .. }) => {}
                    made => {
                        made?;
                        beneath::sync(&here)?;
                    }
                }
                beneath::folder(&here, &*name, Links::Never)?
            }
            inner => inner?,
        };
        here = Arc::new(inner);
    }
    Ok(answer::nothing())
}
