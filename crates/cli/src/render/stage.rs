//! A terminal that is painted as a whole: an alternate screen with whole frames of lines, each as long as it may be.
//!
//! What is painted are spans like everywhere else: no text of a stranger can leave its place. Everything is put back when
//! this is dropped, also by a panic.

use std::io::{IsTerminal as _, Write as _};
use std::os::fd::AsFd as _;

use anstream::{AutoStream, ColorChoice};
use rustix::io::Errno;
use rustix::termios::{InputModes, LocalModes, OptionalActions, Termios, tcgetattr, tcgetwinsize, tcsetattr};

use super::Span;
use crate::failure::Failure;

/// A line of a frame.
pub(crate) type Line = Vec<Span<'static>>;

/// A screen of its own, the cursor hidden, long lines cut by the terminal as well, and marks around what is pasted.
const ENTER: &[u8] = b"\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[?2004h";
const LEAVE: &[u8] = b"\x1b[?2004l\x1b[?7h\x1b[?25h\x1b[?1049l";

/// A painted terminal, until it is dropped.
pub(crate) struct Stage {
    before: Termios,
    raw: Termios,
    has_colours: bool,
}

/// Whether there is a terminal to be painted and typed at.
pub(crate) fn is_possible() -> bool {
    std::io::stdin().is_terminal() && std::io::stdout().is_terminal()
}

impl Stage {
    /// Takes the terminal: keys come one by one, and none of them is a signal.
    pub(crate) fn enter() -> Result<Self, Failure> {
        let stdin = std::io::stdin();
        let failed = |errno: Errno| Failure::Terminal(errno.into());
        let before = tcgetattr(stdin.as_fd()).map_err(failed)?;
        let mut raw = before.clone();
        raw.local_modes.remove(LocalModes::ECHO | LocalModes::ICANON | LocalModes::ISIG | LocalModes::IEXTEN);
        raw.input_modes.remove(InputModes::IXON | InputModes::ICRNL);
        let has_colours = AutoStream::choice(&std::io::stdout()) != ColorChoice::Never;
        let stage = Self { before, raw, has_colours };
        stage.take()?;
        Ok(stage)
    }

    /// Takes the terminal again, after somebody else had it.
    pub(crate) fn take(&self) -> Result<(), Failure> {
        // What was typed before anything stood there is no answer.
        tcsetattr(std::io::stdin().as_fd(), OptionalActions::Flush, &self.raw)
            .map_err(|errno| Failure::Terminal(errno.into()))?;
        write(ENTER).map_err(Failure::Terminal)
    }

    /// Gives the terminal back as it was.
    pub(crate) fn give_back(&self) -> std::io::Result<()> {
        let left = write(LEAVE);
        tcsetattr(std::io::stdin().as_fd(), OptionalActions::Flush, &self.before)?;
        left
    }

    /// Columns and rows, as they are now.
    pub(crate) fn size() -> (usize, usize) {
        match tcgetwinsize(std::io::stdout().as_fd()) {
            Ok(size) if size.ws_col > 0 && size.ws_row > 0 => (size.ws_col.into(), size.ws_row.into()),
            _ => (80, 24),
        }
    }

    /// Paints a frame; lines beyond the last row are left out.
    pub(crate) fn paint(&self, lines: &[Line], rows: usize) -> Result<(), Failure> {
        let mut frame = b"\x1b[H".to_vec();
        for (index, line) in lines.iter().take(rows).enumerate() {
            if index > 0 {
                frame.extend_from_slice(b"\r\n");
            }
            for span in line {
                if self.has_colours {
                    span.write(&mut frame);
                } else {
                    span.write_plain(&mut frame);
                }
            }
            frame.extend_from_slice(b"\x1b[K");
        }
        frame.extend_from_slice(b"\x1b[J");
        write(&frame).map_err(Failure::Terminal)
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        // Where the terminal went away there is nothing to put back.
        let _gone = self.give_back();
    }
}

fn write(bytes: &[u8]) -> std::io::Result<()> {
    let mut stdout = std::io::stdout().lock();
    stdout.write_all(bytes)?;
    stdout.flush()
}

/// A line in as many as it takes within these columns.
pub(crate) fn wrapped(line: Line, columns: usize, indent: usize) -> Vec<Line> {
    let columns = columns.max(indent + 8);
    let mut lines = vec![Line::new()];
    let mut used = 0_usize;
    for span in line {
        let parts = span.parts(columns - indent, used.saturating_sub(indent));
        for (index, part) in parts.into_iter().enumerate() {
            if index > 0 {
                lines.push(vec![super::plain(&" ".repeat(indent)).into_owned()]);
                used = indent;
            }
            used += part.width();
            if let Some(last) = lines.last_mut() {
                last.push(part);
            }
        }
    }
    lines
}
