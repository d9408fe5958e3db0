//! What an action is on the way to a server: a request.

use bailiwick_types::CorrelationId;
use hyper::Method;

/// A request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ask {
    pub(crate) method: Method,
    pub(crate) path: String,
    pub(crate) accept: Accept,
    pub(crate) content: Option<&'static str>,
    pub(crate) body: Vec<u8>,
    pub(crate) correlation: Option<CorrelationId>,
}

/// What comes back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Accept {
    /// One value.
    Json,
    /// Events, the last of them the result.
    Events,
    /// Lines.
    Lines,
}

impl Accept {
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Json => "application/json",
            Self::Events => "text/event-stream",
            Self::Lines => "application/x-ndjson",
        }
    }
}
