//! Room for calls: so many run at once, of all callers. Whoever finds none is told at once, and nobody queues.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The room.
#[derive(Debug, Clone)]
pub(super) struct Slots(Arc<Semaphore>);

impl Slots {
    pub(super) fn new(calls: u32) -> Self {
        let calls = usize::try_from(calls).unwrap_or(usize::MAX).clamp(1, Semaphore::MAX_PERMITS);
        Self(Arc::new(Semaphore::new(calls)))
    }

    /// A slot, if one is free right now.
    pub(super) fn take(&self) -> Option<Slot> {
        let held = Arc::clone(&self.0).try_acquire_owned().ok()?;
        Some(Slot { room: Arc::clone(&self.0), held: Arc::new(Mutex::new(Some(held))) })
    }
}

/// The slot of one call; an extension of a request that needs one, and held until its answer is sent.
///
/// A call that waits for a person gives its slot back meanwhile, and takes one again before it goes on.
#[derive(Debug, Clone)]
pub struct Slot {
    room: Arc<Semaphore>,
    held: Arc<Mutex<Option<OwnedSemaphorePermit>>>,
}

impl Slot {
    /// Gives the slot back, for as long as nothing runs.
    pub fn release(&self) {
        self.held.lock().unwrap_or_else(PoisonError::into_inner).take();
    }

    /// Takes one again, and waits for it: whoever has a person's yes is not turned away.
    pub async fn acquire(&self) {
        let has_one = self.held.lock().unwrap_or_else(PoisonError::into_inner).is_some();
        if has_one {
            return;
        }
        // The room is never closed, so this is always a place.
        if let Ok(place) = Arc::clone(&self.room).acquire_owned().await {
            *self.held.lock().unwrap_or_else(PoisonError::into_inner) = Some(place);
        }
    }
}
