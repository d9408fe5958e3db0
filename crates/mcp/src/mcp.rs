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
const COMES_BACK: Duration = Duration::from_mins(1);

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
    /// What goes on beside requests, so that an end can wait for it.
    pub(crate) tasks: TaskTracker,
    /// Says that nothing goes on any more.
    pub(crate) over: CancellationToken,
    pub(crate) body_bytes: usize,
    pub(crate) closing: CancellationToken,
}

impl Mcp {
    /// A server of what is offered.
    pub fn new(offers: Arc<dyn Offers>, settings: Settings) -> Result<Self, Refusal> {
        let Settings { deadline, body_bytes, closing } = settings;
        // Of its own, so that closing this server closes nothing else.
        let closing = closing.child_token();
        let parked = Parked::new(deadline.saturating_add(COMES_BACK))?;
        Ok(Self(Arc::new(Shared {
            offers,
            parked,
            tasks: TaskTracker::new(),
            over: CancellationToken::new(),
            body_bytes,
            closing,
        })))
    }
    /// Ends every call, also of sessions whose connections are gone and those that wait for their client to come back;
    /// when it is done, nothing of this server holds what it offers.
    pub async fn close(&self) {
        let Shared { parked, tasks, over, closing, .. } = &*self.0;
        closing.cancel();
        over.cancel();
        parked.clear();
        tasks.close();
        tasks.wait().await;
    }
}
