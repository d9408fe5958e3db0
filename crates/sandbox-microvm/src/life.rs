//! What becomes of a machine: it runs, is kept, or has ended; and whoever hears last of its end removes what was made for it.

use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bailiwick_agent_host::Account;
use bailiwick_sys::cgroups::Group;
use bailiwick_sys::pidfd;
use tokio::sync::{oneshot, watch};

use crate::folders;

/// How long it is waited between two looks whether a cgroup is empty.
const PAUSE: Duration = Duration::from_millis(5);
/// How often it is looked.
const LOOKS: u32 = 1000;

/// How a machine is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is changed by somebody else, and none follows from another"
)]
struct How {
    /// QEMU runs.
    runs: bool,
    /// It is kept, so its end is none.
    kept: bool,
    /// Somebody ended it.
    killed: bool,
    /// Nothing of it is left.
    removed: bool,
}

/// The life of one machine. Dropping it ends it.
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

fn locked<T>(what: &Mutex<T>) -> MutexGuard<'_, T> {
    what.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Life {
    /// Of a machine whose folder and cgroups are there.
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

    pub(crate) fn group(&self) -> MutexGuard<'_, Group> {
        locked(&self.group)
    }

    /// What was counted so far from outside: QEMU, with all that is in its machine.
    pub(crate) fn account(&self) -> Account {
        let last = *locked(&self.last);
        last.unwrap_or_else(|| {
            let group = self.group();
            Account { kills: group.kills(), cpu_us: group.cpu_us(), memory_peak: group.memory_peak() }
        })
    }

    /// It runs; `ended` tells when it does no more.
    pub(crate) fn runs(self: &Arc<Self>, handle: OwnedFd, ended: oneshot::Receiver<()>) {
        let handle = Arc::new(handle);
        *locked(&self.handle) = Some(handle.clone());
        self.how.send_modify(|how| how.runs = true);
        if self.how.borrow().killed {
            end(&handle);
        }
        let life = self.clone();
        tokio::spawn(async move {
            // Whoever would have told is gone only with it.
            let _told_or_gone = ended.await;
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

    /// Waits until QEMU has ended.
    pub(crate) async fn is_over(&self) {
        until(&self.how, |how| !how.runs).await;
    }

    /// Ends QEMU and nothing else: what is kept goes on later.
    pub(crate) fn end_program(&self) {
        if let Some(handle) = locked(&self.handle).as_ref() {
            end(handle);
        }
    }

    /// Ends it, at once.
    pub(crate) fn kill(&self) {
        self.how.send_modify(|how| how.killed = true);
        self.group().kill();
        self.end_program();
    }

    /// Waits until nothing of it is left.
    pub(crate) async fn removed(&self) {
        until(&self.how, |how| how.removed).await;
    }

    /// Removes what was made for it, once it has ended. Runs by itself.
    pub(crate) fn tidy(self: &Arc<Self>) {
        let life = self.clone();
        tokio::spawn(async move {
            until(&life.how, |how| !how.runs && (how.killed || !how.kept)).await;
            life.kill();
            let counted = life.account();
            *locked(&life.last) = Some(counted);
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

fn end(handle: &OwnedFd) {
    // One that is gone already is fine.
    let _gone = pidfd::kill(handle);
}

/// Waits until it is so. Whoever waits holds the other end, so there always is one.
async fn until(how: &watch::Sender<How>, is_so: impl Fn(&How) -> bool) {
    let mut seen = how.subscribe();
    let _always = seen.wait_for(is_so).await.is_ok();
}
