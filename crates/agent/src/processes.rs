//! Who else is here, by walking `/proc`, and how everybody, or everything that a command started, is sent a signal.
//!
//! A number found there may be another process a moment later. So whoever is signalled is held by a handle first, and
//! looked at once more.

use std::collections::BTreeSet;
use std::ffi::CStr;

use bailiwick_sys::{Errno, signals};
use rustix::fs::{Mode, OFlags};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use crate::folder;

/// What `/proc` says of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Process {
    pub(crate) pid: i32,
    pub(crate) state: u8,
    parent: i32,
    group: i32,
    session: i32,
    started: u64,
}

impl Process {
    /// Whether it only waits to be reaped.
    pub(crate) fn is_dead(&self) -> bool {
        matches!(self.state, b'Z' | b'X')
    }

    /// Whether it stands still.
    pub(crate) fn is_still(&self) -> bool {
        matches!(self.state, b'T' | b't') || self.is_dead()
    }

    fn parse(text: &[u8]) -> Option<Self> {
        // A name may hold anything, a bracket and a space among it; it ends at the last bracket.
        let end = text.iter().rposition(|byte| *byte == b')')?;
        let pid = text.split(|byte| *byte == b' ').next()?;
        let mut words = text.get(end + 1..)?.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
        let state = *words.next()?.first()?;
        let mut number = |skipped: usize| words.nth(skipped).and_then(parsed::<u64>);
        let (parent, group, session, started) = (number(0)?, number(0)?, number(0)?, number(15)?);
        let pid_of = |number: u64| i32::try_from(number).ok();
        Some(Self {
            pid: parsed(pid)?,
            state,
            parent: pid_of(parent)?,
            group: pid_of(group)?,
            session: pid_of(session)?,
            started,
        })
    }

    fn look(pid: i32) -> Option<Self> {
        let path = std::ffi::CString::new(format!("/proc/{pid}/stat")).ok()?;
        let mut text = [0; 1024];
        let length = read(&path, &mut text)?;
        Self::parse(text.get(..length)?)
    }

    /// Sends it a signal, unless its number is another's by now.
    pub(crate) fn send(&self, signal: Signal) -> Result<(), Errno> {
        let pid = Pid::from_raw(self.pid).ok_or(Errno::SRCH)?;
        match pidfd_open(pid, PidfdFlags::empty()) {
            Ok(handle) if self.is_same() => pidfd_send_signal(handle, signal),
            Ok(_) => Err(Errno::SRCH),
            // A filter may not know the call; the number itself is nearly as good.
            Err(Errno::NOSYS | Errno::PERM) if self.is_same() => signals::send(self.pid, signal.as_raw()),
            Err(errno) => Err(errno),
        }
    }

    fn is_same(&self) -> bool {
        Self::look(self.pid).is_some_and(|now| now.started == self.started)
    }
}

fn parsed<T: std::str::FromStr>(word: &[u8]) -> Option<T> {
    std::str::from_utf8(word).ok()?.parse().ok()
}

fn read(path: &CStr, buffer: &mut [u8]) -> Option<usize> {
    let file = rustix::fs::open(path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()).ok()?;
    bailiwick_sys::packets::read(&file, buffer).ok()
}

/// How many processes and threads this pid namespace has had from this one on, itself included, whether they still live or not:
/// numbers are given in order, and the last one is told. None where that cannot be told.
pub(crate) fn since(first: i32) -> Option<u32> {
    let mut buffer = [0; 128];
    let length = read(c"/proc/loadavg", &mut buffer)?;
    let last: i32 = parsed(buffer.get(..length)?.trim_ascii().rsplit(|byte| *byte == b' ').next()?)?;
    // Behind the largest number it begins anew; what came before is not counted then.
    u32::try_from(last.checked_sub(first)?.checked_add(1)?).ok().filter(|count| *count > 0)
}

/// Who "everybody else" is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Others {
    /// Everybody but the first process of this pid namespace.
    All,
    /// Everybody whom a signal from here reaches, which was seen to be nobody else's process.
    Within,
    /// The descendants of this process.
    Descendants,
}

