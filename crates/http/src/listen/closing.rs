//! The moment at which the server begins to end, and everybody who has to know.

use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};

/// Tells that the server begins to end. Every copy tells of the same end, and it never comes back.
#[derive(Debug, Clone, Default)]
pub struct Closing(CancellationToken);

impl Closing {
    /// One that has not begun.
    pub fn new() -> Self {
        Self::default()
    }

    /// Begins the end.
    pub fn begin(&self) {
        self.0.cancel();
    }

    /// Whether it has begun: from then on the server is not ready.
    pub fn has_begun(&self) -> bool {
        self.0.is_cancelled()
    }

    /// Waits until it begins.
    pub async fn begun(&self) {
        self.0.cancelled().await;
    }

    /// The same moment, for whoever knows no listener.
    pub(crate) fn token(&self) -> CancellationToken {
        self.0.clone()
    }

    /// Waits until it begins, on its own.
    pub(crate) fn begun_owned(&self) -> WaitForCancellationFutureOwned {
        self.0.clone().cancelled_owned()
    }
}
