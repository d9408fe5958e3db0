//! What the record tells of sandboxes: the intent before anything is done, the outcome after it. Words of commands are
//! masked before they get there; of variables only the names do.

use std::sync::Arc;

use bailiwick_audit::{Entry, Kind, ToolRef};
use bailiwick_redact::{Redactor, Secret};
use bailiwick_runtime::{new_id, redacted};
use bailiwick_sandbox::{Backend, Command, ExecResult, ExecUsage, Sandbox, SandboxSpec};
use bailiwick_store::Durability;
use bailiwick_types::{CallId, CorrelationId, ErrorCode, Risk, RiskLevel, Usage};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::core::OpenCall;
use crate::journal::{self, intent_and_outcome, told};
use crate::pipeline::{bounded, bounded_for};
use crate::{Actor, Caller, Core, Refusal, Reply};

/// A command that is about to run in a sandbox of whoever asks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ExecIntent {
    /// The call's id.
    pub call_id: CallId,
    /// What caused it.
    pub correlation_id: CorrelationId,
    /// What is run and where, masked.
    pub arguments: Value,
    /// Backend and tier.
    pub backend: Value,
}

/// How it ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ExecOutcome {
    /// As it began.
    pub intent: ExecIntent,
    /// What came of it.
    pub outcome: Value,
    /// What it used.
    pub usage: Usage,
}

impl ExecIntent {
    /// What is about to be run in a sandbox of its own.
    pub fn of(
        spec: &SandboxSpec,
        command: &Command,
        backend: &Arc<dyn Backend>,
        correlation: Option<CorrelationId>,
    ) -> Result<Self, Refusal> {
        let call_id = new_id().map_err(|error| Refusal::new(error.code(), error.to_string()))?;
        let mut arguments = command_told(command, spec.env.values());
        if let Value::Object(said) = &mut arguments {
            said.insert("sandbox".to_owned(), spec_told(spec));
        }
        Ok(Self {
            call_id,
            correlation_id: correlation.unwrap_or_else(|| call_id.into()),
            arguments,
            backend: backend_told(backend.as_ref()),
        })
    }
}

impl ExecOutcome {
    /// How a command ended.
    pub fn of(intent: ExecIntent, ended: &Result<ExecResult, Refusal>) -> Self {
        let (outcome, usage) = match ended {
            Ok(result) => (result_told(result), usage_told(&result.usage)),
            Err(refusal) => (refusal_told(refusal), Usage::default()),
        };
        Self { intent, outcome, usage }
    }

    /// What was asked for and came to no command: nothing began, so there is only this.
    pub(crate) fn of_refused(correlation_id: CorrelationId, refusal: &Refusal) -> Result<Self, Refusal> {
        let call_id = new_id().map_err(|error| Refusal::new(error.code(), error.to_string()))?;
        let intent = ExecIntent { call_id, correlation_id, arguments: Value::Null, backend: Value::Null };
        Ok(Self { intent, outcome: refusal_told(refusal), usage: Usage::default() })
    }

    /// How one ended that nobody waits for any more.
    pub(crate) fn of_left(intent: ExecIntent) -> Self {
        let code = ErrorCode::Cancelled;
        let outcome = json!({"ok": false, "code": code, "message": code.meaning()});
        Self { intent, outcome, usage: Usage::default() }
    }
}

/// Puts a command on the record before it begins.
pub(crate) async fn exec_begins(core: &Core, caller: &Caller, intent: ExecIntent) -> Result<Reply, Refusal> {
    core.append(exec_entry(core, &caller.actor, Kind::Intent, intent), Durability::Process).await?;
    Ok(Reply::Done)
}

/// Puts how a command ended on the record.
pub(crate) async fn exec_ended(core: &Core, caller: &Caller, outcome: ExecOutcome) -> Result<Reply, Refusal> {
    let ExecOutcome { intent, outcome, usage } = outcome;
    // Its intent holds the arguments; of what was refused before there was one, none are told.
    let intent = ExecIntent { arguments: Value::Null, ..intent };
    let mut entry = exec_entry(core, &caller.actor, Kind::Outcome, intent);
    entry.usage = Some(usage);
    core.append(told(entry, bounded(&outcome)), Durability::Process).await?;
    Ok(Reply::Done)
}

