//! Who is where in a pool: ready, waited for, or on its way. Each sandbox of the pool holds a [`Place`], which comes free
//! when it is dropped, whatever happened; so the bound cannot be lost, not even by a panic. Nothing here awaits, and
//! nothing that holds a place is dropped under the lock.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::sync::{Notify, oneshot};
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::{PoolOptions, closed, refill, retire};
use crate::{Backend, Sandbox, SandboxError, SandboxSpec};

/// The first rest after a failure, and the longest.
const REST: Duration = Duration::from_millis(100);
const LONGEST_REST: Duration = Duration::from_secs(30);

/// How whoever waits is told.
pub(super) type Waiter = oneshot::Sender<Result<Held, SandboxError>>;

#[derive(Debug)]
pub(super) struct Shared {
    pub(super) backend: Arc<dyn Backend>,
    pub(super) spec: SandboxSpec,
    pub(super) options: PoolOptions,
    pub(super) runtime: Handle,
    pub(super) state: Mutex<State>,
    pub(super) counters: Counters,
    pub(super) drained: Notify,
}

#[derive(Debug, Default)]
pub(super) struct State {
    /// Ready, the last to come first to go: what was used last is warm.
    pub(super) idle: VecDeque<Held>,
    /// Who waits, the first to come first to be served.
    pub(super) waiting: VecDeque<Waiter>,
    /// The pool's own, wherever they are.
    pub(super) places: usize,
    /// Extra ones.
    pub(super) extras: usize,
    /// Being made.
    pub(super) making: usize,
    /// Being reset.
    pub(super) returning: usize,
    /// How many could not be made since the last that could.
    pub(super) failures: u32,
    /// Before this, none is made that nobody waits for.
    pub(super) rest_until: Option<Instant>,
    /// Whether somebody waits for the rest to be over.
    pub(super) has_rest: bool,
    pub(super) closed: bool,
}

impl State {
    pub(super) fn is_empty(&self) -> bool {
        self.places == 0 && self.extras == 0
    }

    /// How many are to be made now, for those who wait and to have some ready.
    pub(super) fn wanted(&mut self, options: PoolOptions, now: Instant) -> usize {
        if self.closed {
            return 0;
        }
        self.waiting.retain(|waiter| !waiter.is_closed());
        let waiting = self.waiting.len();
        let for_waiters = waiting.saturating_sub(self.making);
        let coming = self.idle.len() + self.returning + self.making.saturating_sub(waiting);
        let is_resting = self.rest_until.is_some_and(|until| now < until);
        let for_later = if is_resting { 0 } else { options.min_idle.saturating_sub(coming) };
        (for_waiters + for_later).min(options.max.saturating_sub(self.places))
    }

    /// One was made.
    pub(super) const fn has_made(&mut self) {
        self.making = self.making.saturating_sub(1);
        self.failures = 0;
        self.rest_until = None;
    }

    /// One could not be made: a rest begins, or becomes longer. Whether it begins.
    pub(super) fn has_failed(&mut self, now: Instant) -> bool {
        self.making = self.making.saturating_sub(1);
        let rest = REST.saturating_mul(1 << self.failures.min(16)).min(LONGEST_REST);
        self.failures = self.failures.saturating_add(1);
        self.rest_until = Some(now + rest);
        !std::mem::replace(&mut self.has_rest, true)
    }

    /// Until when to rest; where that is over, whoever asked goes on.
    pub(super) fn is_resting(&mut self, now: Instant) -> Option<Instant> {
        let until = self.rest_until.filter(|until| now < *until && !self.closed);
        self.has_rest = until.is_some();
        until
    }

    /// One that came back is not on its way any more.
    pub(super) const fn has_returned(&mut self) {
        self.returning = self.returning.saturating_sub(1);
    }
}

impl Shared {
    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        // Nothing that is done under the lock can leave it half done.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// One that is ready.
    pub(super) fn pop(&self) -> Result<Option<Held>, SandboxError> {
        let mut state = self.lock();
        if state.closed { Err(closed()) } else { Ok(state.idle.pop_back()) }
    }

    /// Puts somebody at the end of the queue.
    pub(super) fn wait(self: &Arc<Self>, waiter: Waiter) -> Result<(), SandboxError> {
        let mut state = self.lock();
        if state.closed {
            return Err(closed());
        }
        // Between the look at what is idle and this, one may have come: it goes to whoever waits first.
        state.waiting.push_back(waiter);
        let ready = state.idle.pop_back();
        drop(state);
        if let Some(held) = ready {
            self.hand(held);
        }
        Ok(())
    }

