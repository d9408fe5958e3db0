//! A server, asked for actions.

use bailiwick_core::{Action, Caller, Refusal, Reply};
use bailiwick_types::ErrorCode;

use crate::place::Server;

/// A server that is asked for actions.
#[derive(Debug)]
pub struct Remote {
    server: Server,
}

impl Remote {
    /// Asks this server.
    pub const fn new(server: Server) -> Self {
        Self { server }
    }

    /// Performs an action. Dropping the future ends it.
    pub async fn perform(&self, caller: Caller, action: Action) -> Result<Reply, Refusal> {
        let _ = (caller, crate::connect::send);
        Err(Refusal::new(ErrorCode::Unsupported, format!("{} {}", self.server.shown(), action.name())))
    }
}
