//! The one place of this crate that looks at the clock.

use std::time::{SystemTime, UNIX_EPOCH};

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
