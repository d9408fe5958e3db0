//! What becomes of a machine: it runs, is kept, or has ended; and whoever hears last of its end removes what was made for it.

use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bailiwick_agent_host::life::{Ends, State};
use bailiwick_sys::pidfd;
use tokio::sync::oneshot;

/// The life of one machine. Dropping it ends it.
#[derive(Debug)]
pub(crate) struct Life {
    pub(crate) state: State,
    handle: Mutex<Option<Arc<OwnedFd>>>,
}

impl Life {
    /// Of a machine whose folder and cgroups are there.
    pub(crate) fn new(state: State) -> Arc<Self> {
        Arc::new(Self { state, handle: Mutex::new(None) })
    }

    fn handle(&self) -> MutexGuard<'_, Option<Arc<OwnedFd>>> {
        self.handle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// It runs; `ended` tells when it does no more.
    pub(crate) fn runs(self: &Arc<Self>, handle: OwnedFd, ended: oneshot::Receiver<()>) {
        let handle = Arc::new(handle);
        *self.handle() = Some(handle.clone());
        self.state.is(|how| how.runs = true);
        if self.is_killed() {
            end(&handle);
        }
        let life = self.clone();
        tokio::spawn(async move {
            // Whoever would have told is gone only with it.
            let _told_or_gone = ended.await;
            life.state.is(|how| how.runs = false);
        });
    }

    /// Whether its end is none.
    pub(crate) fn keep(&self, kept: bool) {
        self.state.is(|how| how.kept = kept);
    }

    /// Whether it was ended.
    pub(crate) fn is_killed(&self) -> bool {
        self.state.how().killed
    }

    /// Waits until QEMU has ended.
    pub(crate) async fn is_over(&self) {
        self.state.until(|how| !how.runs).await;
    }

    /// Ends QEMU and nothing else: what is kept goes on later.
    pub(crate) fn end_program(&self) {
        if let Some(handle) = self.handle().as_ref() {
            end(handle);
        }
    }

    /// Waits until nothing of it is left.
    pub(crate) async fn removed(&self) {
        self.state.until(|how| how.removed).await;
    }

    /// Removes what was made for it, once it has ended. Runs by itself.
    pub(crate) fn tidy(self: &Arc<Self>) {
        let life = self.clone();
        tokio::spawn(async move {
            life.state.until(|how| !how.runs && (how.killed || !how.kept)).await;
            life.kill();
            life.state.close_account();
            life.state.remove().await;
        });
    }
}

impl Ends for Life {
    fn kill(&self) {
        self.state.is(|how| how.killed = true);
        self.state.group().kill();
        self.end_program();
    }

    fn state(&self) -> &State {
        &self.state
    }

    fn give_up(self: Arc<Self>) {
        self.kill();
        // Without a runtime nobody removes what was made for it; the next start does.
        if tokio::runtime::Handle::try_current().is_ok() {
            self.tidy();
        }
    }
}

fn end(handle: &OwnedFd) {
    // One that is gone already is fine.
    let _gone = pidfd::kill(handle);
}
