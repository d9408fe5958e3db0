//! `bailiwick tool show`: one tool in full, or only what a model sees of it.

use bailiwick_core::{Action, Reply, ToolLine, ToolView};
use bailiwick_types::Risk;
use serde_json::{Value, json};

use super::NO_CELLS;
use super::list::look_of;
use crate::desk::{ask, at_desk};
use crate::failure::Failure;
use crate::render::{Screen, level, plain, strong};
use crate::resolved::Session;
use crate::typed::tool::Show;

/// `bailiwick tool show NAME`
pub(crate) fn show(screen: &mut Screen, session: &Session, what: &Show) -> Result<u8, Failure> {
    let view = at_desk(session, &NO_CELLS, async |desk| {
        match ask(desk, Action::ToolShow { tool: what.name.clone() }).await? {
            Reply::Tool(view) => Ok(view),
            _ => Err(Failure::StrangeReply("a tool")),
        }
    })?;
    if what.definition {
        screen.json(&view.definition);
    } else if screen.wants_json() {
        screen.json(&json!(view));
    } else {
        tell(screen, &view);
    }
    Ok(0)
}

fn tell(screen: &mut Screen, view: &ToolView) {
    let ToolView {
        line,
        because,
        document: _,
        hash,
        texts_hash,
        risk,
        policy: _,
        approval,
        pass,
        notes,
        definition,
    } = view;
    let ToolLine { id, name, title, state, level: _, version, updated_at } = line;
    screen.field("name", &[strong(name)]);
    screen.field("title", &[plain(title)]);
    screen.field("id", &[plain(&id.to_string())]);
    screen.field("state", &[look_of(state)(state)]);
    if let Some(because) = because {
        screen.field("", &[plain(because)]);
    }
    tell_risk(screen, risk.as_ref());
    let approval = if *approval { "every call waits for a person" } else { "not required" };
    screen.field("approval", &[plain(approval)]);
    screen.field("version", &[plain(&format!("{version}, saved {updated_at}"))]);
    screen.field("hash", &[plain(hash)]);
    screen.field("texts hash", &[plain(texts_hash)]);
    tell_pass(screen, pass.as_ref());
    for (key, said) in notes.iter().filter_map(Value::as_object).flatten() {
        if let Some(said) = said.as_str() {
            screen.field("said for it", &[plain(key), plain(": "), plain(said)]);
        }
    }
    for (index, line) in format!("{definition:#}").lines().enumerate() {
        screen.field(if index == 0 { "definition" } else { "" }, &[plain(line)]);
    }
}

/// The last pass in a line; all of it is in the JSON.
fn tell_pass(screen: &mut Screen, pass: Option<&Value>) {
    let Some(pass) = pass else {
        screen.field("pass", &[plain("none")]);
        return;
    };
    let text = |key: &str| pass.get(key).and_then(Value::as_str).unwrap_or("?");
    let runs = pass.get("results").and_then(Value::as_array).map_or(0, Vec::len);
    let told = format!("{runs} runs, {}, under {} by {}", text("time"), text("level"), text("engine"));
    screen.field("pass", &[plain(&told)]);
}

fn tell_risk(screen: &mut Screen, risk: Option<&Risk>) {
    let Some(Risk { level: inherent, credited, reasons }) = risk else {
        screen.field("risk", &[plain("unknown: its policy cannot be resolved")]);
        return;
    };
    let credited = credited.map_or_else(String::new, |credited| format!("  credited {credited}"));
    screen.field("risk", &[level(*inherent), plain(&credited)]);
    for reason in reasons {
        screen.field("", &[level(reason.level), plain(&format!(" {}: {}", reason.signal, reason.detail))]);
    }
}
