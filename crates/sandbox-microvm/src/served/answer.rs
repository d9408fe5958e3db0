//! What a machine's kernel is answered: one arm for each question that it may ask. What is not here is not offered.

use std::collections::HashMap;
use std::ffi::{CStr, CString};
use std::fs::File;
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt as _;
use std::sync::Arc;

use bailiwick_sys::Errno;
use bailiwick_sys::beneath;
use bailiwick_wire::machine::PIECE;
use rustix::fs::{AtFlags, CWD, FileType, Statx, StatxFlags};

use super::attributes::{Told, kind};
use super::names::{FIRST, Names, ROOT};
use super::question::Question;
use super::shares::{ENTER, READ, Share, Shares, look_at};

/// Kinds of questions.
mod asked {
    pub(super) const LOOKUP: u32 = 1;
    pub(super) const FORGET: u32 = 2;
    pub(super) const GETATTR: u32 = 3;
    pub(super) const SETATTR: u32 = 4;
    pub(super) const READLINK: u32 = 5;
    pub(super) const SYMLINK: u32 = 6;
    pub(super) const MKNOD: u32 = 8;
    pub(super) const MKDIR: u32 = 9;
    pub(super) const UNLINK: u32 = 10;
    pub(super) const RMDIR: u32 = 11;
    pub(super) const RENAME: u32 = 12;
    pub(super) const LINK: u32 = 13;
    pub(super) const READ: u32 = 15;
    pub(super) const WRITE: u32 = 16;
    pub(super) const STATFS: u32 = 17;
    pub(super) const FSYNC: u32 = 20;
    pub(super) const INIT: u32 = 26;
    pub(super) const READDIR: u32 = 28;
    pub(super) const DESTROY: u32 = 38;
    pub(super) const BATCH_FORGET: u32 = 42;
    pub(super) const READDIRPLUS: u32 = 44;
    pub(super) const RENAME2: u32 = 45;
}

/// What is agreed on with a kernel, of what it can: reads in parallel, pages that follow the time of a file, names with what they
/// stand for, long reads, links that are remembered, and no opening at all: a file is read by its number.
const FEATURES: u32 =
    1 | 1 << 5 | 1 << 12 | 1 << 13 | 1 << 14 | 1 << 17 | 1 << 18 | 1 << 22 | 1 << 23 | 1 << 24;
/// The most files that are kept open for one machine.
const MOST_OPEN: usize = 64;
/// The most names in a folder that is listed.
const MOST_NAMES: usize = 1 << 18;

pub(super) type Answer = Result<Vec<u8>, Errno>;

/// Answers one machine.
#[derive(Debug)]
pub(crate) struct Server {
    pub(super) shares: Arc<Shares>,
    pub(super) names: Names,
    /// Files that were read a moment ago.
    pub(super) open: HashMap<u64, File>,
    /// Files that were written a moment ago.
    pub(super) written: HashMap<u64, File>,
    /// Files that have no name any more, and that the machine may still have open.
    pub(super) unnamed: HashMap<u64, File>,
    /// The folder that is being listed.
    listed: Option<(u64, Vec<CString>)>,
}

/// Something that a question is about.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) share: usize,
    pub(super) held: OwnedFd,
    pub(super) status: Statx,
}

impl Server {
    /// Who serves this to a machine that knows these names.
    pub(crate) fn new(shares: Arc<Shares>, names: Names) -> Self {
        let (open, written, unnamed) = (HashMap::new(), HashMap::new(), HashMap::new());
        Self { shares, names, open, written, unnamed, listed: None }
    }

    /// The names that the machine knows by now, for another one that goes on from the same memory. None where it may have files open
    /// that have no name any more: nobody else finds those.
    pub(crate) fn known(&self) -> Option<Names> {
        self.unnamed.is_empty().then(|| self.names.clone())
    }

    /// Answers a question, if it is one that is answered.
    pub(crate) fn answer(&mut self, question: &Question<'_>) -> Option<Answer> {
        let Question { kind, node, .. } = *question;
        Some(match kind {
            asked::FORGET => {
                self.forget(node, question.long(0).unwrap_or(0));
                return None;
            }
            asked::BATCH_FORGET => {
                self.forget_many(question);
                return None;
            }
            asked::INIT => init(question),
            asked::LOOKUP => named(question, 0).and_then(|(name, _)| self.lookup(node, name)),
            asked::GETATTR => self.about(node).map(|told| told.alone()),
            asked::READLINK => self.link(node),
            asked::READ => self.read(question),
            asked::READDIR => self.list(question, false),
            asked::READDIRPLUS => self.list(question, true),
            asked::STATFS => self.room(node),
            asked::FSYNC => self.sync(node),
            asked::WRITE => self.write(question),
            asked::SETATTR => self.set(question),
            asked::MKNOD => self.make_file(question),
            asked::MKDIR => self.make_folder(question),
            asked::SYMLINK => self.make_link(question),
            asked::UNLINK => {
                named(question, 0).and_then(|(name, _)| self.remove(node, name, AtFlags::empty()))
            }
            asked::RMDIR => {
                named(question, 0).and_then(|(name, _)| self.remove(node, name, AtFlags::REMOVEDIR))
            }
            asked::RENAME => self.rename(question, 8, 0),
            asked::RENAME2 => self.rename(question, 16, question.number(8).unwrap_or(u32::MAX)),
            asked::LINK => self.name_again(question),
            asked::DESTROY => Ok(Vec::new()),
            _ => Err(Errno::NOSYS),
        })
    }

