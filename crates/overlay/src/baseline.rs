//! What the host's folder was when the sandbox began, as far as it has to be known to find what changed meanwhile.
//!
//! Nothing is copied and nothing waits for a walk. A file changed meanwhile when its stamps say so: the kernel moves
//! the stamp of a file's last change with every write, rename, link and mode, and nobody can set it back. That a name is
//! gone leaves no stamp but its folder's, so [`Names`] may be read in the background while the sandbox runs; what it did
//! not get to in time is not known, and what is not known is a conflict.
//!
//! What this cannot see: a clock that was set back while the sandbox ran, a file system that keeps no stamps or has
//! another machine's clock, and a write through a mapping that was open before and that the kernel has not noticed yet.

use std::collections::{BTreeMap, HashSet};
use std::hash::{BuildHasher as _, RandomState};
use std::sync::atomic::{AtomicBool, Ordering};

use bailiwick_sys::beneath::{self, Links};
use rustix::fs::{Dir, FileType};
use rustix::io::Errno;

use crate::change::Finding;
use crate::fault::{Doing, Fault};
use crate::seen::{Kind, Moment, Seen};
use crate::{Host, RelPath};

/// What the host's folder was when the sandbox began.
#[derive(Debug)]
pub struct Baseline {
    began: Moment,
    names: Option<Names>,
    /// What commits of ours left, which is no change of somebody else's.
    ours: BTreeMap<RelPath, Ours>,
}

/// What a commit of ours left at a path.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Ours {
    Nothing,
    This(Seen),
}

/// The names that a folder held when the sandbox began.
#[derive(Debug, Default)]
pub struct Names {
    hash: RandomState,
    paths: HashSet<u64>,
    /// The folders that were read in full before anything changed in them.
    sure: HashSet<u64>,
}

impl Baseline {
    /// The sandbox begins now: to be taken before its mount is made.
    ///
    /// The clock moves in ticks, and may be a few of them late: what was changed within some milliseconds before counts as
    /// changed since. That is the safe side; nobody's change after this is missed.
    pub fn begin() -> Self {
        Self::at(Moment::now())
    }

    /// The sandbox began then, by the clock of [`Moment::now`].
    pub const fn at(began: Moment) -> Self {
        Self { began, names: None, ours: BTreeMap::new() }
    }

    /// When it began.
    pub const fn began(&self) -> Moment {
        self.began
    }

    /// The names that were there are known now.
    pub fn know(&mut self, names: Names) {
        self.names = Some(names);
    }

    /// Remembers what a commit of ours left.
    pub(crate) fn left_by_us(&mut self, path: RelPath, left: Ours) {
        self.ours.insert(path, left);
    }

    /// What a commit of ours left there, if there was one.
    pub(crate) fn ours(&self, path: &RelPath) -> Option<Ours> {
        self.ours.get(path).copied()
    }

    /// Whether somebody else changed what is there since the sandbox began.
    pub(crate) fn is_changed(&self, path: &RelPath, seen: &Seen) -> bool {
        if let Some(Ours::This(ours)) = self.ours.get(path)
            && seen.is_still(ours)
            && seen.changed == ours.changed
        {
            return false;
        }
        // A time of the last write can be set to any: one in the future says nothing.
        let written = seen.modified.may_be_since(self.began) && seen.modified <= Moment::now();
        written || seen.changed.may_be_since(self.began)
    }

    /// What somebody else did meanwhile to something that the host has.
    pub(crate) fn of_present(&self, path: &RelPath, seen: &Seen, folder: &RelPath) -> Option<Finding> {
        let changed = self.is_changed(path, seen);
        if !changed && matches!(self.ours.get(path), Some(Ours::This(_))) {
            return None;
        }
        let was_there = self.names.as_ref().and_then(|names| names.had(path, folder));
        match (was_there, changed) {
            (Some(false), _) => Some(Finding::HostAdded),
            (_, true) => Some(Finding::HostChanged),
            (_, false) => None,
        }
    }

    /// What somebody else did meanwhile to something that the host does not have, in a folder that it has.
    pub(crate) fn of_missing(&self, path: &RelPath, (folder, seen): (&RelPath, &Seen)) -> Option<Finding> {
        match self.ours.get(path) {
            Some(Ours::Nothing) => return None,
            Some(Ours::This(_)) => return Some(Finding::HostGone),
            None => {}
        }
        match self.names.as_ref().and_then(|names| names.had(path, folder)) {
            Some(true) => Some(Finding::HostGone),
            Some(false) => None,
            // In a folder that did not change, what is missing was missing.
            None => self.is_changed(folder, seen).then_some(Finding::Unknown),
        }
    }
}

impl Names {
    /// Reads the names of a folder and of all in it, at most so many. What is not reached is not known.
    ///
    /// It is meant for a thread of its own while the sandbox starts; `stop` ends it early.
    ///
    /// # Errors
    /// When the folder itself cannot be read.
    pub fn scan(host: &Host, began: Moment, most: usize, stop: &AtomicBool) -> Result<Self, Fault> {
        let mut names = Self::default();
        let mut open = vec![RelPath::root()];
        while let Some(path) = open.pop() {
            if stop.load(Ordering::Relaxed) {
                break;
            }
            match names.read(host, &path, began, most, &mut open) {
                Ok(()) => {}
                // A folder that cannot be read, or went away, is one that is not known.
                Err(_) if !path.is_root() => {}
                Err(errno) => return Err(Fault::system(Doing::LookAtHost, &path)(errno)),
            }
        }
        Ok(names)
    }

    /// How many names are known.
    pub fn len(&self) -> usize {
        self.paths.len()
    }

    /// Whether none is known.
    pub fn is_empty(&self) -> bool {
        self.paths.is_empty()
    }

    fn read(
        &mut self,
        host: &Host,
        path: &RelPath,
        began: Moment,
        most: usize,
        open: &mut Vec<RelPath>,
    ) -> Result<(), Errno> {
        let room = most.saturating_sub(self.paths.len());
        let folder = beneath::folder(host.fd(), path.to_c().as_c_str(), Links::Never)?;
        let before = Seen::of(&folder)?;
        let mut more = false;
        let mut found = 0;
        for entry in Dir::read_from(&folder)? {
            let entry = entry?;
            let name = entry.file_name();
            if matches!(name.to_bytes(), b"." | b"..") {
                continue;
            }
            if found == room {
                more = true;
                break;
            }
            found += 1;
            let path = path.join(name.to_bytes());
            self.paths.insert(self.number(&path));
            // Most file systems say it along with the name. A mount in the way is found when it is opened.
            let is_folder = match entry.file_type() {
                FileType::Directory => true,
                FileType::Unknown => beneath::status_of(&folder, name)?.kind == beneath::Kind::Folder,
                _ => false,
            };
            if is_folder {
                open.push(path);
            }
        }
        let after = Seen::of(&folder)?;
        let untouched = before.kind == Kind::Folder && after == before && !after.changed.may_be_since(began);
        if untouched && !more {
            self.sure.insert(self.number(path));
        }
        Ok(())
    }

    /// Whether a name was there, if its folder was read in time.
    fn had(&self, path: &RelPath, folder: &RelPath) -> Option<bool> {
        self.sure.contains(&self.number(folder)).then(|| self.paths.contains(&self.number(path)))
    }

    fn number(&self, path: &RelPath) -> u64 {
        self.hash.hash_one(path)
    }
}
