//! What a command says, as it comes: byte for byte into pipes and files, and harmless at a terminal that is not the
//! command's own.

use std::io::{IsTerminal as _, Write as _};

use bailiwick_sandbox::Stream;
use bailiwick_types::is_harmless;

/// One stream of ours that a command's output goes to.
#[derive(Debug)]
pub(crate) struct Out {
    stream: Stream,
    /// Whether control characters are written out.
    is_cleaned: bool,
    /// The beginning of a character whose end has not come yet.
    rest: Vec<u8>,
}

impl Out {
    /// Our own stream of the same name. `is_theirs` where the command has the terminal to itself.
    pub(crate) fn new(stream: Stream, is_theirs: bool) -> Self {
        let is_terminal = match stream {
            Stream::Stdout => std::io::stdout().is_terminal(),
            Stream::Stderr => std::io::stderr().is_terminal(),
        };
        Self { stream, is_cleaned: is_terminal && !is_theirs, rest: Vec::new() }
    }

    /// Writes some of it.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        if !self.is_cleaned {
            return put(self.stream, bytes);
        }
        self.rest.extend_from_slice(bytes);
        let clean = cleaned(&mut self.rest);
        put(self.stream, clean.as_bytes())
    }
}

fn put(stream: Stream, bytes: &[u8]) -> std::io::Result<()> {
    match stream {
        Stream::Stdout => {
            let mut stdout = std::io::stdout().lock();
            stdout.write_all(bytes).and_then(|()| stdout.flush())
        }
        Stream::Stderr => std::io::stderr().lock().write_all(bytes),
    }
}

/// The whole characters of some bytes, with everything that would move the cursor written out; what is left is the beginning
/// of a character.
fn cleaned(bytes: &mut Vec<u8>) -> String {
    let mut shown = String::with_capacity(bytes.len());
    let mut left = std::mem::take(bytes);
    loop {
        let (whole, bad) = match std::str::from_utf8(&left) {
            Ok(_) => (left.len(), Some(0)),
            Err(error) => (error.valid_up_to(), error.error_len()),
        };
        let text = left.get(..whole).and_then(|whole| std::str::from_utf8(whole).ok()).unwrap_or_default();
        for c in text.chars() {
            if c == '\n' || is_harmless(c) {
                shown.push(c);
            } else {
                shown.extend(c.escape_unicode());
            }
        }
        left.drain(..whole);
        match bad {
            Some(0) => return shown,
            Some(bad) => {
                shown.push(char::REPLACEMENT_CHARACTER);
                left.drain(..bad.min(left.len()));
            }
            None => {
                *bytes = left;
                return shown;
            }
        }
    }
}

#[cfg(test)]
mod tests;
