//! Unpacking: records as they come, applied below the folders that were named and nowhere else, whatever they say.

use std::ffi::{CStr, CString};
use std::os::fd::{AsFd, OwnedFd};

use bailiwick_sys::Errno;
use rustix::fs::{
    AtFlags, FileType, Mode, OFlags, Timespec, Timestamps, UTIME_OMIT, fchmod, fstat, ftruncate, futimens,
    linkat, mkdirat, mknodat, openat, symlinkat, utimensat,
};
use rustix::process::geteuid;

use super::record::{self, Meta, Record};
use super::{BEGINS, ENTRIES, LONGEST_RECORD, REMEMBERED};
use crate::descent::Descent;
use crate::folder;
use crate::job::{Trouble, at};

const STEP: &str = "unpack";
const READ: &str = "read the pack";

/// A pack that is unpacked.
#[derive(Debug)]
pub(crate) struct Unpack {
    folders: Vec<CString>,
    held: Vec<u8>,
    phase: Phase,
    entries: u64,
    /// Folders that their owner may not enter: they get their permissions when nobody has to go there any more.
    shut: Vec<(u16, Vec<u8>, Mode)>,
    remembered: usize,
}

#[derive(Debug)]
enum Phase {
    Begins,
    Between,
    Below(Place),
    Ended,
}

/// Where it is.
#[derive(Debug)]
struct Place {
    root: u16,
    descent: Descent,
    /// The path of where it is, and where in it the last name begins.
    path: Vec<u8>,
    cuts: Vec<usize>,
    file: Option<(OwnedFd, Meta, u64)>,
}

fn broken() -> Trouble {
    Trouble { step: READ, errno: Errno::INVAL }
}

impl Unpack {
    pub(crate) fn begin(folders: &[String]) -> Result<Self, Trouble> {
        let folders = folders.iter().map(|one| CString::new(one.as_str())).collect::<Result<Vec<_>, _>>();
        let folders = folders.map_err(|_| at(STEP)(Errno::INVAL))?;
        let (held, shut) = (Vec::new(), Vec::new());
        Ok(Self { folders, held, phase: Phase::Begins, entries: 0, shut, remembered: 0 })
    }

    /// Takes a part of the pack, and applies every record that is whole by then.
    pub(crate) fn data(&mut self, bytes: &[u8]) -> Result<(), Trouble> {
        let mut held = std::mem::take(&mut self.held);
        held.extend_from_slice(bytes);
        let mut rest = held.as_slice();
        if matches!(self.phase, Phase::Begins) {
            let Some((begins, behind)) = rest.split_at_checked(BEGINS.len()) else {
                self.held = held;
                return Ok(());
            };
            if begins != BEGINS {
                return Err(broken());
            }
            self.phase = Phase::Between;
            rest = behind;
        }
        while let Some((length, behind)) = rest.split_first_chunk::<4>() {
            let length = u32::from_le_bytes(*length) as usize;
            if length > LONGEST_RECORD {
                return Err(broken());
            }
            let Some((record, behind)) = behind.split_at_checked(length) else { break };
            rest = behind;
            self.apply(Record::read(record).ok_or_else(broken)?)?;
        }
        self.held = rest.to_vec();
        Ok(())
    }

    /// All of it came: it has to have ended by its own word.
    pub(crate) fn finish(&mut self) -> Result<(), Trouble> {
        if !matches!(self.phase, Phase::Ended) || !self.held.is_empty() {
            return Err(broken());
        }
        for (root, path, mode) in std::mem::take(&mut self.shut) {
            let folder = if path.is_empty() {
                self.root(root)?
            } else {
                let (folder, name) = self.find(root, &path)?;
                folder::open(folder, &name).map_err(at(STEP))?
            };
            fchmod(folder, mode).map_err(at(STEP))?;
        }
        Ok(())
    }

    fn apply(&mut self, record: Record<'_>) -> Result<(), Trouble> {
        self.entries += 1;
        if self.entries > ENTRIES.saturating_mul(4) {
            return Err(at(READ)(Errno::TOOBIG));
        }
        match (&mut self.phase, record) {
            (Phase::Between, Record::Root(root)) => {
                let folder = self.root(root)?;
                let descent = Descent::begin(folder).map_err(at(STEP))?;
                let (path, cuts, file) = (Vec::new(), Vec::new(), None);
                self.phase = Phase::Below(Place { root, descent, path, cuts, file });
                Ok(())
            }
            (Phase::Between, Record::End) => {
                self.phase = Phase::Ended;
                Ok(())
            }
            (Phase::Below(place), record) => match record {
                Record::Leave(meta) => self.leave(&meta),
                Record::Again(name, root, path) => self.again(&name, root, path),
                record => place.apply(record),
            },
            _ => Err(broken()),
        }
    }

    fn root(&self, number: u16) -> Result<OwnedFd, Trouble> {
        let path = self.folders.get(usize::from(number)).ok_or_else(broken)?;
        folder::open(rustix::fs::CWD, path).map_err(at(STEP))
    }

