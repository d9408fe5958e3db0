//! What a command is told: held up to a window, and written as the command reads. One that does not read stops nobody else.

use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};

use bailiwick_sys::{Errno, packets};
use bailiwick_wire::agent::{FromAgent, WINDOW};
use rustix::termios::{LocalModes, SpecialCodeIndex, tcgetattr};

use crate::outgoing::Outgoing;

/// So much has to be taken before the host is told: a host never waits for it, since it has four times as much.
const TELL: u32 = WINDOW / 4;

/// The host sent more than it had credit for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TooMuch;

/// The input of a command.
#[derive(Debug)]
pub(crate) struct Input {
    end: Option<OwnedFd>,
    is_terminal: bool,
    held: Vec<u8>,
    written: usize,
    /// Taken, and the host was not told yet.
    untold: u32,
    has_ended: bool,
    /// Whether what was written last ended a line, so that a terminal's end of input counts at once.
    at_line: bool,
}

impl Input {
    /// Input into this descriptor; without one, whatever comes is thrown away.
    pub(crate) fn new(end: Option<OwnedFd>, is_terminal: bool) -> Self {
        Self { end, is_terminal, held: Vec::new(), written: 0, untold: 0, has_ended: false, at_line: true }
    }

    /// The descriptor to wait for, if there is something to write.
    pub(crate) fn wanted(&self) -> Option<BorrowedFd<'_>> {
        self.end.as_ref().filter(|_| self.written < self.held.len()).map(|end| end.as_fd())
    }

    /// Takes bytes from the host.
    pub(crate) fn take(&mut self, id: u32, bytes: &[u8], out: &mut Outgoing) -> Result<(), TooMuch> {
        let under_way = self.held.len() - self.written + self.untold as usize + bytes.len();
        if under_way > WINDOW as usize {
            return Err(TooMuch);
        }
        if self.has_ended {
            return Ok(());
        }
        self.held.extend_from_slice(bytes);
        self.pump(id, out);
        Ok(())
    }

    /// There is no more.
    pub(crate) fn finish(&mut self, id: u32, out: &mut Outgoing) {
        if self.has_ended {
            return;
        }
        self.has_ended = true;
        if self.is_terminal {
            self.end_of_terminal();
        }
        self.pump(id, out);
    }

    /// A terminal has no end; what stands for it is a character, as long as lines are edited.
    fn end_of_terminal(&mut self) {
        let Some(settings) = self.end.as_ref().and_then(|end| tcgetattr(end).ok()) else { return };
        if !settings.local_modes.contains(LocalModes::ICANON) {
            return;
        }
        let end_of_input = settings.special_codes[SpecialCodeIndex::VEOF];
        let at_line =
            self.held.get(self.written..).and_then(<[u8]>::last).map_or(self.at_line, |last| *last == b'\n');
        self.held.push(end_of_input);
        if !at_line {
            // The first only ends the line.
            self.held.push(end_of_input);
        }
    }

    /// Writes what the command takes.
    pub(crate) fn pump(&mut self, id: u32, out: &mut Outgoing) {
        while let Some(rest) = self.held.get(self.written..).filter(|rest| !rest.is_empty()) {
            let length = match self.end.as_ref().map(|end| packets::write(end, rest)) {
                Some(Ok(length)) => length,
                Some(Err(Errno::AGAIN)) => break,
                // Nobody reads it any more: it is taken and thrown away.
                Some(Err(_)) | None => {
                    self.end = None;
                    rest.len()
                }
            };
            self.at_line = rest.get(..length).and_then(<[u8]>::last) == Some(&b'\n');
            self.written += length;
            self.untold = self.untold.saturating_add(u32::try_from(length).unwrap_or(u32::MAX));
        }
        if self.written == self.held.len() {
            self.held = Vec::new();
            self.written = 0;
            if self.has_ended && !self.is_terminal {
                self.end = None;
            }
        }
        if self.untold >= TELL && !self.has_ended {
            out.push(&FromAgent::Credit { id, bytes: self.untold });
            self.untold = 0;
        }
    }
}
