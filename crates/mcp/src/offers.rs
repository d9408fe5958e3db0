//! What a server offers: the seam between the protocol and what is behind it.

use std::pin::Pin;
use std::sync::Arc;

use bailiwick_core::{Admitted, Refusal};
use rmcp::model::{CallToolResult, ClientCapabilities, InputResponses, JsonObject, Tool};
use tokio::sync::Notify;

use crate::{Era, Line};

/// What takes time.
pub type Future<'a, T> = Pin<Box<dyn std::future::Future<Output = T> + Send + 'a>>;

/// Tools in a list.
#[derive(Debug, Clone, Default)]
pub struct Page {
    /// The tools, by name.
    pub tools: Vec<Tool>,
    /// The name after which the next page begins; none where this is the last.
    pub next: Option<String>,
}

/// One call of a tool.
#[derive(Debug)]
pub struct Call {
    /// Who calls.
    pub who: Admitted,
    /// Whether the client itself said what caused it; else what it is tied to was made for this request.
    pub is_tied: bool,
    /// The tool.
    pub name: String,
    /// Its arguments.
    pub arguments: JsonObject,
    /// In which era it is asked for.
    pub era: Era,
    /// What the client sent along though it had been asked nothing. It answers no question of ours: whoever must know
    /// that a person was asked has to ask.
    pub unasked: InputResponses,
    /// The way back to the client while it runs.
    pub line: Line,
}

/// Why a call has no result.
#[derive(Debug)]
pub enum Failed {
    /// There is no such tool; what to say of it.
    Unknown(String),
    /// It cannot be done for a client that does not say it can do this.
    Lacks(Box<ClientCapabilities>),
    /// It was refused; a model is told why and what to do.
    Refused(Refusal),
}

impl From<Refusal> for Failed {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

/// What a server offers.
pub trait Offers: Send + Sync + 'static {
    /// The tools after a name, in the order of their names.
    fn tools<'a>(
        &'a self,
        who: &'a Admitted,
        after: Option<String>,
        era: Era,
    ) -> Future<'a, Result<Page, Refusal>>;

    /// Calls a tool, to its end. Dropping the future ends it.
    fn call(&self, call: Call) -> Future<'_, Result<CallToolResult, Failed>>;

    /// Tells whenever the list may have changed, until whoever watches may not any more, or what is behind it closes.
    fn changes(&self, who: Admitted, changed: Arc<Notify>) -> Future<'_, Result<(), Refusal>>;

    /// A tool whose parameters stand in headers, too, so that both can be held against each other.
    fn with_headers(&self, _name: &str) -> Option<Tool> {
        None
    }
}
