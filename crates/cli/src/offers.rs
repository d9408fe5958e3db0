//! What agents are offered over MCP: the published tools of a data folder, and those of our own that the settings switch
//! on.

use std::sync::Arc;
use std::time::Duration;

use bailiwick_config::Settings;
use bailiwick_core::sandboxes::AgentOffer;
use bailiwick_core::{Desk, Refusal};
use bailiwick_mcp::{Bare, Mcp, Native, Published};
use bailiwick_policy::{hints, resolve, risk};
use bailiwick_types::ErrorCode;
use tokio_util::sync::CancellationToken;

/// A server of what this desk has, as the settings say.
pub(crate) fn mcp(settings: &Settings, desk: &Arc<Desk>, closing: CancellationToken) -> Result<Mcp, Refusal> {
    let natives = settings.mcp.tools.iter().filter_map(|name| Native::named(name));
    let natives = natives.map(|native| (native, settings.mcp.ask.iter().any(|name| name == native.name())));
    let policy = resolve(&settings.baseline, None, None)
        .map_err(|conflicts| Refusal::new(ErrorCode::Conflict, conflicts.to_string()))?;
    let bare = Bare {
        level: risk(&policy, &settings.baseline).level,
        hints: hints(&policy),
        sandboxes: AgentOffer::of(settings)?,
    };
    let published = Published::new(desk, natives, bare, settings.approvals.elicitation);
    let speaks = bailiwick_mcp::Settings {
        deadline: Duration::from_millis(settings.approvals.deadline_ms),
        body_bytes: usize::try_from(settings.server.body_bytes).unwrap_or(usize::MAX),
        closing,
    };
    Mcp::new(Arc::new(published), speaks)
}
