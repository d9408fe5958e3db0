//! What all connections of one server share.

use std::sync::Arc;
use std::time::Duration;

use bailiwick_core::Refusal;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::Offers;
use crate::parked::Parked;

/// How a server speaks.
#[derive(Debug, Clone)]
pub struct Settings {
    /// How long a person may take to answer.
    pub deadline: Duration,
    /// The largest message, in bytes.
    pub body_bytes: usize,
    /// Says that the server is about to end: whoever only watches is let go.
    pub closing: CancellationToken,
}

/// How much longer than a person a client may take to come back with the answer.
const COMES_BACK: Duration = Duration::from_secs(60);

/// A server. Cheap to clone.
#[derive(Clone)]
pub struct Mcp(pub(crate) Arc<Shared>);

impl std::fmt::Debug for Mcp {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Mcp").field("body_bytes", &self.0.body_bytes).finish_non_exhaustive()
    }
}

pub(crate) struct Shared {
    pub(crate) offers: Arc<dyn Offers>,
    pub(crate) parked: Parked,
    /// The calls that go on, so that an end can wait for theirs.
    pub(crate) calls: TaskTracker,
    pub(crate) body_bytes: usize,
    pub(crate) closing: CancellationToken,
}

impl Mcp {
    /// A server of what is offered.
    pub fn new(offers: Arc<dyn Offers>, settings: Settings) -> Result<Self, Refusal> {
        let Settings { deadline, body_bytes, closing } = settings;
        let parked = Parked::new(deadline.saturating_add(COMES_BACK))?;
        Ok(Self(Arc::new(Shared { offers, parked, calls: TaskTracker::new(), body_bytes, closing })))
    }
    /// Ends what waits for its client to come back, and waits until no call goes on any more. For when nobody is served
    /// any more: whoever is, is not ended by it.
    pub async fn close(&self) {
        self.0.parked.clear();
        self.0.calls.close();
        self.0.calls.wait().await;
    }
}
