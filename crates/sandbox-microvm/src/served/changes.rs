//! What a machine may change, in folders that are served to be written to.

use std::ffi::CStr;
use std::fs::File;
use std::os::fd::AsFd;
use std::os::unix::fs::FileExt as _;

use bailiwick_sys::Errno;
use bailiwick_sys::beneath::{self, Links};
use bailiwick_sys::privileges;
use rustix::fs::{
    AtFlags, FileType, Gid, Mode, OFlags, RenameFlags, StatxFlags, Timespec, Timestamps, UTIME_NOW,
    UTIME_OMIT, Uid, chownat,
};

use super::answer::{Answer, Found, Server, named};
use super::attributes::kind;
use super::question::Question;
use super::shares::{ENTER, Owner, READ, WRITE, look_at};

/// The most files that are kept open for writing.
const MOST_WRITTEN: usize = 64;
/// The most files without a name that a machine may have open.
const MOST_UNNAMED: usize = 256;

/// The bit of a folder in which names are only for their owners to take.
const STICKY: u16 = 0o1000;

/// What was made by its name.
#[derive(Debug, Clone, Copy)]
pub(super) enum Made<'a> {
    Folder,
    /// A link to there.
    Link(&'a CStr),
}

/// What of a file is to be set.
mod set {
    pub(super) const MODE: u32 = 1;
    pub(super) const OWNERS: u32 = (1 << 1) | (1 << 2);
    pub(super) const SIZE: u32 = 1 << 3;
    pub(super) const READ: u32 = 1 << 4;
    pub(super) const WRITTEN: u32 = 1 << 5;
    pub(super) const READ_NOW: u32 = 1 << 7;
    pub(super) const WRITTEN_NOW: u32 = 1 << 8;
}

impl Server {
    fn is_writable(&self, share: usize) -> Result<(), Errno> {
        if self.share(share)?.writable { Ok(()) } else { Err(Errno::ROFS) }
    }

    /// A folder in which something may be changed.
    fn changeable(&self, node: u64) -> Result<Found, Errno> {
        let found = self.find(node)?;
        self.is_writable(found.share)?;
        if kind(&found.status)? != FileType::Directory {
            return Err(Errno::NOTDIR);
        }
        self.may(&found, WRITE | ENTER)?;
        Ok(found)
    }

    /// Whether a name may be taken from a folder, or given to something else there: in one with the sticky bit only where the sandbox's
    /// user owns the folder or what has the name. Root is not asked by the kernel.
    fn may_take(&self, above: &Found, name: &CStr) -> Result<(), Errno> {
        let is_sticky = above.status.stx_mode & STICKY != 0;
        if !is_sticky || self.share(above.share)?.owner == Owner::Sandbox {
            return Ok(());
        }
        let (links, all) = (AtFlags::SYMLINK_NOFOLLOW, StatxFlags::BASIC_STATS);
        let named = rustix::fs::statx(&above.held, name, links, all)?;
        let owners = [above.status.stx_uid, named.stx_uid];
        if owners.contains(&self.shares.user.0) { Ok(()) } else { Err(Errno::PERM) }
    }

    /// Whether what has a name may go to another folder: one that is a folder itself must be writable, since its `..` changes. The
    /// kernel does not ask root.
    fn may_leave(&self, above: &Found, name: &CStr) -> Result<(), Errno> {
        let held = beneath::look(&above.held, name, Links::Itself)?;
        let status = look_at(&held)?;
        if kind(&status)? != FileType::Directory {
            return Ok(());
        }
        self.may(&Found { share: above.share, held, status }, WRITE)
    }

    /// Whether what is made in a folder has to be made the sandbox's user's.
    fn is_given(&self, above: &Found) -> Result<bool, Errno> {
        Ok(self.shares.as_root && self.share(above.share)?.owner != Owner::Sandbox)
    }

    /// Makes something new the sandbox's user's, by what is held of it.
    fn own(&self, above: &Found, held: impl AsFd) -> Result<(), Errno> {
        if !self.is_given(above)? {
            return Ok(());
        }
        let (user, group) = self.shares.user;
        let (user, group) = (Some(Uid::from_raw(user)), Some(Gid::from_raw(group)));
        chownat(held, c"", user, group, AtFlags::EMPTY_PATH)
    }

    /// The same for what was made by its name alone. Somebody may have put something else there meanwhile, and root's must not become
    /// the sandbox's: so it has to be what was made, and its maker's.
    pub(super) fn own_named(&self, above: &Found, name: &CStr, made: Made<'_>) -> Result<(), Errno> {
        if !self.is_given(above)? {
            return Ok(());
        }
        let held = beneath::look(&above.held, name, Links::Itself)?;
        let status = look_at(&held)?;
        let is_made = match (kind(&status)?, made) {
            (FileType::Directory, Made::Folder) => {
                let (names, _) = beneath::names(beneath::list_again(&held)?, 1)?;
                names.is_empty()
            }
            (FileType::Symlink, Made::Link(target)) => beneath::target(&held)?.as_c_str() == target,
            _ => false,
        };
        if !is_made || status.stx_uid != privileges::identity().0 {
            return Err(Errno::BUSY);
        }
        self.own(above, held)
    }