/// A command that comes with its own intent, as the record tells it.
pub(crate) fn exec_entry(core: &Core, actor: &Actor, kind: Kind, intent: ExecIntent) -> Entry {
    let ExecIntent { call_id, correlation_id, arguments, backend } = intent;
    Entry {
        call_id: Some(call_id),
        correlation_id: Some(correlation_id),
        arguments: (!arguments.is_null()).then(|| bounded(&masked(core, arguments))),
        backend: (!backend.is_null()).then(|| bounded(&backend)),
        ..Entry::new(kind, journal::actor(actor), "exec")
    }
}

/// What the record tells beside what is done: by which tool it was asked for, what that could do, who said yes.
#[derive(Debug, Clone, Default)]
pub(crate) struct About {
    pub(crate) tool: Option<&'static str>,
    pub(crate) risk: Option<Risk>,
    pub(crate) approval: Option<Value>,
}

/// One thing that is done to a sandbox, as the record names it.
pub(crate) struct Noted<'a> {
    pub(crate) core: &'a Core,
    pub(crate) caller: &'a Caller,
    pub(crate) open: &'a OpenCall,
    pub(crate) action: &'static str,
    pub(crate) call_id: CallId,
    pub(crate) correlation: CorrelationId,
    pub(crate) about: About,
}

impl<'a> Noted<'a> {
    pub(crate) fn new(
        core: &'a Core,
        caller: &'a Caller,
        open: &'a OpenCall,
        action: &'static str,
        correlation: Option<CorrelationId>,
    ) -> Result<Self, Refusal> {
        let call_id = new_id().map_err(|error| Refusal::new(error.code(), error.to_string()))?;
        let correlation = correlation.unwrap_or_else(|| call_id.into());
        Ok(Self { core, caller, open, action, call_id, correlation, about: About::default() })
    }

    /// With what else is told.
    pub(crate) fn about(self, about: About) -> Self {
        Self { about, ..self }
    }

    pub(crate) fn entry(&self) -> Entry {
        let About { tool, risk, approval } = self.about.clone();
        Entry {
            call_id: Some(self.call_id),
            correlation_id: Some(self.correlation.clone()),
            tool: tool.map(|name| ToolRef { id: None, name: name.to_owned(), hash: None }),
            risk,
            approval,
            ..Entry::new(Kind::Outcome, journal::actor(&self.caller.actor), self.action)
        }
    }

    /// It is refused before anything was begun; that is on the record, too.
    pub(crate) async fn refused<T>(&self, arguments: Value, refusal: Refusal) -> Result<T, Refusal> {
        let mut entry = self.entry();
        entry.arguments = Some(bounded_for(self.caller, &masked(self.core, arguments)));
        self.core.append(told(entry, refusal_told(&refusal)), Durability::Process).await?;
        Err(refusal)
    }

    /// Does it between an intent and an outcome. Whoever goes away meanwhile leaves an outcome as well.
    pub(crate) async fn done<T>(
        &self,
        arguments: Value,
        backend: Value,
        doing: impl Future<Output = Result<(T, Value, Option<Usage>), Refusal>>,
    ) -> Result<T, Refusal> {
        self.begins(arguments, backend).await?;
        let done = doing.await;
        let Some(entry) = self.open.take() else { return Err(Refusal::internal(self.action)) };
        ended(self.core, entry, done).await
    }

    /// Puts the intent on the record; who goes away from here on leaves an outcome.
    pub(crate) async fn begins(&self, arguments: Value, backend: Value) -> Result<(), Refusal> {
        let mut entry = self.entry();
        entry.arguments = Some(bounded_for(self.caller, &masked(self.core, arguments)));
        entry.backend = Some(backend);
        let durability = durability_of(&entry);
        let (intent, outcome) = intent_and_outcome(entry);
        self.core.append(intent, durability).await?;
        self.open.begin(outcome);
        Ok(())
    }
}

