//! Announces a question that waits: to programs and addresses that the operator lists in `approvals.notify`.
//!
//! A courtesy, beside the queue: it never delays a question, answers none, and sees arguments redacted only, as every
//! approver does. What did not get where it was to go is counted.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bailiwick_config::{Notify, Settings};
use tokio::sync::Semaphore;
use tokio::time::timeout;
use tokio_util::task::TaskTracker;

use super::program;
use crate::webhook::Hook;
use crate::{Refusal, Waiting};

/// How many announcements go out at once.
const AT_ONCE: usize = 4;
/// How many may wait for their turn beside them.
const MOST_WAITING: usize = 256;
/// How long a turn is waited for, how long a program may take, and how long the last ones are waited for.
const PATIENCE: Duration = Duration::from_secs(10);

/// Whom to tell.
enum Target {
    Program(PathBuf),
    Address(Hook),
}

/// Announces questions.
pub(super) struct Announcer {
    targets: Vec<Arc<Target>>,
    turns: Arc<Semaphore>,
    on_their_way: TaskTracker,
    missed: Arc<AtomicU64>,
}

impl Announcer {
    pub(super) fn new(settings: &Settings, listed: &[Notify]) -> Result<Self, Refusal> {
        let target = |notify: &Notify| match notify {
            Notify::Program(path) => Ok(Target::Program(path.clone())),
            Notify::Address(address) => Hook::new(settings, "approvals.notify", address).map(Target::Address),
        };
        let targets = listed.iter().map(|notify| target(notify).map(Arc::new));
        Ok(Self {
            targets: targets.collect::<Result<_, _>>()?,
            turns: Arc::new(Semaphore::new(AT_ONCE)),
            on_their_way: TaskTracker::new(),
            missed: Arc::default(),
        })
    }

    /// Tells everybody on the list, beside everything else.
    pub(super) fn announce(&self, waiting: &Waiting) {
        if self.targets.is_empty() {
            return;
        }
        let Ok(text) = serde_json::to_string(waiting) else {
            self.missed.fetch_add(1, Ordering::Relaxed);
            return;
        };
        let text: Arc<str> = text.into();
        for target in &self.targets {
            if self.on_their_way.len() >= AT_ONCE + MOST_WAITING {
                self.missed.fetch_add(1, Ordering::Relaxed);
                continue;
            }
            let (target, text) = (Arc::clone(target), Arc::clone(&text));
            let (turns, missed) = (Arc::clone(&self.turns), Arc::clone(&self.missed));
            self.on_their_way.spawn(async move {
                let is_told = match timeout(PATIENCE, turns.acquire()).await {
                    Ok(Ok(_turn)) => tell(&target, &text).await,
                    Ok(Err(_)) | Err(_) => false,
                };
                if !is_told {
                    missed.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
    }

    /// How many never got where they were to go.
    pub(super) fn missed(&self) -> u64 {
        self.missed.load(Ordering::Relaxed)
    }

    /// Waits for what is on its way, for a while.
    pub(super) async fn end(&self) {
        self.on_their_way.close();
        if timeout(PATIENCE, self.on_their_way.wait()).await.is_err() {
            tracing::warn!("some of approvals.notify did not take the last questions in time");
        }
    }
}

async fn tell(target: &Target, text: &str) -> bool {
    match target {
        Target::Address(hook) => hook.send(text).await,
        Target::Program(path) => match program::run(path, text, PATIENCE).await {
            Ok(()) => true,
            Err(why) => {
                tracing::warn!(program = %path.display(), why, "a program of approvals.notify failed");
                false
            }
        },
    }
}
