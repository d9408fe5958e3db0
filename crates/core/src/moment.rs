//! The one place of this crate that looks at the clock.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::Core;

/// Milliseconds since 1970.
#[expect(clippy::disallowed_methods, reason = "the time of a record and of a change is read here")]
pub(crate) fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

/// What ties the records of a request together whose sender named nothing.
pub fn new_correlation() -> Result<bailiwick_types::CorrelationId, crate::Refusal> {
    let id =
        bailiwick_runtime::new_id().map_err(|error| crate::Refusal::new(error.code(), error.to_string()))?;
    Ok(id.into())
}

/// How far the clock of one core is ahead of the machine's.
#[derive(Debug, Default)]
pub(crate) struct Ahead(AtomicU64);

impl Core {
    /// Milliseconds since 1970, as this core has it.
    pub(crate) fn now_ms(&self) -> u64 {
        now_ms().saturating_add(self.inner.ahead.0.load(Ordering::Relaxed))
    }

    /// Puts the clock of this core ahead, so that what ends in time can be seen to end. Nothing holds longer by it, so
    /// there is no way back.
    pub fn put_clock_ahead(&self, by: Duration) {
        let ms = u64::try_from(by.as_millis()).unwrap_or(u64::MAX);
        self.inner.ahead.0.fetch_add(ms, Ordering::Relaxed);
        self.inner.keys.time_has_gone();
        self.inner.sandboxes.time_has_gone();
    }
}
