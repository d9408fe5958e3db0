//! One call in one cell, from the host's side: the deadline, the bounds on what it may say, and its end.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bailiwick_sys::seccomp;
use bailiwick_types::{ErrorCode, Failure, LogLine, Usage, Wallpart};
use bailiwick_wire::{
    Check, Finding, Given as Claimed, Job, JobLimits, Probe, Report, ToCell, Trace, encode,
};
use serde_json::Value;
use tokio::time::timeout_at;

use super::gateway::{Gateway, Standstill};
use super::nest::Leased;
use super::talk::{Last, Served, Talk};
use super::{CallError, failure};
use crate::ending::Silence;

/// The cell keeps its own deadline and says what it used; this much later the host ends it whatever it does.
const GRACE: Duration = Duration::from_millis(4);

/// Room in a frame beside the result or a line: the rest of a report.
const BESIDE: u64 = 256 * 1024;

/// The longest effect: a file at its cap, or a request's body, and what is said about it.
const LONGEST_EFFECT: u64 = 12 * 1024 * 1024;

/// The longest name of a missing global that is worth repeating.
const LONGEST_NAME: usize = 200;

/// The most values of a result. Text of a few bytes can be a value of a hundred, and the host has to hold them all.
const MOST_VALUES: usize = 250_000;

/// How a call ended.
#[derive(Debug)]
pub struct Ended {
    /// What it gave, or why it gave nothing.
    pub result: Result<Given, Box<Failure>>,
    /// What it used.
    pub usage: Usage,
    /// Console lines beyond the limits.
    pub logs_dropped: u64,
    /// The walls that were seen to stand around this very cell.
    pub walls: Vec<Wallpart>,
    /// The global that the code wanted and that is not there, by the cell's account.
    pub missing: Option<String>,
    /// The trace, if one was wanted.
    pub trace: Option<Box<Trace>>,
}

/// What a call gave.
#[derive(Debug, Clone, PartialEq)]
pub enum Given {
    /// A value.
    Value(Value),
    /// What `emit` gathered.
    Output {
        /// The text, cut at the limit.
        text: String,
        /// Whether there was more.
        over: bool,
    },
    /// What validation found; nothing was run.
    Findings(Vec<Finding>),
}

/// How a deliberate misdeed went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProbeResult {
    /// The filter stopped it; the system call is named.
    Trapped(String),
    /// The cell ended, by this.
    Ended(&'static str),
    /// Nothing stopped it; the kernel gave this, or the negative of its error.
    WentThrough(i64),
}

/// A job, ready to be sent.
pub(super) struct Order {
    frame: Vec<u8>,
    limits: JobLimits,
    /// Whether findings were asked for.
    checked: bool,
}

impl Order {
    pub(super) fn new(job: Job) -> Result<Self, CallError> {
        let (limits, checked) = (job.limits, job.check != Check::Skip);
        let frame = encode(&ToCell::Start(Box::new(job))).map_err(|_| CallError::Unsendable)?;
        Ok(Self { frame, limits, checked })
    }
}

