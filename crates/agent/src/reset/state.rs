//! How everything looks that could be left behind.

use std::collections::BTreeSet;
use std::ffi::CString;

use bailiwick_sys::Errno;
use bailiwick_sys::ipc::Kind;
use rustix::fs::{FsWord, Stat, statfs, statvfs};
use rustix::process::{Resource, getrlimit};

use super::ours::Ours;
use super::sockets::{self, Sockets};
use crate::folder;
use crate::text;

const TMPFS: FsWord = 0x0102_1994;

/// What was looked at.
type Seen<T> = Result<T, Errno>;

/// Which looks make sense here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// File systems, terminals and all else are the sandbox's own.
    Own,
    /// They are shared with whoever else is on the machine.
    Shared,
}

/// How everything looks.
#[derive(Debug, Clone)]
pub(crate) struct State {
    pub(super) mounts: Seen<Vec<u8>>,
    pub(super) sockets: Seen<Sockets>,
    pub(super) ipc: Seen<BTreeSet<(Kind, i32)>>,
    pub(super) terminals: Seen<BTreeSet<CString>>,
    pub(super) folders: Vec<Folder>,
    pub(super) ours: Ours,
    /// Whether messages can be left in queues, for which there is no list.
    pub(super) has_queues: bool,
}

/// How a folder looks.
#[derive(Debug, Clone)]
pub(super) struct Folder {
    pub(super) path: String,
    pub(super) stat: Seen<Stat>,
    /// The names of its extended attributes.
    pub(super) attributes: Seen<Vec<u8>>,
    /// One of its entries.
    pub(super) entry: Seen<Option<String>>,
    /// Blocks and files in use, of a file system of its own.
    pub(super) used: Option<Seen<(u64, u64)>>,
}

impl State {
    /// Looks at everything.
    pub(crate) fn look(place: Place, folders: &[String]) -> Self {
        Self {
            mounts: text::of("/proc/self/mountinfo"),
            sockets: sockets::look(),
            ipc: ipc(),
            terminals: if place == Place::Own { terminals() } else { Ok(BTreeSet::new()) },
            folders: folders.iter().map(|path| Folder::look(place, path)).collect(),
            ours: Ours::look(),
            has_queues: getrlimit(Resource::Msgqueue).maximum != Some(0),
        }
    }

    /// The folders that were looked at, and these.
    pub(crate) fn paths(&self, more: &[String]) -> Vec<String> {
        let known = self.folders.iter().map(|folder| folder.path.clone());
        let new = more.iter().filter(|path| !self.folders.iter().any(|folder| folder.path == **path));
        known.chain(new.cloned()).collect()
    }

    /// What is there now and was not then, or cannot be looked at, in words.
    pub(crate) fn left(&self, now: &Self) -> Vec<String> {
        let Self { mounts, sockets, ipc, terminals, folders, ours, has_queues: _ } = self;
        let mut left = Vec::new();
        compare(&mut left, "mounts", mounts, &now.mounts, |then, now| {
            if then == now { Vec::new() } else { vec!["other mounts than at birth".to_owned()] }
        });
        compare(&mut left, "sockets", sockets, &now.sockets, sockets::new);
        compare(&mut left, "System V IPC", ipc, &now.ipc, |then, now| {
            now.difference(then).map(|(kind, id)| format!("System V IPC: {kind:?} {id}")).collect()
        });
        compare(&mut left, "terminals", terminals, &now.terminals, |then, now| {
            now.difference(then).map(|name| format!("terminal {}", name.to_string_lossy())).collect()
        });
        for folder in &now.folders {
            folder.left(folders.iter().find(|one| one.path == folder.path), &mut left);
        }
        if now.has_queues {
            left.push("messages may be in queues, which no limit rules out".to_owned());
        }
        left.extend(ours.changed(&now.ours));
        left
    }
}

fn compare<T>(
    left: &mut Vec<String>,
    what: &str,
    then: &Seen<T>,
    now: &Seen<T>,
    new: impl FnOnce(&T, &T) -> Vec<String>,
) {
    match (then, now) {
        (Ok(then), Ok(now)) => left.extend(new(then, now)),
        (Err(errno), _) | (_, Err(errno)) => left.push(format!("{what} cannot be looked at: {errno}")),
    }
}

