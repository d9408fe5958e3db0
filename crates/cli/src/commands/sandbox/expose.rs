//! `bailiwick sandbox expose`: a port of the machine that a sandbox runs on, which leads into it; and those that do.

use bailiwick_core::sandboxes::ExposedPort;
use bailiwick_core::{Action, Reply};
use serde_json::{Value, json};

use super::at;
use crate::desk::{At, ask};
use crate::failure::Failure;
use crate::render::table::{Cell, Table};
use crate::render::{Screen, plain, strong, to_stderr};
use crate::resolved::Session;
use crate::typed::sandbox::Expose;

/// `bailiwick sandbox expose`
pub(super) fn expose(screen: &mut Screen, session: &Session, what: &Expose) -> Result<u8, Failure> {
    let sandbox = what.sandbox.clone();
    let Some(port) = what.port else { return list(screen, session, sandbox) };
    let (exposed, is_far) = at(session, async |desk| {
        let is_far = matches!(desk, At::Remote(_));
        match ask(desk, Action::SandboxExpose { sandbox, port }).await? {
            Reply::Exposed { port, host_port } => Ok((ExposedPort { port, host_port }, is_far)),
            _ => Err(Failure::StrangeReply("a port")),
        }
    })?;
    if screen.wants_json() {
        screen.json(&told(exposed));
    } else {
        screen.line(&[plain(&address(exposed))]);
    }
    if is_far && !screen.is_quiet() {
        to_stderr(&[strong("note: "), plain("it is a port of the server's own machine")]);
    }
    Ok(0)
}

/// Without a port: those that are exposed.
fn list(screen: &mut Screen, session: &Session, sandbox: String) -> Result<u8, Failure> {
    let ports = at(session, async |desk| match ask(desk, Action::SandboxPorts { sandbox }).await? {
        Reply::Ports(ports) => Ok(ports),
        _ => Err(Failure::StrangeReply("ports")),
    })?;
    if screen.wants_json() {
        screen.json(&json!({"ports": ports.into_iter().map(told).collect::<Vec<_>>()}));
    } else if ports.is_empty() {
        screen.line(&[plain("no port is exposed")]);
    } else {
        let mut table = Table::new(&["PORT", "AT"]);
        for port in ports {
            table.row(vec![Cell::new(port.port.to_string(), strong), Cell::new(address(port), plain)]);
        }
        table.show(screen);
    }
    Ok(0)
}

fn address(ExposedPort { host_port, .. }: ExposedPort) -> String {
    format!("127.0.0.1:{host_port}")
}

fn told(exposed: ExposedPort) -> Value {
    let ExposedPort { port, host_port } = exposed;
    json!({"port": port, "hostPort": host_port, "address": address(exposed)})
}
