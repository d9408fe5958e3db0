//! Packing: a walk through the folders, a piece each turn, while everybody else stands still.

use std::collections::BTreeMap;
use std::ffi::{CStr, CString};
use std::os::fd::OwnedFd;

use bailiwick_sys::Errno;
use bailiwick_wire::agent::{CHUNK, FromAgent, WINDOW};
use rustix::fs::{AtFlags, FileType, Mode, OFlags, SeekFrom, Stat, chmodat, fchmod, openat, statat};

use super::record::{Meta, Record};
use super::still::Still;
use super::{BEGINS, ENTRIES, PIECE, REMEMBERED};
use crate::descent::{Descent, open_forced};
use crate::folder::{self, Names};
use crate::job::{Progress, Trouble, at};
use crate::outgoing::Outgoing;
use crate::processes::Others;

const STEP: &str = "pack";
/// How many entries are packed in one turn.
const ENTRIES_A_TURN: usize = 64;

/// A pack that is made.
#[derive(Debug)]
pub(crate) struct Pack {
    folders: Vec<CString>,
    next: usize,
    walk: Option<Walk>,
    ready: Vec<u8>,
    is_complete: bool,
    credit: u32,
    left: u64,
    entries: u64,
    /// Files with more than one name: where the first was.
    linked: BTreeMap<(u64, u64), (u16, Vec<u8>)>,
    remembered: usize,
    /// Last, so that folders have their permissions back before anybody goes on.
    _still: Still,
}

/// A way through one folder.
#[derive(Debug)]
struct Walk {
    root: u16,
    descent: Descent,
    levels: Vec<Level>,
    file: Option<Reading>,
}

#[derive(Debug)]
struct Level {
    names: Names,
    was: Stat,
}

#[derive(Debug)]
struct Reading {
    file: OwnedFd,
    at: u64,
}

impl Drop for Walk {
    fn drop(&mut self) {
        // A walk that was given up: the folders that were opened by force get their permissions back.
        while let Some(level) = self.levels.pop() {
            let _best_effort = restore(self.descent.here(), &level.was);
            if !matches!(self.descent.leave(), Ok(Some(_))) {
                break;
            }
        }
    }
}

fn restore(folder: impl std::os::fd::AsFd, was: &Stat) -> Result<(), Errno> {
    if was.st_mode & 0o700 == 0o700 {
        return Ok(());
    }
    fchmod(folder, Mode::from_raw_mode(was.st_mode & 0o7777))
}

impl Pack {
    /// Lets everybody else stand still, and begins.
    pub(crate) fn begin(folders: &[String], most: u64, others: Others) -> Result<Self, Trouble> {
        let folders = folders.iter().map(|one| CString::new(one.as_str())).collect::<Result<Vec<_>, _>>();
        let folders = folders.map_err(|_| at(STEP)(Errno::INVAL))?;
        if folders.len() > usize::from(u16::MAX) {
            return Err(at(STEP)(Errno::TOOBIG));
        }
        let still = Still::begin(others).map_err(at("let everybody stand still"))?;
        Ok(Self {
            folders,
            next: 0,
            walk: None,
            ready: BEGINS.to_vec(),
            is_complete: false,
            credit: WINDOW,
            left: most,
            entries: 0,
            linked: BTreeMap::new(),
            remembered: 0,
            _still: still,
        })
    }

    pub(crate) fn give_credit(&mut self, bytes: u32) {
        self.credit = self.credit.saturating_add(bytes).min(WINDOW);
    }

    /// Packs a piece and sends what there is credit for.
    pub(crate) fn turn(
        &mut self,
        id: u32,
        scratch: &mut [u8],
        out: &mut Outgoing,
    ) -> Result<Progress, Trouble> {
        if self.credit == 0 || !out.has_room() {
            return Ok(Progress::Waits);
        }
        for _ in 0..ENTRIES_A_TURN {
            if self.is_complete || self.ready.len() >= CHUNK {
                break;
            }
            self.go_on(scratch).map_err(at(STEP))?;
        }
        let length = self.ready.len().min(CHUNK).min(self.credit as usize);
        if length > 0 {
            self.left =
                self.left.checked_sub(length as u64).ok_or(Trouble { step: STEP, errno: Errno::FBIG })?;
            self.credit = self.credit.saturating_sub(u32::try_from(length).unwrap_or(u32::MAX));
            out.push(&FromAgent::Data { id, bytes: self.ready.drain(..length).collect() });
        }
        Ok(if self.is_complete && self.ready.is_empty() { Progress::Done } else { Progress::More })
    }

    fn put(&mut self, record: &Record<'_>) -> Result<(), Errno> {
        if record.write(&mut self.ready) { Ok(()) } else { Err(Errno::NAMETOOLONG) }
    }

    /// One entry, or one piece of a file.
    fn go_on(&mut self, scratch: &mut [u8]) -> Result<(), Errno> {
        let Some(mut walk) = self.walk.take() else { return self.next_folder() };
        let went = self.go_on_with(&mut walk, scratch);
        if !walk.levels.is_empty() {
            self.walk = Some(walk);
        }
        went
    }

    fn next_folder(&mut self) -> Result<(), Errno> {
        let Some(path) = self.folders.get(self.next) else {
            self.is_complete = true;
            return self.put(&Record::End);
        };
        let root = u16::try_from(self.next).map_err(|_| Errno::TOOBIG)?;
        self.next += 1;
        let (folder, was) = open_forced(rustix::fs::CWD, path)?;
        let descent = Descent::begin(folder)?;
        let names = folder::names(descent.here(), REMEMBERED)?;
        self.remember(names.len())?;
        self.walk = Some(Walk { root, descent, levels: vec![Level { names, was }], file: None });
        self.put(&Record::Root(root))
    }

