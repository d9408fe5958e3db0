//! What happens, told to everybody who watches. A courtesy: whoever is too slow misses some, and what counts is elsewhere.

use std::sync::Arc;

use tokio::sync::broadcast;

use crate::{Core, Happening};

/// How many happenings wait for a slow watcher.
const WAITING: usize = 1024;

/// Where happenings are told.
pub(crate) struct Happenings(broadcast::Sender<Arc<Happening>>);

impl Default for Happenings {
    fn default() -> Self {
        Self(broadcast::channel(WAITING).0)
    }
}

impl Core {
    /// Tells whoever watches.
    pub(crate) fn tell(&self, happening: Happening) {
        // Nobody may watch.
        let _watchers = self.inner.happenings.0.send(Arc::new(happening));
    }

    /// What happens from now on.
    pub fn watch(&self) -> broadcast::Receiver<Arc<Happening>> {
        self.inner.happenings.0.subscribe()
    }
}
