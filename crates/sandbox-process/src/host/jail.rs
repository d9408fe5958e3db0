//! The handle on a jail that stands: its first process, its cgroups, and its end.

use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bailiwick_agent_host::Account;
use bailiwick_sys::cgroups::Group;
use bailiwick_sys::{Failed, packets, pidfd};
use tokio::sync::watch;

use super::keeper::Started;

/// How long an agent may take to end what it started.
const PATIENCE: Duration = Duration::from_secs(5);

/// A jail. Dropping it ends it; what was made for it is removed by the thread that hears of its end.
#[derive(Debug)]
pub(crate) struct Jail {
    pidfd: Arc<OwnedFd>,
    ended: watch::Receiver<Option<i32>>,
    group: Arc<Mutex<Group>>,
    /// The stream to an agent that is not the first of a pid namespace: when it closes, the agent ends what it started.
    stream: Option<OwnedFd>,
}

impl Jail {
    pub(crate) fn new(started: Started, group: Arc<Mutex<Group>>, stream: Option<OwnedFd>) -> Self {
        let Started { pidfd, ended } = started;
        Self { pidfd, ended, group, stream }
    }

    fn group(&self) -> std::sync::MutexGuard<'_, Group> {
        self.group.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends it: its first process, and with it all others.
    pub(crate) fn kill(&self) {
        // By its own handle, or by its own stream: one that cannot be told is gone.
        if let Some(stream) = &self.stream {
            let _gone = packets::shut(stream);
            let _gone = pidfd::halt(&self.pidfd, false);
        } else {
            let _gone = pidfd::kill(&self.pidfd);
        }
        // Whoever stands still dies only when they are let go.
        let _was_not_frozen = self.group().freeze(false);
    }

    /// Waits until all of it has ended, and what was made for it is removed. An agent that does not end by itself is killed.
    pub(crate) async fn ended(&self) -> i32 {
        if self.stream.is_some() {
            let mut ended = self.ended.clone();
            if tokio::time::timeout(PATIENCE, ended.wait_for(Option::is_some)).await.is_err() {
                let _gone = pidfd::kill(&self.pidfd);
            }
        }
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
