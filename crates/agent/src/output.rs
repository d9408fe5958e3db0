//! One stream of a command, from its pipe to the host: only as far as there is credit, and only as long as it matters.

use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};

use bailiwick_sys::{Errno, packets};
use bailiwick_wire::agent::{CHUNK, FromAgent, Stream, WINDOW};

use crate::outgoing::Outgoing;

/// The most that is read from a terminal after its command ended. More than a terminal can hold.
const TERMINAL_HOLDS: u64 = 256 * 1024;

/// What a stream comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum From {
    /// A pipe.
    Pipe,
    /// A terminal.
    Terminal,
}

/// A stream of a command.
#[derive(Debug)]
pub(crate) struct Output {
    stream: Stream,
    from: From,
    end: Option<OwnedFd>,
    credit: u32,
    is_discarded: bool,
    /// After the command's end: how much of what was there then has not been read.
    left: Option<u64>,
}

impl Output {
    /// A stream, with the credit that both sides begin with.
    pub(crate) fn new(stream: Stream, from: From, end: OwnedFd) -> Self {
        Self { stream, from, end: Some(end), credit: WINDOW, is_discarded: false, left: None }
    }

    /// The descriptor to wait for, if it may be read; what is thrown away needs no room.
    pub(crate) fn wanted(&self, has_room: bool) -> Option<BorrowedFd<'_>> {
        let may_be_read = self.is_discarded || (has_room && self.credit > 0);
        self.end.as_ref().filter(|_| may_be_read).map(|end| end.as_fd())
    }

    /// The descriptor.
    pub(crate) fn end(&self) -> Option<BorrowedFd<'_>> {
        self.end.as_ref().map(|end| end.as_fd())
    }

    /// Whether nothing more will come.
    pub(crate) fn is_closed(&self) -> bool {
        self.end.is_none()
    }

    /// The host took so many bytes. More than a window is never under way.
    pub(crate) fn give_credit(&mut self, bytes: u32) {
        self.credit = self.credit.saturating_add(bytes).min(WINDOW);
    }

    /// Nobody wants it any more.
    pub(crate) fn discard(&mut self) {
        self.is_discarded = true;
    }

    /// The command has ended: what is in the pipe now still belongs to it, what a child in the background writes later
    /// does not.
    pub(crate) fn command_ended(&mut self) {
        let Some(end) = &self.end else { return };
        let held = match self.from {
            From::Pipe => rustix::io::ioctl_fionread(end).unwrap_or(0),
            From::Terminal => TERMINAL_HOLDS,
        };
        self.left = Some(held);
        if held == 0 {
            self.end = None;
        }
    }

    /// Reads once, if there is credit and room. Says whether it may be worth to try again at once.
    pub(crate) fn pump(&mut self, id: u32, scratch: &mut [u8], out: &mut Outgoing) -> bool {
        let Some(end) = &self.end else { return false };
        if !self.is_discarded && (self.credit == 0 || !out.has_room()) {
            return false;
        }
        let mut most = CHUNK;
        if !self.is_discarded {
            most = most.min(self.credit as usize);
        }
        if let Some(left) = self.left {
            most = most.min(usize::try_from(left).unwrap_or(most));
        }
        let buffer = scratch.get_mut(..most).unwrap_or_default();
        match packets::read(end, buffer) {
            // A terminal says EIO when its last user is gone.
            Ok(0) => self.end = None,
            Ok(length) => {
                self.took(id, buffer.get(..length).unwrap_or_default(), out);
                return self.end.is_some();
            }
            // After its end there is nothing to wait for.
            Err(Errno::AGAIN) if self.left.is_none() => {}
            Err(_) => self.end = None,
        }
        false
    }

    fn took(&mut self, id: u32, bytes: &[u8], out: &mut Outgoing) {
        if !self.is_discarded {
            self.credit = self.credit.saturating_sub(u32::try_from(bytes.len()).unwrap_or(u32::MAX));
            out.push(&FromAgent::Output { id, stream: self.stream, bytes: bytes.to_vec() });
        }
        if let Some(left) = &mut self.left {
            *left = left.saturating_sub(bytes.len() as u64);
            if *left == 0 {
                self.end = None;
            }
        }
    }
}
