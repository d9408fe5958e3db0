//! The way from a running call back to its client. A call does not know what kind of connection there is, or whether the
//! one that it began on is still the one: it says what it has to say here.

use bailiwick_types::LogLevel;
use rmcp::model::{InputRequests, InputResponses};
use tokio::sync::{mpsc, oneshot};

/// What a call says.
#[derive(Debug)]
pub(crate) enum Said {
    Log { level: LogLevel, text: String },
    Progress { done: f64, of: Option<f64>, message: Option<String> },
    Asks(Asked),
}

/// A question of a call to whoever uses the client.
#[derive(Debug)]
pub(crate) struct Asked {
    pub(crate) requests: InputRequests,
    pub(crate) answer: oneshot::Sender<Result<InputResponses, CannotAsk>>,
}

/// The client cannot be asked, or its answer never came.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the client cannot be asked")]
pub struct CannotAsk;

/// The way back.
#[derive(Debug, Clone)]
pub struct Line {
    said: mpsc::UnboundedSender<Said>,
    can_ask: bool,
    client: String,
}

impl Line {
    pub(crate) fn new(can_ask: bool, client: String) -> (Self, mpsc::UnboundedReceiver<Said>) {
        let (said, hears) = mpsc::unbounded_channel();
        (Self { said, can_ask, client }, hears)
    }

    /// What the client calls itself, as a person may be shown it. It proves nothing.
    pub fn client(&self) -> &str {
        &self.client
    }

    /// Whether the client says that it can show a form to a person.
    pub const fn can_ask(&self) -> bool {
        self.can_ask
    }

    /// A line of the console.
    pub fn log(&self, level: LogLevel, text: String) {
        // Nobody listens any more when the call is being ended.
        let _ = self.said.send(Said::Log { level, text });
    }

    /// How far it is. Each must be more than the one before.
    pub fn progress(&self, done: f64, of: Option<f64>, message: Option<String>) {
        let _ = self.said.send(Said::Progress { done, of, message });
    }

    /// Asks whoever uses the client, and waits for what they say. Dropping the future takes the question back.
    pub async fn ask(&self, requests: InputRequests) -> Result<InputResponses, CannotAsk> {
        if !self.can_ask {
            return Err(CannotAsk);
        }
        let (answer, answered) = oneshot::channel();
        self.said.send(Said::Asks(Asked { requests, answer })).map_err(|_| CannotAsk)?;
        answered.await.map_err(|_| CannotAsk)?
    }
}
