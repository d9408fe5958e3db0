//! The clock that code reads, kept for a trace or taken from one: what it said, in order, the same value in a row once.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;

use bailiwick_wire::{Reading, Tracing};

/// The most values that a trace keeps: a value a millisecond for longer than any call runs.
const MOST: usize = 100_000;

/// The clock of one call.
#[derive(Debug, Default)]
pub(crate) struct Clock {
    record: RefCell<Option<Vec<Reading>>>,
    replay: RefCell<VecDeque<Reading>>,
    /// The last value of the trace, which stands when there is no more.
    last: Cell<Option<u64>>,
}

impl Clock {
    /// Begins a call.
    pub(crate) fn begin(&self, tracing: &Tracing) {
        match tracing {
            Tracing::Off => {}
            Tracing::Record => *self.record.borrow_mut() = Some(Vec::new()),
            Tracing::Replay(trace) => {
                self.last.set(trace.clock.first().map(|reading| reading.at));
                self.replay.borrow_mut().extend(trace.clock.iter().copied());
            }
        }
    }

    /// What the clock says, when it is this time.
    pub(crate) fn read(&self, now: impl FnOnce() -> u64) -> u64 {
        if let Some(at) = self.foreseen() {
            return at;
        }
        let at = now();
        if let Some(readings) = self.record.borrow_mut().as_mut() {
            let is_full = readings.len() >= MOST;
            match readings.last_mut() {
                Some(last) if last.at == at && last.times < u32::MAX => last.times += 1,
                _ if is_full => {}
                _ => readings.push(Reading { at, times: 1 }),
            }
        }
        at
    }

    /// What it said, for the trace.
    pub(crate) fn recorded(&self) -> Vec<Reading> {
        self.record.take().unwrap_or_default()
    }

    fn foreseen(&self) -> Option<u64> {
        let mut replay = self.replay.borrow_mut();
        if let Some(next) = replay.front_mut() {
            let at = next.at;
            next.times = next.times.saturating_sub(1);
            if next.times == 0 {
                replay.pop_front();
            }
            self.last.set(Some(at));
        }
        self.last.get()
    }
}
