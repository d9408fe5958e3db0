//! `bailiwick tool call`: a published tool, as any caller calls it. A person at the terminal answers for themselves.

use std::path::Path;
use std::sync::Arc;

use bailiwick_config::files;
use bailiwick_core::{Action, Deaf, Listener, Reply};
use bailiwick_types::CorrelationId;
use serde_json::{Map, Value};

use crate::commands::run::arguments::{self, Reading};
use crate::desk::{At, Console, Person, ask, at_desk, caller};
use crate::failure::Failure;
use crate::render::{Screen, report};
use crate::resolved::Session;
use crate::typed::tool::Call;

/// `bailiwick tool call NAME`
pub(crate) fn call(screen: &mut Screen, session: &Session, what: &Call) -> Result<u8, Failure> {
    let correlation = what.correlation.as_deref().map(CorrelationId::parse).transpose()?;
    let report = at_desk(session, &what.cells, async |desk| {
        let arguments = arguments_of(desk, what).await?;
        let listener: Arc<dyn Listener> = if screen.wants_json() {
            Arc::new(Deaf)
        } else {
            Arc::new(Console::beside(Person::of(what.yes)))
        };
        let action = Action::ToolCall {
            tool: what.name.clone(),
            arguments,
            correlation,
            workspace: what.workspace.clone(),
        };
        match desk.perform(caller(Person::of(what.yes), listener), action).await? {
            Reply::Called(report) => Ok(report),
            _ => Err(Failure::StrangeReply("a call")),
        }
    })?;
    Ok(report::tell(screen, &what.name, &report, session.verbose))
}

/// The arguments as they were typed. Only where it makes a difference is the tool asked whether a parameter is text.
async fn arguments_of(desk: &At, what: &Call) -> Result<Map<String, Value>, Failure> {
    let all = match what.args.as_deref() {
        Some("-") => Some(files::read_document(Path::new("-"))?),
        typed => typed.map(str::to_owned),
    };
    let is_guessed = |typed: &String| {
        let value = typed.split_once('=').map(|(_, text)| text);
        value.is_some_and(|text| serde_json::from_str::<Value>(text).is_ok())
    };
    let texts = if what.arg.iter().any(is_guessed) { texts_of(desk, &what.name).await? } else { Vec::new() };
    let reading = |name: &str| {
        if texts.iter().any(|text| text == name) { Reading::Text } else { Reading::Guess }
    };
    arguments::read(&what.arg, all.as_deref(), reading)
}

/// The parameters of a tool that are text.
async fn texts_of(desk: &At, tool: &str) -> Result<Vec<String>, Failure> {
    let Reply::Tool(view) = ask(desk, Action::ToolShow { tool: tool.to_owned() }).await? else {
        return Err(Failure::StrangeReply("a tool"));
    };
    let properties = view.definition.pointer("/inputSchema/properties").and_then(Value::as_object);
    let texts = properties
        .into_iter()
        .flatten()
        .filter(|(_, schema)| schema.get("type").and_then(Value::as_str) == Some("string"));
    Ok(texts.map(|(name, _)| name.clone()).collect())
}
