//! One call of a published tool, from its name to its report.
//!
//! ready (document, hashes, policy, pass) → arguments → approval → ready again, if somebody was asked → intent on the
//! record → cell or sandbox → output schema → outcome on the record → reply. Nothing is taken from a cell, and no sandbox is
//! made, before the arguments fit and a person, where one has to, said yes. A call that is refused on the way is on the
//! record, too.

pub(crate) mod approval;
mod command;
mod perform;
mod person;
mod ready;
mod warm;
mod workspace;

use std::sync::Arc;
use std::time::Duration;

use bailiwick_audit::{Entry as Record, Kind, ToolRef};
use bailiwick_policy::Capability;
use bailiwick_redact::Redactor;
use bailiwick_runtime::{Call, Entry, Validate, new_id, redacted};
use bailiwick_store::Durability;
use bailiwick_tool::{Contents, Tool};
use bailiwick_types::{
    CallId, CallReport, CorrelationId, ErrorCode, Failure, Outcome, Receipt, RiskLevel, Tier, ToolId,
};
use serde_json::{Map, Value, json};

pub(crate) use ready::{Ready, find, find_for, is_stale, no_such, ready_to_call, revoke};
pub(crate) use warm::Warm;

use self::perform::{Performed, Placed, Prepared, Work, perform};
use self::person::ByApprover;
use self::warm::Kept;
use crate::core::OpenCall;
use crate::executor::{InSandboxes, OfCore};
use crate::journal::{self, told, tool_ref};
use crate::parsed::Standing;
use crate::{Caller, Core, Event, Fault, Question, Rank, Refusal, Reply};

/// From this level on a call waits until its intent is safe on the disk.
const SAFE_FROM: RiskLevel = RiskLevel::L4;

/// The most bytes of arguments that a record holds in full.
const MOST_RECORDED: usize = 256 * 1024;

/// The same for a caller without a key.
const MOST_RECORDED_KEYLESS: usize = 16 * 1024;

/// What the workspace of code that is no tool begins with; it goes with the run.
pub(crate) const CODE_WORKSPACE: &str = "code-";

/// A call that somebody wants.
pub(crate) struct Asked {
    pub(crate) tool: String,
    pub(crate) arguments: Map<String, Value>,
    pub(crate) correlation: Option<CorrelationId>,
    pub(crate) workspace: Option<String>,
}

/// What names a call in every record of it.
pub(crate) struct Names<'a> {
    pub(crate) caller: &'a Caller,
    pub(crate) call_id: CallId,
    pub(crate) correlation: CorrelationId,
    /// What the record calls it: `tool.call`.
    pub(crate) action: &'static str,
}

impl Names<'_> {
    /// A record of this call.
    pub(crate) fn entry(&self, kind: Kind) -> Record {
        let mut entry = Record::new(kind, journal::actor(&self.caller.actor), self.action);
        entry.call_id = Some(self.call_id);
        entry.correlation_id = Some(self.correlation.clone());
        entry
    }
}

