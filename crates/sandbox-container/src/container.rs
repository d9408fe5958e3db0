//! A container from its making to its end: who has it removed, who waits for that, and what is tried where the engine does not.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bollard::query_parameters::RemoveContainerOptions;
use tokio::sync::{Notify, watch};

use crate::engine::{Engine, EngineError};
use crate::lent::Lent;

/// How long between two tries to remove one, and how often it is tried.
const PAUSE: Duration = Duration::from_millis(100);
const MOST_TRIES: u32 = 100;

/// Containers that could not be removed, for the next try.
pub(crate) type LeftOver = Arc<Mutex<Vec<String>>>;

/// A container that was made. Dropping it ends it.
#[derive(Debug)]
pub(crate) struct Container {
    pub(crate) engine: Arc<Engine>,
    pub(crate) id: String,
    ending: Ending,
}

/// The end of a container, also for those who do not hold it.
#[derive(Debug, Clone)]
pub(crate) struct Ending {
    end: Arc<Notify>,
    gone: watch::Receiver<bool>,
}

impl Ending {
    /// Ends it, without waiting for that.
    pub(crate) fn begin(&self) {
        self.end.notify_one();
    }

    /// Waits until it is gone, or until nobody tries any more.
    pub(crate) async fn wait(&self) {
        let mut gone = self.gone.clone();
        // Whoever removed it may have ended with its runtime; the engine removes it by itself then.
        let _over = gone.wait_for(|gone| *gone).await;
    }

    /// Whether it is over.
    pub(crate) fn is_over(&self) -> bool {
        *self.gone.borrow() || self.gone.has_changed().is_err()
    }
}

impl Container {
    /// Takes care of a container that the engine has made. What it was lent goes when it is gone.
    pub(crate) fn new(engine: Arc<Engine>, id: String, lent: Lent, later: LeftOver) -> Arc<Self> {
        let end = Arc::new(Notify::new());
        let (is_gone, gone) = watch::channel(false);
        let task = {
            let (engine, id, end) = (engine.clone(), id.clone(), end.clone());
            async move {
                end.notified().await;
                if let Err(error) = remove(&engine, &id).await {
                    tracing::warn!(%error, container = %id, "a container is left for the next try");
                    later.lock().unwrap_or_else(PoisonError::into_inner).push(id);
                }
                drop(lent);
                // Nobody may wait for it.
                let _nobody = is_gone.send(true);
            }
        };
        tokio::spawn(task);
        Arc::new(Self { engine, id, ending: Ending { end, gone } })
    }

    /// Ends it, without waiting for that. Again is fine.
    pub(crate) fn kill(&self) {
        self.ending.begin();
    }

    /// Waits until it is gone, or until nobody tries any more.
    pub(crate) async fn ended(&self) {
        self.ending.wait().await;
    }

    /// Its end, for whoever does not hold it.
    pub(crate) fn ending(&self) -> Ending {
        self.ending.clone()
    }
}

impl Drop for Container {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Removes a container, whatever it does.
pub(crate) async fn remove(engine: &Engine, id: &str) -> Result<(), EngineError> {
    let mut tries = 0;
    loop {
        let options = RemoveContainerOptions { force: true, v: true, link: false };
        let removed =
            engine.ask("remove a container", engine.docker.remove_container(id, Some(options))).await;
        match removed {
            Ok(()) => return Ok(()),
            Err(error) if error.is_missing() => return Ok(()),
            // The engine is about to do it by itself: it is looked again until it has.
            Err(error) if tries >= MOST_TRIES => return Err(error),
            Err(error @ EngineError::Gone { .. }) if engine.silence().await.is_some() => return Err(error),
            Err(_) => {
                tries += 1;
                tokio::time::sleep(PAUSE).await;
            }
        }
    }
}
