//! The keeper, seen from the host: one process for all sandboxes of a backend, and a thread that hears it.
//!
//! Whatever becomes of the handle of a sandbox, it is this thread that sees its end and then removes what was made for it. When
//! the keeper itself ends, every sandbox has ended with it.

use std::collections::HashMap;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::process::Child;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use bailiwick_agent_host::folders;
use bailiwick_sys::cgroups::Group;
use bailiwick_sys::clock::{Woken, wait_readable};
use bailiwick_sys::{Errno, Failed, packets, pidfd, reexec};
use bailiwick_wire::jail::{self, FromKeeper, Plan, ToKeeper};
use bailiwick_wire::{decode, encode};
use tokio::sync::{oneshot, watch};

use crate::enter;

/// How long a keeper may take until it is ready.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long a cgroup that is still busy is left alone.
const PAUSE: Duration = Duration::from_millis(10);
/// How often its removal is tried.
const MOST_TRIES: u32 = 500;

/// Why there is no keeper, or no jail.
#[derive(Debug, Clone, thiserror::Error)]
pub(crate) enum KeeperError {
    /// `enter` was not called.
    #[error("this program does not call bailiwick_sandbox_process::enter() first thing in main")]
    NotEntered,
    /// A step failed on this side.
    #[error("{0}")]
    Failed(Failed),
    /// A step failed over there.
    #[error("{step}: {}", std::io::Error::from_raw_os_error(*errno))]
    NotStarted {
        /// Which step.
        step: String,
        /// What the system said.
        errno: i32,
    },
    /// It ended.
    #[error("the keeper of sandboxes has ended")]
    Gone,
    /// It was not ready in time.
    #[error("the keeper of sandboxes was not ready after {PATIENCE:?}")]
    Late,
    /// The plan is longer than a message may be.
    #[error("the sandbox has too many parts: {0}")]
    TooLong(String),
}

impl From<Failed> for KeeperError {
    fn from(failed: Failed) -> Self {
        Self::Failed(failed)
    }
}

/// A jail whose first process was started.
#[derive(Debug)]
pub(crate) struct Started {
    /// A handle on its first process.
    pub(crate) pidfd: Arc<OwnedFd>,
    /// Tells how it ended, once all of it has and what was made for it is removed.
    pub(crate) ended: watch::Receiver<Option<i32>>,
}

/// What is known of a jail.
struct Entry {
    started: Option<oneshot::Sender<Result<Arc<OwnedFd>, KeeperError>>>,
    /// The handle on its first process, once there is one.
    pidfd: Option<Arc<OwnedFd>>,
    ended: watch::Sender<Option<i32>>,
    /// Removed when the jail has ended.
    group: Arc<Mutex<Group>>,
    folder: Option<std::path::PathBuf>,
}

/// The keeper. Dropping it ends it, and with it all sandboxes.
pub(crate) struct Keeper {
    control: Arc<OwnedFd>,
    shared: Arc<Shared>,
    process: Mutex<Option<Child>>,
    hears: Mutex<Option<std::thread::JoinHandle<()>>>,
}

#[derive(Default)]
struct Shared {
    jails: Mutex<HashMap<u64, Entry>>,
    next: std::sync::atomic::AtomicU64,
    gone: std::sync::atomic::AtomicBool,
}

impl std::fmt::Debug for Keeper {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Keeper").finish_non_exhaustive()
    }
}

impl Keeper {
    /// Starts one and waits until it is ready. Blocks for a few milliseconds.
    pub(crate) fn start() -> Result<Self, KeeperError> {
        if !enter::was_entered() {
            return Err(KeeperError::NotEntered);
        }
        let (control, far) = packets::packet_pair()?;
        let mut process = reexec::start(enter::NAME, &[], far)?;
        let ready = hear_ready(&control);
        if ready.is_err() {
            // It ends by itself when the socket closes; this is for one that hangs.
            let _ended = process.kill();
            let _reaped = process.wait();
        }
        ready?;
        let (control, shared) = (Arc::new(control), Arc::new(Shared::default()));
        let (theirs, weak) = (control.clone(), Arc::downgrade(&shared));
        let hears = std::thread::Builder::new()
            .name("sandboxes".to_owned())
            .spawn(move || hear(&theirs, &weak))
            .map_err(|_| KeeperError::Gone)?;
        Ok(Self { control, shared, process: Mutex::new(Some(process)), hears: Mutex::new(Some(hears)) })
    }

