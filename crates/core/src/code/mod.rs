//! Code that is no tool: run, looked at, and what it would find.
//!
//! It goes the way of a call of a tool: policy → risk → approval (anything but yes is no) → intent on the record → cell →
//! outcome on the record → reply. It must never get more than the operator's bare policy for somebody who may not author.

mod workspace;

use std::sync::Arc;

use bailiwick_audit::{Kind, ToolRef};
use bailiwick_document::{Bounds, Format, parse};
use bailiwick_policy::{Capability, EffectivePolicy, ToolPolicy, resolve};
use bailiwick_runtime::{Call, Entry, Language, Validate, new_id, redacted, surface};
use bailiwick_tool::{ApprovalMode, Hash};
use bailiwick_types::{ErrorCode, LimitKind, ProfileName, Scope, Tier, shortened};
use serde_json::{Value, json};

pub(crate) use self::workspace::sweep;

use self::workspace::Passing;
use crate::approvals::Subject;
use crate::catalogue::{refused as faulty, validated};
use crate::core::OpenCall;
use crate::journal::{intent_and_outcome, told};
use crate::parsed::Standing;
use crate::pipeline::approval::{self, Asked};
use crate::pipeline::{
    Names, bounded_for, checked_content, durability_of, in_cell, not_run, of_report, redactor_of, refused,
};
use crate::{Caller, Code, CodeChecked, CodeRun, Core, Question, Refusal, Reply, authority};

/// What refusals call the document that a run brings.
const DOCUMENT: &str = "the run";

/// Runs code.
pub(crate) async fn run(
    core: &Core,
    caller: &Caller,
    run: CodeRun,
    open: &OpenCall,
) -> Result<Reply, Refusal> {
    let call_id = new_id().map_err(|error| Refusal::new(error.code(), error.to_string()))?;
    let correlation = run.correlation.clone().unwrap_or_else(|| call_id.into());
    let names = Names { caller, call_id, correlation, action: "run" };
    let (name, hash) = (shortened(&run.name), Hash::of_bytes(run.code.text.as_bytes()).to_string());
    let mut entry = names.entry(Kind::Outcome);
    entry.tool = Some(ToolRef { id: None, name: name.clone(), hash: Some(hash.clone()) });
    let ready =
        standing(core, caller, &run).and_then(|standing| Ok((prepare(&run, &names, &standing)?, standing)));
    let ((call, shown), standing) = match ready {
        Ok(ready) => ready,
        Err(refusal) => return refused(core, entry, refusal).await,
    };
    entry.policy_hash = Some(standing.hash.to_string());
    entry.risk = Some(standing.risk.clone());
    entry.arguments = Some(bounded_for(caller, &shown));
    let question = Question {
        // No name that somebody chose for code passes for that of a tool.
        tool: format!("code `{name}`, which is no tool"),
        hash: Some(hash),
        policy_hash: standing.hash.to_string(),
        call_id,
        prompt: None,
        risk: standing.risk.clone(),
        code: Some(run.code.text.clone()),
        arguments: shown,
        workspace: None,
        actor: caller.actor.clone(),
        correlation_id: names.correlation.clone(),
        effect: None,
        deadline_ms: core.inner.world.settings.approvals.deadline_ms,
    };
    // Whoever goes away from here on leaves an outcome, and whoever closes the record waits for it.
    open.begin(entry.clone());
    let until_told = core.inner.late.token();
    let asked = if standing.needs_approval || run.always_asks {
        let subject = Subject { caller, tool: None, bound: None };
        approval::put(core, &subject, question.clone(), &entry).await
    } else {
        Ok(Asked::NotNeeded)
    };
    match asked {
        Ok(Asked::NotNeeded) => {}
        // The code is in hand and the operator's file is read once, so what was said yes to is what runs.
        Ok(Asked::Yes(decision)) => {
            entry.approval = Some(decision);
            if let Err(refusal) = core.still_holds(caller) {
                open.take();
                return refused(core, entry, refusal).await;
            }
        }
        Ok(Asked::No(decision, failure)) => {
            let outcome = json!({"ok": false, "code": failure.code, "message": failure.message});
            entry.approval = Some(decision);
            open.take();
            core.append(told(entry, outcome), bailiwick_store::Durability::Machine).await?;
            return Ok(Reply::Called(Box::new(not_run(&names, &standing, *failure))));
        }
        Err(refusal) => {
            open.take();
            return refused(core, entry, refusal).await;
        }
    }
    drop(until_told);
    entry.backend = Some(json!({"id": "cell", "tier": Tier::Process}));
    let durability = durability_of(&standing, &entry);
    let (intent, outcome) = intent_and_outcome(entry);
    core.append(intent, durability).await?;
    open.begin(outcome);
    let report = in_passing_workspace(core, &names, &standing, call, question).await;
    let Some(entry) = open.take() else { return Err(Refusal::internal("run")) };
    let entry = match &report {
        Ok(report) => of_report(entry, report),
        Err(refusal) => told(entry, json!({"ok": false, "code": refusal.code, "message": refusal.message})),
    };
    core.append(entry, durability).await?;
    report.map(|report| Reply::Called(Box::new(report)))
}