/// Calls a tool.
pub(crate) async fn call(
    core: &Core,
    caller: &Caller,
    asked: Asked,
    open: &OpenCall,
) -> Result<Reply, Refusal> {
    let call_id = new_id().map_err(|error| Refusal::new(error.code(), error.to_string()))?;
    let Asked { tool, arguments, correlation, workspace } = asked;
    let correlation = correlation.unwrap_or_else(|| call_id.into());
    let names = Names { caller, call_id, correlation, action: "tool.call" };
    // Before anything is read: what changes meanwhile is then seen as a change.
    let edition = core.inner.store.edition();
    if let Some(kept) = core.inner.warm.find(&tool, edition)
        && let Some(reply) = call_again(core, &names, &kept, &arguments, workspace.as_deref(), open).await?
    {
        return Ok(reply);
    }
    let mut entry = names.entry(Kind::Outcome);
    let row = match find_for(core, caller, &tool).await {
        Ok(row) => row,
        Err(refusal) => {
            entry.tool = Some(ToolRef { id: None, name: bailiwick_types::shortened(&tool), hash: None });
            return refused(core, entry, refusal).await;
        }
    };
    entry.tool = Some(tool_ref(row.id, &row.name, &row.covered));
    let ready = match ready_to_call(core, caller, &tool, row).await {
        Ok(ready) => ready,
        Err(refusal) => return refused(core, entry, refusal).await,
    };
    if let Some(tool_ref) = entry.tool.clone() {
        core.inner.warm.keep(tool, Kept { edition, ready: ready.clone(), tool: tool_ref });
    }
    entry.policy_hash = Some(ready.standing.hash.to_string());
    entry.risk = Some(ready.standing.risk.clone());
    let arguments = match fitting(core, &ready.parsed, arguments) {
        Ok(arguments) => arguments,
        Err(refusal) => return refused(core, entry, refusal).await,
    };
    let prepared = prepare(core, &ready, &arguments, workspace.as_deref(), &names);
    let prepared = match prepared {
        Ok(prepared) => prepared,
        Err(refusal) => return refused(core, entry, refusal).await,
    };
    let shown = &prepared.shown;
    entry.arguments = Some(bounded_for(caller, shown));
    // Whoever goes away from here on, while a person thinks about it or while it runs, leaves an outcome.
    open.begin(entry.clone());
    // Whoever closes the record waits until it tells that this call waits no more.
    let until_told = core.inner.late.token();
    let given = approval::Given { arguments: &arguments, shown, workspace: workspace.as_deref() };
    let asked = match approval::ask(core, &names, &ready, &given, &entry).await {
        Ok(asked) => asked,
        Err(refusal) => {
            open.take();
            return refused(core, entry, refusal).await;
        }
    };
    let ready = match asked {
        approval::Asked::NotNeeded => ready,
        approval::Asked::Yes(decision) => {
            entry.approval = Some(decision);
            match again(core, &names, ready).await {
                Ok(ready) => ready,
                Err(refusal) => {
                    open.take();
                    return refused(core, entry, refusal).await;
                }
            }
        }
        approval::Asked::No(decision, failure) => {
            let outcome = json!({"ok": false, "code": failure.code, "message": failure.message});
            entry.approval = Some(decision);
            open.take();
            core.append(told(entry, outcome), Durability::Machine).await?;
            return Ok(Reply::Called(Box::new(not_run(&names, &ready.standing, *failure))));
        }
    };
    drop(until_told);
    let Prepared { work, shown } = prepared;
    let placed = match command::place(core, &names, work).await {
        Ok(placed) => placed,
        Err(refusal) => {
            open.take();
            return refused(core, entry, refusal).await;
        }
    };
    entry.backend = Some(backend(&placed, workspace.as_deref()));
    match perform(core, &names, &ready, (placed, &shown), entry, None, open).await? {
        Performed::Yes(report) => Ok(Reply::Called(report)),
        Performed::Outdated => Err(Refusal::internal("tool.call")),
    }
}

/// Calls a tool that was ready before, if that still holds; none where the tool has to be looked at.
async fn call_again(
    core: &Core,
    names: &Names<'_>,
    kept: &Kept,
    arguments: &Map<String, Value>,
    workspace: Option<&str>,
    open: &OpenCall,
) -> Result<Option<Reply>, Refusal> {
    let Kept { edition, ready, tool } = kept;
    // What does not fit is told by the tool as it is now.
    let Ok(arguments) = fitting(core, &ready.parsed, arguments.clone()) else { return Ok(None) };
    let Ok(prepared) = prepare(core, ready, &arguments, workspace, names) else { return Ok(None) };
    let mut entry = names.entry(Kind::Outcome);
    entry.tool = Some(tool.clone());
    entry.policy_hash = Some(ready.standing.hash.to_string());
    entry.risk = Some(ready.standing.risk.clone());
    let Prepared { work, shown } = prepared;
    entry.arguments = Some(bounded_for(names.caller, &shown));
    let Ok(placed) = command::place(core, names, work).await else { return Ok(None) };
    entry.backend = Some(backend(&placed, workspace));
    match perform(core, names, ready, (placed, &shown), entry, Some(*edition), open).await? {
        Performed::Yes(report) => Ok(Some(Reply::Called(report))),
        Performed::Outdated => Ok(None),
    }
}

/// Where a call runs, as a record says it.
fn backend(placed: &Placed, workspace: Option<&str>) -> Value {
    match placed {
        Placed::Cell(_) => json!({"id": "cell", "tier": Tier::Process, "workspace": workspace}),
        Placed::Command(_, chosen) => chosen.told(),
    }
}

/// Puts on the record that a call was refused, and why.
pub(crate) async fn refused<T>(core: &Core, entry: Record, refusal: Refusal) -> Result<T, Refusal> {
    let outcome = json!({"ok": false, "code": refusal.code, "message": refusal.message});
    core.append(told(entry, outcome), Durability::Process).await?;
    Err(refusal)
}

/// How safe the records of a call have to be.
pub(crate) fn durability_of(standing: &Standing, entry: &Record) -> Durability {
    let safe = standing.level() >= SAFE_FROM || entry.approval.is_some();
    if safe { Durability::Machine } else { Durability::Process }
}

/// A record with what a call gave.
pub(crate) fn of_report(mut entry: Record, report: &CallReport) -> Record {
    entry.usage = Some(*report.usage());
    let outcome = if let Some(failure) = report.failure() {
        json!({"ok": false, "code": failure.code, "message": failure.message, "denied": failure.denied})
    } else {
        let text = report.value().to_string();
        let hash = bailiwick_tool::Hash::of_bytes(text.as_bytes());
        json!({"ok": true, "code": null, "bytes": text.len(), "sha256": hash})
    };
    if let Some(Value::Object(backend)) = &mut entry.backend {
        backend.insert("insecure".to_owned(), report.receipt().insecure.into());
    }
    told(entry, outcome)
}

