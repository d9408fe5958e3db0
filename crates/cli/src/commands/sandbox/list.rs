//! `bailiwick sandbox ls` and `show`.

use bailiwick_core::sandboxes::{SandboxLine, SandboxView};
use bailiwick_core::{Action, Reply};
use bailiwick_types::{WallStatus, Wallpart, format_size};
use serde_json::{Value, json};

use super::{at, one};
use crate::desk::ask;
use crate::failure::Failure;
use crate::render::table::{Cell, Table};
use crate::render::{Screen, bad, faint, good, plain, strong, warning};
use crate::resolved::Session;

/// `bailiwick sandbox ls`
pub(super) fn list(screen: &mut Screen, session: &Session) -> Result<u8, Failure> {
    let lines = at(session, async |desk| match ask(desk, Action::SandboxList).await? {
        Reply::Sandboxes(lines) => Ok(lines),
        _ => Err(Failure::StrangeReply("sandboxes")),
    })?;
    if screen.wants_json() {
        screen.json(&json!({"sandboxes": lines}));
        return Ok(0);
    }
    if lines.is_empty() {
        screen.line(&[plain("there are no sandboxes")]);
        return Ok(0);
    }
    let mut table = Table::new(&["ID", "NAME", "STATE", "BACKEND", "NETWORK", "CREATED", "ENDS"]);
    for SandboxLine { id, name, state, backend, network, created_at, ends_at, .. } in &lines {
        let look = match state.as_str() {
            "gone" => bad,
            "asleep" => faint,
            _ => good,
        };
        table.row(vec![
            Cell::new(id.to_string(), strong),
            Cell::new(name.as_deref().unwrap_or("-"), plain),
            Cell::new(state, look),
            Cell::new(backend, plain),
            Cell::new(network, plain),
            Cell::new(created_at, plain),
            Cell::new(ends_at, faint),
        ]);
    }
    table.show(screen);
    Ok(0)
}

/// `bailiwick sandbox show`
pub(super) fn show(screen: &mut Screen, session: &Session, sandbox: &str) -> Result<u8, Failure> {
    let view =
        at(session, async |desk| one(ask(desk, Action::SandboxShow { sandbox: sandbox.to_owned() }).await?))?;
    if screen.wants_json() {
        screen.json(&json!(view));
        return Ok(0);
    }
    let SandboxView { line, spec, receipt, warnings, usage, correlation_id: _ } = &view;
    screen.field("id", &[strong(&line.id.to_string())]);
    if let Some(name) = &line.name {
        screen.field("name", &[plain(name)]);
    }
    screen.field("state", &[plain(&line.state)]);
    screen.field("backend", &[plain(&line.backend), faint(" "), faint(line.tier.name())]);
    screen.field("made", &[plain(&line.created_at), faint(" by "), faint(&line.by)]);
    screen.field("ends", &[plain(&line.ends_at), faint(" if nobody uses it")]);
    for (label, field) in [("network", "network"), ("begins in", "workdir")] {
        screen.field(label, &[plain(spec.get(field).and_then(Value::as_str).unwrap_or_default())]);
    }
    for mount in spec.get("mounts").and_then(Value::as_array).into_iter().flatten() {
        screen.field("mount", &[plain(mount.as_str().unwrap_or_default())]);
    }
    if let Some(usage) = usage {
        let used = format!(
            "{:.0} ms of CPU, {} at most, {} processes",
            usage.cpu_ms,
            format_size(usage.memory_peak),
            usage.processes
        );
        screen.field("used", &[plain(&used)]);
    }
    screen.line(&[]);
    for Wallpart { demand, mechanism, status } in &receipt.walls {
        let look = match status {
            WallStatus::Enforced => good("stands   "),
            WallStatus::Partial => warning("in part  "),
            WallStatus::Absent => bad("absent   "),
        };
        screen.line(&[plain("  "), look, plain(&format!("{demand:<18}")), faint(mechanism)]);
    }
    for text in warnings {
        screen.line(&[warning("  warning: "), plain(text)]);
    }
    Ok(0)
}
