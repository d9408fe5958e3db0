//! Sandboxes kept ready. A lease is exclusive, and nothing of one is there for the next: what comes back is made as it was
//! at birth and proven to be, or ended and replaced.
//!
//! Taking one that is idle is a look under a lock and no more. Everything that takes its time (making, resetting, ending)
//! happens in tasks of the pool's own, so whoever stops waiting loses nobody a sandbox. No lock is held across an await.
//! A sandbox must never be handed on after a reset that proved nothing.
//!
//! Start reading at [`Pool::borrow`], then `state` (who is where), then `care` (what happens behind).

use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::sync::{Notify, oneshot};

use crate::{Backend, Network, Sandbox, SandboxError, SandboxSpec};

mod care;
mod state;

use care::{give_back, refill, retire};
pub use state::Counts;
use state::{Counters, Held, Kind, Place, Shared, State};

/// How a pool is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PoolOptions {
    /// The most sandboxes of the pool's own at once.
    pub max: usize,
    /// How many are kept ready.
    pub min_idle: usize,
    /// How long to wait for one before an extra one is made.
    pub borrow_timeout: Duration,
}

/// Sandboxes of one spec, kept ready. Dropping it ends those that are idle; those that are lent end when they come back.
#[derive(Debug)]
pub struct Pool {
    shared: Arc<Shared>,
}

/// A sandbox that is lent to one. Dropping it gives it back.
#[derive(Debug)]
pub struct Lease {
    sandbox: Arc<dyn Sandbox>,
    place: Option<Place>,
    shared: Arc<Shared>,
}

impl Pool {
    /// A pool of this backend's sandboxes; must be made within a runtime, whose tasks keep it.
    pub fn new(
        backend: Arc<dyn Backend>,
        spec: SandboxSpec,
        options: PoolOptions,
    ) -> Result<Self, SandboxError> {
        spec.check()?;
        let spec = SandboxSpec { warm: true, ..spec };
        let unsupported = |what: &str| SandboxError::Unsupported {
            backend: backend.id().to_owned(),
            what: what.to_owned(),
        };
        // Both leave traces outside of the sandbox, where no reset reaches.
        if spec.mounts.iter().any(|mount| mount.writable) {
            return Err(unsupported("a pool of sandboxes with mounts that can be written to"));
        }
        if spec.network == Network::Host {
            return Err(unsupported("a pool of sandboxes on the host's own network"));
        }
        if options.max == 0 || options.min_idle > options.max {
            return Err(unsupported("a pool of none, or one that keeps more ready than it may have"));
        }
        let runtime = Handle::try_current().map_err(|error| SandboxError::Failed {
            step: "begin a pool".to_owned(),
            reason: error.to_string(),
        })?;
        let shared = Arc::new(Shared {
            backend,
            spec,
            options,
            runtime,
            state: State::default().into(),
            counters: Counters::default(),
            drained: Notify::new(),
        });
        refill(&shared);
        Ok(Self { shared })
    }

    /// A sandbox for one, in its pristine state: one that is idle, or the next that comes free or is made; after the borrow
    /// timeout an extra one that is the pool's only until it comes back.
    pub async fn borrow(&self) -> Result<Lease, SandboxError> {
        if let Some(held) = self.take_idle()? {
            return Ok(self.lease(held));
        }
        let (to, mut from) = oneshot::channel();
        self.shared.wait(to)?;
        refill(&self.shared);
        if let Ok(given) = tokio::time::timeout(self.shared.options.borrow_timeout, &mut from).await {
            return given.unwrap_or_else(|_| Err(closed())).map(|held| self.lease(held));
        }
        // It may have come at the last moment.
        from.close();
        match from.try_recv() {
            Ok(given) => given.map(|held| self.lease(held)),
            Err(_) => self.extra().await,
        }
    }

    /// What the pool did so far.
    pub fn counts(&self) -> Counts {
        self.shared.counters.read()
    }

    /// How many sandboxes are ready.
    pub fn idle(&self) -> usize {
        self.shared.lock().idle.len()
    }

    /// How many sandboxes the pool has, ready, lent or on their way; without extra ones.
    pub fn size(&self) -> usize {
        self.shared.lock().places
    }

    /// Lends no more, ends what is idle, waits for what is lent to come back, and ends that.
    pub async fn close(&self) {
        drop(self.shared.shut());
        loop {
            let drained = self.shared.drained.notified();
            tokio::pin!(drained);
            drained.as_mut().enable();
            if self.shared.lock().is_empty() {
                return;
            }
            drained.await;
        }
    }

    fn lease(&self, held: Held) -> Lease {
        let (sandbox, place) = held.apart();
        self.shared.counters.leased();
        Lease { sandbox, place, shared: self.shared.clone() }
    }

    /// One that is ready, and lives. Those that died meanwhile are let go.
    fn take_idle(&self) -> Result<Option<Held>, SandboxError> {
        loop {
            let Some(held) = self.shared.pop()? else { return Ok(None) };
            if held.is_alive() {
                return Ok(Some(held));
            }
            self.shared.counters.replaced();
        }
    }

    async fn extra(&self) -> Result<Lease, SandboxError> {
        let place = Place::new(&self.shared, Kind::Extra).ok_or_else(closed)?;
        self.shared.counters.extra();
        let sandbox = self.shared.backend.create(self.shared.spec.clone()).await?;
        self.shared.counters.created();
        self.shared.counters.leased();
        Ok(Lease { sandbox: Arc::from(sandbox), place: Some(place), shared: self.shared.clone() })
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        drop(self.shared.shut());
    }
}

impl Lease {
    /// Whether it is an extra one, which ends when it comes back.
    pub fn is_extra(&self) -> bool {
        self.place.as_ref().is_some_and(|place| place.kind == Kind::Extra)
    }

    /// Gives it back and waits until it is ready again or gone. Dropping it does the same without the wait.
    pub async fn give_back(mut self) {
        if let Some(done) = self.hand_over(Fate::Reset) {
            // A task that did not come to its end has dropped the sandbox, which ended it.
            done.await.unwrap_or_default();
        }
    }

    /// Ends it: it is not well, and nobody is to have it again.
    pub async fn evict(mut self) {
        if let Some(done) = self.hand_over(Fate::Evict) {
            done.await.unwrap_or_default();
        }
    }

    fn hand_over(&mut self, fate: Fate) -> Option<tokio::task::JoinHandle<()>> {
        let place = self.place.take()?;
        let held = Held::new(self.sandbox.clone(), place);
        Some(give_back(&self.shared, held, fate))
    }
}

impl Deref for Lease {
    type Target = dyn Sandbox;

    fn deref(&self) -> &Self::Target {
        self.sandbox.as_ref()
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        drop(self.hand_over(Fate::Reset));
    }
}

/// What becomes of a sandbox that comes back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    Reset,
    Evict,
}

fn closed() -> SandboxError {
    SandboxError::Busy("the pool is closed: it lends no more sandboxes".to_owned())
}
