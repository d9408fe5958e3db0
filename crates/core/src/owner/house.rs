//! The owner's own side of an action: it begins in a task of its own, ends well, badly or by a panic, and is counted, so
//! that an owner can wait for the last one before it goes.
//!
//! The lock is never given back while an action runs: each keeps a share of it.

use std::sync::Arc;

use bailiwick_types::ErrorCode;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinHandle;

use super::lock::Ownership;
use super::message::Nature;
use super::performs::Performs;
use crate::{Action, Caller, Core, Refusal, Reply};

/// More actions than there can be at once; all of this room is free when none runs.
const ROOM: u32 = 1 << 20;

/// A data folder that this process owns, opened.
#[derive(Clone)]
pub(crate) struct House {
    // Before the lock, so that it is gone when the lock is.
    performs: Arc<dyn Performs>,
    room: Arc<Semaphore>,
    _ownership: Ownership,
}

/// A place in the house: nobody closes it meanwhile.
#[derive(Debug)]
pub(crate) struct Entered(OwnedSemaphorePermit);

/// An action that began. Dropping it ends the action, unless that writes.
#[derive(Debug)]
pub(crate) struct Work {
    task: JoinHandle<Result<Reply, Refusal>>,
    nature: Nature,
}

impl std::fmt::Debug for House {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("House").finish_non_exhaustive()
    }
}

impl House {
    pub(crate) fn new(performs: Arc<dyn Performs>, ownership: Ownership) -> Self {
        Self { performs, room: Arc::new(Semaphore::new(ROOM as usize)), _ownership: ownership }
    }

    /// Asks for a place; none once the house is being closed.
    pub(crate) fn enter(&self) -> Option<Entered> {
        self.room.clone().try_acquire_owned().ok().map(Entered)
    }

    /// Begins an action.
    pub(crate) fn begin(&self, entered: Entered, caller: Caller, action: Action) -> Work {
        let nature = Nature::of(&action);
        let house = self.clone();
        let task = tokio::spawn(async move {
            let Entered(_place) = entered;
            house.performs.perform(caller, action).await
        });
        Work { task, nature }
    }

    /// Lets nobody in any more, and waits for the last who is.
    pub(crate) async fn empty(&self) {
        // An error says that it was emptied before.
        if let Ok(all) = self.room.acquire_many(ROOM).await {
            all.forget();
        }
        self.room.close();
    }

    /// The core behind it, if there is one.
    pub(crate) fn core(&self) -> Option<Core> {
        self.performs.core()
    }

    /// What a person should know of.
    pub(crate) fn troubles(&self) -> Vec<String> {
        self.performs.troubles()
    }

    /// Ends what only waits for a person.
    pub(crate) fn ending(&self) {
        self.performs.ending();
    }

    /// Closes what performs. Only behind [`Self::empty`]. It goes on when the future is dropped.
    pub(crate) async fn close(&self) -> Result<(), Refusal> {
        let house = self.clone();
        let closing = tokio::spawn(async move { house.performs.close().await });
        closing.await.unwrap_or_else(|_| {
            Err(Refusal::new(
                ErrorCode::Internal,
                "a fault of this program ended the closing of the data folder",
            ))
        })
    }
}

impl Work {
    /// Waits for its end.
    pub(crate) async fn end(mut self) -> Result<Reply, Refusal> {
        match (&mut self.task).await {
            Ok(result) => result,
            Err(error) if error.is_panic() => {
                Err(Refusal::new(ErrorCode::Internal, "a fault of this program ended the action")
                    .with_hint("how far it came is on the record: bailiwick audit tail"))
            }
            Err(_) => Err(Refusal::new(ErrorCode::Cancelled, "the action was cancelled")),
        }
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        if self.nature != Nature::Writes {
            self.task.abort();
        }
    }
}
