//! A cell's one socket, from the inside: whole messages in, whole messages out, and no way to stand in the host's way:
//! while a long message waits to be taken, what the host says is read.

use std::cell::RefCell;
use std::time::{Duration, Instant};

use bailiwick_sys::clock::{self, Ready, Woken};
use bailiwick_sys::ending::exit_now;
use bailiwick_sys::{descriptors, packets};
use bailiwick_wire::{Decoder, FromCell, ToCell, encode};

use crate::ending;

/// The longest message a cell takes: code, arguments and input together stay far below.
const LONGEST: usize = 512 * 1024 * 1024;

/// What a stream that has room takes at once without blocking.
const PIECE: usize = 8 * 1024;

/// What is read at once: of a message that may be short, and of one that is not over.
const SHORT: usize = 2 * 1024;
const LONG: usize = 16 * 1024;

/// The socket and what was read from it.
pub(super) struct Talk {
    decoder: RefCell<Decoder>,
}

impl Talk {
    /// Nothing heard yet.
    pub(super) fn new() -> Self {
        Self { decoder: RefCell::new(Decoder::new(LONGEST)) }
    }

    /// The next message: at once if it is there already, else within this time. When the host is gone, or talks
    /// nonsense, the process ends.
    pub(super) fn hear(&self, how_long: Option<Duration>) -> Option<ToCell> {
        let until = how_long.and_then(|how_long| Instant::now().checked_add(how_long));
        loop {
            if let Some(message) = self.whole() {
                return Some(message);
            }
            // A message that was begun comes whole, whatever the time.
            let rest = match until {
                Some(until) if !self.decoder.borrow().is_within_a_frame() => {
                    Some(until.saturating_duration_since(Instant::now()))
                }
                _ => None,
            };
            if rest.is_none() {
                self.read();
                continue;
            }
            match clock::wait_readable(descriptors::zero(), rest) {
                Ok(Woken::Late) => return None,
                Ok(Woken::Interrupted) => {}
                Ok(Woken::Ready) => self.read(),
                Err(_) => exit_now(ending::FINE),
            }
        }
    }

    fn whole(&self) -> Option<ToCell> {
        match self.decoder.borrow_mut().take() {
            Ok(message) => message,
            Err(_) => exit_now(ending::PROTOCOL),
        }
    }

    fn read(&self) {
        // Most messages are short, and every page of a buffer is memory of this cell's own.
        if self.decoder.borrow().is_within_a_frame() {
            self.read_into::<LONG>();
        } else {
            self.read_into::<SHORT>();
        }
    }

    #[inline(never)]
    fn read_into<const SIZE: usize>(&self) {
        let mut buffer = [0; SIZE];
        match packets::read(descriptors::zero(), &mut buffer) {
            Ok(0) | Err(_) => exit_now(ending::FINE),
            Ok(length) => self.decoder.borrow_mut().push(buffer.get(..length).unwrap_or_default()),
        }
    }

    /// Says something; ends the process when there is no host any more. With `answers_due` the host may be writing
    /// too, and is heard meanwhile; else it only listens.
    pub(super) fn say(&self, message: &FromCell, answers_due: bool) {
        let Ok(frame) = encode(message) else { exit_now(ending::PROTOCOL) };
        let mut rest = frame.as_slice();
        while !rest.is_empty() {
            let ready = match answers_due.then(|| clock::wait_either(descriptors::zero())) {
                None => Ready { readable: false, writable: true },
                Some(Ok(ready)) => ready,
                Some(Err(_)) => exit_now(ending::FINE),
            };
            if ready.readable {
                self.read();
            }
            if ready.writable {
                let piece = rest.get(..PIECE).filter(|_| answers_due).unwrap_or(rest);
                match packets::write(descriptors::zero(), piece) {
                    Ok(written) => rest = rest.get(written..).unwrap_or_default(),
                    Err(_) => exit_now(ending::FINE),
                }
            }
        }
    }
}
