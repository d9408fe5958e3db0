//! How much a workspace holds, and how much it may.
//!
//! One account per workspace and process, shared by every call that works there at the same time. Who changes a
//! workspace holds its account for as long as the change takes, so changes happen one after another and the sum is
//! never above the quota. The account is measured when it is first needed and forgotten with the last call, so what
//! others did to the folder in between is seen.

use std::collections::HashMap;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::{Arc, LazyLock, Mutex, PoisonError, Weak};

use bailiwick_sys::Errno;
use bailiwick_sys::beneath::{self, Identity, Kind, Links};

use super::reason::{Fault, FileReason};
use super::walk::DEEPEST;
use super::{Stop, names};

/// How much a workspace may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quota {
    /// The content of all files together.
    pub bytes: u64,
    /// Files, folders and whatever else has a name.
    pub entries: u64,
}

impl Quota {
    /// What holds when nothing else is said: 256 MiB in 100 000 entries.
    pub const USUAL: Self = Self { bytes: 256 << 20, entries: 100_000 };
}

impl Default for Quota {
    fn default() -> Self {
        Self::USUAL
    }
}

/// What is in a workspace. A file with several names counts with each.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Usage {
    pub(super) bytes: u64,
    pub(super) entries: u64,
}

/// A change, before it is made.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Change {
    pub(super) added: Usage,
    pub(super) taken: Usage,
}

/// The account of one workspace.
#[derive(Debug, Default)]
pub(super) struct Account {
    measured: Option<Usage>,
}

/// An account that whoever holds the lock may change.
pub(super) type Ledger = Arc<tokio::sync::Mutex<Account>>;

static OPEN: LazyLock<Mutex<HashMap<Identity, Weak<tokio::sync::Mutex<Account>>>>> =
    LazyLock::new(Mutex::default);

/// The account of a held workspace: the one that others use, if there is one.
pub(super) fn of(workspace: impl AsFd) -> Result<Ledger, Errno> {
    let identity = beneath::status(workspace)?.identity;
    let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(ledger) = open.get(&identity).and_then(Weak::upgrade) {
        return Ok(ledger);
    }
    open.retain(|_, ledger| ledger.strong_count() > 0);
    let ledger = Ledger::default();
    open.insert(identity, Arc::downgrade(&ledger));
    Ok(ledger)
}

impl Account {
    /// What is in the workspace; measured now if it was not. Leftovers of a crash go on the way.
    pub(super) fn usage(
        &mut self,
        workspace: BorrowedFd<'_>,
        quota: Quota,
        stop: &Stop,
    ) -> Result<Usage, Fault> {
        if let Some(usage) = self.measured {
            return Ok(usage);
        }
        let mut usage = Usage::default();
        let whole = measure(workspace, quota, 0, &mut usage, stop)?;
        if whole {
            self.measured = Some(usage);
        } else {
            // What was not counted to the end is more than there may be; it is counted again when some of it went.
            usage.entries = usage.entries.max(quota.entries.saturating_add(1));
        }
        Ok(usage)
    }

    /// Makes a change if there is room for it. What fails must have changed nothing, or [`Self::forget`] is called;
    /// what takes more than it adds is always made.
    pub(super) fn spend<T>(
        &mut self,
        (workspace, quota, stop): (BorrowedFd<'_>, Quota, &Stop),
        change: Change,
        make: impl FnOnce() -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        let Change { added, taken } = change;
        let usage = self.usage(workspace, quota, stop)?;
        let after = Usage {
            bytes: usage.bytes.saturating_sub(taken.bytes).saturating_add(added.bytes),
            entries: usage.entries.saturating_sub(taken.entries).saturating_add(added.entries),
        };
        let over = |after: u64, before: u64, most: u64| after > most && after > before;
        if over(after.bytes, usage.bytes, quota.bytes) || over(after.entries, usage.entries, quota.entries) {
            return Err(FileReason::Quota.into());
        }
        if added.bytes > taken.bytes && !leaves_the_reserve(workspace, added.bytes)? {
            return Err(FileReason::DiskFull.into());
        }
        let result = make()?;
        // More went than was there: somebody else put it there, so what is there is counted again.
        let consistent = usage.bytes >= taken.bytes && usage.entries >= taken.entries;
        self.measured = self.measured.filter(|_| consistent).map(|_| after);
        Ok(result)
    }

    /// Forgets what was measured: a change was made in part.
    pub(super) fn forget(&mut self) {
        self.measured = None;
    }
}

/// What stays free of a disk of this size, whatever workspaces hold: a 20th, from 4 MiB to 256 MiB. Workspaces lie in the data
/// directory, and the operator's actions must still find room for their records there.
pub fn kept_free(total: u64) -> u64 {
    (total / 20).clamp(4 << 20, 256 << 20)
}

/// Whether so many bytes more leave free what has to stay free.
fn leaves_the_reserve(workspace: BorrowedFd<'_>, bytes: u64) -> Result<bool, Errno> {
    let disk = rustix::fs::fstatvfs(workspace)?;
    let free = disk.f_bavail.saturating_mul(disk.f_frsize);
    Ok(free.saturating_sub(bytes) >= kept_free(disk.f_blocks.saturating_mul(disk.f_frsize)))
}

/// Counts what is in a folder and below; `false` when there is more than the quota could hold.
fn measure(
    folder: BorrowedFd<'_>,
    quota: Quota,
    depth: usize,
    usage: &mut Usage,
    stop: &Stop,
) -> Result<bool, Fault> {
    let room = usize::try_from(quota.entries.saturating_sub(usage.entries)).unwrap_or(usize::MAX);
    let (found, more) = beneath::names(folder, room.saturating_add(1))?;
    for name in found {
        stop.check()?;
        let status = match beneath::status_of(folder, &name) {
            Err(Errno::NOENT) => continue,
            status => status?,
        };
        if names::is_ours(name.to_bytes()) && sweep(folder, &name)? {
            continue;
        }
        usage.entries += 1;
        match status.kind {
            Kind::File => usage.bytes = usage.bytes.saturating_add(status.size),
            Kind::Folder if depth >= 2 * DEEPEST => return Ok(false),
            Kind::Folder => match beneath::folder(folder, &*name, Links::Never) {
                Ok(inner) => {
                    if !measure(inner.as_fd(), quota, depth + 1, usage, stop)? {
                        return Ok(false);
                    }
                }
                // Gone, or no longer a folder, or another file system, which is not ours to count.
                Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP | Errno::XDEV) => {}
                Err(errno) => return Err(errno.into()),
            },
            Kind::Link | Kind::Special => {}
        }
    }
    Ok(!more)
}

/// Removes a file that a crash left over; `false` if it is still being written by somebody.
pub(super) fn sweep(folder: BorrowedFd<'_>, name: &std::ffi::CStr) -> Result<bool, Fault> {
    let held = match beneath::look(folder, name, Links::Never) {
        Err(Errno::NOENT) => return Ok(true),
        Err(Errno::LOOP) => return Ok(false),
        held => held?,
    };
    let file = match beneath::read_again(&held) {
        // Not a file: not ours, whatever its name is.
        Err(Errno::OPNOTSUPP) => return Ok(false),
        read => read?.0,
    };
    if !beneath::claim(&file)? {
        return Ok(false);
    }
    match beneath::remove(folder, name) {
        Err(Errno::NOENT) | Ok(()) => Ok(true),
        Err(errno) => Err(errno.into()),
    }
}
