//! The catalogue: tools as they are kept, and what people do with them.
//!
//! Every change is one transaction with its record. A tool is only ever offered in the form that passed.

mod import;
mod offered;
mod pages;
mod publish;
mod replace;
mod view;

use bailiwick_document::{Problem, Problems};
use bailiwick_runtime::{Call, Finding, Runtime, Severity, Validate};
use bailiwick_scan::Severity as TextSeverity;
use bailiwick_tool::{Read, Syntax, Tool};
use bailiwick_types::{ErrorCode, Failure};
use serde_json::Value;

pub(crate) use import::{import, same_covered, take_in};
pub(crate) use offered::offered;
pub(crate) use pages::Pages;
pub(crate) use publish::{
    OPERATE_FROM, REVIEW_FROM, is_justified, publish, publish_document, remove, unpublish,
};
pub(crate) use replace::{There, replace};
pub(crate) use view::{export, is_offered, line_of, list, show, standing_of};

use crate::parsed::{Parsed, Standing};
use crate::pipeline::{bare_call, call_of};
use crate::{Checked, CodeFinding, Core, Document, Fault, Found, PolicyView, Refusal, Reply};

/// Reads a document that somebody handed in.
pub(crate) fn read_document(document: &Document) -> Result<(Tool, Vec<Fault>), Refusal> {
    let Some(syntax) = Syntax::of_path(std::path::Path::new(&document.name)) else {
        let message = format!("`{}` is no tool document by its name", document.name);
        return Err(Refusal::validation(message)
            .with_hint("name it like stars.tool.yaml, stars.tool.json, stars.js or stars.ts"));
    };
    let Read { tool, warnings } =
        Tool::read(&document.name, &document.text, syntax).map_err(|problems| refused(&problems))?;
    let warnings = warnings.iter().map(|warning| fault(&document.name, warning)).collect();
    Ok((tool, warnings))
}

/// All mistakes of a document as one refusal.
pub(crate) fn refused(problems: &Problems) -> Refusal {
    let faults: Vec<Fault> = problems.list.iter().map(|problem| fault(&problems.document, problem)).collect();
    let message = match faults.len() {
        1 => format!("{} has a mistake", problems.document),
        many => format!("{} has {many} mistakes", problems.document),
    };
    Refusal::validation(message).with_faults(faults)
}

fn fault(document: &str, problem: &Problem) -> Fault {
    let (line, column) = problem.place.map_or((0, 0), |place| (place.line, place.column));
    Fault {
        document: document.to_owned(),
        path: problem.path.as_str().to_owned(),
        line,
        column,
        message: problem.message.clone(),
        hint: problem.hint.clone(),
    }
}

/// What the scan finds in the texts that a model would see.
pub(crate) fn scanned(tool: &Tool) -> Vec<Found> {
    let mut found = Vec::new();
    for (path, text) in tool.model_texts() {
        for finding in bailiwick_scan::scan(text) {
            found.push(Found {
                path: path.clone(),
                rule: finding.rule.id().to_owned(),
                meaning: finding.rule.meaning().to_owned(),
                blocks: finding.severity == TextSeverity::Blocking,
                matched: finding.matched,
                offset: finding.offset,
            });
        }
    }
    found
}

/// The call of a tool whose secrets are not set, to be looked at only.
fn without_secrets(tool: &Tool) -> Result<Call, Refusal> {
    let secrets = tool.secret_statics().into_iter().map(|secret| (secret.variable, Value::Null));
    let mut statics = tool.plain_statics();
    statics.extend(secrets);
    Ok(bare_call(tool)?.statics(statics))
}

/// What a look at code finds, or why it cannot be looked at.
pub(crate) async fn validated(
    runtime: &Runtime,
    call: Call,
) -> Result<Result<Vec<CodeFinding>, Failure>, Refusal> {
    let looked = runtime.validate(call).await;
    let looked = looked.map_err(|error| Refusal::new(error.code(), error.to_string()))?;
    let finding = |finding: Finding| CodeFinding {
        name: finding.name,
        why: finding.why,
        instead: finding.instead,
        line: finding.location.line,
        column: finding.location.column,
        blocks: finding.severity == Severity::Error,
    };
    Ok(looked.map(|found| found.into_iter().map(finding).collect()).map_err(|failure| *failure))
}

/// What a look at a tool's code finds under its policy.
async fn look_at_code(
    core: &Core,
    tool: &Tool,
    standing: &Standing,
) -> Result<Result<Vec<CodeFinding>, Failure>, Refusal> {
    // Where a secret is missing the code is looked at all the same: its names count, not their worth.
    let call = match call_of(core, tool) {
        Ok(call) => call,
        Err(refusal) if refusal.code == ErrorCode::MissingSecret => without_secrets(tool)?,
        Err(refusal) => return Err(refusal),
    };
    let runtime = core.inner.world.runtime().await?;
    let call = call.policy(std::sync::Arc::clone(&standing.policy)).validate(Validate::First);
    validated(runtime, call).await
}

/// The policy and the badge of a document, without a look at its code.
pub(crate) fn policy(core: &Core, document: &Document) -> Result<Reply, Refusal> {
    let (tool, _) = read_document(document)?;
    let parsed = Parsed::of(tool, &core.inner.world);
    let standing = parsed.standing()?;
    Ok(Reply::Policy(Box::new(PolicyView {
        name: parsed.tool.name().as_str().to_owned(),
        risk: standing.risk.clone(),
        policy: standing.shown(),
        policy_hash: standing.hash.to_string(),
        approval: standing.needs_approval,
        advice: standing.level().advice().to_owned(),
    })))
}

/// Looks at a document without keeping it.
pub(crate) async fn check(core: &Core, document: &Document) -> Result<Reply, Refusal> {
    let (tool, warnings) = read_document(document)?;
    let parsed = Parsed::of(tool, &core.inner.world);
    let tool = &parsed.tool;
    let standing = parsed.standing()?;
    let missing_secrets = core.inner.world.missing_secrets(tool)?;
    // A command was looked at when its document was read; what it runs is no code of ours.
    let looked = match tool.command() {
        Some(_) => Ok(Vec::new()),
        None => look_at_code(core, tool, standing).await?,
    };
    let (found, unlooked) = match looked {
        Ok(findings) => (findings, None),
        Err(failure) => (Vec::new(), Some(failure)),
    };
    let texts = scanned(tool);
    let ok = unlooked.is_none()
        && !found.iter().any(|finding| finding.blocks)
        && !texts.iter().any(|finding| finding.blocks);
    Ok(Reply::Checked(Box::new(Checked {
        name: tool.name().as_str().to_owned(),
        ok,
        warnings,
        code: found,
        code_failure: unlooked,
        texts,
        risk: standing.risk.clone(),
        approval: standing.needs_approval,
        missing_secrets,
    })))
}

#[cfg(test)]
mod tests;
