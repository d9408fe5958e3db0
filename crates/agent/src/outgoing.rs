//! What is on its way to the host. It never grows without bound: streams are read only while there is room, and asks only
//! while there is twice as much.

use std::os::fd::AsFd;

use bailiwick_sys::{Errno, packets};
use bailiwick_wire::agent::FromAgent;

/// Above this, no stream, file or pack is read any further.
const ROOM: usize = 512 * 1024;
/// Above this, no ask is read any further.
const FULL: usize = 2 * ROOM;
/// What is kept of the buffer when all of it went.
const KEPT: usize = 64 * 1024;

/// Frames that wait for the socket.
#[derive(Debug, Default)]
pub(crate) struct Outgoing {
    bytes: Vec<u8>,
    sent: usize,
    is_broken: bool,
}

impl Outgoing {
    /// Puts a message behind the others.
    pub(crate) fn push(&mut self, message: &FromAgent) {
        match bailiwick_wire::encode(message) {
            Ok(frame) => self.bytes.extend_from_slice(&frame),
            // Every message here is far below the longest frame; a host that missed one could not go on.
            Err(_) => self.is_broken = true,
        }
    }

    /// Says that something failed.
    pub(crate) fn fail(&mut self, id: u32, step: &str, errno: Errno) {
        self.push(&FromAgent::Failed { id, step: step.to_owned(), errno: errno.raw_os_error() });
    }

    /// Whether a message could not be made.
    pub(crate) fn is_broken(&self) -> bool {
        self.is_broken
    }

    /// Whether there is room for what a stream says.
    pub(crate) fn has_room(&self) -> bool {
        self.waiting() < ROOM
    }

    /// Whether there is so much that no ask should be taken.
    pub(crate) fn is_full(&self) -> bool {
        self.waiting() >= FULL
    }

    /// Whether something waits.
    pub(crate) fn is_empty(&self) -> bool {
        self.waiting() == 0
    }

    fn waiting(&self) -> usize {
        self.bytes.len() - self.sent
    }

    /// Sends what the socket takes.
    pub(crate) fn flush(&mut self, socket: impl AsFd) -> Result<(), Errno> {
        while let Some(rest) = self.bytes.get(self.sent..).filter(|rest| !rest.is_empty()) {
            match packets::write(&socket, rest) {
                Ok(sent) => self.sent += sent,
                Err(Errno::AGAIN) => break,
                Err(errno) => return Err(errno),
            }
        }
        if self.is_empty() {
            self.bytes.clear();
            self.bytes.shrink_to(KEPT);
            self.sent = 0;
        } else if self.sent >= KEPT {
            self.bytes.drain(..self.sent);
            self.sent = 0;
        }
        Ok(())
    }
}
