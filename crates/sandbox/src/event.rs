//! What happens to sandboxes, told to whoever listens. A listener that fails breaks nothing: it is caught and counted.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bailiwick_types::{CorrelationId, SandboxId, Tier};

use crate::ExecUsage;

/// What happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EventKind {
    /// A sandbox was made.
    Create,
    /// A command ended.
    Exec,
    /// Something was refused.
    Deny,
    /// A limit was reached.
    Limit,
    /// A snapshot was taken.
    Snapshot,
    /// A sandbox went to sleep.
    Hibernate,
    /// A sandbox woke up.
    Resume,
    /// A sandbox is gone.
    Close,
}

/// Something that happened.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Event {
    /// What.
    pub kind: EventKind,
    /// To which sandbox.
    pub sandbox_id: SandboxId,
    /// Of which backend.
    pub backend: String,
    /// How strong that is.
    pub tier: Tier,
    /// From which image; none for the host's own programs.
    pub image: Option<String>,
    /// The command, redacted.
    pub argv: Vec<String>,
    /// Whether a shell read a text.
    pub shell: bool,
    /// Its exit status, as a shell tells it.
    pub exit: Option<i32>,
    /// Its deadline ended it.
    pub timed_out: bool,
    /// Memory ended it.
    pub oom: bool,
    /// What it used.
    pub usage: Option<ExecUsage>,
    /// What it could reach.
    pub network: String,
    /// What was refused, or which limit was reached.
    pub detail: Option<String>,
    /// What caused it.
    pub correlation_id: Option<CorrelationId>,
}

/// Hears events. Must not block.
pub trait Listener: Send + Sync {
    /// Takes one.
    fn hear(&self, event: &Event);
}

/// Who listens.
#[derive(Clone, Default)]
pub struct Events {
    listeners: Arc<[Arc<dyn Listener>]>,
    failed: Arc<AtomicU64>,
}

impl std::fmt::Debug for Events {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Events").field("listeners", &self.listeners.len()).finish_non_exhaustive()
    }
}

impl Events {
    /// These listen.
    pub fn to(listeners: impl IntoIterator<Item = Arc<dyn Listener>>) -> Self {
        Self { listeners: listeners.into_iter().collect(), failed: Arc::default() }
    }

    /// Tells all.
    pub fn tell(&self, event: &Event) {
        for listener in self.listeners.iter() {
            let heard = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| listener.hear(event)));
            if heard.is_err() {
                self.failed.fetch_add(1, Ordering::Relaxed);
            }
        }
    }

    /// How often a listener failed.
    pub fn failures(&self) -> u64 {
        self.failed.load(Ordering::Relaxed)
    }
}
