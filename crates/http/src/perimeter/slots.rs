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
        Some(Slot(Arc::new(Mutex::new(Some(held)))))
    }
}

/// The slot of one call; an extension of a request that needs one, and held until its answer is sent or the call waits
/// for a person.
#[derive(Debug, Clone)]
pub struct Slot(Arc<Mutex<Option<OwnedSemaphorePermit>>>);

impl Slot {
    /// Gives the slot back, for good.
    pub fn release(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
    }
}
