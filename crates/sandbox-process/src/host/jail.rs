//! The handle on a jail that stands: its first process, its cgroups, and its end.

use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, PoisonError};

use bailiwick_sys::cgroups::Group;
use bailiwick_sys::{Failed, pidfd};
use tokio::sync::watch;

use super::keeper::Started;

/// A jail. Dropping it ends it; what was made for it is removed by the thread that hears of its end.
#[derive(Debug)]
pub(crate) struct Jail {
    pidfd: OwnedFd,
    ended: watch::Receiver<Option<i32>>,
    group: Arc<Mutex<Group>>,
}

/// What the kernel has counted for a jail.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Account {
    /// Processes that were killed for want of memory.
    pub(crate) kills: Option<u64>,
    /// CPU time, in microseconds.
    pub(crate) cpu_us: Option<u64>,
    /// The most memory, in bytes.
    pub(crate) memory_peak: Option<u64>,
}

impl Jail {
    pub(crate) fn new(started: Started, group: Arc<Mutex<Group>>) -> Self {
        let Started { pidfd, ended } = started;
        Self { pidfd, ended, group }
    }

    fn group(&self) -> std::sync::MutexGuard<'_, Group> {
        self.group.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends it: its first process, and with it all others.
    pub(crate) fn kill(&self) {
        // By its own handle: one that cannot be killed is gone.
        let _gone = pidfd::kill(&self.pidfd);
        // Whoever stands still dies only when they are let go.
        let _was_not_frozen = self.group().freeze(false);
    }

    /// Waits until all of it has ended, and what was made for it is removed.
    pub(crate) async fn ended(&self) -> i32 {
        let mut ended = self.ended.clone();
        match ended.wait_for(Option::is_some).await {
            Ok(status) => status.unwrap_or_default(),
            // The keeper is gone, and every jail with it.
            Err(_) => 137,
        }
    }

    /// Makes everybody in it stand still, or go on.
    pub(crate) fn freeze(&self, still: bool) -> Result<(), Failed> {
        self.group().freeze(still)
    }

    /// What was counted so far.
    pub(crate) fn account(&self) -> Account {
        let group = self.group();
        Account { kills: group.kills(), cpu_us: group.cpu_us(), memory_peak: group.memory_peak() }
    }

    /// Looks for the most memory anew.
    pub(crate) fn forget_peak(&self) {
        self.group().forget_peak();
    }
}

impl Drop for Jail {
    fn drop(&mut self) {
        self.kill();
    }
}