/// The call as a cell or a sandbox will get it, and its arguments as people may see them.
fn prepare(
    core: &Core,
    ready: &Ready,
    arguments: &Map<String, Value>,
    workspace: Option<&str>,
    names: &Names<'_>,
) -> Result<Prepared, Refusal> {
    if let Some(block) = ready.parsed.tool.command() {
        return command::prepare(core, ready, block, arguments, workspace, names);
    }
    let call = call_of(core, &ready.parsed.tool)?
        .workspace(workspace::of(core, names.caller, ready.id, workspace)?)
        .policy(Arc::clone(&ready.standing.policy))
        .id(names.call_id)
        .correlation(names.correlation.clone());
    let call = with_arguments(call, &ready.parsed.tool, arguments.clone());
    let shown = redacted(&redactor_of(&call)?, Value::Object(arguments.clone()));
    Ok(Prepared { work: Work::Cell(Box::new(call)), shown })
}

/// A call of a tool: code, statics, secrets; not yet its policy, workspace and arguments.
pub(crate) fn call_of(core: &Core, tool: &Tool) -> Result<Call, Refusal> {
    core.inner.world.with_statics(bare_call(tool)?, tool)
}

/// A call with arguments that were checked.
pub(crate) fn with_arguments(call: Call, tool: &Tool, mut arguments: Map<String, Value>) -> Call {
    if tool.entry() != Entry::Emit {
        return call.arguments(arguments);
    }
    // The one parameter that such a tool can have is the text it reads.
    match arguments.remove("input") {
        Some(Value::String(input)) => call.input(input),
        _ => call,
    }
}

/// A call of a tool without its statics.
pub(crate) fn bare_call(tool: &Tool) -> Result<Call, Refusal> {
    let Some(code) = tool.code() else {
        return Err(Refusal::new(ErrorCode::Unsupported, "a command tool has no code that a cell could run"));
    };
    let named: Vec<String> = match tool.entry() {
        Entry::Emit => Vec::new(),
        _ => tool.params().iter().map(|param| param.name.clone()).collect(),
    };
    Ok(Call::new(tool.entry(), code).language(tool.language()).parameters(named).validate(Validate::No))
}

async fn run(
    core: &Core,
    names: &Names<'_>,
    ready: &Ready,
    call: Call,
    shown: &Value,
) -> Result<CallReport, Refusal> {
    let question = approval::question(core, names, ready, shown, None);
    let report = in_cell(core, names, &ready.standing, call, question, Some(ready.id)).await?;
    Ok(checked_output(&ready.parsed, report))
}

/// Runs a call in a cell. Its caller hears each line, and `question` is what an effect that needs a yes is a part of.
pub(crate) async fn in_cell(
    core: &Core,
    names: &Names<'_>,
    standing: &Standing,
    call: Call,
    question: Question,
    id: Option<ToolId>,
) -> Result<CallReport, Refusal> {
    let runtime = core.inner.world.runtime_for(&standing.policy).await?;
    let deadline = Duration::from_millis(core.inner.world.settings.approvals.deadline_ms);
    let tool = ToolRef { id, name: question.tool.clone(), hash: question.hash.clone() };
    let person = ByApprover::new(core.clone(), names, question, id);
    let mut call = call.asking(Arc::new(person), deadline);
    if standing.policy.allowed().contains(Capability::ProcessExec) {
        let lends = OfCore::to_call(core, &names.caller.actor, Some(tool));
        call = call.executing(Arc::new(InSandboxes::new(lends, names.correlation.clone())));
    }
    let listener = Arc::clone(&names.caller.listener);
    let mut lines = Vec::new();
    let heard = |line: bailiwick_types::LogLine| {
        listener.hear(Event::Log(line.clone()));
        lines.push(line);
    };
    let report = runtime.run_with(call, heard).await.map_err(|error| {
        let refusal = Refusal::new(error.code(), error.to_string());
        match error {
            bailiwick_runtime::RunError::Call(error) => refusal.with_hint(error.hint()),
            _ => refusal,
        }
    })?;
    Ok(report.with_lines(lines))
}

/// A report whose value fits what the tool promises, or says that it does not.
pub(crate) fn checked_output(parsed: &crate::parsed::Parsed, report: CallReport) -> CallReport {
    if !report.is_ok() {
        return report;
    }
    match parsed.output.check(report.value()) {
        Ok(()) => report,
        Err(misfit) => unfit(report, misfit.message(), misfit.hint()),
    }
}

