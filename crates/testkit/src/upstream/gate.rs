//! An event that a test lets happen, for fakes that wait for it.

use std::sync::Arc;

use tokio::sync::watch;

/// Closed until the test opens it; its clones are the same gate.
#[derive(Debug, Clone)]
pub struct Gate {
    open: Arc<watch::Sender<bool>>,
}

impl Default for Gate {
    fn default() -> Self {
        Self::new()
    }
}

impl Gate {
    /// A closed gate.
    pub fn new() -> Self {
        Self { open: Arc::new(watch::Sender::new(false)) }
    }

    /// Lets everybody through, from now on.
    pub fn open(&self) {
        self.open.send_replace(true);
    }

    /// Waits until it is open.
    pub async fn passed(&self) {
        let mut seen = self.open.subscribe();
        // The sender lives as long as `self`, so this ends by the gate's opening only.
        let _ = seen.wait_for(|&open| open).await;
    }
}
