//! What becomes of a program that a backend starts around a sandbox: it runs, is kept, or has ended, and what was made for it is
//! removed then. How it is ended is the backend's; what is told and counted of it, and who is still there, is here.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use bailiwick_sys::cgroups::Group;
use tokio::sync::watch;

use crate::{Account, folders};

/// How long it is waited between two looks whether a cgroup is empty.
const PAUSE: Duration = Duration::from_millis(5);
/// How often it is looked.
const LOOKS: u32 = 1000;

/// How it is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is changed by somebody else, and none follows from another"
)]
pub struct How {
    /// The program runs.
    pub runs: bool,
    /// It is kept, so its end is none.
    pub kept: bool,
    /// Somebody ended it.
    pub killed: bool,
    /// Nothing of it is left.
    pub removed: bool,
}

/// The state of one sandbox's program, and what was made for it on the host.
#[derive(Debug)]
pub struct State {
    /// What it is called on the host.
    pub name: String,
    /// Everything that was made for it there.
    pub folder: PathBuf,
    how: watch::Sender<How>,
    group: Mutex<Group>,
    /// What was counted last, once nothing counts any more.
    last: Mutex<Option<Account>>,
}

fn locked<T>(what: &Mutex<T>) -> MutexGuard<'_, T> {
    what.lock().unwrap_or_else(PoisonError::into_inner)
}

impl State {
    /// Of a sandbox whose folder and cgroups are there, and whose program was not started yet.
    pub fn new(name: String, folder: PathBuf, group: Group) -> Self {
        let how = watch::Sender::new(How::default());
        Self { name, folder, how, group: Mutex::new(group), last: Mutex::default() }
    }

    /// Its cgroups.
    pub fn group(&self) -> MutexGuard<'_, Group> {
        locked(&self.group)
    }

    /// What was counted so far from outside: the program, with all that is in its sandbox.
    pub fn account(&self) -> Account {
        let last = *locked(&self.last);
        last.unwrap_or_else(|| {
            let group = self.group();
            Account { kills: group.kills(), cpu_us: group.cpu_us(), memory_peak: group.memory_peak() }
        })
    }

    /// How it is now.
    pub fn how(&self) -> How {
        *self.how.borrow()
    }

    /// It is otherwise from now on, and whoever waits for that is told.
    pub fn is(&self, change: impl FnOnce(&mut How)) {
        self.how.send_modify(change);
    }

    /// Waits until it is so. Whoever waits holds the other end, so there always is one.
    pub async fn until(&self, is_so: impl Fn(&How) -> bool) {
        let mut seen = self.how.subscribe();
        let _always = seen.wait_for(is_so).await.is_ok();
    }

    /// Remembers what was counted: nothing counts any more.
    pub fn close_account(&self) {
        let counted = self.account();
        *locked(&self.last) = Some(counted);
    }

    /// Removes what was made for it: its program has ended, and whoever is left in its cgroups is ended now.
    pub async fn remove(&self) {
        for _ in 0..LOOKS {
            self.group().kill();
            if self.group().remove().is_ok() {
                break;
            }
            // The kernel tells by no descriptor when the last of a cgroup is gone.
            tokio::time::sleep(PAUSE).await;
        }
        folders::remove(&self.folder);
        self.is(|how| how.removed = true);
    }
}

/// A life that can be ended from outside.
pub trait Ends: Send + Sync {
    /// Ends it, at once.
    fn kill(&self);

    /// Its state.
    fn state(&self) -> &State;

    /// Ends it where nobody waits for it any more.
    fn give_up(self: Arc<Self>) {
        self.kill();
    }
}

/// All lives of a backend that may still be there.
#[derive(Debug)]
pub struct Living<L>(Mutex<Vec<Weak<L>>>);

impl<L> Default for Living<L> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<L: Ends> Living<L> {
    /// Knows of one, so that it ends when the backend is closed.
    pub fn know(&self, life: &Arc<L>) {
        let mut lives = locked(&self.0);
        lives.retain(|life| life.strong_count() > 0);
        lives.push(Arc::downgrade(life));
    }

    /// Ends all, and waits until nothing is left of them.
    pub async fn close(&self) {
        let lives = std::mem::take(&mut *locked(&self.0));
        let lives: Vec<Arc<L>> = lives.iter().filter_map(Weak::upgrade).collect();
        for life in &lives {
            life.kill();
        }
        for life in lives {
            life.state().until(|how| how.removed).await;
        }
    }
}

/// A life that somebody waits for until it stands. Where they stop waiting before, nobody else would end it.
#[derive(Debug)]
pub struct Awaited<L: Ends>(Option<Arc<L>>);

impl<L: Ends> Awaited<L> {
    /// Begins to wait.
    pub fn new(life: Arc<L>) -> Self {
        Self(Some(life))
    }

    /// It stands, or its end was begun: whoever has it ends it.
    pub fn is_over(mut self) {
        self.0 = None;
    }
}

impl<L: Ends> Drop for Awaited<L> {
    fn drop(&mut self) {
        if let Some(life) = self.0.take() {
            life.give_up();
        }
    }
}
