//! The memory of request bodies: the bytes that are in memory at once, of each caller and of all together.
//!
//! A byte counts from when it was read until its request is answered. A body that does not fit is refused, and does not wait:
//! a sender that stalls would hold up all others. Callers without a key have a half, all but the operator seven eighths, and
//! one caller a quarter, so that nobody's bodies keep the operator's out.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use bailiwick_core::Rank;
use bailiwick_core::{capacity, heap};
use bailiwick_types::format_size;

/// The least and the most that is derived from the machine.
const DERIVED: (u64, u64) = (32 << 20, 256 << 20);
/// From this much on, memory that bodies took is given back to the system by hand: the allocator keeps it otherwise.
const MUCH: u64 = 16 << 20;

/// How many bytes all bodies may have, as the operator says or the machine allows.
pub(super) fn most(said: Option<u64>) -> u64 {
    let derived = || capacity::memory().map_or(DERIVED.0, |memory| (memory / 32).clamp(DERIVED.0, DERIVED.1));
    said.unwrap_or_else(derived)
}

/// The room for bodies.
#[derive(Debug)]
pub(super) struct Bodies {
    all: u64,
    /// What one caller may have; at least one body of the largest size.
    of_one: u64,
    taken: Mutex<Taken>,
}

#[derive(Debug, Default)]
struct Taken {
    all: u64,
    keyless: u64,
    /// Of all but the operator.
    others: u64,
    by_caller: HashMap<String, u64>,
    /// The most there was since memory was last given back.
    peak: u64,
}

/// Which bound a body would break.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Full {
    whose: &'static str,
    most: u64,
}

impl Full {
    /// What the sender is told.
    pub(super) fn told(&self) -> String {
        format!(
            "request bodies of {} have the {} that they may have in memory at once (server.bodies)",
            self.whose,
            format_size(self.most)
        )
    }
}

/// What one request's body takes; an extension of the request. Given back when the last copy is dropped.
#[derive(Debug, Clone)]
pub(crate) struct BodyCharge(Arc<Charge>);

#[derive(Debug)]
struct Charge {
    bodies: Arc<Bodies>,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    rank: Rank,
    caller: String,
    bytes: u64,
}

impl Bodies {
    /// Room for so many bytes, of bodies that have at most `one` each.
    pub(super) fn new(all: u64, one: u64) -> Arc<Self> {
        Arc::new(Self { all, of_one: (all / 4).max(one), taken: Mutex::default() })
    }

    /// For one request. Until its caller is known it counts as one of nobody's.
    pub(super) fn charge(self: &Arc<Self>) -> BodyCharge {
        let state = State { rank: Rank::Keyless, caller: String::new(), bytes: 0 };
        BodyCharge(Arc::new(Charge { bodies: Arc::clone(self), state: Mutex::new(state) }))
    }

    fn take(&self, rank: Rank, caller: &str, bytes: u64) -> Result<(), Full> {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let of_caller = taken.by_caller.get(caller).copied().unwrap_or_default();
        let below = self.all - self.all / 8;
        let bounds = [
            ("this caller", of_caller, self.of_one, rank < Rank::Operator),
            ("callers without a key", taken.keyless, (self.all / 2).max(1), rank == Rank::Keyless),
            ("all callers but the operator", taken.others, below, rank < Rank::Operator),
            ("all callers", taken.all, self.all, true),
        ];
        for (whose, used, most, holds) in bounds {
            if holds && used.saturating_add(bytes) > most {
                metrics::counter!("bailiwick_http_bodies_refused_total").increment(1);
                return Err(Full { whose, most });
            }
        }
        taken.add(rank, caller, bytes);
        Ok(())
    }

    fn release(&self, rank: Rank, caller: &str, bytes: u64) {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        taken.remove(rank, caller, bytes);
        let was_much = taken.peak >= MUCH && taken.all <= taken.peak / 4;
        if was_much {
            taken.peak = taken.all;
        }
        drop(taken);
        if was_much && let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn_blocking(heap::give_back);
        }
    }
}

impl Taken {
    fn add(&mut self, rank: Rank, caller: &str, bytes: u64) {
        self.all = self.all.saturating_add(bytes);
        self.peak = self.peak.max(self.all);
        if rank < Rank::Operator {
            self.others = self.others.saturating_add(bytes);
        }
        if rank == Rank::Keyless {
            self.keyless = self.keyless.saturating_add(bytes);
        }
        match self.by_caller.get_mut(caller) {
            Some(of_caller) => *of_caller = of_caller.saturating_add(bytes),
            None => drop(self.by_caller.insert(caller.to_owned(), bytes)),
        }
        self.tell();
    }

    fn remove(&mut self, rank: Rank, caller: &str, bytes: u64) {
        self.all = self.all.saturating_sub(bytes);
        if rank < Rank::Operator {
            self.others = self.others.saturating_sub(bytes);
        }
        if rank == Rank::Keyless {
            self.keyless = self.keyless.saturating_sub(bytes);
        }
        if let Some(of_caller) = self.by_caller.get_mut(caller) {
            *of_caller = of_caller.saturating_sub(bytes);
            if *of_caller == 0 {
                self.by_caller.remove(caller);
            }
        }
        self.tell();
    }

    fn tell(&self) {
        #[expect(clippy::cast_precision_loss, reason = "a gauge is a float")]
        metrics::gauge!("bailiwick_http_body_bytes").set(self.all as f64);
    }
}

impl BodyCharge {
    /// From now on it is this caller's. Nothing of the body was read before.
    pub(crate) fn is_of(&self, rank: Rank, caller: String) {
        let mut state = self.0.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.bytes == 0 {
            (state.rank, state.caller) = (rank, caller);
        }
    }

    /// So many bytes more were read.
    pub(super) fn add(&self, bytes: u64) -> Result<(), Full> {
        let mut state = self.0.state.lock().unwrap_or_else(PoisonError::into_inner);
        self.0.bodies.take(state.rank, &state.caller, bytes)?;
        state.bytes = state.bytes.saturating_add(bytes);
        Ok(())
    }
}

impl Drop for Charge {
    fn drop(&mut self) {
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        if state.bytes > 0 {
            self.bodies.release(state.rank, &state.caller, state.bytes);
        }
    }
}

#[cfg(test)]
mod tests;
