//! What happens while a call runs, as its client hears of it.

use std::sync::Mutex;
use std::sync::PoisonError;
use std::time::{Duration, Instant};

use bailiwick_core::{Event, Listener};
use bailiwick_types::visible;

use crate::Line;

/// Passes it on.
pub(crate) struct Passes {
    line: Line,
    begun: Instant,
    /// How far the client was told it is: a call may wait more than once, and each number must be more than the last.
    told: Mutex<Option<Duration>>,
}

impl Passes {
    pub(crate) fn on(line: Line) -> Self {
        Self { line, begun: Instant::now(), told: Mutex::new(None) }
    }

    /// Tells how long the call goes on, of how long it may at most.
    fn progress(&self, left: Option<Duration>, message: String) {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        let next = told.map_or(Duration::ZERO, |last| last + Duration::from_millis(1));
        let now = self.begun.elapsed().max(next);
        *told = Some(now);
        // Sent while it is held, so that they come in order.
        self.line.progress(now.as_secs_f64(), left.map(|left| (now + left).as_secs_f64()), Some(message));
    }
}

impl Listener for Passes {
    fn hear(&self, event: Event) {
        match event {
            Event::Log(line) => self.line.log(line.level, line.text),
            Event::Waiting(waiting) => {
                let message = format!("waiting for a person to approve {}", visible(&waiting.question.tool));
                self.progress(Some(Duration::from_millis(waiting.remaining_ms)), message);
            }
            Event::StillWaiting { id: _, waited_ms: _, remaining_ms } => {
                let left = remaining_ms.div_ceil(1000);
                let message = format!("still waiting for a person to approve; {left} s are left");
                self.progress(Some(Duration::from_millis(remaining_ms)), message);
            }
            Event::Test { .. } | Event::Progress { .. } | Event::Happened(_) => {}
        }
    }
}

#[cfg(test)]
mod tests;
