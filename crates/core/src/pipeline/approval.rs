//! Asking a person before a call. Anything but an explicit yes is a no, and every answer is on the record.

use bailiwick_audit::Entry;
use bailiwick_types::{ErrorCode, Failure};
use serde_json::{Map, Value};

use super::{Names, Ready};
use crate::approvals::{self, Bound, Ended, Subject};
use crate::{Core, EffectAsked, Question, Refusal};

/// What a call was given.
pub(super) struct Given<'a> {
    /// Its arguments, checked, with defaults filled in.
    pub(super) arguments: &'a Map<String, Value>,
    /// The same as people may see them.
    pub(super) shown: &'a Value,
    /// The workspace that it names.
    pub(super) workspace: Option<&'a str>,
}

/// What came of it.
pub(crate) enum Asked {
    /// Nobody has to be asked.
    NotNeeded,
    /// A person said yes; this is how the record tells it.
    Yes(Value),
    /// Anything else; why the call does not run.
    No(Value, Box<Failure>),
}

/// Asks, if the tool or its level needs it and no answer is remembered.
pub(super) async fn ask(
    core: &Core,
    names: &Names<'_>,
    ready: &Ready,
    given: &Given<'_>,
    entry: &Entry,
) -> Result<Asked, Refusal> {
    if !ready.standing.needs_approval {
        return Ok(Asked::NotNeeded);
    }
    let workspace = match given.workspace {
        Some(name) => Some(super::workspace::named(core, names.caller, name)?.as_str().to_owned()),
        None => None,
    };
    let bound = Bound {
        tool: ready.id,
        covered: ready.parsed.covered.to_string(),
        texts: ready.parsed.texts.to_string(),
        policy: ready.standing.hash.to_string(),
        arguments: Bound::hash_of(given.arguments),
        workspace,
    };
    if let Some(decision) = approvals::recall(core, names.caller, &bound, entry).await? {
        return Ok(Asked::Yes(decision));
    }
    let subject = Subject { caller: names.caller, tool: Some(ready.id), bound: Some(bound) };
    let workspace = given.workspace.map(str::to_owned);
    let question = Question { workspace, ..question(core, names, ready, given.shown, None) };
    put(core, &subject, question, entry).await
}

/// Puts a question about something that is to run.
pub(crate) async fn put(
    core: &Core,
    subject: &Subject<'_>,
    question: Question,
    entry: &Entry,
) -> Result<Asked, Refusal> {
    let mut heard = approvals::put(core, subject, question.clone()).await?;
    approvals::record(core, subject, &question, &mut heard, entry.clone()).await?;
    let (kind, why, hint) = match heard.ended {
        Ended::Yes { .. } => return Ok(Asked::Yes(heard.decision)),
        Ended::No { .. } => {
            (ErrorCode::ApprovalDeclined, "a person said no", "do not try again: the answer was no")
        }
        Ended::Nobody | Ended::Withdrawn => (
            ErrorCode::ApprovalUnavailable,
            "a person has to say yes, and there is nobody to ask",
            if core.stays() {
                "do not try again by yourself: first somebody has to be there who may approve"
            } else {
                "call it where a person can be asked: at a terminal, or with --yes"
            },
        ),
        Ended::Ending => (
            ErrorCode::ApprovalUnavailable,
            "a person has to say yes, and the server is ending",
            "do not try again by yourself: a person has to see to it",
        ),
        Ended::Nothing => (
            ErrorCode::ApprovalTimeout,
            "nobody answered in time",
            "do not try again by yourself: a person has to answer sooner, or raise `approvals.deadline`",
        ),
    };
    let failure = Failure {
        code: kind,
        message: format!("`{}` did not run: {why}", question.tool),
        hint: Some(hint.to_owned()),
        location: None,
        stack: None,
        denied: None,
    };
    Ok(Asked::No(heard.decision, Box::new(failure)))
}

/// The question as a person sees it.
pub(super) fn question(
    core: &Core,
    names: &Names<'_>,
    ready: &Ready,
    shown: &Value,
    effect: Option<EffectAsked>,
) -> Question {
    let tool = &ready.parsed.tool;
    let standing = &ready.standing;
    Question {
        tool: tool.name().as_str().to_owned(),
        hash: Some(ready.parsed.covered.to_string()),
        policy_hash: standing.hash.to_string(),
        call_id: names.call_id,
        prompt: tool.approval().prompt.as_deref().map(|template| {
            filled(template, tool.name().as_str(), &brief(&shown.to_string()), standing.level().name())
        }),
        risk: standing.risk.clone(),
        code: None,
        arguments: shown.clone(),
        workspace: None,
        actor: names.caller.actor.clone(),
        correlation_id: names.correlation.clone(),
        effect,
        deadline_ms: core.inner.world.settings.approvals.deadline_ms,
    }
}

/// The most characters of arguments within a prompt; the question has them in full beside it.
const MOST_IN_PROMPT: usize = 2_000;

/// Arguments as a prompt has room for them. What is left out is told.
fn brief(arguments: &str) -> String {
    match arguments.char_indices().nth(MOST_IN_PROMPT) {
        None => arguments.to_owned(),
        Some((at, _)) => {
            let (shown, rest) = arguments.split_at(at);
            format!("{shown}… ({} bytes more)", rest.len())
        }
    }
}

/// A prompt with its places filled in, each once: what stands in an argument is never taken for a place.
fn filled(template: &str, tool: &str, arguments: &str, risk: &str) -> String {
    let mut text = String::with_capacity(template.len());
    let mut rest = template;
    while let Some(at) = rest.find('{') {
        let (before, from) = rest.split_at(at);
        text.push_str(before);
        let place = [("{tool}", tool), ("{args}", arguments), ("{risk}", risk)]
            .into_iter()
            .find(|(slot, _)| from.starts_with(slot));
        let (slot, value) = place.unwrap_or(("{", "{"));
        text.push_str(value);
        rest = from.get(slot.len()..).unwrap_or_default();
    }
    text.push_str(rest);
    text
}
