//! One carried connection: what its other side says goes to the host as far as there is credit, what the host says is held up to a
//! window and written as the other side reads.

use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};

use bailiwick_sys::{Errno, loopback, packets};
use bailiwick_wire::agent::{CARRIED_WINDOW, CHUNK, FromAgent, Stream};
use rustix::event::PollFlags;

use crate::outgoing::Outgoing;

/// So much has to be taken before the host is told.
const TELL: u32 = CARRIED_WINDOW / 4;

/// The host sent more than it had credit for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TooMuch;

/// How far a connection is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// It was begun and does not stand yet.
    Begun,
    /// It stands.
    Joined,
    /// It broke.
    Broken,
}

/// A connection.
#[derive(Debug)]
pub(crate) struct Connection {
    socket: OwnedFd,
    state: State,
    /// What the other side is told, and how much of it was written.
    held: Vec<u8>,
    written: usize,
    untold: u32,
    told_all: bool,
    is_shut: bool,
    /// How much the other side may still say.
    credit: u32,
    said_all: bool,
}

impl Connection {
    /// One that was begun.
    pub(crate) const fn begun(socket: OwnedFd) -> Self {
        Self {
            socket,
            state: State::Begun,
            held: Vec::new(),
            written: 0,
            untold: 0,
            told_all: false,
            is_shut: false,
            credit: CARRIED_WINDOW,
            said_all: false,
        }
    }

    /// One that stands.
    pub(crate) fn joined(socket: OwnedFd) -> Self {
        Self { state: State::Joined, ..Self::begun(socket) }
    }

    /// Whether nothing more can come of it.
    pub(crate) const fn is_over(&self) -> bool {
        matches!(self.state, State::Broken) || (self.said_all && self.is_shut)
    }

    /// What to wait for, if for anything.
    pub(crate) fn wanted(&self, has_room: bool) -> Option<(BorrowedFd<'_>, PollFlags)> {
        let mut flags = PollFlags::empty();
        match self.state {
            State::Begun => flags = PollFlags::OUT,
            State::Joined => {
                flags.set(PollFlags::IN, !self.said_all && self.credit > 0 && has_room);
                flags.set(PollFlags::OUT, self.written < self.held.len());
            }
            State::Broken => {}
        }
        (!flags.is_empty()).then(|| (self.socket.as_fd(), flags))
    }

    /// Goes on with whatever can go on.
    pub(crate) fn pump(&mut self, id: u32, scratch: &mut [u8], out: &mut Outgoing) {
        if self.state == State::Begun {
            self.join(id, out);
        }
        if self.state == State::Joined {
            self.write(id, out);
            self.read(id, scratch, out);
        }
    }

    /// What was begun stands now, or never will.
    fn join(&mut self, id: u32, out: &mut Outgoing) {
        match loopback::dialled(&self.socket) {
            Ok(()) => {
                self.state = State::Joined;
                // Without it small messages only come later.
                let _slower = loopback::at_once(&self.socket);
                out.push(&FromAgent::Joined { id });
            }
            Err(errno) => {
                self.state = State::Broken;
                out.fail(id, "connect to a port inside", errno);
            }
        }
    }

    fn read(&mut self, id: u32, scratch: &mut [u8], out: &mut Outgoing) {
        if self.said_all || self.credit == 0 || !out.has_room() {
            return;
        }
        let most = CHUNK.min(self.credit as usize);
        let buffer = scratch.get_mut(..most).unwrap_or_default();
        match packets::read(&self.socket, buffer) {
            Ok(0) => {
                self.said_all = true;
                out.push(&FromAgent::OutputEnd { id });
            }
            Ok(length) => {
                self.credit = self.credit.saturating_sub(u32::try_from(length).unwrap_or(u32::MAX));
                let bytes = buffer.get(..length).unwrap_or_default().to_vec();
                out.push(&FromAgent::Output { id, stream: Stream::Stdout, bytes });
            }
            Err(Errno::AGAIN) => {}
            Err(_) => self.state = State::Broken,
        }
    }

    fn write(&mut self, id: u32, out: &mut Outgoing) {
        while let Some(rest) = self.held.get(self.written..).filter(|rest| !rest.is_empty()) {
            match packets::write(&self.socket, rest) {
                Ok(length) => {
                    self.written += length;
                    self.untold = self.untold.saturating_add(u32::try_from(length).unwrap_or(u32::MAX));
                }
                Err(Errno::AGAIN) => break,
                Err(_) => {
                    self.state = State::Broken;
                    return;
                }
            }
        }
        if self.written == self.held.len() {
            self.held = Vec::new();
            self.written = 0;
            if self.told_all && !self.is_shut {
                self.is_shut = true;
                // The other side may be gone already.
                let _gone = loopback::end_sending(&self.socket);
            }
        }
        if self.untold >= TELL && !self.told_all {
            out.push(&FromAgent::Credit { id, bytes: self.untold });
            self.untold = 0;
        }
    }

    /// Takes bytes from the host.
    pub(crate) fn take(&mut self, id: u32, bytes: &[u8], out: &mut Outgoing) -> Result<(), TooMuch> {
        let under_way = self.held.len() - self.written + self.untold as usize + bytes.len();
        if under_way > CARRIED_WINDOW as usize {
            return Err(TooMuch);
        }
        if !self.told_all {
            self.held.extend_from_slice(bytes);
            if self.state == State::Joined {
                self.write(id, out);
            }
        }
        Ok(())
    }

    /// There is no more from the host.
    pub(crate) fn finish(&mut self, id: u32, out: &mut Outgoing) {
        self.told_all = true;
        if self.state == State::Joined {
            self.write(id, out);
        }
    }

    /// The host took so many bytes. More than a window is never under way.
    pub(crate) fn give_credit(&mut self, bytes: u32) {
        self.credit = self.credit.saturating_add(bytes).min(CARRIED_WINDOW);
    }
}
