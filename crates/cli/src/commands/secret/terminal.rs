//! Questions to a person at a terminal.
//!
//! While a value is typed the terminal shows nothing and sends no signals: it must never be left without its echo by a
//! Ctrl-C, so that key arrives here as a byte.

use std::io::IsTerminal as _;
use std::os::fd::AsFd as _;

use bailiwick_secrets::{MOST_BYTES, SecretsError, ValueError};
use rustix::io::Errno;
use rustix::termios::{LocalModes, OptionalActions, QueueSelector, Termios, tcflush, tcgetattr, tcsetattr};
use zeroize::{Zeroize as _, Zeroizing};

use crate::failure::Failure;
use crate::render::Screen;

const INTERRUPT: u8 = 0x03;
const END_OF_INPUT: u8 = 0x04;
const BACKSPACE: u8 = 0x08;
const KILL_LINE: u8 = 0x15;
const DELETE: u8 = 0x7f;

/// Whether a person can be asked.
pub(crate) fn is_there() -> bool {
    std::io::stdin().is_terminal()
}

/// Asks a yes-or-no question; anything but a yes is a no.
pub(crate) fn agrees(screen: &Screen, question: &str) -> Result<bool, Failure> {
    screen.raw_to_stderr(&format!("{question} [y/N] "));
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer).map_err(Failure::Stdin)?;
    Ok(matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes"))
}

/// Asks a yes-or-no question of weight: what was typed before it stood there is no answer.
pub(crate) fn agrees_now(screen: &Screen, question: &str) -> Result<bool, Failure> {
    tcflush(std::io::stdin().as_fd(), QueueSelector::IFlush)
        .map_err(|errno| Failure::Terminal(errno.into()))?;
    agrees(screen, question)
}

/// Asks for a line; none when the input is at its end.
pub(crate) fn line(screen: &Screen, question: &str) -> Result<Option<String>, Failure> {
    screen.raw_to_stderr(question);
    let mut answer = String::new();
    let read = std::io::stdin().read_line(&mut answer).map_err(Failure::Stdin)?;
    Ok((read > 0).then(|| answer.trim().to_owned()))
}

/// Asks for a line that is not shown.
pub(super) fn hidden_line(screen: &Screen, question: &str) -> Result<Zeroizing<Vec<u8>>, Failure> {
    let quiet = Quiet::begin()?;
    screen.raw_to_stderr(question);
    let line = read_line();
    drop(quiet);
    // The Enter was not shown either.
    screen.raw_to_stderr("\n");
    line
}

fn read_line() -> Result<Zeroizing<Vec<u8>>, Failure> {
    let stdin = std::io::stdin();
    // With all the room from the start, so that no growth leaves a copy behind.
    let mut line = Zeroizing::new(Vec::with_capacity(MOST_BYTES + 1));
    loop {
        let mut byte = Zeroizing::new([0]);
        match rustix::io::read(stdin.as_fd(), byte.as_mut_slice()) {
            Ok(0) => return Ok(line),
            Ok(_) => {}
            Err(Errno::INTR) => continue,
            Err(errno) => return Err(Failure::Stdin(errno.into())),
        }
        match *byte {
            [b'\n' | b'\r' | END_OF_INPUT] => return Ok(line),
            [INTERRUPT] => return Err(Failure::Declined("interrupted; nothing was changed")),
            [BACKSPACE | DELETE] => {
                // A character may have several bytes; all but its first begin with the bits 10.
                while line.pop().is_some_and(|byte| byte & 0xc0 == 0x80) {}
            }
            [KILL_LINE] => {
                line.as_mut_slice().zeroize();
                line.clear();
            }
            [_] if line.len() > MOST_BYTES => return Err(SecretsError::Value(ValueError::TooLarge).into()),
            [byte] => line.push(byte),
        }
    }
}

/// A terminal that shows nothing, until this is dropped.
struct Quiet {
    before: Termios,
}

impl Quiet {
    fn begin() -> Result<Self, Failure> {
        let stdin = std::io::stdin();
        let failed = |errno: Errno| Failure::Terminal(errno.into());
        let before = tcgetattr(stdin.as_fd()).map_err(failed)?;
        let mut quiet = before.clone();
        quiet.local_modes.remove(LocalModes::ECHO | LocalModes::ICANON | LocalModes::ISIG);
        tcsetattr(stdin.as_fd(), OptionalActions::Flush, &quiet).map_err(failed)?;
        Ok(Self { before })
    }
}

impl Drop for Quiet {
    fn drop(&mut self) {
        // What was typed ahead, such as the further lines of a pasted value, must not reach the shell: it is flushed.
        // Where the terminal went away there is nothing to put back.
        let _gone = tcsetattr(std::io::stdin().as_fd(), OptionalActions::Flush, &self.before);
    }
}