/// The System V IPC that is there.
pub(super) fn ipc() -> Seen<BTreeSet<(Kind, i32)>> {
    let lists = [("shm", Kind::Memory), ("sem", Kind::Semaphores), ("msg", Kind::Messages)];
    let mut all = BTreeSet::new();
    for (list, kind) in lists {
        match text::of(&format!("/proc/sysvipc/{list}")) {
            Ok(text) => {
                let ids = text::column(&text, 1).into_iter().filter_map(|id| i32::try_from(id).ok());
                all.extend(ids.map(|id| (kind, id)));
            }
            // A kernel that has none has no list of it.
            Err(Errno::NOENT) if rustix::fs::stat("/proc/self/stat").is_ok() => {}
            Err(errno) => return Err(errno),
        }
    }
    Ok(all)
}

fn terminals() -> Seen<BTreeSet<CString>> {
    let mut all = BTreeSet::new();
    match folder::open(rustix::fs::CWD, c"/dev/pts") {
        Ok(terminals) => folder::each(terminals, |name| {
            all.insert(name.to_owned());
            Ok(true)
        })?,
        // There are none to be opened.
        Err(Errno::NOENT) => {}
        Err(errno) => return Err(errno),
    }
    Ok(all)
}

impl Folder {
    fn look(place: Place, path: &str) -> Self {
        let is_tmpfs = || statfs(path).is_ok_and(|stat| stat.f_type == TMPFS);
        let used = || {
            let stat = statvfs(path)?;
            Ok((stat.f_blocks.saturating_sub(stat.f_bfree), stat.f_files.saturating_sub(stat.f_ffree)))
        };
        Self {
            path: path.to_owned(),
            stat: rustix::fs::stat(path),
            attributes: attributes(path),
            entry: first_entry(path),
            used: (place == Place::Own && is_tmpfs()).then(used),
        }
    }

    /// What is left in it. One of which nothing is known from birth has to be empty.
    fn left(&self, then: Option<&Self>, left: &mut Vec<String>) {
        let path = &self.path;
        match &self.entry {
            Ok(None) => {}
            Ok(Some(name)) => left.push(format!("{path} is not empty: {name}")),
            Err(errno) => left.push(format!("{path} cannot be looked at: {errno}")),
        }
        let Some(then) = then else {
            left.push(format!("{path} was not looked at at birth"));
            return;
        };
        if then.used != self.used {
            left.push(format!("space of {path} is in use: {:?}, at birth {:?}", self.used, then.used));
        }
        if then.attributes != self.attributes {
            left.push(format!("other attributes of {path}"));
        }
        match (&then.stat, &self.stat) {
            (Ok(then), Ok(now)) => {
                let kept =
                    |stat: &Stat| (stat.st_mode, stat.st_uid, stat.st_gid, stat.st_mtime, stat.st_mtime_nsec);
                if kept(then) != kept(now) {
                    left.push(format!("other permissions, owner or time of {path}"));
                }
            }
            (Err(errno), _) | (_, Err(errno)) => left.push(format!("{path} cannot be looked at: {errno}")),
        }
    }
}

/// The names of the extended attributes of a folder, each with a zero behind it; there are none where there can be none.
pub(super) fn attributes(path: &str) -> Seen<Vec<u8>> {
    let mut names = vec![0; 64 * 1024];
    match rustix::fs::listxattr(path, &mut *names) {
        Ok(length) => {
            names.truncate(length);
            Ok(names)
        }
        Err(Errno::OPNOTSUPP) => Ok(Vec::new()),
        Err(errno) => Err(errno),
    }
}

fn first_entry(path: &str) -> Seen<Option<String>> {
    let path = CString::new(path).map_err(|_| Errno::INVAL)?;
    let mut first = None;
    folder::each(folder::open(rustix::fs::CWD, &path)?, |name| {
        first = Some(name.to_string_lossy().into_owned());
        Ok(false)
    })?;
    Ok(first)
}