    pub(super) fn share(&self, share: usize) -> Result<&Share, Errno> {
        self.shares.list.get(share).ok_or(Errno::STALE)
    }

    /// Gets hold of what a number stands for.
    pub(super) fn find(&self, node: u64) -> Result<Found, Errno> {
        let (share, path) = self.names.place(node)?;
        let held = self.share(share)?.look(&path)?;
        let status = look_at(&held)?;
        kind(&status)?;
        Ok(Found { share, held, status })
    }

    /// Whether the sandbox's user may do this with what was found.
    pub(super) fn may(&self, found: &Found, wanted: u32) -> Result<(), Errno> {
        self.shares.may(self.share(found.share)?, &found.status, wanted)
    }

    pub(super) fn told(&self, share: usize, found: Statx, number: u64) -> Result<Told, Errno> {
        let share = self.share(share)?;
        let owner = self.shares.owner(share, &found);
        Ok(Told { found, number, owner, steady: share.steady })
    }

    /// What is known of a file.
    pub(super) fn about(&self, node: u64) -> Result<Told, Errno> {
        if node == ROOT {
            let found = rustix::fs::statx(CWD, c"/", AtFlags::empty(), StatxFlags::BASIC_STATS)?;
            return Ok(Told { found, number: ROOT, owner: (0, 0), steady: true });
        }
        if let Some(file) = self.unnamed.get(&node) {
            let found = rustix::fs::statx(file, c"", AtFlags::EMPTY_PATH, StatxFlags::BASIC_STATS)?;
            let (share, _) = self.names.place(node)?;
            return self.told(share, found, node);
        }
        let found = self.find(node)?;
        self.told(found.share, found.status, node)
    }

    /// A name in a folder.
    fn lookup(&mut self, node: u64, name: &CStr) -> Answer {
        if node == ROOT {
            let share = self.shares.list.iter().position(|share| share.name.as_bytes() == name.to_bytes());
            let share = FIRST + share.ok_or(Errno::NOENT)? as u64;
            return self.about(share).map(|told| told.named());
        }
        let above = self.find(node)?;
        self.may(&above, ENTER)?;
        self.tell(node, name)
    }

    /// Tells what a name in a folder stands for.
    pub(super) fn tell(&mut self, above: u64, name: &CStr) -> Answer {
        let (share, path) = self.names.place(above)?;
        let status = look_at(&self.share(share)?.look(&joined(&path, name)?)?)?;
        kind(&status)?;
        let number = self.names.tell(above, name)?;
        self.told(share, status, number).map(|told| told.named())
    }

    fn forget(&mut self, node: u64, times: u64) {
        if self.names.forget(node, times) {
            self.open.remove(&node);
            self.written.remove(&node);
            self.unnamed.remove(&node);
        }
    }

    fn forget_many(&mut self, question: &Question<'_>) {
        let many = usize::try_from(question.number(0).unwrap_or(0)).unwrap_or(0);
        for one in 0..many {
            let at = 8 + one * 16;
            let (Some(node), Some(times)) = (question.long(at), question.long(at + 8)) else { return };
            self.forget(node, times);
        }
    }

    fn link(&self, node: u64) -> Answer {
        let found = self.find(node)?;
        if kind(&found.status)? != FileType::Symlink {
            return Err(Errno::INVAL);
        }
        beneath::target(&found.held).map(CString::into_bytes)
    }

    fn read(&mut self, question: &Question<'_>) -> Answer {
        let (at, length) = (question.long(8).ok_or(Errno::INVAL)?, question.number(16).ok_or(Errno::INVAL)?);
        let mut bytes = vec![0; usize::try_from(length).unwrap_or(PIECE).min(PIECE)];
        let file = self.readable(question.node)?;
        let mut filled = 0;
        while let Some(room) = bytes.get_mut(filled..).filter(|room| !room.is_empty()) {
            match file.read_at(room, at.saturating_add(filled as u64)) {
                Ok(0) => break,
                Ok(read) => filled += read,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => return Err(Errno::from_io_error(&error).unwrap_or(Errno::IO)),
            }
        }
        bytes.truncate(filled);
        Ok(bytes)
    }

