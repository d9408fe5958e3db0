//! The runtime: cells, and the baseline under which they run what comes without a policy of its own.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bailiwick_cell::{
    Breadth, Busy, CallError, Cells, Check, Demand, FLOOR, Finding, Gateway, Given, Options, Probe,
    ProbeResult, StartError, Tenant, Tracing,
};
use bailiwick_gateway::net::{Canned, Net, Transport};
use bailiwick_gateway::person::{Nobody, Person};
use bailiwick_policy::{Baseline, Conflicts, EffectivePolicy, resolve, risk};
use bailiwick_redact::Redactor;
use bailiwick_types::{
    CallId, CallReport, ErrorCode, Failure, LogLine, Outcome, Receipt, Tier, WallStatus, Wallpart,
};

use crate::call::{Call, Validate};
use crate::effects::recording::{RecordedCall, Recording, Veil};
use crate::effects::{self, Effects, Folders, World};
use crate::emit::{Emitted, PureCall};
use crate::secret::{self, Redactors, SecretStatic};
use crate::{redaction, report};

/// Makes a [`Runtime`].
///
/// Defaults: the shipped baseline; the numbers of [`Options`]; walls at least as high as the floor.
#[derive(Clone)]
pub struct Builder {
    baseline: Arc<Baseline>,
    options: Options,
    outside: Surroundings,
}

/// The part of the world that calls are offered.
#[derive(Clone)]
struct Surroundings {
    net: Option<Arc<Net>>,
    folders: Option<Folders>,
    person: Arc<dyn Person>,
    ask_deadline: Duration,
}

impl std::fmt::Debug for Surroundings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Surroundings")
            .field("net", &self.net)
            .field("folders", &self.folders)
            .finish_non_exhaustive()
    }
}

impl std::fmt::Debug for Builder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Builder")
            .field("options", &self.options)
            .field("outside", &self.outside)
            .finish_non_exhaustive()
    }
}

impl Builder {
    /// The operator's baseline, with its profiles and ceilings.
    #[must_use]
    pub fn baseline(mut self, baseline: Arc<Baseline>) -> Self {
        self.baseline = baseline;
        self
    }

    /// Cells kept ready ahead of need.
    #[must_use]
    pub fn parked(mut self, cells: usize) -> Self {
        self.options.parked = cells;
        self
    }

    /// Calls that run at once, and calls that may wait for their turn.
    #[must_use]
    pub fn at_once(mut self, running: usize, waiting: usize) -> Self {
        self.options.at_once = running;
        self.options.waiting = waiting;
        self
    }

    /// Memory of all calls of a tenant together, where a cgroup can be had; `None` makes no cgroup.
    #[must_use]
    pub fn memory(mut self, bytes: Option<u64>) -> Self {
        self.options.memory = bytes;
        self
    }

    /// Tenants whose nurseries are kept at once.
    #[must_use]
    pub fn tenants(mut self, most: usize) -> Self {
        self.options.tenants = most;
        self
    }

    /// How long a call waits for its turn before it is told `BUSY`.
    #[must_use]
    pub fn patience(mut self, patience: Duration) -> Self {
        self.options.patience = patience;
        self
    }

    /// When a nursery is replaced.
    #[must_use]
    pub fn renew_after(mut self, calls: u64, age: Duration) -> Self {
        self.options.calls_per_nursery = calls;
        self.options.nursery_age = age;
        self
    }

    /// How much of the engine is built ahead: less for a program that makes one call and ends.
    #[must_use]
    pub fn breadth(mut self, breadth: Breadth) -> Self {
        self.options.breadth = breadth;
        self
    }

    /// What is demanded of the walls.
    #[must_use]
    pub fn demand(mut self, demand: Demand) -> Self {
        self.options.demand = demand;
        self
    }

    /// The network that requests go to. Without one there is none, whatever a policy grants.
    #[must_use]
    pub fn net(mut self, net: Arc<Net>) -> Self {
        self.outside.net = Some(net);
        self
    }

    /// Where workspaces are. Without it there are no files, whatever a policy grants.
    #[must_use]
    pub fn folders(mut self, folders: Folders) -> Self {
        self.outside.folders = Some(folders);
        self
    }

    /// Who is asked where a grant says `ask`, and how long one call waits for answers in all. Without it nobody is,
    /// and every such effect is refused.
    #[must_use]
    pub fn person(mut self, person: Arc<dyn Person>, deadline: Duration) -> Self {
        self.outside.person = person;
        self.outside.ask_deadline = deadline;
        self
    }

