//! What a call may ask of the world, as a trait: cells know that somebody does it, not how.

use std::future::Future;
use std::os::fd::OwnedFd;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use bailiwick_types::{Answer, Effect, Refused};
use tokio::sync::watch;

/// What comes of an effect, some time.
pub type Outcome<'a> = Pin<Box<dyn Future<Output = Result<Answer, Refused>> + Send + 'a>>;

/// Whoever does what one call asks for, and decides whether. Dropping an outcome stops the effect as far as it can be
/// stopped.
pub trait Gateway: Send + Sync {
    /// Does what was asked, under this number. What is in it was written by a stranger.
    fn serve<'a>(&'a self, id: u32, effect: Effect, standstill: &'a Standstill) -> Outcome<'a>;
}

/// The means to make a cell stand still: nothing in it runs, and its clocks do not go on.
#[derive(Debug, Clone)]
pub struct Standstill(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    pidfd: Arc<OwnedFd>,
    state: Mutex<State>,
    changed: watch::Sender<()>,
}

#[derive(Debug, Default)]
struct State {
    /// How many want it to stand still.
    holds: u32,
    /// Since when it does.
    since: Option<Instant>,
    /// How long it has, before.
    total: Duration,
}

impl Standstill {
    pub(super) fn new(pidfd: Arc<OwnedFd>) -> Self {
        Self(Arc::new(Inner { pidfd, state: Mutex::default(), changed: watch::Sender::default() }))
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes the cell stand still until what this gives is dropped, by everybody who has one.
    pub fn hold(&self) -> Held {
        let mut state = self.state();
        state.holds += 1;
        if state.since.is_none() {
            state.since = Some(Instant::now());
            // One that cannot be stopped is gone.
            let _gone = bailiwick_sys::pidfd::halt(&*self.0.pidfd, true);
        }
        drop(state);
        self.0.changed.send_replace(());
        Held(self.clone())
    }

    /// Tells of every change.
    pub(super) fn changes(&self) -> watch::Receiver<()> {
        self.0.changed.subscribe()
    }

    /// Whether it stands still now.
    pub(super) fn is_still(&self) -> bool {
        self.state().since.is_some()
    }

    /// How long it stood still until now, when nobody wants it to any more.
    pub(super) fn is_over(&self) -> Option<Duration> {
        let state = self.state();
        state.since.filter(|_| state.holds == 0).map(|since| since.elapsed())
    }

    /// Lets it go on; its clocks will leave out what it was told it stood.
    pub(super) fn resume(&self, told: Duration) {
        let mut state = self.state();
        state.since = None;
        state.total += told;
        let _gone = bailiwick_sys::pidfd::halt(&*self.0.pidfd, false);
        drop(state);
        self.0.changed.send_replace(());
    }

    /// How long it stood still in all.
    pub(super) fn total(&self) -> Duration {
        let state = self.state();
        state.total + state.since.map_or(Duration::ZERO, |since| since.elapsed())
    }
}

/// As long as it is there, the cell stands still.
#[derive(Debug)]
#[must_use = "the cell goes on when this is dropped"]
pub struct Held(Standstill);

impl Drop for Held {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.holds = state.holds.saturating_sub(1);
        drop(state);
        self.0.0.changed.send_replace(());
    }
}
