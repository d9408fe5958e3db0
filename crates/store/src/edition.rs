//! Which state the tools of a store are in, so that what was read of one can be used again for as long as nothing about
//! any may have changed.
//!
//! Our own changes are counted twice: when they are made and once they are committed, so that what was read in between
//! is taken for old. Changes by others are told by the database, to the one connection that writes.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

/// A state of the tools. Two that are equal are the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Edition {
    own: u64,
    others: i64,
}

/// The state as far as it is known.
#[derive(Debug, Default)]
pub(crate) struct Editions {
    own: AtomicU64,
    others: AtomicI64,
}

impl Editions {
    /// What is known now. Whoever reads a tool asks this first: then what changed meanwhile is seen as a change.
    pub(crate) fn known(&self) -> Edition {
        Edition { own: self.own(), others: self.others.load(Ordering::Acquire) }
    }

    /// The database told how often others changed it.
    pub(crate) fn others_are(&self, others: i64) -> Edition {
        self.others.store(others, Ordering::Release);
        self.known()
    }

    /// How often we changed a tool.
    pub(crate) fn own(&self) -> u64 {
        self.own.load(Ordering::Acquire)
    }

    /// A tool is changed, or its change was just committed.
    pub(crate) fn tools_change(&self) {
        self.own.fetch_add(1, Ordering::AcqRel);
    }
}
