//! A writing job with its types rubbed off, so that jobs of all kinds can wait in one queue.

use std::panic::{AssertUnwindSafe, catch_unwind};

use tokio::sync::{OwnedSemaphorePermit, oneshot};

use crate::error::{StoreError, WriteError};
use crate::options::Durability;
use crate::tx::Tx;

/// Tells whoever waits how it ended, once that is certain.
pub(crate) type Answer = Box<dyn FnOnce(Result<(), StoreError>) + Send>;

/// A job that is given the transaction, or the reason why there is none.
pub(crate) type Run = Box<dyn FnOnce(Result<&mut Tx<'_>, StoreError>) -> Ran + Send>;

/// A job in the queue.
pub(crate) struct Job {
    pub(crate) durability: Durability,
    pub(crate) run: Run,
    /// Its place in the queue, given back with it.
    pub(crate) place: Option<OwnedSemaphorePermit>,
}

/// What a job came to.
pub(crate) struct Ran {
    pub(crate) wish: Wish,
    pub(crate) answer: Answer,
}

/// Whether what a job did is to be kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wish {
    Keep,
    Undo,
}

impl Job {
    /// A job, and where its answer will come.
    pub(crate) fn new<T, E, F>(
        durability: Durability,
        place: Option<OwnedSemaphorePermit>,
        job: F,
    ) -> (Self, oneshot::Receiver<Result<T, WriteError<E>>>)
    where
        T: Send + 'static,
        E: Send + 'static,
        F: FnOnce(&mut Tx<'_>) -> Result<T, E> + Send + 'static,
    {
        let (sender, receiver) = oneshot::channel();
        // Whoever does not wait any more is not told; the job is done all the same.
        let run = Box::new(move |tx: Result<&mut Tx<'_>, StoreError>| {
            let ran = match tx {
                Ok(tx) => catch_unwind(AssertUnwindSafe(|| job(tx))),
                Err(error) => return undone(sender, WriteError::Store(error)),
            };
            match ran {
                Ok(Ok(value)) => Ran {
                    wish: Wish::Keep,
                    answer: Box::new(move |kept| {
                        drop(sender.send(kept.map(|()| value).map_err(WriteError::Store)));
                    }),
                },
                Ok(Err(error)) => undone(sender, WriteError::Job(error)),
                Err(_) => undone(sender, WriteError::Panicked),
            }
        });
        (Self { durability, run, place }, receiver)
    }
}

fn undone<T, E>(sender: oneshot::Sender<Result<T, WriteError<E>>>, error: WriteError<E>) -> Ran
where
    T: Send + 'static,
    E: Send + 'static,
{
    Ran { wish: Wish::Undo, answer: Box::new(move |_| drop(sender.send(Err(error)))) }
}
