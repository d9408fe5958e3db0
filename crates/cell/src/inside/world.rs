//! The world as the engine sees it: one socket, clocks, randomness.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use bailiwick_engine::{Outside, Phase};
use bailiwick_sys::clock::{self, Woken};
use bailiwick_sys::{descriptors, ending::exit_now};
use bailiwick_types::LogLevel;
use bailiwick_wire::FromCell;

use super::{PARSING, say};
use crate::ending;

/// What the engine may ask for.
pub(super) struct World {
    started: Instant,
    /// The time of day when the call began.
    began: Duration,
}

impl World {
    /// The call begins now.
    pub(super) fn new() -> Self {
        Self { started: Instant::now(), began: clock::realtime() }
    }
}

impl Outside for World {
    fn log(&self, level: LogLevel, text: &str) {
        say(&FromCell::Log { level, text: text.to_owned() });
    }

    fn wait(&self, how_long: Duration) {
        let until = Instant::now() + how_long;
        loop {
            let rest = until.saturating_duration_since(Instant::now());
            match clock::wait_readable(descriptors::zero(), Some(rest)) {
                Ok(Woken::Late) => return,
                Ok(Woken::Interrupted) => {}
                // The host says nothing while a call runs: it is gone.
                Ok(Woken::Ready) | Err(_) => exit_now(ending::FINE),
            }
        }
    }

    fn wall(&self) -> Duration {
        self.started.elapsed()
    }

    fn now(&self) -> Duration {
        // From the one clock that cannot be set: the time of day never goes back within a call.
        self.began.saturating_add(self.started.elapsed())
    }

    fn cpu(&self) -> Duration {
        clock::cpu()
    }

    fn random(&self, bytes: &mut [u8]) {
        // Without randomness a clone would share its seeds with its siblings.
        if clock::random(bytes).is_err() {
            exit_now(ending::NO_WALL);
        }
    }

    fn phase(&self, phase: Phase) {
        PARSING.store(phase == Phase::Parsing, Ordering::Relaxed);
    }
}
