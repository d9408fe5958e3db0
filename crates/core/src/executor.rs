//! `sandbox.exec` of code: each command in a sandbox of its own that is gone with it, on the record beside its call.
//!
//! The sandbox has no network, nothing of the host but its programs, the operator's preset and at least the operator's
//! floor: what code may widen for itself is the command, and nothing of where it runs.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use bailiwick_audit::{Entry, Kind, ToolRef};
use bailiwick_runtime::{Executor, new_id};
use bailiwick_sandbox::{Backend, Command, ExecResult, SandboxError};
use bailiwick_store::Durability;
use bailiwick_types::{CorrelationId, ErrorCode, ExecRequest, Refused};
use serde_json::{Map, Value, json};
use tokio::sync::Semaphore;

use crate::journal::{self, told};
use crate::pipeline::bounded;
use crate::sandboxes::{
    Keep, Resolved, Rules, SandboxWish, attend, backend_told, command_told, masked, resolve, result_told,
    spec_told, usage_told,
};
use crate::{Actor, Core, Mute, Origin, Refusal};

/// The most commands of one call.
const MOST: u32 = 64;
/// The most of them at once; the others wait.
const AT_ONCE: usize = 4;
/// What code gets to know of how its command ended.
const TOLD: [&str; 9] = [
    "exitCode",
    "signal",
    "timedOut",
    "oom",
    "stdout",
    "stdoutTruncated",
    "stderr",
    "stderrTruncated",
    "encoding",
];

/// Runs the commands of one call.
pub(crate) struct InSandboxes {
    core: Core,
    correlation: CorrelationId,
    /// Whose commands they are, where they go on the record.
    noted: Option<(Actor, Option<ToolRef>)>,
    begun: AtomicU32,
    slots: Semaphore,
}

impl InSandboxes {
    /// For a call that is on the record.
    pub(crate) fn of_call(
        core: &Core,
        actor: &Actor,
        tool: Option<ToolRef>,
        correlation: &CorrelationId,
    ) -> Self {
        Self { noted: Some((actor.clone(), tool)), ..Self::of_pass(core, correlation.clone()) }
    }

    /// For a run of a pass.
    pub(crate) fn of_pass(core: &Core, correlation: CorrelationId) -> Self {
        let (begun, slots) = (AtomicU32::new(0), Semaphore::new(AT_ONCE));
        Self { core: core.clone(), correlation, noted: None, begun, slots }
    }

    async fn run(&self, request: ExecRequest) -> Result<String, Refused> {
        if self.begun.fetch_add(1, Ordering::Relaxed) >= MOST {
            let message = format!("a call runs at most {MOST} commands");
            return Err(Refused::failed(ErrorCode::NestingLimit, "too-many-commands", message));
        }
        // It is never closed, so there is a slot in time.
        let _slot = self.slots.acquire().await;
        let ran = match self.ready(request).await {
            Ok((command, resolved, backend)) => self.noted(command, &resolved, backend).await,
            Err(refusal) => {
                self.note_refused(&refusal).await;
                Err(refusal)
            }
        };
        ran.map(|result| shown(&result)).map_err(refused)
    }

    async fn ready(&self, request: ExecRequest) -> Result<(Command, Resolved, Arc<dyn Backend>), Refusal> {
        let ExecRequest { argv, stdin, env, timeout_ms } = request;
        let read = || -> Result<Command, SandboxError> {
            let mut command = Command::new(argv)?.with_input(stdin.0.into())?;
            command.env = env.into_iter().collect();
            if let Some(ms) = timeout_ms {
                command = command.with_timeout(Duration::from_millis(ms))?;
            }
            command.check()?;
            Ok(command)
        };
        let command = read()?;
        let world = &self.core.inner.world;
        let rules = Rules { settings: &world.settings.sandbox, own: Vec::new() };
        let wish = SandboxWish { network: Some("none".to_owned()), ..SandboxWish::default() };
        let resolved = resolve(&wish, &rules, Origin::Wire, None, &self.correlation)?;
        let backend = resolved.pick(&self.core.inner.sandboxes.backends).await?;
        Ok((command, resolved, backend))
    }

