//! Whether a sandbox stands still, and for how long it has: nothing in it can answer then, nor end in time, so that time counts for
//! nobody's deadline.

use std::time::Duration;

use tokio::sync::watch;
use tokio::time::Instant;

/// Whether a sandbox stands still. It may for more than one reason at once.
#[derive(Debug, Default)]
pub struct Stillness(watch::Sender<Now>);

#[derive(Debug, Clone, Copy, Default)]
struct Now {
    reasons: u32,
    since: Option<Instant>,
    before: Duration,
}

/// A sandbox that stands still until this is dropped.
#[derive(Debug)]
pub struct WhileStill<'a>(&'a Stillness);

impl Stillness {
    /// It stands still from now on, for one more reason.
    pub(crate) fn begin(&self) {
        self.0.send_modify(|now| {
            now.reasons += 1;
            now.since.get_or_insert_with(Instant::now);
        });
    }

    /// One reason is gone.
    pub(crate) fn end(&self) {
        self.0.send_modify(|now| {
            now.reasons = now.reasons.saturating_sub(1);
            if now.reasons == 0
                && let Some(since) = now.since.take()
            {
                now.before += since.elapsed();
            }
        });
    }

    /// It stands still as long as this is held: for a wall that keeps it.
    pub fn hold(&self) -> WhileStill<'_> {
        self.begin();
        WhileStill(self)
    }

    /// For how long it has stood still until now.
    pub(crate) fn so_far(&self) -> Duration {
        let now = *self.0.borrow();
        now.before + now.since.map_or(Duration::ZERO, |since| since.elapsed())
    }

    /// Waits until a moment is past that was set when it had stood still for so long; what it has stood still since is added.
    pub(crate) async fn past(&self, moment: Instant, before: Duration) {
        loop {
            let mut now = self.0.subscribe();
            // Whoever waits holds the other end, so there always is one.
            let _always = now.wait_for(|now| now.reasons == 0).await.is_ok();
            let due = moment + self.so_far().saturating_sub(before);
            if due <= Instant::now() {
                return;
            }
            tokio::time::sleep_until(due).await;
        }
    }
}

impl Drop for WhileStill<'_> {
    fn drop(&mut self) {
        self.0.end();
    }
}

#[cfg(test)]
mod tests;
