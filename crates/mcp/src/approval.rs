//! A client's own dialogue as one of those who may answer a question. Anything but an explicit yes is a no.
//!
//! It counts only for callers to whom the operator gave that right ([`bailiwick_core::Dialogue`]), up to the level that
//! the operator set, and only where the person is shown all that they would say yes to: some clients answer by
//! themselves, and none shows a long text whole. Where it does not count the client is not asked, and the question waits
//! in the queue as it does for a client that cannot ask.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::pin::Pin;

use bailiwick_core::{Answer, Approver, Question};
use bailiwick_types::{RiskLevel, visible};
use rmcp::model::{
    BooleanSchema, ElicitRequest, ElicitRequestParams, ElicitResult, ElicitationAction, ElicitationSchema,
    InputRequest, InputRequests, InputResponses, PrimitiveSchemaDefinition,
};
use serde_json::Value;

use crate::Line;

/// The name of the one question.
const KEY: &str = "approval";
/// The name of the one field of its form.
const FIELD: &str = "approve";
/// The longest text that a dialogue is taken to show whole, in characters.
const MOST_SHOWN: usize = 4_000;

/// Whoever uses the client of a call.
pub(crate) struct AtClient {
    pub(crate) line: Line,
    /// The level up to which their answer counts; none where it does not count at all.
    pub(crate) up_to: Option<RiskLevel>,
}

impl Approver for AtClient {
    fn ask(&self, question: Question) -> Pin<Box<dyn Future<Output = Answer> + Send + '_>> {
        if !self.line.can_ask() || self.up_to.is_none_or(|up_to| question.risk.level > up_to) {
            return Box::pin(std::future::ready(Answer::Nobody));
        }
        let Some(form) = form(&question) else {
            return Box::pin(std::future::ready(Answer::Nobody));
        };
        Box::pin(async move {
            match self.line.ask(InputRequests::from([(KEY.to_owned(), form)])).await {
                Ok(said) => read(&said, format!("dialogue:{}", self.line.client())),
                Err(_) => Answer::Nobody,
            }
        })
    }
}

/// What was said.
fn read(said: &InputResponses, by: String) -> Answer {
    let result = said.get(KEY).cloned().and_then(|value| serde_json::from_value::<ElicitResult>(value).ok());
    match result {
        Some(ElicitResult {
            action: ElicitationAction::Accept,
            content: Some(Value::Object(content)),
            ..
        }) if content.get(FIELD) == Some(&Value::Bool(true)) => Answer::Yes { by },
        _ => Answer::No { by },
    }
}

/// The form; none where its text would be too long to be read.
fn form(question: &Question) -> Option<InputRequest> {
    let message = text(question);
    if message.chars().count() > MOST_SHOWN {
        return None;
    }
    let field = BooleanSchema::new()
        .title("Run it")
        .description("Yes runs it once, just like that. Everything else does not run it.");
    let mut schema = ElicitationSchema::new(BTreeMap::from([(
        FIELD.to_owned(),
        PrimitiveSchemaDefinition::Boolean(field),
    )]));
    schema.required = Some(vec![FIELD.to_owned()]);
    let params = ElicitRequestParams::FormElicitationParams { meta: None, message, requested_schema: schema };
    Some(InputRequest::Elicitation(ElicitRequest::new(params)))
}

/// What the person reads: everything that a stranger had a hand in is made harmless.
fn text(question: &Question) -> String {
    let Question {
        tool,
        hash,
        policy_hash: _,
        call_id: _,
        prompt,
        risk,
        code,
        arguments,
        workspace,
        actor,
        correlation_id: _,
        effect,
        deadline_ms,
    } = question;
    let mut text = format!("Run {}? It is {}", visible(tool), risk.level);
    for (at, reason) in risk.reasons.iter().enumerate() {
        let (signal, detail) = (visible(&reason.signal), visible(&reason.detail));
        let _ = write!(text, "{} {signal} ({detail})", if at == 0 { ":" } else { "," });
    }
    text.push_str(".\n");
    if let Some(effect) = effect {
        let _ = writeln!(text, "It runs and wants to: {}", visible(&effect.effect));
    }
    if let Some(prompt) = prompt {
        let _ = writeln!(text, "Its author says: {}", visible(prompt));
    }
    if let Some(code) = code {
        // Marked, so that no line of it passes for one of ours.
        let lines: Vec<String> = code.lines().map(|line| format!("| {}", visible(line))).collect();
        let _ = writeln!(text, "Code:\n{}", lines.join("\n"));
    }
    let _ = writeln!(text, "Arguments: {}", visible(&arguments.to_string()));
    if let Some(workspace) = workspace {
        let _ = writeln!(text, "Workspace, named by the call: {}", visible(workspace));
    }
    let asks = actor.key.as_deref().unwrap_or("somebody without a key");
    let _ = writeln!(text, "Asked for by {}, with {}.", visible(asks), visible(&actor.client));
    if let Some(hash) = hash {
        let _ = writeln!(text, "Hash of what would run: {hash}");
    }
    let _ = write!(text, "No answer within {} seconds is a no.", deadline_ms / 1000);
    text
}

#[cfg(test)]
mod tests;
