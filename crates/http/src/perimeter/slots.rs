//! Room for calls: so many run at once, of all callers. A caller that finds none is told at once; none waits in a queue.
//!
//! A slot is taken when something is about to run, not while its request is still on its way, and given back when it
//! ended or waits for a person, not when its answer was read: a slow sender or reader holds none. A few more slots are the
//! operator's alone.

use std::sync::{Arc, Mutex, PoisonError};

use bailiwick_core::capacity;
use bailiwick_core::{NoRoom, Rank, Room};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Slots beside those of all callers that only the operator takes.
pub const OPERATORS_SLOTS: usize = 2;

/// The room.
#[derive(Debug, Clone)]
pub(super) struct Slots {
    all: Arc<Semaphore>,
    operators: Arc<Semaphore>,
}

impl Slots {
    pub(super) fn new(calls: u32) -> Self {
        // A call may make a sandbox, which takes some sixteen descriptors; a quarter of all is for calls.
        let calls = u64::from(calls).min(capacity::descriptors() / 64);
        let calls = usize::try_from(calls).unwrap_or(usize::MAX).clamp(1, Semaphore::MAX_PERMITS);
        Self { all: Arc::new(Semaphore::new(calls)), operators: Arc::new(Semaphore::new(OPERATORS_SLOTS)) }
    }

    /// Whether every slot is taken that a caller of this rank may take, so that what is still on its way need not be read.
    pub(super) fn are_taken(&self, rank: Rank) -> bool {
        let one = self.one(rank);
        std::iter::once(&one.room).chain(&one.reserve).all(|room| room.available_permits() == 0)
    }

    /// The slot of one request, not yet taken.
    pub(super) fn one(&self, rank: Rank) -> Slot {
        let reserve = (rank == Rank::Operator).then(|| Arc::clone(&self.operators));
        Slot { room: Arc::clone(&self.all), reserve, held: Arc::default() }
    }
}

/// The slot of one call; an extension of a request that needs one.
#[derive(Debug, Clone)]
pub struct Slot {
    room: Arc<Semaphore>,
    /// Tried where the room is full.
    reserve: Option<Arc<Semaphore>>,
    held: Arc<Mutex<Option<OwnedSemaphorePermit>>>,
}

impl Room for Slot {
    fn take(&self) -> Result<(), NoRoom> {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        if held.is_none() {
            let mut rooms = std::iter::once(&self.room).chain(&self.reserve);
            let permit = rooms.find_map(|room| Arc::clone(room).try_acquire_owned().ok());
            *held = Some(permit.ok_or(NoRoom)?);
        }
        Ok(())
    }

    fn release(&self) {
        self.held.lock().unwrap_or_else(PoisonError::into_inner).take();
    }
}