/// Puts the outcome of what was begun on the record, and gives what came of it.
pub(crate) async fn ended<T>(
    core: &Core,
    mut entry: Entry,
    done: Result<(T, Value, Option<Usage>), Refusal>,
) -> Result<T, Refusal> {
    let (result, outcome) = match done {
        Ok((value, outcome, usage)) => {
            entry.usage = usage;
            (Ok(value), outcome)
        }
        Err(refusal) => {
            let outcome = refusal_told(&refusal);
            (Err(refusal), outcome)
        }
    };
    let durability = durability_of(&entry);
    core.append(told(entry, bounded(&outcome)), durability).await?;
    result
}

/// What is of a high level, or what a person said yes to, waits for the disk.
fn durability_of(entry: &Entry) -> Durability {
    let is_high = entry.risk.as_ref().is_some_and(|risk| risk.level >= RiskLevel::L4);
    if is_high || entry.approval.is_some() { Durability::Machine } else { Durability::Process }
}

/// Masks the values of the secrets that are set. Where these cannot be read, the words are left out.
pub(crate) fn masked(core: &Core, arguments: Value) -> Value {
    match core.inner.world.secret_values() {
        Ok(redactor) => redacted(&redactor, arguments),
        Err(_) => without_words(arguments),
    }
}

fn without_words(mut arguments: Value) -> Value {
    if let Some(argv) = arguments.get_mut("argv") {
        *argv = json!("not told: the secrets that are masked could not be read");
    }
    arguments
}

/// A command as the record tells it: its words without the values of variables.
pub(crate) fn command_told<'a>(command: &'a Command, env: impl Iterator<Item = &'a String>) -> Value {
    let told = json!({
        "argv": command.argv(),
        "shell": command.is_shell(),
        "cwd": command.cwd,
        "env": command.env.keys().collect::<Vec<_>>(),
        "terminal": command.terminal.is_some(),
        "timeoutMs": command.timeout.map(|timeout| timeout.as_millis()),
    });
    let values: Vec<Secret> =
        env.chain(command.env.values()).map(|value| Secret::new(value.clone())).collect();
    match Redactor::new(values.iter()) {
        Ok(redactor) => redacted(&redactor, told),
        Err(_) => without_words(told),
    }
}

/// A spec as the record and `sandbox show` tell it.
pub(crate) fn spec_told(spec: &SandboxSpec) -> Value {
    let SandboxSpec {
        image,
        snapshot,
        env,
        mounts,
        overlays,
        network,
        secrets,
        limits,
        workdir,
        warm: _,
        expose,
        labels,
        correlation: _,
        ttl,
        separate_uid: _,
    } = spec;
    json!({
        "image": image,
        "snapshot": snapshot.as_ref().map(|snapshot| snapshot.id),
        "env": env.keys().collect::<Vec<_>>(),
        "mounts": mounts.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "overlays": overlays.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "network": network.to_string(),
        "secrets": secrets,
        "limits": limits,
        "workdir": workdir,
        "expose": expose,
        "labels": labels,
        "idleMs": ttl.idle.as_millis(),
        "absoluteMs": ttl.absolute.as_millis(),
    })
}

/// Backend and tier.
pub(crate) fn backend_told(backend: &dyn Backend) -> Value {
    json!({"id": backend.id(), "tier": backend.tier()})
}

/// The same of a sandbox that stands.
pub(crate) fn behind(sandbox: &dyn Sandbox) -> Value {
    json!({"id": sandbox.backend(), "tier": sandbox.receipt().tier})
}

/// What came of a command: all but what it said.
pub(crate) fn result_told(result: &ExecResult) -> Value {
    let mut told = json!(result);
    if let Value::Object(fields) = &mut told {
        for field in ["stdout", "stderr", "encoding", "correlationId", "backend", "tier"] {
            fields.shift_remove(field);
        }
        fields.insert("ok".to_owned(), json!(true));
    }
    told
}

pub(crate) fn usage_told(usage: &ExecUsage) -> Usage {
    Usage { wall_ms: usage.wall_ms, cpu_ms: usage.cpu_ms, memory_peak: usage.memory_peak, ..Usage::default() }
}

pub(crate) fn refusal_told(refusal: &Refusal) -> Value {
    json!({"ok": false, "code": refusal.code, "message": refusal.message})
}