    fn entry(&self, actor: &Actor, tool: Option<&ToolRef>) -> Result<Entry, Refusal> {
        let call_id = new_id().map_err(|error| Refusal::new(error.code(), error.to_string()))?;
        Ok(Entry {
            call_id: Some(call_id),
            correlation_id: Some(self.correlation.clone()),
            tool: tool.cloned(),
            ..Entry::new(Kind::Outcome, journal::actor(actor), "exec")
        })
    }

    /// Runs a command between an intent and an outcome.
    async fn noted(
        &self,
        command: Command,
        resolved: &Resolved,
        backend: Arc<dyn Backend>,
    ) -> Result<ExecResult, Refusal> {
        let Some((actor, tool)) = &self.noted else { return self.attended(command, resolved, backend).await };
        let mut entry = self.entry(actor, tool.as_ref())?;
        let mut arguments = command_told(&command, resolved.spec().env.values());
        if let Value::Object(said) = &mut arguments {
            said.insert("sandbox".to_owned(), spec_told(resolved.spec()));
        }
        entry.arguments = Some(bounded(&masked(&self.core, arguments)));
        entry.backend = Some(backend_told(backend.as_ref()));
        self.core.append(Entry { kind: Kind::Intent, ..entry.clone() }, Durability::Process).await?;
        let mut open = Open { core: &self.core, entry: Some(entry) };
        let ran = self.attended(command, resolved, backend).await;
        let Some(mut entry) = open.entry.take() else { return ran };
        let outcome = match &ran {
            Ok(result) => {
                entry.usage = Some(usage_told(&result.usage));
                result_told(result)
            }
            Err(refusal) => json!({"ok": false, "code": refusal.code, "message": refusal.message}),
        };
        self.core.append(told(entry, bounded(&outcome)), Durability::Process).await?;
        ran
    }

    async fn note_refused(&self, refusal: &Refusal) {
        let Some((actor, tool)) = &self.noted else { return };
        let Ok(entry) = self.entry(actor, tool.as_ref()) else { return };
        let outcome = json!({"ok": false, "code": refusal.code, "message": refusal.message});
        // Nothing ran; where the record cannot be written, the call's own outcome tells of that.
        let _written = self.core.append(told(entry, outcome), Durability::Process).await;
    }

    async fn attended(
        &self,
        command: Command,
        resolved: &Resolved,
        backend: Arc<dyn Backend>,
    ) -> Result<ExecResult, Refusal> {
        let sandbox = resolved.create(backend.as_ref()).await?;
        let result = attend(sandbox.as_ref(), command, &Mute, Keep::Captured, self.correlation.clone()).await;
        sandbox.terminate().await?;
        Ok(result?)
    }
}

impl Executor for InSandboxes {
    fn exec(
        &self,
        request: ExecRequest,
    ) -> Pin<Box<dyn Future<Output = Result<String, Refused>> + Send + '_>> {
        Box::pin(self.run(request))
    }
}

/// Puts on the record how a command ended whose call went away.
struct Open<'a> {
    core: &'a Core,
    entry: Option<Entry>,
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        let Some(entry) = self.entry.take() else { return };
        let (core, entry) = (self.core.clone(), journal::ended(entry, ErrorCode::Cancelled));
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            let late = self.core.inner.late.clone();
            late.spawn_on(async move { core.append(entry, Durability::Process).await }, &runtime);
        }
    }
}

/// What code gets to know.
fn shown(result: &ExecResult) -> String {
    let Value::Object(all) = json!(result) else { return "{}".to_owned() };
    let told = all.into_iter().filter(|(key, _)| TOLD.contains(&key.as_str()));
    Value::Object(told.collect::<Map<_, _>>()).to_string()
}

fn refused(refusal: Refusal) -> Refused {
    let reason = match refusal.code {
        ErrorCode::InvalidInput => "no-command",
        ErrorCode::Unenforceable => "unenforceable",
        ErrorCode::Forbidden => "forbidden",
        _ => "no-sandbox",
    };
    let told = Refused::failed(refusal.code, reason, refusal.message);
    refusal.hint.into_iter().fold(told, Refused::with_hint)
}
