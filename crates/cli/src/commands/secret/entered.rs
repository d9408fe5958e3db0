//! A value as it is entered: at a prompt on a terminal, else all of stdin. Never from the command line, which every
//! user of the machine can read. It must leave no copy in a buffer that is not wiped.

use std::os::fd::AsFd as _;

use bailiwick_redact::Secret;
use bailiwick_secrets::{MOST_BYTES, SecretName, SecretsError, ValueError};
use rustix::io::Errno;
use zeroize::Zeroizing;

use super::{terminal, to_value};
use crate::failure::Failure;
use crate::render::Screen;

/// Room for the largest value and the line break behind it, and one byte more to notice a larger one.
const ROOM: usize = MOST_BYTES + 3;

/// Asks for a value, or reads it.
pub(super) fn value(screen: &Screen, name: &SecretName) -> Result<Secret, Failure> {
    if terminal::is_there() {
        return to_value(&terminal::hidden_line(screen, &format!("Value of {name} (not shown): "))?);
    }
    to_value(without_line_break(&all_of_stdin()?))
}

/// Stdin to its end. Not through the standard library's reader, whose buffer is never wiped.
fn all_of_stdin() -> Result<Zeroizing<Vec<u8>>, Failure> {
    let stdin = std::io::stdin();
    let mut bytes = Zeroizing::new(vec![0; ROOM]);
    let mut filled = 0;
    while let Some(free) = bytes.get_mut(filled..).filter(|free| !free.is_empty()) {
        match rustix::io::read(stdin.as_fd(), free) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(Errno::INTR) => {}
            Err(errno) => return Err(Failure::Stdin(errno.into())),
        }
    }
    if filled == ROOM {
        return Err(SecretsError::Value(ValueError::TooLarge).into());
    }
    bytes.truncate(filled);
    Ok(bytes)
}

/// Without the one line break that `echo` and editors put at the end.
fn without_line_break(bytes: &[u8]) -> &[u8] {
    bytes.strip_suffix(b"\r\n").or_else(|| bytes.strip_suffix(b"\n")).unwrap_or(bytes)
}