    /// Whether it has ended.
    pub(crate) fn is_gone(&self) -> bool {
        self.shared.gone.load(std::sync::atomic::Ordering::Acquire)
    }

    /// Asks for a jail; the first of `descriptors` is the agent's end of its stream.
    pub(crate) async fn make(
        &self,
        plan: Plan,
        descriptors: Vec<OwnedFd>,
        group: Arc<Mutex<Group>>,
        folder: Option<std::path::PathBuf>,
    ) -> Result<Started, KeeperError> {
        let number = self.shared.next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let frame = encode(&ToKeeper::Make { number, plan: Box::new(plan) })
            .map_err(|error| KeeperError::TooLong(error.to_string()))?;
        if frame.len() > jail::LONGEST {
            return Err(KeeperError::TooLong(format!("{} bytes", frame.len())));
        }
        let (started, starts) = oneshot::channel();
        let (ended, ends) = watch::channel(None);
        let entry = Entry { started: Some(started), pidfd: None, ended, group, folder };
        self.shared.lock().insert(number, entry);
        let beside: Vec<BorrowedFd<'_>> = descriptors.iter().map(OwnedFd::as_fd).collect();
        let sent = packets::send(&self.control, &frame, &beside);
        drop(descriptors);
        if let Err(failed) = sent {
            self.shared.lock().remove(&number);
            return Err(failed.into());
        }
        if self.is_gone() {
            self.shared.lock().remove(&number);
            return Err(KeeperError::Gone);
        }
        let pidfd = starts.await.map_err(|_| KeeperError::Gone)??;
        Ok(Started { pidfd, ended: ends })
    }

    /// Waits until the last jail has ended. Each has to be told to.
    pub(crate) fn ends(&self) -> Vec<watch::Receiver<Option<i32>>> {
        self.shared.lock().values().map(|entry| entry.ended.subscribe()).collect()
    }
}

impl Keeper {
    /// Ends it, and with it every sandbox. Waits until what was made for them is removed.
    pub(crate) fn end(&self) {
        let Some(mut process) = self.process.lock().unwrap_or_else(PoisonError::into_inner).take() else {
            return;
        };
        // It reads nothing that could keep it; sandboxes die with their parent.
        let _ended = process.kill();
        let _reaped = process.wait();
        if let Some(hears) = self.hears.lock().unwrap_or_else(PoisonError::into_inner).take() {
            let _panicked = hears.join();
        }
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        self.end();
    }
}

