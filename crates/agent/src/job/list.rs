//! Listing a folder by name, in parts.

use std::ffi::CString;
use std::os::fd::OwnedFd;

use bailiwick_sys::Errno;
use bailiwick_wire::agent::{FromAgent, Listed};
use rustix::fs::{AtFlags, FileType, Mode, OFlags, statat};

use super::{Progress, Trouble, at};
use crate::folder;
use crate::outgoing::Outgoing;

/// The most entries in one message.
const BATCH: usize = 256;
/// The most bytes of names; a folder with more is not held in memory to be sorted.
const NAMES: usize = 8 << 20;

/// A folder that is listed.
#[derive(Debug)]
pub(crate) struct List {
    folder: OwnedFd,
    /// Those that were not told, the last first.
    names: Vec<CString>,
}

impl List {
    pub(crate) fn begin(path: &str) -> Result<Self, Trouble> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let folder = rustix::fs::open(path, flags, Mode::empty()).map_err(at("open the folder"))?;
        let mut found = folder::names(&folder, NAMES).map_err(at("list the folder"))?;
        let mut names = Vec::new();
        while let Some(name) = found.next() {
            names.push(name.to_owned());
        }
        names.sort_unstable_by(|one, other| other.cmp(one));
        Ok(Self { folder, names })
    }

    pub(super) fn turn(&mut self, id: u32, out: &mut Outgoing) -> Result<Progress, Trouble> {
        if self.names.is_empty() {
            return Ok(Progress::Done);
        }
        if !out.has_room() {
            return Ok(Progress::Waits);
        }
        let mut entries = Vec::new();
        let from = self.names.len().saturating_sub(BATCH);
        for name in self.names.drain(from..).rev() {
            match statat(&self.folder, &name, AtFlags::SYMLINK_NOFOLLOW) {
                Ok(stat) => entries.push(Listed {
                    name: name.to_string_lossy().into_owned(),
                    kind: match FileType::from_raw_mode(stat.st_mode) {
                        FileType::RegularFile => 'f',
                        FileType::Directory => 'd',
                        FileType::Symlink => 'l',
                        _ => 'o',
                    },
                    bytes: u64::try_from(stat.st_size).unwrap_or(0),
                    mode: stat.st_mode & 0o7777,
                }),
                // It went while the others were told.
                Err(Errno::NOENT) => {}
                Err(errno) => return Err(at("look at an entry of the folder")(errno)),
            }
        }
        out.push(&FromAgent::Listed { id, entries });
        Ok(Progress::More)
    }
}