    /// Gives a pristine sandbox to whoever waits first, or keeps it ready. One that comes after the end is ended.
    pub(super) fn hand(self: &Arc<Self>, mut held: Held) {
        loop {
            let mut state = self.lock();
            if state.closed {
                drop(state);
                return drop(held.retire(self));
            }
            let Some(waiter) = state.waiting.pop_front() else {
                state.idle.push_back(held);
                return;
            };
            drop(state);
            match waiter.send(Ok(held)) {
                Err(Ok(back)) => held = back,
                Ok(()) | Err(Err(_)) => return,
            }
        }
    }

    /// Tells whoever waits first that none could be made.
    pub(super) fn disappoint(&self, error: SandboxError) {
        let mut refused = Err(error);
        loop {
            let Some(waiter) = self.lock().waiting.pop_front() else { return };
            match waiter.send(refused) {
                Ok(()) => return,
                Err(back) => refused = back,
            }
        }
    }

    /// Lends no more; gives what was idle.
    pub(super) fn shut(&self) -> Vec<Held> {
        let mut state = self.lock();
        state.closed = true;
        let waiting = std::mem::take(&mut state.waiting);
        let idle = std::mem::take(&mut state.idle);
        drop(state);
        drop(waiting);
        idle.into()
    }
}

/// Whose a sandbox is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Pooled,
    Extra,
}

/// A sandbox's place in the count; free again when it is dropped.
#[derive(Debug)]
pub(super) struct Place {
    shared: Weak<Shared>,
    pub(super) kind: Kind,
}

impl Place {
    /// A place for one more; none where the pool is closed. Whether there is room is for the caller to know.
    pub(super) fn new(shared: &Arc<Shared>, kind: Kind) -> Option<Self> {
        let mut state = shared.lock();
        (!state.closed).then(|| Self::counted(shared, &mut state, kind))
    }

    pub(super) fn counted(shared: &Arc<Shared>, state: &mut State, kind: Kind) -> Self {
        match kind {
            Kind::Pooled => state.places += 1,
            Kind::Extra => state.extras += 1,
        }
        Self { shared: Arc::downgrade(shared), kind }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let Some(shared) = self.shared.upgrade() else { return };
        let mut state = shared.lock();
        match self.kind {
            Kind::Pooled => state.places = state.places.saturating_sub(1),
            Kind::Extra => state.extras = state.extras.saturating_sub(1),
        }
        let is_empty = state.is_empty();
        drop(state);
        if is_empty {
            shared.drained.notify_waiters();
        }
        refill(&shared);
    }
}

/// A pristine sandbox in its place. One that is dropped on its way to somebody who left goes to the next.
#[derive(Debug)]
pub(super) struct Held {
    sandbox: Arc<dyn Sandbox>,
    place: Option<Place>,
}

impl Held {
    pub(super) fn new(sandbox: Arc<dyn Sandbox>, place: Place) -> Self {
        Self { sandbox, place: Some(place) }
    }

    /// The sandbox and its place, for whoever takes care of both from here.
    pub(super) fn apart(mut self) -> (Arc<dyn Sandbox>, Option<Place>) {
        (self.sandbox.clone(), self.place.take())
    }

    pub(super) fn is_alive(&self) -> bool {
        self.sandbox.is_alive()
    }

    /// Ends it: it is given to nobody any more.
    pub(super) fn retire(self, shared: &Arc<Shared>) -> JoinHandle<()> {
        let (sandbox, place) = self.apart();
        retire(shared, sandbox, place)
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        let Some(place) = self.place.take() else { return };
        let Some(shared) = place.shared.upgrade() else { return };
        let held = Self::new(self.sandbox.clone(), place);
        if self.sandbox.is_alive() {
            shared.hand(held);
        } else {
            drop(held.retire(&shared));
        }
    }
}

/// What a pool did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Counts {
    /// Sandboxes that were made.
    pub created: u64,
    /// Sandboxes that were lent.
    pub leased: u64,
    /// Sandboxes that were made as they were at birth, and proven to be.
    pub reset: u64,
    /// Sandboxes that were ended since they died or their reset proved nothing.
    pub replaced: u64,
    /// Extra sandboxes, since the pool was full for too long.
    pub extra: u64,
    /// Sandboxes that were ended since somebody said that they are not well.
    pub evicted: u64,
    /// Sandboxes that could not be made.
    pub failed: u64,
    /// Sandboxes whose end was not confirmed; dropping them tried again.
    pub unclean: u64,
}

macro_rules! counters {
    ($($name:ident)+) => {
        #[derive(Debug, Default)]
        pub(super) struct Counters { $($name: AtomicU64,)+ }

        impl Counters {
            $(pub(super) fn $name(&self) {
                self.$name.fetch_add(1, Ordering::Relaxed);
            })+

            pub(super) fn read(&self) -> Counts {
                Counts { $($name: self.$name.load(Ordering::Relaxed),)+ }
            }
        }
    };
}

counters!(created leased reset replaced extra evicted failed unclean);
