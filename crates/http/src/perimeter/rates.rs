//! How much one principal may ask: so many requests a second, and so many under way.
//!
//! Everybody whom we count costs memory, so there is a bound on how many are told apart; whoever comes when there is no
//! room left is counted together with all others who did.

use std::collections::HashMap;
use std::net::IpAddr;
use std::num::NonZeroU32;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bailiwick_types::KeyId;
use governor::clock::{Clock, DefaultClock, Reference as _};
use governor::middleware::NoOpMiddleware;
use governor::state::{InMemoryState, NotKeyed};
use governor::{Quota, RateLimiter};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// How many are told apart.
pub(super) const MOST_TRACKED: usize = 4096;
/// Whoever asked nothing for so long has all of their rate again, and is forgotten when room is needed.
const FORGOTTEN: Duration = Duration::from_secs(2);
/// How often room is looked for.
const LOOK: Duration = Duration::from_millis(250);

/// Who is counted.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Who {
    /// Whoever has a key.
    Key(KeyId),
    /// Whoever a token speaks of.
    Token(String),
    /// Whoever shows nothing, by address.
    Address(IpAddr),
    /// Whoever shows what is wrong, by address.
    Failed(IpAddr),
    /// All for whom there was no room.
    Others,
}

/// How much.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Allowed {
    pub(super) per_second: u32,
    pub(super) at_once: u32,
}

/// Why somebody has to wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Over {
    /// Too many in this second.
    Rate {
        /// How long.
        wait: Duration,
    },
    /// Too many under way.
    AtOnce,
}

type Limiter<C> = RateLimiter<NotKeyed, InMemoryState, C, NoOpMiddleware<<C as Clock>::Instant>>;

struct Entry<C: Clock> {
    rate: Limiter<C>,
    under_way: Arc<Semaphore>,
    allowed: Allowed,
    used: Mutex<C::Instant>,
}

struct Tracked<C: Clock> {
    entries: HashMap<Who, Arc<Entry<C>>>,
    looked: Option<C::Instant>,
}

/// Everybody who is counted.
pub(super) struct Rates<C: Clock = DefaultClock> {
    clock: C,
    most: usize,
    tracked: Mutex<Tracked<C>>,
}

impl<C: Clock> std::fmt::Debug for Rates<C> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Rates").field("most", &self.most).finish_non_exhaustive()
    }
}

impl<C: Clock + Clone> Rates<C> {
    pub(super) fn new(clock: C, most: usize) -> Self {
        Self { clock, most, tracked: Mutex::new(Tracked { entries: HashMap::new(), looked: None }) }
    }

    /// Lets one more request through. What it gives is kept until the request is over.
    pub(super) fn enter(&self, who: Who, allowed: Allowed) -> Result<OwnedSemaphorePermit, Over> {
        let entry = self.entry(who, allowed);
        let place = Arc::clone(&entry.under_way).try_acquire_owned().map_err(|_| Over::AtOnce)?;
        match entry.rate.check() {
            Ok(()) => Ok(place),
            Err(until) => Err(Over::Rate { wait: until.wait_time_from(self.clock.now()) }),
        }
    }

    fn entry(&self, who: Who, allowed: Allowed) -> Arc<Entry<C>> {
        let now = self.clock.now();
        let mut tracked = self.tracked.lock().unwrap_or_else(PoisonError::into_inner);
        let who = if tracked.entries.contains_key(&who) || tracked.has_room(self.most, now) {
            who
        } else {
            Who::Others
        };
        let known = tracked.entries.get(&who).filter(|entry| entry.allowed == allowed || who == Who::Others);
        if let Some(entry) = known {
            *entry.used.lock().unwrap_or_else(PoisonError::into_inner) = now;
            return Arc::clone(entry);
        }
        let entry = Arc::new(Entry::new(allowed, self.clock.clone(), now));
        tracked.entries.insert(who, Arc::clone(&entry));
        entry
    }

    #[cfg(test)]
    pub(super) fn tracked(&self) -> usize {
        self.tracked.lock().unwrap_or_else(PoisonError::into_inner).entries.len()
    }
}

impl<C: Clock> Entry<C> {
    fn new(allowed: Allowed, clock: C, now: C::Instant) -> Self {
        let per_second = NonZeroU32::new(allowed.per_second).unwrap_or(NonZeroU32::MIN);
        let at_once = usize::try_from(allowed.at_once).unwrap_or(usize::MAX).clamp(1, Semaphore::MAX_PERMITS);
        Self {
            rate: RateLimiter::direct_with_clock(Quota::per_second(per_second), clock),
            under_way: Arc::new(Semaphore::new(at_once)),
            allowed,
            used: Mutex::new(now),
        }
    }

    fn may_be_forgotten(&self, now: C::Instant) -> bool {
        let used = *self.used.lock().unwrap_or_else(PoisonError::into_inner);
        let idle = now.duration_since(used);
        let all =
            usize::try_from(self.allowed.at_once).unwrap_or(usize::MAX).clamp(1, Semaphore::MAX_PERMITS);
        Duration::from(idle) >= FORGOTTEN && self.under_way.available_permits() == all
    }
}

impl<C: Clock> Tracked<C> {
    fn has_room(&mut self, most: usize, now: C::Instant) -> bool {
        if self.entries.len() < most {
            return true;
        }
        let soon = self.looked.is_some_and(|looked| Duration::from(now.duration_since(looked)) < LOOK);
        if !soon {
            self.looked = Some(now);
            self.entries.retain(|_, entry| !entry.may_be_forgotten(now));
        }
        self.entries.len() < most
    }
}
