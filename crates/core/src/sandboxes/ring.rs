//! The last of what a stream said, within a bound; and how much of it was dropped before somebody read it.

use std::collections::VecDeque;

use bytes::Bytes;

/// The last bytes of a stream, by their place in it.
#[derive(Debug)]
pub(crate) struct Ring {
    bytes: VecDeque<u8>,
    most: usize,
    /// The place behind the last byte.
    end: u64,
}

/// A piece of a stream.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    pub(crate) bytes: Bytes,
    /// How many bytes before it were wanted and are gone.
    pub(crate) dropped: u64,
    /// Where the next begins.
    pub(crate) next: u64,
    /// Whether there is more already.
    pub(crate) is_more: bool,
}

impl Ring {
    pub(crate) fn new(most: usize) -> Self {
        Self { bytes: VecDeque::new(), most, end: 0 }
    }

    /// Takes what a stream says; the oldest goes where there is no room.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.end = self.end.saturating_add(bytes.len() as u64);
        let kept = bytes.get(bytes.len().saturating_sub(self.most)..).unwrap_or_default();
        let over = (self.bytes.len() + kept.len()).saturating_sub(self.most);
        self.bytes.drain(..over.min(self.bytes.len()));
        self.bytes.extend(kept);
    }

    /// What is there from a place on, at most so much. While more may come, a character of which only the beginning is there
    /// waits for the rest.
    pub(crate) fn read(&self, from: u64, most: usize, may_grow: bool) -> Piece {
        let first = self.end - self.bytes.len() as u64;
        // A place that is yet to come is none that we gave.
        let start = from.clamp(first, self.end);
        let skip = usize::try_from(start - first).unwrap_or(usize::MAX);
        let mut bytes: Vec<u8> = self.bytes.iter().skip(skip).take(most).copied().collect();
        let whole = whole_characters(&bytes);
        let is_cut = start + (bytes.len() as u64) < self.end;
        if may_grow || is_cut {
            bytes.truncate(whole);
        }
        let next = start + bytes.len() as u64;
        let dropped = first.saturating_sub(from.min(self.end));
        Piece { bytes: bytes.into(), dropped, next, is_more: next < self.end && is_cut }
    }
}

/// How much of it is whole characters; all of it where it is no text anyway.
fn whole_characters(bytes: &[u8]) -> usize {
    match std::str::from_utf8(bytes) {
        Err(error) if error.error_len().is_none() => error.valid_up_to(),
        _ => bytes.len(),
    }
}

#[cfg(test)]
mod tests;