/// A report whose value is content only if it can be read as such, or says that it cannot.
pub(crate) fn checked_content(report: CallReport) -> CallReport {
    match Contents::read(report.value()) {
        Ok(_) => report,
        Err(fault) => {
            let message = fault.to_string();
            unfit(report, message, fault.hint)
        }
    }
}

fn unfit(report: CallReport, message: String, hint: String) -> CallReport {
    let code = ErrorCode::OutputSchema;
    report.failing(Failure { code, message, hint: Some(hint), location: None, stack: None, denied: None })
}

/// Looks at everything once more after a yes: what a person said yes to must be what runs.
async fn again(core: &Core, names: &Names<'_>, before: Ready) -> Result<Ready, Refusal> {
    core.still_holds(names.caller)?;
    let id = before.id.to_string();
    let row = find(core, &id).await?;
    let now = ready_to_call(core, names.caller, &id, row).await?;
    let same = now.parsed.covered == before.parsed.covered
        && now.parsed.texts == before.parsed.texts
        && now.standing.hash == before.standing.hash;
    if same {
        return Ok(now);
    }
    Err(Refusal::new(ErrorCode::Conflict, "the tool changed while its call waited for a yes; nothing ran")
        .with_hint("call it again: the yes was for what it was before"))
}

/// The report of a call that never began. No wall is claimed: none was built.
pub(crate) fn not_run(names: &Names<'_>, standing: &Standing, failure: Failure) -> CallReport {
    let receipt = Receipt::new(Tier::Process, Vec::new(), &[]);
    let outcome = Outcome::Failed(Box::new(failure));
    CallReport::new(outcome, names.call_id, names.correlation.clone(), standing.risk.clone(), receipt)
}

/// The arguments as they are given to the code, or why they do not fit. That is told by what people may see: a message
/// shows parts of what was given.
fn fitting(
    core: &Core,
    parsed: &crate::parsed::Parsed,
    arguments: Map<String, Value>,
) -> Result<Map<String, Value>, Refusal> {
    let tool = &parsed.tool;
    let has_secrets = !tool.secret_statics().is_empty();
    let given = has_secrets.then(|| arguments.clone());
    let problems = match parsed.input.check(arguments) {
        Ok(arguments) => return Ok(arguments),
        Err(problems) => problems,
    };
    let Some(given) = given else { return Err(bad_arguments(tool, problems)) };
    let redactor = match tool.command() {
        Some(_) => command::redactor_of_command(core, tool)?,
        None => redactor_of(&call_of(core, tool)?)?,
    };
    let shown = redacted(&redactor, Value::Object(given));
    let shown = shown.as_object().cloned().unwrap_or_default();
    Err(bad_arguments(tool, parsed.input.check(shown).err().unwrap_or_default()))
}

pub(crate) fn redactor_of(call: &Call) -> Result<Redactor, Refusal> {
    call.redactor().map_err(|error| {
        Refusal::new(ErrorCode::InvalidInput, error.to_string()).with_hint("give the secret another value")
    })
}

fn bad_arguments(tool: &Tool, problems: Vec<bailiwick_tool::ArgumentProblem>) -> Refusal {
    let first = problems.first().map(ToString::to_string).unwrap_or_default();
    let hint = problems.first().and_then(|problem| problem.hint.clone());
    let faults = problems.into_iter().map(|problem| Fault {
        document: tool.name().as_str().to_owned(),
        path: problem.path,
        line: 0,
        column: 0,
        message: problem.message,
        hint: problem.hint,
    });
    let refusal = Refusal::new(ErrorCode::InvalidInput, format!("the arguments do not fit: {first}"))
        .with_faults(faults.collect());
    hint.into_iter().fold(refusal, Refusal::with_hint)
}

/// Arguments of a caller as a record holds them: in full, or by their hash when they are longer than this caller may have
/// recorded.
pub(crate) fn bounded_for(caller: &Caller, arguments: &Value) -> Value {
    let most = match caller.rank() {
        Rank::Keyless => MOST_RECORDED_KEYLESS,
        Rank::Keyed | Rank::Operator => MOST_RECORDED,
    };
    bounded_to(arguments, most)
}

/// Arguments as a record holds them: in full, or by their hash when they are very long.
pub(crate) fn bounded(arguments: &Value) -> Value {
    bounded_to(arguments, MOST_RECORDED)
}

/// The same, with this many bytes at most.
pub(crate) fn bounded_to(arguments: &Value, most: usize) -> Value {
    let text = arguments.to_string();
    if text.len() <= most {
        return arguments.clone();
    }
    let start: String = text.chars().take(1000).collect();
    json!({"$tooLong": {
        "bytes": text.len(), "sha256": bailiwick_tool::Hash::of_bytes(text.as_bytes()), "start": start,
    }})
}
