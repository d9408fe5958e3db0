//! What a pool does behind everybody's back: makes sandboxes, resets those that come back, ends those that cannot be.
//! Each in a task of its own; one that panics costs its sandbox and nothing else. A backend that fails is asked again for
//! those who wait, and otherwise only after a rest that grows.

use std::sync::{Arc, Weak};
use std::time::Duration;

use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::Fate;
use super::state::{Held, Kind, Place, Shared};
use crate::{Reset, Sandbox, SandboxError};

/// How long a reset may take; one that takes longer proves nothing.
const RESET_DEADLINE: Duration = Duration::from_secs(10);

/// Begins to make as many as are wanted.
pub(super) fn refill(shared: &Arc<Shared>) {
    loop {
        let mut state = shared.lock();
        if state.wanted(shared.options, Instant::now()) == 0 {
            return;
        }
        state.making += 1;
        let place = Place::counted(shared, &mut state, Kind::Pooled);
        drop(state);
        drop(shared.runtime.spawn(make(shared.clone(), place)));
    }
}

async fn make(shared: Arc<Shared>, place: Place) {
    let (backend, spec) = (shared.backend.clone(), shared.spec.clone());
    let made = shared.runtime.spawn(async move { backend.create(spec).await }).await;
    let made = made.unwrap_or_else(|error| {
        Err(SandboxError::Failed { step: "make a sandbox".to_owned(), reason: error.to_string() })
    });
    match made {
        Ok(sandbox) => {
            shared.counters.created();
            shared.lock().has_made();
            shared.hand(Held::new(Arc::from(sandbox), place));
        }
        Err(error) => {
            shared.counters.failed();
            let is_first = shared.lock().has_failed(Instant::now());
            // Whoever waited for it hears why, before its place comes free and somebody else's is made.
            shared.disappoint(error);
            drop(place);
            if is_first {
                drop(shared.runtime.spawn(rest(Arc::downgrade(&shared))));
            }
        }
    }
    refill(&shared);
}

/// Waits out a rest, and the longer ones that follow from what fails meanwhile; then goes on.
async fn rest(shared: Weak<Shared>) {
    while let Some(until) = shared.upgrade().and_then(|shared| shared.lock().is_resting(Instant::now())) {
        tokio::time::sleep_until(until).await;
    }
    if let Some(shared) = shared.upgrade() {
        refill(&shared);
    }
}

/// Makes a sandbox that came back as it was at birth, or ends it.
pub(super) fn give_back(shared: &Arc<Shared>, held: Held, fate: Fate) -> JoinHandle<()> {
    shared.lock().returning += 1;
    let shared = shared.clone();
    let runtime = shared.runtime.clone();
    runtime.spawn(async move {
        let (sandbox, place) = held.apart();
        let Some(place) = place else { return };
        let is_pristine =
            fate == Fate::Reset && place.kind == Kind::Pooled && proven(&shared, &sandbox).await;
        shared.lock().has_returned();
        if is_pristine {
            shared.counters.reset();
            shared.hand(Held::new(sandbox, place));
            return;
        }
        match (fate, place.kind) {
            (Fate::Evict, _) => shared.counters.evicted(),
            (Fate::Reset, Kind::Pooled) if !shared.lock().closed => shared.counters.replaced(),
            (Fate::Reset, Kind::Pooled | Kind::Extra) => {}
        }
        end(&shared, sandbox, Some(place)).await;
    })
}

/// Ends a sandbox that nobody has.
pub(super) fn retire(
    shared: &Arc<Shared>,
    sandbox: Arc<dyn Sandbox>,
    place: Option<Place>,
) -> JoinHandle<()> {
    let ending = shared.clone();
    shared.runtime.spawn(async move { end(&ending, sandbox, place).await })
}

/// Whether a sandbox was made as it was at birth, by what it says of itself within its time.
async fn proven(shared: &Arc<Shared>, sandbox: &Arc<dyn Sandbox>) -> bool {
    if shared.lock().closed || !sandbox.is_alive() {
        return false;
    }
    let own = sandbox.clone();
    let reset = shared.runtime.spawn(async move { tokio::time::timeout(RESET_DEADLINE, own.reset()).await });
    matches!(reset.await, Ok(Ok(Ok(Reset::Proven)))) && sandbox.is_alive()
}

/// Ends a sandbox, and counts where that was not confirmed. The sandbox first, then its place: there are never more than
/// there are places, and who waits for the last place to come free finds nothing alive.
async fn end(shared: &Shared, sandbox: Arc<dyn Sandbox>, place: Option<Place>) {
    if sandbox.terminate().await.is_err() {
        shared.counters.unclean();
    }
    drop(sandbox);
    drop(place);
}
