//! Asking a person before a call. Anything but an explicit yes is a no, and every answer is on the record.

use std::time::{Duration, Instant};

use bailiwick_audit::{Entry, Kind};
use bailiwick_store::Durability;
use bailiwick_types::{ErrorCode, Failure};
use serde_json::{Value, json};

use super::{Names, Ready};
use crate::{Answer, Core, EffectAsked, Question, Refusal};

/// What came of it.
pub(super) enum Asked {
    /// Nobody has to be asked.
    NotNeeded,
    /// A person said yes; this is how the record tells it.
    Yes(Value),
    /// Anything else; why the call does not run.
    No(Value, Box<Failure>),
}

/// Asks, if the tool or its level needs it.
pub(super) async fn ask(
    core: &Core,
    names: &Names<'_>,
    ready: &Ready,
    shown: &Value,
    entry: &Entry,
) -> Result<Asked, Refusal> {
    if !ready.standing.needs_approval {
        return Ok(Asked::NotNeeded);
    }
    let (answer, decision) = put(names, question(core, names, ready, shown, None)).await;
    let record = Entry { kind: Kind::Decision, approval: Some(decision.clone()), ..entry.clone() };
    core.append(record, Durability::Machine).await?;
    let (kind, why, hint) = match answer {
        Some(Answer::Yes { .. }) => return Ok(Asked::Yes(decision)),
        Some(Answer::No { .. }) => {
            (ErrorCode::ApprovalDeclined, "a person said no", "do not try again: the answer was no")
        }
        Some(Answer::Nobody) => (
            ErrorCode::ApprovalUnavailable,
            "a person has to say yes, and there is nobody to ask",
            "call it where a person can be asked: at a terminal, or with --yes",
        ),
        None => (
            ErrorCode::ApprovalTimeout,
            "nobody answered in time",
            "answer sooner, or raise `approvals.deadline`",
        ),
    };
    let failure = Failure {
        code: kind,
        message: format!("`{}` did not run: {why}", ready.parsed.tool.name().as_str()),
        hint: Some(hint.to_owned()),
        location: None,
        stack: None,
        denied: None,
    };
    Ok(Asked::No(decision, Box::new(failure)))
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
        arguments: shown.clone(),
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

/// Puts a question to whoever answers for the caller; no answer within its deadline is none.
pub(super) async fn put(names: &Names<'_>, question: Question) -> (Option<Answer>, Value) {
    let deadline = Duration::from_millis(question.deadline_ms);
    let asked = json!({
        "tool": question.tool, "hash": question.hash, "risk": question.risk.level, "prompt": question.prompt,
        "effect": question.effect,
    });
    let begun = Instant::now();
    let answer = tokio::time::timeout(deadline, names.caller.approver.ask(question)).await.ok();
    let waited = begun.elapsed().as_millis();
    let (word, by) = match &answer {
        Some(Answer::Yes { by }) => ("yes", Some(by.as_str())),
        Some(Answer::No { by }) => ("no", Some(by.as_str())),
        Some(Answer::Nobody) => ("nobody", None),
        None => ("nothing", None),
    };
    let decision = json!({
        "answer": word, "by": by, "waitedMs": u64::try_from(waited).unwrap_or(u64::MAX), "asked": asked,
    });
    (answer, decision)
}