    pub(super) fn make_file(&mut self, question: &Question<'_>) -> Answer {
        let mode = question.number(0).ok_or(Errno::INVAL)?;
        let (name, _) = named(question, 16)?;
        if FileType::from_raw_mode(mode) != FileType::RegularFile {
            return Err(Errno::PERM);
        }
        let above = self.changeable(question.node)?;
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = rustix::fs::openat(&above.held, name, flags, Mode::from_raw_mode(mode & 0o777))?;
        self.own(&above, &file)?;
        beneath::set_permissions(&file, mode)?;
        self.tell(question.node, name)
    }

    pub(super) fn make_folder(&mut self, question: &Question<'_>) -> Answer {
        let mode = question.number(0).ok_or(Errno::INVAL)?;
        let (name, _) = named(question, 8)?;
        let above = self.changeable(question.node)?;
        rustix::fs::mkdirat(&above.held, name, Mode::from_raw_mode(mode & 0o777))?;
        self.own_named(&above, name, Made::Folder)?;
        self.tell(question.node, name)
    }

    pub(super) fn make_link(&mut self, question: &Question<'_>) -> Answer {
        let (name, next) = named(question, 0)?;
        let (target, _) = question.name(next).ok_or(Errno::INVAL)?;
        let above = self.changeable(question.node)?;
        rustix::fs::symlinkat(target, &above.held, name)?;
        self.own_named(&above, name, Made::Link(target))?;
        self.tell(question.node, name)
    }

    /// Another name for a file.
    pub(super) fn name_again(&mut self, question: &Question<'_>) -> Answer {
        let node = question.long(0).ok_or(Errno::INVAL)?;
        let (name, _) = named(question, 8)?;
        let above = self.changeable(question.node)?;
        let found = self.find(node)?;
        if found.share != above.share || kind(&found.status)? != FileType::RegularFile {
            return Err(Errno::XDEV);
        }
        // Only what is its own: another's file would stay when that removes it.
        if found.status.stx_uid != self.shares.user.0 {
            return Err(Errno::PERM);
        }
        rustix::fs::linkat(&found.held, c"", &above.held, name, AtFlags::EMPTY_PATH)?;
        self.tell(question.node, name)
    }

    pub(super) fn remove(&mut self, above: u64, name: &CStr, how: AtFlags) -> Answer {
        let folder = self.changeable(above)?;
        self.may_take(&folder, name)?;
        let node = self.names.number(above, name);
        if let Some(node) = node.filter(|_| how.is_empty())
            && self.unnamed.len() < MOST_UNNAMED
            && let Ok(file) = self.opened_once_more(node)
        {
            self.unnamed.insert(node, file);
        }
        if let Err(errno) = rustix::fs::unlinkat(&folder.held, name, how) {
            node.map(|node| self.unnamed.remove(&node));
            return Err(errno);
        }
        self.names.unname(above, name);
        Ok(Vec::new())
    }

    /// A file that is about to have no name, opened for what the sandbox's user may do with it, and for no more: nobody looks at its
    /// permissions afterwards.
    fn opened_once_more(&self, node: u64) -> Result<File, Errno> {
        let found = self.find(node)?;
        let is_own = found.status.stx_uid == self.shares.user.0;
        if (is_own || self.may(&found, READ | WRITE).is_ok())
            && let Ok(file) = beneath::write_again(&found.held)
        {
            return Ok(file);
        }
        self.may(&found, READ)?;
        beneath::read_again(&found.held).map(|(file, _)| file)
    }

    pub(super) fn rename(&mut self, question: &Question<'_>, at: usize, flags: u32) -> Answer {
        let to_node = question.long(0).ok_or(Errno::INVAL)?;
        let (from_name, next) = named(question, at)?;
        let (to_name, _) = named(question, next)?;
        let flags = RenameFlags::from_bits(flags).ok_or(Errno::INVAL)?;
        if !RenameFlags::NOREPLACE.contains(flags) {
            return Err(Errno::INVAL);
        }
        let (from, to) = (self.changeable(question.node)?, self.changeable(to_node)?);
        if from.share != to.share {
            return Err(Errno::XDEV);
        }
        self.may_take(&from, from_name)?;
        match self.may_take(&to, to_name) {
            Ok(()) | Err(Errno::NOENT) => {}
            Err(errno) => return Err(errno),
        }
        if question.node != to_node {
            self.may_leave(&from, from_name)?;
        }
        rustix::fs::renameat_with(&from.held, from_name, &to.held, to_name, flags)?;
        if let Some(over) = self.names.number(to_node, to_name) {
            self.open.remove(&over);
            self.written.remove(&over);
        }
        self.names.rename((question.node, from_name), (to_node, to_name));
        Ok(Vec::new())
    }

