//! Counts the locks on files that the processes of a sandbox hold. The kernel charges 160 bytes for each to nobody, and has no bound.
//!
//! Each call that may add a lock is counted as if it did. When that number comes to the bound, the locks that there are are counted
//! in `/proc/PID/fdinfo` of every process, and only then a lock is refused. Whether a call of `fcntl` locks or unlocks stands in memory that
//! the process can change meanwhile, so it is not looked at: at the bound, unlocking by `fcntl` is refused too. Closing the file
//! unlocks always.
//!
//! `fdinfo` does not show an open file that is only mapped, or on its way through a socket. A mapped file has at most one lock by
//! `flock`, and mappings are counted instead; there are at most `RLIMIT_NOFILE` files on their way. The ranges of such a file that
//! were locked by `F_OFD_SETLK` are not bounded by either: of these calls there are so many until no process is left.

use std::time::{Duration, Instant};

use bailiwick_sys::{Errno, packets};
use rustix::fs::{Mode, OFlags};

use crate::folder;

/// The most locks: 5 MiB.
const MOST: usize = 32 * 1024;
/// How many locks a call of `fcntl` adds at most: a range that is locked in another way in its middle becomes three.
const BY_A_RANGE: usize = 2;
/// The most calls that lock ranges for an open file, until no process is left.
const MOST_OF_OPEN_FILES: usize = 8 * 1024;
/// The most open files that are looked at for one count.
const MOST_LOOKED_AT: usize = 64 * 1024;
/// How long nothing is counted again after a count that found too many.
const PAUSE: Duration = Duration::from_millis(200);
/// How much of a file is read at once.
const PIECE: usize = 16 * 1024;

/// How many locks there may be.
#[derive(Debug, Default)]
pub(crate) struct Locks {
    /// Those that were counted last, and those that calls may have added since.
    taken: usize,
    /// Calls of `flock` since no process was there.
    of_files: usize,
    /// Calls that locked ranges for an open file since no process was there.
    of_open_files: usize,
    /// When a count last found too many.
    full: Option<Instant>,
}

impl Locks {
    /// A call that locks or unlocks a range for a process: none where it may go on, or the error that answers it.
    pub(crate) fn range(&mut self) -> Option<Errno> {
        self.take(BY_A_RANGE)
    }

    /// A call that locks or unlocks a range for an open file.
    pub(crate) const fn range_of_open_file(&mut self) -> Option<Errno> {
        if self.of_open_files >= MOST_OF_OPEN_FILES {
            return Some(Errno::NOLCK);
        }
        self.of_open_files += 1;
        None
    }

    /// A call that locks a whole file.
    pub(crate) fn file(&mut self) -> Option<Errno> {
        self.of_files = self.of_files.saturating_add(1);
        self.take(1)
    }

    fn take(&mut self, most: usize) -> Option<Errno> {
        if self.taken + most > MOST {
            if self.full.is_some_and(|full| full.elapsed() < PAUSE) {
                return Some(Errno::NOLCK);
            }
            // What cannot be counted is not made.
            self.taken = count(self.of_files).unwrap_or(self.taken);
            if self.taken + most > MOST {
                self.full = Some(Instant::now());
                return Some(Errno::NOLCK);
            }
        }
        self.taken += most;
        None
    }
}

/// What was found so far.
#[derive(Debug, Default)]
struct Found {
    locks: usize,
    mappings: usize,
    open_files: usize,
}

/// Counts the locks of all processes here. At most so many locks by `flock` may be on files that are only mapped.
fn count(most_hidden: usize) -> Result<usize, Errno> {
    let mut found = Found::default();
    let own = std::process::id().to_string();
    each_number("/proc", |process| {
        if process != own {
            found.process(process, most_hidden > 0)?;
        }
        Ok(true)
    })?;
    Ok(found.locks + found.mappings.min(most_hidden))
}

impl Found {
    /// Counts those of one process. All its threads have the same open files, which the filter of commands sees to; the first
    /// thread may have ended before the others.
    fn process(&mut self, process: &str, with_mappings: bool) -> Result<(), Errno> {
        let tasks = format!("/proc/{process}/task");
        let looked = each_number(&tasks, |task| {
            let task = format!("{tasks}/{task}");
            let before = self.open_files;
            match self.task(&task, with_mappings) {
                // It has ended meanwhile.
                Err(Errno::NOENT | Errno::SRCH) => Ok(true),
                looked => looked.map(|()| self.open_files == before),
            }
        });
        match looked {
            Err(Errno::NOENT | Errno::SRCH) => Ok(()),
            looked => looked,
        }
    }

    fn task(&mut self, task: &str, with_mappings: bool) -> Result<(), Errno> {
        let files = format!("{task}/fdinfo");
        each_number(&files, |file| {
            self.open_files += 1;
            if self.open_files > MOST_LOOKED_AT {
                return Err(Errno::TOOBIG);
            }
            match lines(&format!("{files}/{file}"), |line| line.starts_with(b"lock:")) {
                // It was closed meanwhile.
                Err(Errno::NOENT) => {}
                locks => self.locks += locks?,
            }
            Ok(self.locks <= MOST)
        })?;
        if with_mappings && self.locks <= MOST {
            // A mapping of a file has the file's name behind its number, which is not 0.
            self.mappings += lines(&format!("{task}/maps"), |line| line.contains(&b'/'))?;
        }
        Ok(())
    }
}

/// Goes through the names of a folder that are numbers, as long as `each` says so.
fn each_number(path: &str, mut each: impl FnMut(&str) -> Result<bool, Errno>) -> Result<(), Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let opened = rustix::fs::open(path, flags, Mode::empty())?;
    folder::each(&opened, |name| match name.to_str() {
        Ok(name) if name.bytes().all(|byte| byte.is_ascii_digit()) => each(name),
        _ => Ok(true),
    })
}

/// How many lines of a file are such ones. A line is looked at by its begin, up to the size of a piece.
fn lines(path: &str, is_one: impl Fn(&[u8]) -> bool) -> Result<usize, Errno> {
    let file = rustix::fs::open(path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?;
    let (mut piece, mut line, mut count) = (vec![0; PIECE], Vec::new(), 0);
    loop {
        let length = packets::read(&file, &mut piece)?;
        let read = piece.get(..length).unwrap_or_default();
        if read.is_empty() {
            return Ok(count);
        }
        for part in read.split_inclusive(|byte| *byte == b'\n') {
            let room = PIECE.saturating_sub(line.len()).min(part.len());
            line.extend_from_slice(part.get(..room).unwrap_or_default());
            if part.ends_with(b"\n") {
                count += usize::from(is_one(&line));
                line.clear();
            }
        }
    }
}

#[cfg(test)]
mod tests;
