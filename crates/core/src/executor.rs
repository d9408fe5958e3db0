//! `sandbox.exec` of code: each command in a sandbox of its own that is gone with it, on the record beside its call.
//!
//! The sandbox has no network, nothing of the host but its programs, the operator's preset and at least the operator's
//! floor: what code may widen for itself is the command, and nothing of where it runs.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use bailiwick_audit::{Entry, Kind, ToolRef};
use bailiwick_config::SandboxSettings;
use bailiwick_runtime::Executor;
use bailiwick_sandbox::{Backend, Backends, Command, Doing, ExecResult, SandboxError};
use bailiwick_store::Durability;
use bailiwick_types::{CorrelationId, ErrorCode, ExecRequest, Refused};
use serde_json::{Map, Value, json};
use tokio::sync::Semaphore;

use crate::journal::told;
use crate::pipeline::bounded;
use crate::sandboxes::{
    ExecIntent, ExecOutcome, Keep, Resolved, Rules, SandboxWish, attend, exec_entry, resolve,
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

/// Where the commands of one call run, and how they come on the record.
pub trait Lends: Send + Sync {
    /// What the operator says about sandboxes.
    fn settings(&self) -> &SandboxSettings;

    /// What makes them.
    fn backends(&self) -> &Backends;

    /// Puts a command on the record; it begins only after that.
    fn begins(&self, intent: ExecIntent) -> Doing<'_, Result<(), Refusal>>;

    /// Puts on the record how one ended.
    fn ended(&self, outcome: ExecOutcome) -> Doing<'_, Result<(), Refusal>>;

    /// The same of one whose call went away, so that nobody waits for it.
    fn left(&self, outcome: ExecOutcome);
}

/// Runs the commands of one call.
pub struct InSandboxes<L> {
    lends: L,
    correlation: CorrelationId,
    begun: AtomicU32,
    slots: Semaphore,
}

impl<L: Lends> InSandboxes<L> {
    /// For a call with this correlation.
    pub fn new(lends: L, correlation: CorrelationId) -> Self {
        Self { lends, correlation, begun: AtomicU32::new(0), slots: Semaphore::new(AT_ONCE) }
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
            Err(refusal) => self.note_refused(&refusal).await.and(Err(refusal)),
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
        let rules = Rules::without_mounts(self.lends.settings());
        let wish = SandboxWish { network: Some("none".to_owned()), ..SandboxWish::default() };
        let resolved = resolve(&wish, &rules, Origin::Wire, None, &self.correlation)?;
        let backend = resolved.pick(self.lends.backends()).await?;
        Ok((command, resolved, backend))
    }

    /// Runs a command between an intent and an outcome.
    async fn noted(
        &self,
        command: Command,
        resolved: &Resolved,
        backend: Arc<dyn Backend>,
    ) -> Result<ExecResult, Refusal> {
        let intent = ExecIntent::of(resolved.spec(), &command, &backend, Some(self.correlation.clone()))?;
        self.lends.begins(intent.clone()).await?;
        let mut open = Open { lends: &self.lends, intent: Some(intent) };
        let ran = self.attended(command, resolved, backend).await;
        if let Some(intent) = open.intent.take() {
            self.lends.ended(ExecOutcome::of(intent, &ran)).await?;
        }
        ran
    }

    /// Nothing ran, and that is on the record, too.
    async fn note_refused(&self, refusal: &Refusal) -> Result<(), Refusal> {
        self.lends.ended(ExecOutcome::of_refused(self.correlation.clone(), refusal)?).await
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

impl<L: Lends> Executor for InSandboxes<L> {
    fn exec(
        &self,
        request: ExecRequest,
    ) -> Pin<Box<dyn Future<Output = Result<String, Refused>> + Send + '_>> {
        Box::pin(self.run(request))
    }
}

/// Puts on the record how a command ended whose call went away.
struct Open<'a, L: Lends> {
    lends: &'a L,
    intent: Option<ExecIntent>,
}

impl<L: Lends> Drop for Open<'_, L> {
    fn drop(&mut self) {
        if let Some(intent) = self.intent.take() {
            self.lends.left(ExecOutcome::of_left(intent));
        }
    }
}

/// The sandboxes of a core, lent to one of its calls.
pub(crate) struct OfCore {
    core: Core,
    /// Whose commands they are, where they go on the record.
    noted: Option<(Actor, Option<ToolRef>)>,
}

impl OfCore {
    /// To a call that is on the record.
    pub(crate) fn to_call(core: &Core, actor: &Actor, tool: Option<ToolRef>) -> Self {
        Self { core: core.clone(), noted: Some((actor.clone(), tool)) }
    }

    /// To a run of a pass.
    pub(crate) fn to_pass(core: &Core) -> Self {
        Self { core: core.clone(), noted: None }
    }

    fn intent(&self, intent: ExecIntent) -> Option<Entry> {
        let (actor, tool) = self.noted.as_ref()?;
        Some(Entry { tool: tool.clone(), ..exec_entry(&self.core, actor, Kind::Intent, intent) })
    }

    fn outcome(&self, outcome: ExecOutcome) -> Option<Entry> {
        let ExecOutcome { intent, outcome, usage } = outcome;
        // Its intent holds the arguments.
        let entry = self.intent(ExecIntent { arguments: Value::Null, ..intent })?;
        Some(told(Entry { kind: Kind::Outcome, usage: Some(usage), ..entry }, bounded(&outcome)))
    }

    async fn append(&self, entry: Option<Entry>) -> Result<(), Refusal> {
        match entry {
            Some(entry) => self.core.append(entry, Durability::Process).await.map(drop),
            None => Ok(()),
        }
    }
}

impl Lends for OfCore {
    fn settings(&self) -> &SandboxSettings {
        &self.core.inner.world.settings.sandbox
    }

    fn backends(&self) -> &Backends {
        &self.core.inner.sandboxes.backends
    }

    fn begins(&self, intent: ExecIntent) -> Doing<'_, Result<(), Refusal>> {
        Box::pin(self.append(self.intent(intent)))
    }

    fn ended(&self, outcome: ExecOutcome) -> Doing<'_, Result<(), Refusal>> {
        Box::pin(self.append(self.outcome(outcome)))
    }

    fn left(&self, outcome: ExecOutcome) {
        let Some(entry) = self.outcome(outcome) else { return };
        let core = self.core.clone();
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
