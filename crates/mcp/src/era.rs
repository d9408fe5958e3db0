//! Which of the two eras of the protocol a request belongs to, and what its client said it can do.

use rmcp::RoleServer;
use rmcp::model::{ClientCapabilities, ProtocolVersion};
use rmcp::service::RequestContext;

/// The era of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Era {
    /// A client opened a session; questions are requests to it.
    Sessions,
    /// Each request stands by itself; a question is a result.
    Stateless,
}

impl Era {
    pub(crate) fn of(context: &RequestContext<RoleServer>) -> Self {
        let is_stateless =
            context.protocol_version().is_some_and(|version| version >= ProtocolVersion::V_2026_07_28);
        if is_stateless { Self::Stateless } else { Self::Sessions }
    }

    /// Whether a method is there.
    pub(crate) fn has(self, method: &str) -> bool {
        match self {
            Self::Sessions => {
                ["initialize", "ping", "logging/setLevel", "tools/call", "tools/list"].contains(&method)
            }
            Self::Stateless => {
                ["server/discover", "subscriptions/listen", "tools/call", "tools/list"].contains(&method)
            }
        }
    }
}

/// Whether a person behind a client can be shown a form.
pub(crate) fn shows_forms(capabilities: Option<&ClientCapabilities>) -> bool {
    capabilities.and_then(|said| said.elicitation.as_ref()).is_some_and(|said| {
        // A client that names neither kind speaks of the one kind that there was at first.
        said.form.is_some() || said.url.is_none()
    })
}