impl Shared {
    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<u64, Entry>> {
        self.jails.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Waits for the first word of a keeper.
fn hear_ready(control: &OwnedFd) -> Result<(), KeeperError> {
    let mut buffer = [0; 256];
    loop {
        match wait_readable(control, Some(PATIENCE))? {
            Woken::Late => return Err(KeeperError::Late),
            Woken::Interrupted => continue,
            Woken::Ready => {}
        }
        let packet = match packets::receive(control, &mut buffer) {
            Ok(packet) => packet,
            Err(Failed { errno: Errno::AGAIN, .. }) => continue,
            Err(_) => return Err(KeeperError::Gone),
        };
        return match buffer.get(4..packet.length).map(decode) {
            Some(Ok(FromKeeper::Ready)) => Ok(()),
            _ => Err(KeeperError::Gone),
        };
    }
}

/// Hears a keeper until it is gone.
fn hear(control: &OwnedFd, shared: &Weak<Shared>) {
    let mut buffer = vec![0; 4096];
    // What is left of jails that have ended, to be removed when the kernel lets go of it.
    let mut leaving: Vec<(Entry, i32, u32)> = Vec::new();
    loop {
        let patience = (!leaving.is_empty()).then_some(PAUSE);
        let woken = wait_readable(control, patience);
        leaving =
            leaving.into_iter().filter_map(|(entry, status, tries)| leave(entry, status, tries)).collect();
        if matches!(woken, Ok(Woken::Late | Woken::Interrupted)) {
            continue;
        }
        let packet = match packets::receive(control, &mut buffer) {
            Err(Failed { errno: Errno::AGAIN, .. }) => continue,
            Ok(packet) if packet.length > 0 => packet,
            _ => break,
        };
        let Some(shared) = shared.upgrade() else { break };
        let Some(Ok(message)) = buffer.get(4..packet.length).map(decode) else { break };
        match message {
            FromKeeper::Ready => {}
            FromKeeper::Started { number } => {
                let pidfd = packet.descriptors.into_iter().next().map(Arc::new);
                let told = shared.lock().get_mut(&number).and_then(|entry| {
                    entry.pidfd.clone_from(&pidfd);
                    entry.started.take()
                });
                match (told, pidfd) {
                    (Some(told), Some(pidfd)) => {
                        if let Err(Ok(pidfd)) = told.send(Ok(pidfd)) {
                            // Nobody wants it any more.
                            let _gone = pidfd::kill(&pidfd);
                        }
                    }
                    // This process may open no more descriptors: without a handle it cannot be used.
                    (Some(told), None) => {
                        let _nobody = told.send(Err(KeeperError::NotStarted {
                            step: "take a handle".to_owned(),
                            errno: 24,
                        }));
                    }
                    (None, _) => {}
                }
            }
            FromKeeper::NotStarted { number, step, errno } => {
                if let Some(Entry { started: Some(told), .. }) = shared.lock().remove(&number) {
                    let _nobody = told.send(Err(KeeperError::NotStarted { step, errno }));
                }
            }
            FromKeeper::Ended { number, status } => {
                if let Some(entry) = shared.lock().remove(&number) {
                    leaving.extend(leave(entry, status, 0));
                }
            }
        }
    }
    let Some(shared) = shared.upgrade() else { return };
    shared.gone.store(true, std::sync::atomic::Ordering::Release);
    let entries: Vec<Entry> = shared.lock().drain().map(|(_, entry)| entry).collect();
    for pidfd in entries.iter().filter_map(|entry| entry.pidfd.as_ref()) {
        wait_for_end(pidfd);
    }
    leaving.extend(entries.into_iter().map(|entry| (entry, 137, 0)));
    let Ok(quiet) = packets::packet_pair() else { return };
    while !leaving.is_empty() {
        leaving =
            leaving.into_iter().filter_map(|(entry, status, tries)| leave(entry, status, tries)).collect();
        if !leaving.is_empty() {
            // The keeper is gone: there is nothing to be heard but the time.
            let _late = wait_readable(&quiet.0, Some(PAUSE));
        }
    }
}

/// Waits until the first process of a jail has ended, after its keeper has: it is told by the kernel to, and does not end at the
/// same moment.
fn wait_for_end(pidfd: &OwnedFd) {
    // One that takes longer is in the hands of the kernel.
    while let Ok(Woken::Interrupted) = wait_readable(pidfd, Some(PATIENCE)) {}
}

/// Removes what was made for a jail that has ended, and tells of its end; gives it back if the kernel still holds on to it.
fn leave(entry: Entry, status: i32, tries: u32) -> Option<(Entry, i32, u32)> {
    let mut group = entry.group.lock().unwrap_or_else(PoisonError::into_inner);
    let removed = group.remove();
    if removed.is_err() && tries < MOST_TRIES {
        // Whoever stands still dies only when they are let go.
        let _was_not_frozen = group.freeze(false);
        group.kill();
        drop(group);
        return Some((entry, status, tries + 1));
    }
    drop(group);
    if let Some(folder) = &entry.folder {
        folders::remove(folder);
    }
    // Nobody has to wait for it.
    let _nobody = entry.ended.send_replace(Some(status));
    None
}
