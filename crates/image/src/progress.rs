//! How far something is, for whoever waits.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// What is being done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Phase {
    /// Asking a registry what there is.
    Asking,
    /// Bytes come from a registry.
    Fetching,
    /// Bytes come from a file or a folder.
    Reading,
    /// Layers are unpacked.
    Unpacking,
}

/// How far it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Progress {
    /// What is being done.
    pub phase: Phase,
    /// Bytes so far.
    pub done: u64,
    /// Bytes in all, where that is known.
    pub total: Option<u64>,
}

/// Who is told. It is called often, and must not take long.
#[derive(Clone)]
pub struct Watcher(Arc<dyn Fn(Progress) + Send + Sync>);

impl Watcher {
    /// Tells this function.
    pub fn new(told: impl Fn(Progress) + Send + Sync + 'static) -> Self {
        Self(Arc::new(told))
    }

    /// Tells nobody.
    pub fn nobody() -> Self {
        Self::new(|_| ())
    }

    pub(crate) fn tell(&self, phase: Phase, done: u64, total: Option<u64>) {
        (self.0)(Progress { phase, done, total });
    }
}

impl std::fmt::Debug for Watcher {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Watcher")
    }
}

/// Steps of one phase that add up.
#[derive(Debug)]
pub(crate) struct Steps {
    watcher: Watcher,
    phase: Phase,
    total: Option<u64>,
    done: u64,
    told: u64,
}

/// So many bytes pass before somebody is told again.
const STRIDE: u64 = 256 * 1024;

impl Steps {
    pub(crate) fn new(watcher: &Watcher, phase: Phase, total: Option<u64>) -> Self {
        watcher.tell(phase, 0, total);
        Self { watcher: watcher.clone(), phase, total, done: 0, told: 0 }
    }

    pub(crate) fn add(&mut self, bytes: u64) {
        self.done = self.done.saturating_add(bytes);
        if self.done.saturating_sub(self.told) >= STRIDE || Some(self.done) == self.total {
            self.told = self.done;
            self.watcher.tell(self.phase, self.done, self.total);
        }
    }
}