    /// Starts the cells. What this machine cannot do is known here.
    pub async fn build(self) -> Result<Runtime, StartError> {
        let Self { baseline, options, outside } = self;
        let cells = Cells::start(options).await?;
        Ok(Runtime { cells, baseline, outside, redactors: Arc::default() })
    }
}

/// Runs code, each call in a cell of its own. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Runtime {
    cells: Cells,
    baseline: Arc<Baseline>,
    outside: Surroundings,
    redactors: Arc<Redactors>,
}

/// A call and the recording of it.
#[derive(Debug)]
pub struct Recorded {
    /// What the call gave.
    pub report: CallReport,
    /// The recording; none of a call that was ended from outside before it could tell how it went, and none of one that
    /// asked for and got more than 64 MiB.
    pub recording: Option<Recording>,
}

/// Why a call has no report.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// It was not started.
    #[error(transparent)]
    Call(#[from] CallError),
    /// The baseline contradicts itself.
    #[error("{0}")]
    Conflicts(#[from] Conflicts),
    /// The system has no randomness for the call's id.
    #[error("the system gives no randomness: {0}")]
    NoRandomness(#[source] std::io::Error),
}

impl RunError {
    /// The code of the closed list.
    pub const fn code(&self) -> ErrorCode {
        match self {
            Self::Call(error) => error.code(),
            Self::Conflicts(_) => ErrorCode::Conflict,
            Self::NoRandomness(_) => ErrorCode::Unavailable,
        }
    }
}

impl From<Busy> for RunError {
    fn from(busy: Busy) -> Self {
        Self::Call(busy.into())
    }
}

impl Runtime {
    /// A builder with the defaults.
    pub fn builder() -> Builder {
        Builder {
            baseline: Arc::new(Baseline::shipped()),
            options: Options::default(),
            outside: Surroundings {
                net: None,
                folders: None,
                person: Arc::new(Nobody),
                ask_deadline: Duration::from_mins(2),
            },
        }
    }

    /// Runs a call. Dropping the future kills its cell.
    pub async fn run(&self, call: Call) -> Result<CallReport, RunError> {
        let mut logs = Vec::new();
        let report = self.run_with(call, |line| logs.push(line)).await?;
        Ok(report.with_lines(logs))
    }

    /// Runs a call and hands on console lines as they come; the report has none.
    pub async fn run_with(
        &self,
        call: Call,
        on_line: impl FnMut(LogLine) + Send,
    ) -> Result<CallReport, RunError> {
        Ok(self.perform(call, false, on_line).await?.report)
    }

    /// Runs a call, hands on console lines as they come, and keeps what is needed to give it again.
    pub async fn record_with(
        &self,
        call: Call,
        on_line: impl FnMut(LogLine) + Send,
    ) -> Result<Recorded, RunError> {
        self.perform(call, true, on_line).await
    }

    async fn perform(
        &self,
        mut call: Call,
        record: bool,
        mut on_line: impl FnMut(LogLine) + Send,
    ) -> Result<Recorded, RunError> {
        let policy = self.policy_of(&call)?;
        let check = match call.validate {
            Validate::No => Check::Skip,
            Validate::First => Check::First,
        };
        let (tenant, correlation) = (call.tenant.clone(), call.correlation.clone());
        let call_id = call.id.map_or_else(new_id, Ok)?;
        let correlation = correlation.unwrap_or_else(|| call_id.into());
        let badge = risk(&policy, policy.baseline());
        let report = |outcome, walls| {
            CallReport::new(outcome, call_id, correlation, badge, Receipt::new(Tier::Process, walls, FLOOR))
        };
        let tracing = match &call.replay {
            Some(recording) => Tracing::Replay(Box::new(recording.trace())),
            None if record => Tracing::Record,
            None => Tracing::Off,
        };
        let secrets = std::mem::take(&mut call.secrets);
        let kept = record.then(|| recorded_call(&call, &secrets));
        let prepared = self.prepare(&mut call, &secrets, &policy, record);
        let prepared = prepared.and_then(|prepared| Ok((prepared, call.job(&policy, check, tracing)?)));
        let (Prepared { effects, redactor, placeholders }, job) = match prepared {
            Ok(ready) => ready,
            // Nothing ran, so these are the walls that would have stood.
            Err(failure) => {
                let walls = self.walls(&tenant).await.map_err(CallError::from)?;
                return Ok(Recorded { report: report(Outcome::Failed(failure), walls), recording: None });
            }
        };
        let gateway = effects.as_ref().map(|effects| effects as &dyn Gateway);
        let mut tell = |line| on_line(redaction::line(&redactor, line));
        let mut ended = self.cells.call(&tenant, job, gateway, &mut tell).await?;
        let mut outcome = report::outcome(&mut ended, &policy);
        if let Some(effects) = &effects {
            effects.add_usage(&mut ended.usage);
            ended.walls.extend(effects.is_pinned().map(pinned));
            // Also where the code caught it; where it did not, its own account says where it was.
            let told = |failure: &Failure| failure.code == ErrorCode::ReplayDiverged;
            let is_told = matches!(&outcome, Outcome::Failed(failure) if told(failure));
            if let Some(refused) = effects.diverged().filter(|_| !is_told) {
                outcome = Outcome::Failed(Box::new(refused.into_failure()));
            }
        }
        let outcome = redaction::outcome(&redactor, outcome);
        let recorder = effects.and_then(Effects::recorded).unwrap_or_default();
        let kept = kept.filter(|_| !recorder.is_over());
        let recording = kept.zip(ended.trace.take()).map(|(kept, trace)| {
            let given = match &outcome {
                Outcome::Returned(value) => serde_json::json!({"value": value}),
                Outcome::Failed(failure) => serde_json::json!({"error": failure}),
            };
            let veil = Veil {
                names: secrets.iter().map(|one| (one.secret.name.as_str(), &*one.secret.value)).collect(),
                placeholders: placeholders
                    .iter()
                    .map(|(name, text)| (name.as_str(), text.as_str()))
                    .collect(),
                redactor: &redactor,
            };
            recorder.finish(kept, *trace, given, &veil)
        });
        let report = report(outcome, std::mem::take(&mut ended.walls))
            .with_usage(ended.usage)
            .with_logs(Vec::new(), ended.logs_dropped);
        Ok(Recorded { report, recording })
    }

    /// Puts the secrets of a call in their places, and its world together.
    fn prepare(
        &self,
        call: &mut Call,
        secrets: &[SecretStatic],
        policy: &Arc<EffectivePolicy>,
        record: bool,
    ) -> Result<Prepared, Box<Failure>> {
        let redactor = self.redactors.of(secrets).map_err(|error| secret::unredactable(&error))?;
        let (sealed, placeholders) = secret::sealed(secrets)?;
        let mut named = Vec::new();
        for SecretStatic { variable, secret, seal } in secrets {
            // A recording knows names only.
            let given = if call.replay.is_some() {
                format!("${{{}}}", secret.name())
            } else if seal.is_none() {
                secret.value.expose_secret().to_owned()
            } else {
                let placeholder = placeholders.iter().find(|(name, _)| name == variable);
                let text = placeholder.map_or_else(String::new, |(_, text)| text.clone());
                named.push((secret.name.clone(), text.clone()));
                text
            };
            call.statics.insert(variable.clone(), given.into());
        }
        let Surroundings { net, folders, person, ask_deadline } = self.outside.clone();
        let (person, ask_deadline) = call.person.take().unwrap_or((person, ask_deadline));
        let canned = call.canned.as_ref().map(|http| {
            Canned::parse(http).map(Transport::Canned).map_err(|error| {
                Box::new(Failure {
                    code: ErrorCode::InvalidInput,
                    message: format!("the canned answers cannot be read: {error}"),
                    hint: None,
                    location: None,
                    stack: None,
                    denied: None,
                })
            })
        });
        let effects = Effects::of(World {
            policy: Arc::clone(policy),
            transport: canned.transpose()?.or_else(|| effects::transport(net.as_ref())),
            folders,
            workspace: call.workspace.clone().unwrap_or_else(|| "default".to_owned()),
            person,
            ask_deadline,
            sealed: Arc::new(sealed),
            redactor: redactor.clone(),
            observer: call.observer.clone(),
            keeps_files: call.keeps_files,
            replay: call.replay.clone(),
            record,
            executor: call.executor.take(),
        });
        Ok(Prepared { effects, redactor, placeholders: named })
    }

    /// The same cells with another network.
    #[must_use]
    pub fn with_net(&self, net: Arc<Net>) -> Self {
        let mut other = self.clone();
        other.outside.net = Some(net);
        other
    }

    /// The same cells with their files elsewhere.
    #[must_use]
    pub fn with_folders(&self, folders: Folders) -> Self {
        let mut other = self.clone();
        other.outside.folders = Some(folders);
        other
    }

    /// Runs a pure function.
    pub async fn emit(&self, call: PureCall) -> Result<Emitted, CallError> {
        let tenant = call.tenant.clone();
        let ended = self.cells.call(&tenant, call.job(), None, &mut |_| {}).await?;
        Ok(Emitted::of(ended.result))
    }

    /// Validates code without running it, in a cell: parsers of strangers' code run nowhere else.
    pub async fn validate(&self, call: Call) -> Result<Result<Vec<Finding>, Box<Failure>>, RunError> {
        let policy = self.policy_of(&call)?;
        let tenant = call.tenant.clone();
        let mut call = call;
        // A name is a name, whatever it stands for.
        for one in std::mem::take(&mut call.secrets) {
            call.statics.insert(one.variable, serde_json::Value::Null);
        }
        let job = match call.job(&policy, Check::Only, Tracing::Off) {
            Ok(job) => job,
            Err(failure) => return Ok(Err(failure)),
        };
        let ended = self.cells.call(&tenant, job, None, &mut |_| {}).await?;
        Ok(ended.result.map(|given| match given {
            Given::Findings(findings) => report::told(findings, &policy),
            Given::Value(_) | Given::Output { .. } => Vec::new(),
        }))
    }

    /// Has a fresh cell try to break its wall.
    pub async fn probe(&self, probe: Probe) -> Result<ProbeResult, CallError> {
        self.cells.probe(&Tenant::default(), probe).await
    }

    /// Which walls were seen to stand around a tenant's cells.
    pub async fn walls(&self, tenant: &Tenant) -> Result<Vec<Wallpart>, StartError> {
        self.cells.walls(tenant).await
    }

    /// What could not be had when a tenant's nursery was built, and why.
    pub async fn missing(&self, tenant: &Tenant) -> Result<Vec<String>, StartError> {
        self.cells.missing(tenant).await
    }

    /// Cells of a tenant that are parked, and that are out.
    pub fn count(&self, tenant: &Tenant) -> (usize, usize) {
        self.cells.count(tenant)
    }

    /// Kills a tenant's nursery, to see that calls go on afterwards.
    pub fn kill_nursery(&self, tenant: &Tenant) {
        self.cells.kill_nursery(tenant);
    }

    fn policy_of(&self, call: &Call) -> Result<Arc<EffectivePolicy>, Conflicts> {
        match &call.policy {
            Some(policy) => Ok(Arc::clone(policy)),
            None => resolve(&self.baseline, None, None).map(Arc::new),
        }
    }
}

/// What a call runs with beside its job.
struct Prepared {
    effects: Option<Effects>,
    redactor: Redactor,
    /// Sealed secrets by name, each with what the code has in its place.
    placeholders: Vec<(String, String)>,
}

/// What a recording keeps of a call: secrets by their names only.
fn recorded_call(call: &Call, secrets: &[SecretStatic]) -> RecordedCall {
    let mut statics = call.statics.clone();
    for SecretStatic { variable, secret, .. } in secrets {
        statics.insert(variable.clone(), format!("${{{}}}", secret.name()).into());
    }
    RecordedCall {
        entry: call.entry,
        language: call.language,
        source: call.source.clone(),
        arguments: call.arguments.clone(),
        statics,
        parameters: call.parameters.clone(),
        input: call.input.clone(),
    }
}

/// What a receipt says about the addresses of requests.
fn pinned(is_pinned: bool) -> Wallpart {
    let (mechanism, status) = if is_pinned {
        ("connected to the address that was checked", WallStatus::Enforced)
    } else {
        ("the operator's proxy resolves names", WallStatus::Absent)
    };
    Wallpart { demand: "addresses pinned".to_owned(), mechanism: mechanism.to_owned(), status }
}

/// A name for a call that no other call has.
pub fn new_id() -> Result<CallId, RunError> {
    #[expect(clippy::disallowed_methods, reason = "the time in an id is read where the id is made")]
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let mut random = [0; 10];
    bailiwick_cell::random(&mut random).map_err(|errno| RunError::NoRandomness(errno.into()))?;
    Ok(CallId::from_parts(u64::try_from(now.as_millis()).unwrap_or(u64::MAX), &random))
}
