//! The runtime: cells, and the baseline under which they run what comes without a policy of its own.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bailiwick_cell::{
    Breadth, Busy, CallError, Cells, Check, Demand, FLOOR, Finding, Given, Options, Probe, ProbeResult,
    StartError, Tenant,
};
use bailiwick_policy::{Baseline, Conflicts, EffectivePolicy, resolve, risk};
use bailiwick_types::{CallId, CallReport, ErrorCode, Failure, LogLine, Outcome, Receipt, Tier, Wallpart};

use crate::call::{Call, Validate};
use crate::emit::{Emitted, PureCall};
use crate::report;

/// Makes a [`Runtime`].
///
/// Defaults: the shipped baseline; the numbers of [`Options`]; walls at least as high as the floor.
#[derive(Debug, Clone)]
pub struct Builder {
    baseline: Arc<Baseline>,
    options: Options,
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

    /// Starts the cells. What this machine cannot do is known here.
    pub async fn build(self) -> Result<Runtime, StartError> {
        let Self { baseline, options } = self;
        let cells = Cells::start(options).await?;
        Ok(Runtime { cells, baseline })
    }
}

/// Runs code, each call in a cell of its own. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Runtime {
    cells: Cells,
    baseline: Arc<Baseline>,
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
        Builder { baseline: Arc::new(Baseline::shipped()), options: Options::default() }
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
        mut on_line: impl FnMut(LogLine) + Send,
    ) -> Result<CallReport, RunError> {
        let policy = self.policy_of(&call)?;
        let check = match call.validate {
            Validate::No => Check::Skip,
            Validate::First => Check::First,
        };
        let (tenant, correlation) = (call.tenant.clone(), call.correlation.clone());
        let call_id = new_id()?;
        let correlation = correlation.unwrap_or_else(|| call_id.into());
        let badge = risk(&policy, policy.baseline());
        let report = |outcome, walls| {
            CallReport::new(outcome, call_id, correlation, badge, Receipt::new(Tier::Process, walls, FLOOR))
        };
        let job = match call.job(&policy, check) {
            Ok(job) => job,
            // Nothing ran, so these are the walls that would have stood.
            Err(failure) => {
                let walls = self.walls(&tenant).await.map_err(CallError::from)?;
                return Ok(report(Outcome::Failed(failure), walls));
            }
        };
        let mut ended = self.cells.call(&tenant, job, &mut on_line).await?;
        let outcome = report::outcome(&mut ended, &policy);
        Ok(report(outcome, std::mem::take(&mut ended.walls))
            .with_usage(ended.usage)
            .with_logs(Vec::new(), ended.logs_dropped))
    }

    /// Runs a pure function.
    pub async fn emit(&self, call: PureCall) -> Result<Emitted, CallError> {
        let tenant = call.tenant.clone();
        let ended = self.cells.call(&tenant, call.job(), &mut |_| {}).await?;
        Ok(Emitted::of(ended.result))
    }

    /// Validates code without running it, in a cell: parsers of strangers' code run nowhere else.
    pub async fn validate(&self, call: Call) -> Result<Result<Vec<Finding>, Box<Failure>>, RunError> {
        let policy = self.policy_of(&call)?;
        let tenant = call.tenant.clone();
        let job = match call.job(&policy, Check::Only) {
            Ok(job) => job,
            Err(failure) => return Ok(Err(failure)),
        };
        let ended = self.cells.call(&tenant, job, &mut |_| {}).await?;
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

/// A name for a call that no other call has.
fn new_id() -> Result<CallId, RunError> {
    #[expect(clippy::disallowed_methods, reason = "the time in an id is read where the id is made")]
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let mut random = [0; 10];
    bailiwick_cell::random(&mut random).map_err(|errno| RunError::NoRandomness(errno.into()))?;
    Ok(CallId::from_parts(u64::try_from(now.as_millis()).unwrap_or(u64::MAX), &random))
}