/// Every process that `/proc` shows.
fn shown() -> Result<Vec<Process>, Errno> {
    let root = folder::open(rustix::fs::CWD, c"/proc")?;
    let mut found = Vec::new();
    folder::each(&root, |name| {
        if let Some(pid) = parsed(name.to_bytes()) {
            found.extend(Process::look(pid));
        }
        Ok(true)
    })?;
    if found.is_empty() {
        // Not even this process: it is not a `/proc` of this namespace.
        return Err(Errno::NOENT);
    }
    Ok(found)
}

impl Others {
    /// Everybody else, the dead that were not reaped among them.
    pub(crate) fn look(self) -> Result<Vec<Process>, Errno> {
        let us = i32::try_from(std::process::id()).map_err(|_| Errno::OVERFLOW)?;
        let all = shown()?;
        Ok(match self {
            Self::All => all.into_iter().filter(|one| one.pid != us).collect(),
            Self::Within | Self::Descendants => below(&all, &BTreeSet::from([us]), |_| false),
        })
    }

    /// How many there are that live.
    pub(crate) fn count(self) -> Result<u32, Errno> {
        let living = self.look()?.iter().filter(|one| !one.is_dead()).count();
        Ok(u32::try_from(living).unwrap_or(u32::MAX))
    }

    /// Sends everybody else a signal. For one that ends or stops, those who were forked meanwhile get it as well.
    pub(crate) fn send(self, signal: Signal) -> Result<(), Errno> {
        match self {
            // One system call, between two forks of anybody.
            Self::All => match signals::send_to_all_others(signal.as_raw()) {
                Err(Errno::SRCH) => Ok(()),
                done => done,
            },
            Self::Within => match signals::send_within(signal.as_raw()) {
                Err(Errno::SRCH) => Ok(()),
                done => done,
            },
            Self::Descendants => rounds(signal, || self.look()),
        }
    }
}

/// Those whose line of parents leads to one of these, or whom `belongs` names.
fn below(all: &[Process], from: &BTreeSet<i32>, belongs: impl Fn(&Process) -> bool) -> Vec<Process> {
    let mut known = from.clone();
    let mut found = Vec::new();
    loop {
        let before = found.len();
        for one in all {
            if !known.contains(&one.pid) && (known.contains(&one.parent) || belongs(one)) {
                known.insert(one.pid);
                found.push(*one);
            }
        }
        if found.len() == before {
            return found;
        }
    }
}

/// How often it is looked again for processes that were forked while others were signalled.
const ROUNDS: usize = 64;

/// Sends a signal to all that are found, again and again until nobody new is.
fn rounds(signal: Signal, look: impl Fn() -> Result<Vec<Process>, Errno>) -> Result<(), Errno> {
    let mut sent = BTreeSet::new();
    for _ in 0..ROUNDS {
        let found = look()?;
        let new = found.iter().filter(|one| !one.is_dead() && !sent.contains(&(one.pid, one.started)));
        let new: Vec<Process> = new.copied().collect();
        if new.is_empty() {
            return Ok(());
        }
        for one in new {
            sent.insert((one.pid, one.started));
            match one.send(signal) {
                Ok(()) | Err(Errno::SRCH) => {}
                Err(errno) => return Err(errno),
            }
        }
    }
    Err(Errno::AGAIN)
}

/// Kills the session and the descendants of a process. They are stopped first, so that nobody forks away while the others
/// are killed and lose the parent by whom they are found.
///
/// A leader that was reaped has a number that may be another's by now; while somebody of its session is there it is not.
pub(crate) fn kill_tree(leader: i32, is_reaped: bool) -> Result<(), Errno> {
    let ours = |one: &Process| one.pid == leader || one.session == leader || one.group == leader;
    let look = || {
        let all = shown()?;
        if is_reaped && all.iter().any(|one| one.pid == leader) {
            return Ok(Vec::new());
        }
        Ok(below(&all, &BTreeSet::new(), ours))
    };
    let stopped = rounds(Signal::STOP, look);
    let killed = rounds(Signal::KILL, look);
    stopped.and(killed)
}

#[cfg(test)]
mod tests;
