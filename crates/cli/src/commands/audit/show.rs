//! `bailiwick audit show`: records that belong together, in full.

use bailiwick_core::{Action, Refusal};
use bailiwick_types::ErrorCode;
use serde_json::{Value, json};

use super::{NO_CELLS, records};
use crate::commands::policy::as_yaml;
use crate::desk::at_desk;
use crate::failure::Failure;
use crate::render::{Screen, faint, plain, strong};
use crate::resolved::Session;
use crate::typed::audit::Show;

/// `bailiwick audit show ID`
pub(crate) fn show(screen: &mut Screen, session: &Session, what: &Show) -> Result<u8, Failure> {
    let about = what.correlation.as_ref().or(what.id.as_ref()).cloned().unwrap_or_default();
    let mut found = at_desk(session, &NO_CELLS, async |desk| {
        records(desk, Action::AuditShow { about: about.clone() }).await
    })?;
    if let Some(correlation) = &what.correlation {
        found.retain(|record| record.get("correlationId").and_then(Value::as_str) == Some(correlation));
    }
    if found.is_empty() {
        let message = format!("no record is about `{}`", about.escape_debug());
        let hint = "bailiwick audit tail lists the newest";
        return Err(Refusal::new(ErrorCode::NotFound, message).with_hint(hint).into());
    }
    if screen.wants_json() {
        screen.json(&json!({"records": found}));
        return Ok(0);
    }
    for (index, record) in found.iter().enumerate() {
        if index > 0 {
            screen.line(&[]);
        }
        tell(screen, record);
    }
    Ok(0)
}

/// One record: a field a line, and a line for each part of what is nested. What is not there is left out.
fn tell(screen: &mut Screen, record: &Value) {
    for (key, value) in record.as_object().into_iter().flatten() {
        match value {
            Value::Null => {}
            Value::String(text) if key == "action" => screen.field(key, &[strong(text)]),
            Value::String(text) if matches!(key.as_str(), "prev" | "hash") => {
                screen.field(key, &[faint(text)]);
            }
            Value::Object(parts) => {
                let told = parts.iter().filter(|(_, part)| !part.is_null());
                for (index, (part, value)) in told.enumerate() {
                    let label = if index == 0 { key } else { "" };
                    let value = value.as_str().map_or_else(|| as_yaml(value), str::to_owned);
                    screen.field(label, &[faint(part), faint(": "), plain(&value)]);
                }
            }
            Value::String(text) => screen.field(key, &[plain(text)]),
            other => screen.field(key, &[plain(&as_yaml(other))]),
        }
    }
}