/// Runs one job in one cell; none when the cell was dead before it could read any of it.
pub(super) async fn run(
    cell: Leased,
    order: &Order,
    gateway: Option<&dyn Gateway>,
    on_line: &mut (dyn FnMut(LogLine) + Send),
) -> Option<Ended> {
    let Order { frame, limits, checked } = order;
    let limits = *limits;
    let started = Instant::now();
    let standstill = gateway.map(|_| Standstill::new(Arc::clone(&cell.pidfd)));
    let mut lines =
        Lines { limits, count: 0, bytes: 0, dropped: 0, started, standstill: standstill.clone(), on_line };
    let deadline = started + Duration::from_millis(limits.wall_ms) + GRACE;
    let served = gateway.zip(standstill.as_ref()).map(|(gateway, standstill)| Served { gateway, standstill });
    let mut talk = Talk { cell: &cell, lines: &mut lines, served, refusals: BTreeMap::new() };
    let bound = bound(limits, gateway.is_some());
    let last = match &standstill {
        None => timeout_at(deadline.into(), talk.run(frame, bound)).await.unwrap_or(Last::Late),
        Some(standstill) => within(talk.run(frame, bound), deadline, standstill).await,
    };
    let mut refusals = std::mem::take(&mut talk.refusals);
    if matches!(last, Last::Late) {
        cell.kill();
    }
    let stood = standstill.as_ref().map_or(Duration::ZERO, Standstill::total);
    let wall_ms = started.elapsed().saturating_sub(stood).as_secs_f64() * 1000.0;
    let mut usage = Usage { wall_ms, ..Usage::default() };
    let mut logs_dropped = lines.dropped;
    let (mut missing, mut trace) = (None, None);
    let result = match last {
        Last::Done(report) => {
            let Report { given, usage: used, logs_dropped: dropped, trace: traced } = *report;
            trace = traced;
            usage.cpu_ms = micros_to_ms(used.cpu_us);
            usage.steps = used.steps;
            usage.memory_peak = used.memory_peak;
            logs_dropped = logs_dropped.saturating_add(dropped);
            let mut refused = None;
            if let Claimed::Trouble(trouble) = &given {
                missing = trouble.missing.clone().filter(|name| name.len() <= LONGEST_NAME);
                // It says which; what happened there is known here.
                refused = trouble.refusal.and_then(|id| refusals.remove(&id));
            }
            match (believe(given, limits, *checked), refused) {
                (Err(told), Some(refused)) if told.code == ErrorCode::EvalError => {
                    let Failure { location, stack, .. } = *told;
                    Err(Box::new(Failure { location, stack, ..refused.into_failure() }))
                }
                (believed, _) => believed,
            }
        }
        Last::Violation(number) => Err(Box::new(failure::violation(seccomp::name(number), number))),
        Last::Late => Err(Box::new(failure::late(limits))),
        Last::NeverBegan => return None,
        Last::Probed(_) | Last::Silent { garbled: true } => Err(Box::new(failure::garbled())),
        Last::Silent { garbled: false } => Err(Box::new(match cell.nest.ending(cell.serial).await {
            Some(ending) => match Silence::of(ending) {
                Silence::Killed if !cell.nest.was_out_of_memory() => failure::killed(),
                silence => failure::silence(silence, limits),
            },
            None => failure::nursery_died(),
        })),
    };
    Some(Ended { result, usage, logs_dropped, walls: cell.nest.walls().to_vec(), missing, trace })
}

/// Waits for the talk to end, up to a deadline that moves on while the cell stands still.
async fn within(talk: impl Future<Output = Last>, deadline: Instant, standstill: &Standstill) -> Last {
    let mut talk = std::pin::pin!(talk);
    let mut changes = standstill.changes();
    loop {
        let is_still = standstill.is_still();
        let until = deadline + standstill.total();
        tokio::select! {
            last = &mut talk => return last,
            _ = changes.changed() => {}
            () = tokio::time::sleep_until(until.into()), if !is_still => return Last::Late,
        }
    }
}

/// Has a cell try to break its wall.
pub(super) async fn probe(cell: Leased, probe: Probe) -> Result<ProbeResult, CallError> {
    let frame = encode(&ToCell::Probe(probe)).map_err(|_| CallError::Unsendable)?;
    let limits = JobLimits {
        wall_ms: 5000,
        cpu_ms: None,
        steps: None,
        memory: 0,
        stack: 0,
        result: 0,
        console_lines: 0,
        console_bytes: 0,
    };
    let mut ignore = |_: LogLine| {};
    let started = Instant::now();
    let mut lines =
        Lines { limits, count: 0, bytes: 0, dropped: 0, started, standstill: None, on_line: &mut ignore };
    let deadline = started + Duration::from_millis(limits.wall_ms);
    let mut talk = Talk { cell: &cell, lines: &mut lines, served: None, refusals: BTreeMap::new() };
    let talk = talk.run(&frame, bound(limits, false));
    Ok(match timeout_at(deadline.into(), talk).await.unwrap_or(Last::Late) {
        Last::Violation(number) => ProbeResult::Trapped(
            seccomp::name(number).map_or_else(|| format!("system call {number}"), str::to_owned),
        ),
        Last::Probed(result) => ProbeResult::WentThrough(result),
        Last::Late => ProbeResult::Ended("the deadline"),
        Last::NeverBegan => ProbeResult::Ended("a death before its turn"),
        Last::Done(_) | Last::Silent { garbled: true } => ProbeResult::Ended("nonsense"),
        Last::Silent { garbled: false } => match cell.nest.ending(cell.serial).await.map(Silence::of) {
            Some(Silence::Fault(what)) => ProbeResult::Ended(what),
            Some(Silence::Violation) => ProbeResult::Trapped("an unnamed system call".to_owned()),
            Some(Silence::Allocation) => ProbeResult::Ended("a failed allocation"),
            Some(Silence::NestedTooDeep) => ProbeResult::Ended("source nested too deep"),
            Some(Silence::Cpu) => ProbeResult::Ended("the bound on CPU time"),
            Some(Silence::Killed) => ProbeResult::Ended("a kill"),
            None => ProbeResult::Ended("the end of its nursery"),
        },
    })
}

