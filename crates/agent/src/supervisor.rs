//! Answers commands that ask to listen, for a socket of netlink, or for a lock on a file: as many as are counted here, and no more.
//! The kernel charges to nobody what these hold.

use std::os::fd::OwnedFd;

use bailiwick_sys::alone::Alone;
use bailiwick_sys::clone::{Side, fork};
use bailiwick_sys::pidfd::How;
use bailiwick_sys::seccomp::supervised::{Supervised, Wants};
use bailiwick_sys::{Errno, Failed, ending, pidfd};

use crate::text;

mod locks;

pub(crate) use locks::Locks;

/// The most sockets that listen, those of the host's proxy among them. Each holds at most `net.core.somaxconn` connections that
/// nobody has accepted.
const MOST_LISTENERS: usize = 64;
/// The most sockets of all kinds beside which one of netlink is made: those of netlink are in no list of the kernel's before
/// they are bound, so all are counted.
const MOST_BESIDE_NETLINK: usize = 256;
/// How much is read of each list: listening sockets come first in theirs.
const READ: usize = 64 * 1024;
/// The state of a listening socket in the kernel's lists.
const LISTENS: &[u8] = b"0A";

/// When commands are supervised.
#[derive(Debug)]
pub enum Supervision {
    /// Never: what they make is not this machine's memory, or their network is not their own.
    Off,
    /// From now on.
    On(Supervised),
    /// From the first command on: until then the agent listens itself.
    AtFirstCommand,
}

impl Supervision {
    /// The same, its descriptor moved elsewhere.
    pub(crate) fn moved(self, to: impl FnOnce(OwnedFd) -> Result<OwnedFd, Failed>) -> Result<Self, Failed> {
        match self {
            Self::On(filter) => filter.moved(to).map(Self::On),
            other => Ok(other),
        }
    }

    /// Begins where it is time to.
    pub(crate) fn begin(&mut self) -> Result<(), Failed> {
        if matches!(self, Self::AtFirstCommand) {
            *self = Self::On(Supervised::install()?);
        }
        Ok(())
    }

    /// The filter whose questions are to be answered.
    pub(crate) const fn filter(&self) -> Option<&Supervised> {
        match self {
            Self::On(filter) => Some(filter),
            Self::Off | Self::AtFirstCommand => None,
        }
    }

    /// Answers one question.
    pub(crate) fn answer(&self, locks: &mut Locks) -> Result<(), Errno> {
        let Some(filter) = self.filter() else { return Ok(()) };
        let Some(question) = filter.next()? else { return Ok(()) };
        let refuse_if = |is_full: bool| is_full.then_some(Errno::NOBUFS);
        // What cannot be counted is not made.
        let refusal = match question.wants {
            Wants::Listen => listeners().map_or_else(Some, |count| refuse_if(count >= MOST_LISTENERS)),
            Wants::Netlink => sockets().map_or_else(Some, |count| refuse_if(count >= MOST_BESIDE_NETLINK)),
            Wants::Range => locks.range(),
            Wants::RangeOfOpenFile => locks.range_of_open_file(),
            Wants::File => locks.file(),
        };
        filter.answer(&question, refusal)
    }
}

/// Whether such a filter can be installed here, by a process that does and ends.
pub(crate) fn is_possible() -> Result<bool, Failed> {
    match fork(&Alone::assume_just_started())? {
        Side::Child => ending::exit_now(u8::from(Supervised::install().is_err())),
        Side::Parent(child) => Ok(pidfd::reap(&child.pidfd)? == Some(How::Exited(0))),
    }
}

/// How many TCP sockets listen here.
fn listeners() -> Result<usize, Errno> {
    let count = |text: Vec<u8>| {
        let states = text.split(|byte| *byte == b'\n').skip(1).map(|line| word(line, 3));
        states.take_while(|state| *state == LISTENS).count()
    };
    let six = match text::up_to("/proc/net/tcp6", READ) {
        // A network without IPv6.
        Err(Errno::NOENT) => 0,
        text => count(text?),
    };
    Ok(count(text::up_to("/proc/net/tcp", READ)?) + six)
}

/// How many sockets of any kind there are here: the first line says `sockets: used 7`.
fn sockets() -> Result<usize, Errno> {
    let text = text::up_to("/proc/net/sockstat", READ)?;
    let first = text.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let number = std::str::from_utf8(word(first, 2)).ok().and_then(|word| word.parse().ok());
    number.ok_or(Errno::INVAL)
}

/// A word of a line.
fn word(line: &[u8], index: usize) -> &[u8] {
    line.split(|byte| *byte == b' ').filter(|word| !word.is_empty()).nth(index).unwrap_or_default()
}