    fn remember(&mut self, bytes: usize) -> Result<(), Errno> {
        self.remembered += bytes;
        if self.remembered > REMEMBERED { Err(Errno::TOOBIG) } else { Ok(()) }
    }

    fn go_on_with(&mut self, walk: &mut Walk, scratch: &mut [u8]) -> Result<(), Errno> {
        if walk.file.is_some() {
            return self.piece(walk, scratch);
        }
        let Some(level) = walk.levels.last_mut() else { return Ok(()) };
        match level.names.next().map(CStr::to_owned) {
            Some(name) => {
                self.entries += 1;
                if self.entries > ENTRIES { Err(Errno::TOOBIG) } else { self.entry(walk, &name) }
            }
            None => self.leave(walk),
        }
    }

    fn leave(&mut self, walk: &mut Walk) -> Result<(), Errno> {
        let Some(level) = walk.levels.pop() else { return Ok(()) };
        self.remembered = self.remembered.saturating_sub(level.names.len());
        self.put(&Record::Leave(Meta::of(&level.was)))?;
        match walk.descent.leave()? {
            Some((_, folder)) => restore(folder, &level.was),
            None => restore(walk.descent.here(), &level.was),
        }
    }

    fn entry(&mut self, walk: &mut Walk, name: &CStr) -> Result<(), Errno> {
        let stat = statat(walk.descent.here(), name, AtFlags::SYMLINK_NOFOLLOW)?;
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::Directory => {
                let (folder, was) = match walk.descent.open(name) {
                    // Something is mounted there, which is not ours.
                    Err(Errno::XDEV) => return Ok(()),
                    opened => opened?,
                };
                let names = folder::names(&folder, REMEMBERED)?;
                self.remember(names.len())?;
                walk.descent.enter(name, folder)?;
                walk.levels.push(Level { names, was });
                self.put(&Record::Enter(name.to_owned()))
            }
            FileType::RegularFile => self.file(walk, name, &stat),
            FileType::Symlink => {
                let target = rustix::fs::readlinkat(walk.descent.here(), name, Vec::new())?;
                self.put(&Record::Link(name.to_owned(), Meta::of(&stat), target))
            }
            FileType::Fifo => self.put(&Record::Pipe(name.to_owned(), Meta::of(&stat))),
            // Sockets have nobody who listens, and devices nobody made here.
            _ => Ok(()),
        }
    }

    fn file(&mut self, walk: &mut Walk, name: &CStr, stat: &Stat) -> Result<(), Errno> {
        if stat.st_nlink > 1 {
            let identity = (stat.st_dev, stat.st_ino);
            if let Some((root, path)) = self.linked.get(&identity) {
                let record = Record::Again(name.to_owned(), *root, path);
                return if record.write(&mut self.ready) { Ok(()) } else { Err(Errno::NAMETOOLONG) };
            }
            let path = walk.descent.path(name);
            self.remember(path.len())?;
            self.linked.insert(identity, (walk.root, path));
        }
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let here = walk.descent.here();
        let file = match openat(here, name, flags, Mode::empty()) {
            Err(Errno::ACCESS) => {
                chmodat(here, name, Mode::RUSR, AtFlags::empty())?;
                let file = openat(here, name, flags, Mode::empty());
                chmodat(here, name, Mode::from_raw_mode(stat.st_mode & 0o7777), AtFlags::empty())?;
                file?
            }
            file => file?,
        };
        let size = u64::try_from(stat.st_size).unwrap_or(0);
        walk.file = Some(Reading { file, at: 0 });
        self.put(&Record::File(name.to_owned(), Meta::of(stat), size))
    }

    /// The next data of the file; holes are passed over.
    fn piece(&mut self, walk: &mut Walk, scratch: &mut [u8]) -> Result<(), Errno> {
        let Some(reading) = &mut walk.file else { return Ok(()) };
        let Some((begin, end)) = data_from(&reading.file, reading.at)? else {
            walk.file = None;
            return self.put(&Record::Close);
        };
        let most = usize::try_from(end.saturating_sub(begin)).unwrap_or(PIECE).min(PIECE);
        let buffer = scratch.get_mut(..most).unwrap_or_default();
        let length = rustix::io::pread(&reading.file, &mut *buffer, begin)?;
        if length == 0 {
            walk.file = None;
            return self.put(&Record::Close);
        }
        reading.at = begin + length as u64;
        self.put(&Record::Data(begin, buffer.get(..length).unwrap_or_default()))
    }
}

/// Where the next data of a file begins, and where it ends at the latest; none where nothing but a hole is left.
pub(super) fn data_from(file: &OwnedFd, at: u64) -> Result<Option<(u64, u64)>, Errno> {
    match rustix::fs::seek(file, SeekFrom::Data(at)) {
        Ok(begin) => Ok(Some((begin, rustix::fs::seek(file, SeekFrom::Hole(begin))?))),
        Err(Errno::NXIO) => Ok(None),
        // Some kernels, gVisor's among them, do not tell holes from data: then all of it is data.
        Err(Errno::INVAL) => Ok(Some((at, u64::MAX))),
        Err(errno) => Err(errno),
    }
}

/// A whole pack at once.
#[cfg(test)]
pub(super) fn whole(folders: &[String]) -> Result<Vec<u8>, Trouble> {
    let mut pack = Pack::begin(folders, u64::MAX, Others::Descendants)?;
    let mut scratch = vec![0; CHUNK];
    while !pack.is_complete {
        pack.go_on(&mut scratch).map_err(at(STEP))?;
    }
    Ok(std::mem::take(&mut pack.ready))
}