/// The longest frame that a cell with these limits has a reason to send.
fn bound(limits: JobLimits, has_effects: bool) -> usize {
    let effect = if has_effects { LONGEST_EFFECT } else { 0 };
    let longest = limits.result.max(limits.console_bytes).max(effect).saturating_add(BESIDE);
    usize::try_from(longest).unwrap_or(usize::MAX)
}

/// Turns what a cell claims into what a caller gets.
fn believe(claimed: Claimed, limits: JobLimits, checked: bool) -> Result<Given, Box<Failure>> {
    let within = |text: &str| text.len() as u64 <= limits.result;
    match claimed {
        Claimed::Value(text) if within(&text) => {
            if values_in(&text) > MOST_VALUES {
                return Err(Box::new(failure::too_many_values(MOST_VALUES)));
            }
            // Bounded in depth by the parser itself.
            serde_json::from_str(&text).map(Given::Value).map_err(|_| Box::new(failure::garbled()))
        }
        Claimed::Output { text, over } if within(&text) => Ok(Given::Output { text, over }),
        Claimed::Findings(findings) if checked => Ok(Given::Findings(findings)),
        Claimed::Value(_) | Claimed::Output { .. } | Claimed::Findings(_) => {
            Err(Box::new(failure::garbled()))
        }
        Claimed::Trouble(trouble) => Err(Box::new(failure::trouble(*trouble, limits))),
    }
}

/// How many values a JSON text holds, or a few more: what separates them is counted, outside of texts.
fn values_in(text: &str) -> usize {
    let (mut count, mut in_text, mut escaped) = (1, false, false);
    for byte in text.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = in_text,
            b'"' => in_text = !in_text,
            b',' | b'[' | b'{' if !in_text => count += 1,
            _ => {}
        }
    }
    count
}

/// The console lines of a call, bounded once more on this side.
pub(super) struct Lines<'a> {
    limits: JobLimits,
    count: u64,
    bytes: u64,
    dropped: u64,
    started: Instant,
    /// What the lines' times leave out.
    standstill: Option<Standstill>,
    on_line: &'a mut (dyn FnMut(LogLine) + Send),
}

impl Lines<'_> {
    /// How many were too many.
    pub(super) const fn dropped(&self) -> u64 {
        self.dropped
    }

    pub(super) fn take(&mut self, level: bailiwick_types::LogLevel, text: String) {
        let bytes = self.bytes.saturating_add(text.len() as u64);
        if self.count >= self.limits.console_lines || bytes > self.limits.console_bytes {
            self.dropped = self.dropped.saturating_add(1);
            return;
        }
        self.count += 1;
        self.bytes = bytes;
        let stood = self.standstill.as_ref().map_or(Duration::ZERO, Standstill::total);
        let at = self.started.elapsed().saturating_sub(stood);
        let at = u64::try_from(at.as_millis()).unwrap_or(u64::MAX);
        (self.on_line)(LogLine { level, text, at });
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "microseconds of a call are far below where floats get coarse"
)]
fn micros_to_ms(micros: u64) -> f64 {
    micros as f64 / 1000.0
}