    /// Leaves a folder, and gives it the permissions and the time it had.
    fn leave(&mut self, meta: &Meta) -> Result<(), Trouble> {
        let Phase::Below(place) = &mut self.phase else { return Err(broken()) };
        if place.file.is_some() {
            return Err(broken());
        }
        let mode = Mode::from_raw_mode(meta.mode);
        let left = place.descent.leave().map_err(at(STEP))?;
        let is_root = left.is_none();
        let folder = left.as_ref().map_or(place.descent.here(), |(_, folder)| folder.as_fd());
        let (root, path) = (place.root, place.path.clone());
        let cut = place.cuts.pop().unwrap_or(0);
        // A root may be somebody else's, and so may a folder that was made for a mount below; nobody here can have changed those.
        let now = fstat(folder).map_err(at(STEP))?;
        let is_ours = now.st_uid == geteuid().as_raw();
        let is_as_it_was = (is_root || !is_ours) && now.st_mode & 0o1777 == meta.mode;
        if !is_root && is_ours {
            set_time(folder, meta)?;
        }
        if meta.mode & 0o700 != 0o700 {
            self.remembered += path.len();
            if self.remembered > REMEMBERED {
                return Err(at(STEP)(Errno::TOOBIG));
            }
            self.shut.push((root, path, mode));
        } else if !is_as_it_was {
            fchmod(folder, mode).map_err(at(STEP))?;
        }
        if is_root {
            self.phase = Phase::Between;
            return Ok(());
        }
        place.path.truncate(cut);
        Ok(())
    }

    /// Another name of a file that came before.
    fn again(&self, name: &CStr, root: u16, path: &[u8]) -> Result<(), Trouble> {
        let Phase::Below(place) = &self.phase else { return Err(broken()) };
        let (folder, first) = self.find(root, path)?;
        let stat = rustix::fs::statat(&folder, &first, AtFlags::SYMLINK_NOFOLLOW).map_err(at(STEP))?;
        if place.file.is_some() || FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
            return Err(broken());
        }
        linkat(&folder, &first, place.descent.here(), name, AtFlags::empty()).map_err(at(STEP))
    }

    /// The folder of a path and its last name, without following a link on the way.
    fn find(&self, root: u16, path: &[u8]) -> Result<(OwnedFd, CString), Trouble> {
        let mut names = record::names(path).ok_or_else(broken)?;
        let last = names.pop().ok_or_else(broken)?;
        let mut folder = self.root(root)?;
        for name in names {
            folder = folder::open(&folder, &name).map_err(at(STEP))?;
        }
        Ok((folder, last))
    }
}

impl Place {
    fn apply(&mut self, record: Record<'_>) -> Result<(), Trouble> {
        if let Some((file, _, size)) = &self.file {
            return match record {
                Record::Data(offset, bytes) => write_at(file, *size, offset, bytes),
                Record::Close => self.close(),
                _ => Err(broken()),
            };
        }
        let here = self.descent.here();
        match record {
            Record::Enter(name) => self.enter(&name),
            Record::File(name, meta, size) => {
                let flags =
                    OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
                let file = openat(here, &name, flags, Mode::RUSR | Mode::WUSR).map_err(at(STEP))?;
                ftruncate(&file, size).map_err(at(STEP))?;
                self.file = Some((file, meta, size));
                Ok(())
            }
            Record::Link(name, meta, target) => {
                symlinkat(&target, here, &name).map_err(at(STEP))?;
                utimensat(here, &name, &times(&meta), AtFlags::SYMLINK_NOFOLLOW).map_err(at(STEP))
            }
            Record::Pipe(name, meta) => {
                mknodat(here, &name, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).map_err(at(STEP))?;
                utimensat(here, &name, &times(&meta), AtFlags::SYMLINK_NOFOLLOW).map_err(at(STEP))?;
                rustix::fs::chmodat(here, &name, Mode::from_raw_mode(meta.mode), AtFlags::empty())
                    .map_err(at(STEP))
            }
            _ => Err(broken()),
        }
    }

    /// Makes a folder and goes there. One that is there already was there at birth; of another file system it is not ours.
    fn enter(&mut self, name: &CStr) -> Result<(), Trouble> {
        match mkdirat(self.descent.here(), name, Mode::RWXU) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(errno) => return Err(at(STEP)(errno)),
        }
        let (folder, _) = self.descent.open(name).map_err(at(STEP))?;
        self.descent.enter(name, folder).map_err(at(STEP))?;
        self.cuts.push(self.path.len());
        self.path = record::under(&self.path, name);
        Ok(())
    }

    fn close(&mut self) -> Result<(), Trouble> {
        let Some((file, meta, _)) = self.file.take() else { return Err(broken()) };
        fchmod(&file, Mode::from_raw_mode(meta.mode)).map_err(at(STEP))?;
        set_time(&file, &meta)
    }
}

fn write_at(file: &OwnedFd, size: u64, offset: u64, bytes: &[u8]) -> Result<(), Trouble> {
    if offset.checked_add(bytes.len() as u64).is_none_or(|end| end > size) {
        return Err(broken());
    }
    let (mut offset, mut rest) = (offset, bytes);
    while !rest.is_empty() {
        let written = rustix::io::pwrite(file, rest, offset).map_err(at(STEP))?;
        offset += written as u64;
        rest = rest.get(written..).unwrap_or_default();
    }
    Ok(())
}

fn times(meta: &Meta) -> Timestamps {
    let untouched = Timespec { tv_sec: 0, tv_nsec: UTIME_OMIT };
    Timestamps { last_access: untouched, last_modification: meta.time() }
}

fn set_time(file: impl AsFd, meta: &Meta) -> Result<(), Trouble> {
    futimens(file, &times(meta)).map_err(at(STEP))
}
