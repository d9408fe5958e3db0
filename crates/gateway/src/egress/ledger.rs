//! What was refused: all of it counted, and so much of it kept that a caller can act on it.
//!
//! Memory is bounded: the first distinct refusals stay, of the later ones the newest. One that comes again is kept once.

use std::sync::{Mutex, PoisonError};

use bailiwick_types::Denial;

/// How many are kept of the first, and of the newest.
const MOST_KEPT: usize = 64;

/// The refusals of one sandbox.
#[derive(Debug, Default)]
pub(super) struct Ledger(Mutex<Kept>);

#[derive(Debug, Default)]
struct Kept {
    count: u64,
    first: Vec<Entry>,
    newest: Vec<Entry>,
}

#[derive(Debug)]
struct Entry {
    /// Which refusal it was when it came last.
    number: u64,
    denial: Denial,
}

impl Ledger {
    /// Writes a refusal down.
    pub(super) fn refused(&self, denial: Denial) {
        metrics::counter!("bailiwick_egress_refused_total", "reason" => denial.reason.word()).increment(1);
        // Not for the log at its usual level: whoever is inside could fill it.
        tracing::debug!(asked = %denial.asked, reason = %denial.reason, "a sandbox's connection was refused");
        let mut kept = self.look();
        kept.count += 1;
        let number = kept.count;
        let Kept { first, newest, .. } = &mut *kept;
        if let Some(entry) = first.iter_mut().chain(newest.iter_mut()).find(|entry| entry.denial == denial) {
            entry.number = number;
            return;
        }
        let entry = Entry { number, denial };
        if first.len() < MOST_KEPT {
            first.push(entry);
            return;
        }
        if newest.len() == MOST_KEPT
            && let Some(oldest) =
                newest.iter().enumerate().min_by_key(|(_, entry)| entry.number).map(|(index, _)| index)
        {
            newest.swap_remove(oldest);
        }
        newest.push(entry);
    }

    /// How many there were.
    pub(super) fn count(&self) -> u64 {
        self.look().count
    }

    /// Those that came after the first `before`, in the order in which they came last.
    pub(super) fn after(&self, before: u64) -> Vec<Denial> {
        let kept = self.look();
        let mut found: Vec<&Entry> =
            kept.first.iter().chain(&kept.newest).filter(|entry| entry.number > before).collect();
        found.sort_by_key(|entry| entry.number);
        found.into_iter().map(|entry| entry.denial.clone()).collect()
    }

    fn look(&self) -> std::sync::MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
