//! Room for calls: so many run at once, of all callers. Whoever finds none is told at once, and nobody queues.
//!
//! A slot is taken when something is about to run, not while its request is still on its way, and given back when it
//! ended or waits for a person, not when its answer was read: a slow sender or reader holds none.

use std::sync::{Arc, Mutex, PoisonError};

use bailiwick_core::{NoRoom, Room};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The room.
#[derive(Debug, Clone)]
pub(super) struct Slots(Arc<Semaphore>);

impl Slots {
    pub(super) fn new(calls: u32) -> Self {
        let calls = usize::try_from(calls).unwrap_or(usize::MAX).clamp(1, Semaphore::MAX_PERMITS);
        Self(Arc::new(Semaphore::new(calls)))
    }

    /// Whether every slot is taken, so that what is still on its way need not be read.
    pub(super) fn are_taken(&self) -> bool {
        self.0.available_permits() == 0
    }

    /// The slot of one request, not yet taken.
    pub(super) fn one(&self) -> Slot {
        Slot { room: Arc::clone(&self.0), held: Arc::default() }
    }
}

/// The slot of one call; an extension of a request that needs one.
#[derive(Debug, Clone)]
pub struct Slot {
    room: Arc<Semaphore>,
    held: Arc<Mutex<Option<OwnedSemaphorePermit>>>,
}

impl Room for Slot {
    fn take(&self) -> Result<(), NoRoom> {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        if held.is_none() {
            *held = Some(Arc::clone(&self.room).try_acquire_owned().map_err(|_| NoRoom)?);
        }
        Ok(())
    }

    fn release(&self) {
        self.held.lock().unwrap_or_else(PoisonError::into_inner).take();
    }
}
