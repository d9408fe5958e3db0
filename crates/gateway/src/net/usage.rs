//! What the requests of one call came to.

use std::sync::atomic::{AtomicU64, Ordering};

/// What the requests of one call came to, redirects included.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// How often `fetch` was called, whether or not anything was sent. A redirect is not another one.
    pub fetches: u64,
    /// Headers and bodies that came back, in bytes, bodies before decompression. TLS and framing are not counted.
    pub bytes_in: u64,
    /// URLs, headers and bodies that were sent, in bytes. TLS and framing are not counted.
    pub bytes_out: u64,
}

/// The same while it is being counted.
#[derive(Debug, Default)]
pub(super) struct Counters {
    fetches: AtomicU64,
    bytes_in: AtomicU64,
    bytes_out: AtomicU64,
}

impl Counters {
    /// Counts one call of `fetch`, if there is one left.
    pub(super) fn begin(&self, most: u64) -> bool {
        self.fetches
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, |so_far| (so_far < most).then_some(so_far + 1))
            .is_ok()
    }

    pub(super) fn came_in(&self, bytes: usize) {
        self.bytes_in.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    pub(super) fn went_out(&self, bytes: usize) {
        self.bytes_out.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    pub(super) fn usage(&self) -> Usage {
        Usage {
            fetches: self.fetches.load(Ordering::Acquire),
            bytes_in: self.bytes_in.load(Ordering::Relaxed),
            bytes_out: self.bytes_out.load(Ordering::Relaxed),
        }
    }
}