    pub(super) fn write(&mut self, question: &Question<'_>) -> Answer {
        let (at, length) = (question.long(8).ok_or(Errno::INVAL)?, question.number(16).ok_or(Errno::INVAL)?);
        let bytes = question.rest(40);
        if usize::try_from(length).ok() != Some(bytes.len()) {
            return Err(Errno::INVAL);
        }
        let file = self.writable(question.node)?;
        runs_as_nobody_else(file)?;
        file.write_all_at(bytes, at).map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))?;
        let mut body = length.to_le_bytes().to_vec();
        body.extend([0; 4]);
        Ok(body)
    }

    /// An open file, for writing.
    fn writable(&mut self, node: u64) -> Result<&File, Errno> {
        if self.unnamed.contains_key(&node) {
            return self.unnamed.get(&node).ok_or(Errno::STALE);
        }
        if !self.written.contains_key(&node) {
            let found = self.find(node)?;
            self.is_writable(found.share)?;
            // Whoever made a file may write to it as long as it is open, whatever its mode is by then.
            if found.status.stx_uid != self.shares.user.0 {
                self.may(&found, WRITE)?;
            }
            let file = beneath::write_again(&found.held)?;
            if self.written.len() >= MOST_WRITTEN {
                self.written.clear();
            }
            self.written.insert(node, file);
        }
        self.written.get(&node).ok_or(Errno::STALE)
    }

    pub(super) fn sync(&mut self, node: u64) -> Answer {
        match self.written.get(&node).or_else(|| self.unnamed.get(&node)) {
            Some(file) => beneath::sync(file.as_fd()).map(|()| Vec::new()),
            None => Ok(Vec::new()),
        }
    }

    pub(super) fn set(&mut self, question: &Question<'_>) -> Answer {
        let wanted = question.number(0).ok_or(Errno::INVAL)?;
        let node = question.node;
        if wanted & set::SIZE != 0 {
            let size = question.long(16).ok_or(Errno::INVAL)?;
            let file = self.writable(node)?;
            runs_as_nobody_else(file)?;
            file.set_len(size).map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))?;
        }
        if self.unnamed.contains_key(&node) {
            return self.about(node).map(|told| told.alone());
        }
        let found = self.find(node)?;
        let rest = wanted & (set::MODE | set::OWNERS | set::READ | set::WRITTEN);
        if rest != 0 {
            self.is_writable(found.share)?;
            // Only of what is its own.
            if found.status.stx_uid != self.shares.user.0 {
                return Err(Errno::PERM);
            }
        }
        if wanted & set::OWNERS != 0 {
            let same = (question.number(76), question.number(80));
            let (user, group) = self.shares.owner(self.share(found.share)?, &found.status);
            let asks_user = wanted & (1 << 1) != 0 && same.0 != Some(user);
            let asks_group = wanted & (1 << 2) != 0 && same.1 != Some(group);
            if asks_user || asks_group {
                return Err(Errno::PERM);
            }
        }
        if wanted & set::MODE != 0 {
            beneath::set_mode(&found.held, question.number(68).ok_or(Errno::INVAL)? & 0o777)?;
        }
        if wanted & (set::READ | set::WRITTEN) != 0 && kind(&found.status)? != FileType::Symlink {
            let time = |is: u32, now: u32, seconds: usize, rest: usize| {
                let nanoseconds = match (wanted & is != 0, wanted & now != 0) {
                    (false, _) => UTIME_OMIT,
                    (true, true) => UTIME_NOW,
                    (true, false) => i64::from(question.number(rest).unwrap_or(0)),
                };
                let seconds = question.long(seconds).and_then(|time| i64::try_from(time).ok()).unwrap_or(0);
                Timespec { tv_sec: seconds, tv_nsec: nanoseconds }
            };
            let times = Timestamps {
                last_access: time(set::READ, set::READ_NOW, 32, 56),
                last_modification: time(set::WRITTEN, set::WRITTEN_NOW, 40, 60),
            };
            beneath::set_times(&found.held, &times)?;
        }
        self.about(node).map(|told| told.alone())
    }
}

/// Takes set-user-id and set-group-id from a file before it is written to. The kernel does so for everybody but root, and this process
/// may be root: a guest's words would run as the owner of the file.
fn runs_as_nobody_else(file: &File) -> Result<(), Errno> {
    const AS_ITS_OWNER: u32 = 0o6000;
    let mode = rustix::fs::fstat(file)?.st_mode;
    if mode & AS_ITS_OWNER == 0 {
        return Ok(());
    }
    rustix::fs::fchmod(file, Mode::from_raw_mode(mode & 0o7777 & !AS_ITS_OWNER))
}
