//! What becomes of a container: it runs, is kept, or has ended; and whoever hears last of its end removes what was made for it.

use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bailiwick_agent_host::Account;
use bailiwick_sys::cgroups::Group;
use tokio::process::Child;
use tokio::sync::watch;

use crate::runsc::{self, Runsc};
use crate::{folders, outside};

/// How long `runsc` may take to forget a container.
const PATIENCE: Duration = Duration::from_secs(20);
/// How long it may take to end after its kernel was ended, until it is ended itself.
const LEAVES: Duration = Duration::from_secs(2);
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
    pub(crate) name: String,
    /// Everything that was made for it on the host.
    pub(crate) folder: PathBuf,
    how: watch::Sender<How>,
    holder: Mutex<Option<Holder>>,
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
            holder: Mutex::new(None),
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

    fn holder(&self) -> std::sync::MutexGuard<'_, Option<Holder>> {
        self.holder.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// It runs, by this program.
    pub(crate) fn runs(self: &Arc<Self>, mut child: Child, program: OwnedFd) {
        *self.holder() = Some(Holder { number: child.id(), program, kernel: None });
        self.how.send_modify(|how| how.runs = true);
        if self.is_killed() {
            self.end();
        }
        let life = self.clone();
        tokio::spawn(async move {
            let ended = child.wait().await;
            tracing::debug!(name = life.name, ?ended, "a container ended");
            life.how.send_modify(|how| how.runs = false);
        });
    }

    /// Its agent was heard: from now on its kernel is what is ended, if it can be told from others.
    pub(crate) fn stands(&self) {
        let mut holder = self.holder();
        if let Some(Holder { number: Some(number), kernel, .. }) = holder.as_mut() {
            match outside::kernel(&self.folder, *number) {
                Ok(found) => *kernel = Some(found),
                Err(why) => tracing::debug!(name = self.name, why, "a container is ended with its program"),
            }
        }
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

    /// Ends it, at once: nothing in it runs without its kernel. The program that holds it hears of that, takes the dead to itself
    /// and forgets them; one that was killed beside its kernel leaves them to the first process of the host, which may take
    /// seconds, and `runsc` takes the dead for living until then. One that does not end soon is ended.
    pub(crate) fn kill(&self) {
        self.how.send_modify(|how| how.killed = true);
        if let Some(Holder { kernel: Some(kernel), .. }) = self.holder().as_ref() {
            // Whoever stands still dies only when they are let go.
            let _was_not_frozen = self.group().freeze(false);
            runsc::end(kernel);
            return;
        }
        self.end();
    }

    /// Ends everybody, at once, whoever holds it too.
    fn end(&self) {
        let group = self.group();
        let _was_not_frozen = group.freeze(false);
        group.kill();
        drop(group);
        if let Some(Holder { program, .. }) = self.holder().as_ref() {
            runsc::end(program);
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
            until(&life.how, |how| how.killed || !how.runs && !how.kept).await;
            if tokio::time::timeout(LEAVES, life.is_over()).await.is_err() {
                tracing::debug!(name = life.name, "runsc outlives its container, and is ended");
                life.end();
                life.is_over().await;
            }
            life.how.send_modify(|how| how.killed = true);
            life.end();
            let counted = life.account();
            *life.last.lock().unwrap_or_else(PoisonError::into_inner) = Some(counted);
            if runsc.knows(&life.name)
                && let Err(error) = runsc.forget(&life.name, PATIENCE).await
            {
                tracing::debug!(name = life.name, error, "runsc did not forget a container");
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
