//! What becomes of a container: it runs, is kept, or has ended; and whoever hears last of its end removes what was made for it.

use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bailiwick_agent_host::life::{Ends, State};
use tokio::process::Child;

use crate::outside;
use crate::runsc::{self, Runsc};

/// How long `runsc` may take to forget a container.
const PATIENCE: Duration = Duration::from_secs(20);
/// How long it may take to end after its kernel was ended, until it is ended itself.
const LEAVES: Duration = Duration::from_secs(2);

/// The program that holds a container.
#[derive(Debug)]
struct Holder {
    number: Option<u32>,
    program: OwnedFd,
    /// The kernel that it started, once somebody in it has said something.
    kernel: Option<OwnedFd>,
}

/// The life of one container. Dropping it ends it.
#[derive(Debug)]
pub(crate) struct Life {
    pub(crate) state: State,
    holder: Mutex<Option<Holder>>,
}

impl Life {
    /// Of a container whose folder and cgroups are there.
    pub(crate) fn new(state: State) -> Arc<Self> {
        Arc::new(Self { state, holder: Mutex::new(None) })
    }

    fn holder(&self) -> std::sync::MutexGuard<'_, Option<Holder>> {
        self.holder.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// It runs, by this program.
    pub(crate) fn runs(self: &Arc<Self>, mut child: Child, program: OwnedFd) {
        *self.holder() = Some(Holder { number: child.id(), program, kernel: None });
        self.state.is(|how| how.runs = true);
        if self.is_killed() {
            self.end();
        }
        let life = self.clone();
        tokio::spawn(async move {
            let ended = child.wait().await;
            tracing::debug!(name = life.state.name, ?ended, "a container ended");
            life.state.is(|how| how.runs = false);
        });
    }

    /// Its agent was heard: from now on its kernel is what is ended, if it can be told from others.
    pub(crate) fn stands(&self) {
        let mut holder = self.holder();
        if let Some(Holder { number: Some(number), kernel, .. }) = holder.as_mut() {
            match outside::kernel(&self.state.folder, *number) {
                Ok(found) => *kernel = Some(found),
                Err(why) => {
                    tracing::debug!(name = self.state.name, why, "a container is ended with its program");
                }
            }
        }
    }

    /// Whether its end is none.
    pub(crate) fn keep(&self, kept: bool) {
        self.state.is(|how| how.kept = kept);
    }

    /// Whether it was ended.
    pub(crate) fn is_killed(&self) -> bool {
        self.state.how().killed
    }

    /// Waits until the program that holds it has ended.
    pub(crate) async fn is_over(&self) {
        self.state.until(|how| !how.runs).await;
    }

    /// Ends everybody, at once, whoever holds it too. What is kept stays.
    pub(crate) fn end(&self) {
        let group = self.state.group();
        let _was_not_frozen = group.freeze(false);
        group.kill();
        drop(group);
        if let Some(Holder { program, .. }) = self.holder().as_ref() {
            runsc::end(program);
        }
    }

    /// Waits until nothing of it is left.
    pub(crate) async fn removed(&self) {
        self.state.until(|how| how.removed).await;
    }

    /// Removes what was made for it, once it has ended. Runs by itself.
    pub(crate) fn tidy(self: &Arc<Self>, runsc: Runsc) {
        let life = self.clone();
        tokio::spawn(async move {
            life.state.until(|how| how.killed || !how.runs && !how.kept).await;
            if tokio::time::timeout(LEAVES, life.is_over()).await.is_err() {
                tracing::debug!(name = life.state.name, "runsc outlives its container, and is ended");
                life.end();
                life.is_over().await;
            }
            life.state.is(|how| how.killed = true);
            life.end();
            life.state.close_account();
            let name = &life.state.name;
            if runsc.knows(name)
                && let Err(error) = runsc.forget(name, PATIENCE).await
            {
                tracing::debug!(name, error, "runsc did not forget a container");
            }
            life.state.remove().await;
        });
    }
}

impl Ends for Life {
    /// Ends it, at once: nothing in it runs without its kernel. The program that holds it hears of that, takes the dead to itself
    /// and forgets them; one that was killed beside its kernel leaves them to the first process of the host, which may take
    /// seconds, and `runsc` takes the dead for living until then. One that does not end soon is ended.
    fn kill(&self) {
        self.state.is(|how| how.killed = true);
        if let Some(Holder { kernel: Some(kernel), .. }) = self.holder().as_ref() {
            // Whoever stands still dies only when they are let go.
            let _was_not_frozen = self.state.group().freeze(false);
            runsc::end(kernel);
            return;
        }
        self.end();
    }

    fn state(&self) -> &State {
        &self.state
    }
}
