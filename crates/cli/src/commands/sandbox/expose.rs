//! `bailiwick sandbox expose`: a port of this machine that leads into a sandbox.

use bailiwick_core::{Action, Reply};
use serde_json::json;

use super::at;
use crate::desk::ask;
use crate::failure::Failure;
use crate::render::{Screen, plain};
use crate::resolved::Session;
use crate::typed::sandbox::Expose;

/// `bailiwick sandbox expose`
pub(super) fn expose(screen: &mut Screen, session: &Session, what: &Expose) -> Result<u8, Failure> {
    let action = Action::SandboxExpose { sandbox: what.sandbox.clone(), port: what.port };
    let (port, host_port) = at(session, async |desk| match ask(desk, action).await? {
        Reply::Exposed { port, host_port } => Ok((port, host_port)),
        _ => Err(Failure::StrangeReply("a port")),
    })?;
    if screen.wants_json() {
        screen
            .json(&json!({"port": port, "hostPort": host_port, "address": format!("127.0.0.1:{host_port}")}));
    } else {
        screen.line(&[plain(&format!("127.0.0.1:{host_port}"))]);
    }
    Ok(0)
}