    /// An open file, for reading.
    fn readable(&mut self, node: u64) -> Result<&File, Errno> {
        if self.unnamed.contains_key(&node) {
            return self.unnamed.get(&node).ok_or(Errno::STALE);
        }
        if !self.open.contains_key(&node) {
            let found = self.find(node)?;
            self.may(&found, READ)?;
            let (file, _) = beneath::read_again(&found.held)?;
            if self.open.len() >= MOST_OPEN {
                self.open.clear();
            }
            self.open.insert(node, file);
        }
        self.open.get(&node).ok_or(Errno::STALE)
    }

    /// Names in a folder, with what they stand for where that is wanted.
    fn list(&mut self, question: &Question<'_>, with_more: bool) -> Answer {
        let (from, most) = (question.long(8).ok_or(Errno::INVAL)?, question.number(16).ok_or(Errno::INVAL)?);
        let most = usize::try_from(most).unwrap_or(PIECE).min(PIECE);
        let node = question.node;
        let names = match self.listed.take() {
            Some((listed, names)) if listed == node && from != 0 => names,
            _ => self.names_in(node)?,
        };
        let from = usize::try_from(from).unwrap_or(usize::MAX);
        let mut body = Vec::new();
        for (number, name) in names.iter().enumerate().skip(from) {
            let length = entry_length(name, with_more);
            if body.len() + length > most {
                break;
            }
            if with_more {
                // What cannot be told of now is asked for when it is needed.
                let told = if node == ROOT { Err(Errno::NOENT) } else { self.tell(node, name) };
                body.extend(told.unwrap_or_else(|_| vec![0; 128]));
            }
            let next = number as u64 + 1;
            body.extend(next.to_le_bytes());
            body.extend(next.to_le_bytes());
            body.extend(u32::try_from(name.to_bytes().len()).unwrap_or_default().to_le_bytes());
            body.extend([0; 4]);
            body.extend(name.to_bytes());
            body.resize(body.len().next_multiple_of(8), 0);
        }
        self.listed = Some((node, names));
        Ok(body)
    }

    fn names_in(&self, node: u64) -> Result<Vec<CString>, Errno> {
        if node == ROOT {
            let names = self.shares.list.iter().map(|share| CString::new(share.name.as_bytes()));
            return names.collect::<Result<_, _>>().map_err(|_| Errno::INVAL);
        }
        let found = self.find(node)?;
        self.may(&found, READ | ENTER)?;
        let (mut names, _) = beneath::names(beneath::list_again(&found.held)?, MOST_NAMES)?;
        names.sort();
        Ok(names)
    }

    /// How much room there is where something is.
    fn room(&self, node: u64) -> Answer {
        let told = match node {
            ROOT => rustix::fs::statvfs(c"/")?,
            node => rustix::fs::fstatvfs(&self.find(node)?.held)?,
        };
        let mut body = Vec::with_capacity(80);
        for long in [told.f_blocks, told.f_bfree, told.f_bavail, told.f_files, told.f_ffree] {
            body.extend(long.to_le_bytes());
        }
        let short = |long: u64| u32::try_from(long).unwrap_or(4096);
        for number in [short(told.f_bsize), short(told.f_namemax), short(told.f_frsize)] {
            body.extend(number.to_le_bytes());
        }
        body.resize(80, 0);
        Ok(body)
    }
}

/// A name of a question: one name, and not the way up.
pub(super) fn named<'a>(question: &Question<'a>, at: usize) -> Result<(&'a CStr, usize), Errno> {
    let (name, next) = question.name(at).ok_or(Errno::INVAL)?;
    let bytes = name.to_bytes();
    if bytes.is_empty() || bytes == b"." || bytes == b".." || bytes.contains(&b'/') || bytes.len() > 255 {
        return Err(Errno::INVAL);
    }
    Ok((name, next))
}

/// A name below a path.
pub(super) fn joined(path: &CStr, name: &CStr) -> Result<CString, Errno> {
    if path.is_empty() {
        return Ok(name.to_owned());
    }
    CString::new([path.to_bytes(), b"/", name.to_bytes()].concat()).map_err(|_| Errno::INVAL)
}

fn entry_length(name: &CStr, with_more: bool) -> usize {
    let more = if with_more { 128 } else { 0 };
    more + (24 + name.to_bytes().len()).next_multiple_of(8)
}

/// What is agreed on.
fn init(question: &Question<'_>) -> Answer {
    let (major, minor) = (question.number(0).ok_or(Errno::INVAL)?, question.number(4).ok_or(Errno::INVAL)?);
    if major != 7 || minor < 31 {
        return Err(Errno::PROTO);
    }
    let offered = question.number(12).ok_or(Errno::INVAL)?;
    let piece = u32::try_from(PIECE).unwrap_or_default();
    let mut body = Vec::with_capacity(64);
    for number in [7, 31, piece, offered & FEATURES] {
        body.extend(number.to_le_bytes());
    }
    for short in [64_u16, 48] {
        body.extend(short.to_le_bytes());
    }
    for number in [piece, 1] {
        body.extend(number.to_le_bytes());
    }
    body.extend(u16::try_from(PIECE / 4096).unwrap_or_default().to_le_bytes());
    body.resize(64, 0);
    Ok(body)
}