async fn in_passing_workspace(
    core: &Core,
    names: &Names<'_>,
    standing: &Standing,
    call: Call,
    question: Question,
) -> Result<bailiwick_types::CallReport, Refusal> {
    let has_files = [Capability::FsRead, Capability::FsWrite, Capability::FsDelete]
        .into_iter()
        .any(|capability| standing.policy.allowed().contains(capability));
    let passing = has_files.then(|| Passing::of(core.inner.world.data(), names.call_id)).transpose()?;
    let call = match &passing {
        Some(passing) => call.workspace(passing.name().clone()),
        None => call,
    };
    let report = in_cell(core, names, standing, call, question, None).await;
    drop(passing);
    report.map(checked_content)
}

/// What the code may do, if its caller may ask for that.
fn standing(core: &Core, caller: &Caller, run: &CodeRun) -> Result<Standing, Refusal> {
    let CodeRun { overrides, profile, limits, .. } = run;
    let world = &core.inner.world;
    let profile = profile.as_deref().map(ProfileName::parse).transpose();
    let profile = profile.map_err(|error| Refusal::new(ErrorCode::InvalidInput, error.to_string()))?;
    let mut said = serde_json::Map::new();
    for (field, value) in [("overrides", overrides), ("limits", limits)] {
        said.extend(value.clone().map(|value| (field.to_owned(), value)));
    }
    let layer = if said.is_empty() {
        None
    } else {
        let text = Value::Object(said).to_string();
        let tree = parse(DOCUMENT, &text, Format::Yaml, Bounds::WRITTEN_BY_HAND);
        let read = tree.and_then(|tree| ToolPolicy::read(DOCUMENT, &tree));
        Some(Arc::new(read.map_err(|problems| faulty(&problems))?.layer))
    };
    let resolved = |profile, layer| {
        resolve(world.baseline(), profile, layer)
            .map_err(|conflicts| Refusal::new(ErrorCode::Conflict, conflicts.to_string()))
    };
    let policy = resolved(profile.as_ref(), layer.as_ref())?;
    if !caller.scopes.covers(Scope::Author)
        && let Some(kind) = raised(&policy, &resolved(None, None)?)
    {
        let what = format!("a higher limit for `{}`", kind.key());
        return Err(authority::lacking(caller.scopes, &[Scope::Author], &what));
    }
    let standing = Standing::under(policy, ApprovalMode::Auto, world);
    let ceiling = world.baseline().ceilings.risk;
    if standing.level() > ceiling {
        let message = format!("the run is {}, and the operator's ceiling is {ceiling}", standing.level());
        return Err(Refusal::new(ErrorCode::Forbidden, message)
            .with_hint("narrow its overrides, or ask the operator to raise `ceilings.risk`"));
    }
    Ok(standing)
}

/// A limit that is higher in one policy than in the other.
fn raised(policy: &EffectivePolicy, bare: &EffectivePolicy) -> Option<LimitKind> {
    LimitKind::ALL.iter().copied().find(|kind| policy.limits().get(*kind) > bare.limits().get(*kind))
}

/// The call as a cell will get it, and its arguments as people may see them.
fn prepare(run: &CodeRun, names: &Names<'_>, standing: &Standing) -> Result<(Call, Value), Refusal> {
    let call = call_of(&run.code)?
        .arguments(run.arguments.clone())
        .policy(Arc::clone(&standing.policy))
        .id(names.call_id)
        .correlation(names.correlation.clone());
    let shown = redacted(&redactor_of(&call)?, Value::Object(run.arguments.clone()));
    Ok((call, shown))
}

/// Code as a call that is looked at before it runs.
fn call_of(code: &Code) -> Result<Call, Refusal> {
    let Code { text, entry, language } = code;
    let wrong = |what: &str, word: &str, hint: &str| {
        let message = format!("`{}` is not {what}", shortened(word));
        Refusal::new(ErrorCode::InvalidInput, message).with_hint(hint)
    };
    let entered = match entry.as_str() {
        "body" => Entry::Body,
        "expression" => Entry::Expression,
        "execute" => Entry::Execute,
        other => return Err(wrong("a way to enter code", other, "write body, expression or execute")),
    };
    let written = match language.as_str() {
        "js" => Language::JavaScript,
        "ts" => Language::TypeScript,
        "either" => Language::Either,
        other => return Err(wrong("a language that is run", other, "write js, ts or either")),
    };
    Ok(Call::new(entered, text.clone()).language(written).validate(Validate::First))
}

/// The operator's bare policy.
fn bare(core: &Core) -> Result<EffectivePolicy, Refusal> {
    resolve(core.inner.world.baseline(), None, None)
        .map_err(|conflicts| Refusal::new(ErrorCode::Conflict, conflicts.to_string()))
}

/// Looks at code without running it.
pub(crate) async fn check(core: &Core, looked_at: &Code) -> Result<Reply, Refusal> {
    let call = call_of(looked_at)?.policy(bare(core)?);
    let looked = validated(core.inner.world.runtime().await?, call).await?;
    let (findings, error) = match looked {
        Ok(findings) => (findings, None),
        Err(failure) => (Vec::new(), Some(failure)),
    };
    let ok = error.is_none() && !findings.iter().any(|finding| finding.blocks);
    Ok(Reply::CodeChecked(CodeChecked { ok, error, findings }))
}

/// What code finds under the operator's bare policy.
pub(crate) fn limits(core: &Core) -> Result<Reply, Refusal> {
    Ok(Reply::Limits(surface(&bare(core)?).to_json()))
}
