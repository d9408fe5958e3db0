//! What becomes of a container: it runs, is kept, or has ended; and whoever hears last of its end removes what was made for it.

use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bailiwick_agent_host::Account;
use bailiwick_sys::cgroups::Group;
use tokio::process::Child;
use tokio::sync::watch;

use crate::folders;
use crate::runsc::{self, Runsc};

/// How long `runsc` may take to forget a container.
const PATIENCE: Duration = Duration::from_secs(20);
/// How long it is waited between two looks whether a cgroup is empty.
const PAUSE: Duration = Duration::from_millis(5);
/// How often it is looked.
const LOOKS: u32 = 1000;

/// How a container is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is changed by somebody else, and none follows from another"
)]
pub(crate) struct How {
    /// The program that holds it runs.
    runs: bool,
    /// It is kept, so its end is none.
    kept: bool,
    /// Somebody ended it.
    killed: bool,
    /// Nothing of it is left.
    removed: bool,
}

/// The life of one container. Dropping it ends it.
#[derive(Debug)]
pub(crate) struct Life {
    pub(crate) name: String,
    /// Everything that was made for it on the host.
    pub(crate) folder: PathBuf,
    how: watch::Sender<How>,
    handle: Mutex<Option<Arc<OwnedFd>>>,
    group: Mutex<Group>,
    /// What was counted last, once nothing counts any more.
    last: Mutex<Option<Account>>,
}

impl Life {
    /// Of a container whose folder and cgroups are there.
    pub(crate) fn new(name: String, folder: PathBuf, group: Group) -> Arc<Self> {
        let how = watch::Sender::new(How::default());
        Arc::new(Self {
            name,
            folder,
            how,
            handle: Mutex::new(None),
            group: Mutex::new(group),
            last: Mutex::default(),
        })
    }

    pub(crate) fn group(&self) -> std::sync::MutexGuard<'_, Group> {
        self.group.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What was counted so far.
    pub(crate) fn account(&self) -> Account {
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        last.unwrap_or_else(|| {
            let group = self.group();
            Account { kills: group.kills(), cpu_us: group.cpu_us(), memory_peak: group.memory_peak() }
        })
    }

    /// It runs, by this program.
    pub(crate) fn runs(self: &Arc<Self>, mut child: Child, handle: OwnedFd) {
        let handle = Arc::new(handle);
        *self.handle.lock().unwrap_or_else(PoisonError::into_inner) = Some(handle.clone());
        self.how.send_modify(|how| how.runs = true);
        if self.how.borrow().killed {
            runsc::end(&handle);
        }
        let life = self.clone();
        tokio::spawn(async move {
            let ended = child.wait().await;
            tracing::debug!(name = life.name, ?ended, "a container ended");
            life.how.send_modify(|how| how.runs = false);
        });
    }

    /// Whether its end is none.
    pub(crate) fn keep(&self, kept: bool) {
        self.how.send_modify(|how| how.kept = kept);
    }

    /// Whether it was ended.
    pub(crate) fn is_killed(&self) -> bool {
        self.how.borrow().killed
    }

    /// Waits until the program that holds it has ended.
    pub(crate) async fn is_over(&self) {
        until(&self.how, |how| !how.runs).await;
    }

    /// Ends it, at once.
    pub(crate) fn kill(&self) {
        self.how.send_modify(|how| how.killed = true);
        let group = self.group();
        // Whoever stands still dies only when they are let go.
        let _was_not_frozen = group.freeze(false);
        group.kill();
        drop(group);
        if let Some(handle) = self.handle.lock().unwrap_or_else(PoisonError::into_inner).as_ref() {
            runsc::end(handle);
        }
    }

    /// Waits until nothing of it is left.
    pub(crate) async fn removed(&self) {
        until(&self.how, |how| how.removed).await;
    }

    /// Removes what was made for it, once it has ended. Runs by itself.
    pub(crate) fn tidy(self: &Arc<Self>, runsc: Runsc) {
        let life = self.clone();
        tokio::spawn(async move {
            until(&life.how, |how| !how.runs && (how.killed || !how.kept)).await;
            life.kill();
            let counted = life.account();
            *life.last.lock().unwrap_or_else(PoisonError::into_inner) = Some(counted);
            let words = ["delete", "--force", &life.name].map(std::ffi::OsStr::new);
            if let Err(error) = runsc.ask(&words, PATIENCE).await {
                tracing::debug!(name = life.name, error, "runsc has nothing to forget");
            }
            for _ in 0..LOOKS {
                life.group().kill();
                if life.group().remove().is_ok() {
                    break;
                }
                // The kernel tells by no descriptor when the last of a cgroup is gone.
                tokio::time::sleep(PAUSE).await;
            }
            folders::remove(&life.folder);
            life.how.send_modify(|how| how.removed = true);
        });
    }
}

/// Waits until it is so. Whoever waits holds the other end, so there always is one.
async fn until(how: &watch::Sender<How>, is_so: impl Fn(&How) -> bool) {
    let mut seen = how.subscribe();
    let _always = seen.wait_for(is_so).await.is_ok();
}
