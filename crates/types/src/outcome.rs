//! What a call gave: the guest's outcome as a value, what was used, which walls stood.
//!
//! An outcome is not an error of ours: a guest that throws or runs out of time is a normal result.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{CallId, CorrelationId, Denial, ErrorCode, Risk, Tier};

/// How a call ended.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// The code returned this value.
    Returned(Value),
    /// The code did not start or did not end well.
    Failed(Box<Failure>),
}

/// Why a call has no value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Failure {
    /// What kind of failure.
    pub code: ErrorCode,
    /// What happened, for people.
    pub message: String,
    /// What to do next.
    pub hint: Option<String>,
    /// Where in the author's code.
    pub location: Option<Location>,
    /// The stack in the author's code.
    pub stack: Option<String>,
    /// The denial, when policy said no.
    pub denied: Option<Denial>,
}

impl Failure {
    /// The stable word of the refusal that ended the call: `host-not-allowed`, `timeout`, `no-canned-answer`.
    ///
    /// Only of what the host refused by its own account: a text that code threw may end in any word.
    pub fn reason(&self) -> Option<&str> {
        if let Some(denied) = &self.denied {
            return Some(denied.reason.word());
        }
        let refused = matches!(
            self.code,
            ErrorCode::NetFailed | ErrorCode::FsFailed | ErrorCode::FetchLimit | ErrorCode::DiskLimit
        );
        let (_, word) = self.message.strip_suffix(')').filter(|_| refused)?.rsplit_once(" (")?;
        let plain = !word.is_empty() && word.bytes().all(|b| b.is_ascii_lowercase() || b == b'-');
        plain.then_some(word)
    }
}

/// A place in the author's code, counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Location {
    /// The line.
    pub line: u32,
    /// The column.
    pub column: u32,
}

/// The level of a console line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogLevel {
    /// `console.debug`
    Debug,
    /// `console.log`
    Log,
    /// `console.info`
    Info,
    /// `console.warn`
    Warn,
    /// `console.error`
    Error,
}

/// One line the guest wrote to its console.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogLine {
    /// Its level.
    pub level: LogLevel,
    /// Its text, redacted.
    pub text: String,
    /// Milliseconds since the call started.
    pub at: u64,
}

/// What a call used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Usage {
    /// Wall-clock time in milliseconds.
    pub wall_ms: f64,
    /// CPU time in milliseconds.
    pub cpu_ms: f64,
    /// Loop turns and calls.
    pub steps: u64,
    /// The most memory it held, in bytes.
    pub memory_peak: u64,
    /// Requests made.
    pub fetches: u32,
    /// Bytes received for it.
    pub bytes_in: u64,
    /// Bytes sent for it.
    pub bytes_out: u64,
}

/// Which walls stood around a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Receipt {
    /// The tier of the wall.
    pub tier: Tier,
    /// Each demand and what held it.
    pub walls: Vec<Wallpart>,
    /// Set when the walls are below the floor and the operator wanted to run nevertheless.
    #[serde(default, skip_serializing_if = "is_secure")]
    pub insecure: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
const fn is_secure(insecure: &bool) -> bool {
    !*insecure
}

impl Receipt {
    /// A receipt; it is `insecure` when one of the demands of the floor has nothing that holds it.
    pub fn new(tier: Tier, walls: Vec<Wallpart>, floor: &[&str]) -> Self {
        let stands = |demand: &&str| {
            walls.iter().any(|wall| wall.demand == **demand && wall.status == WallStatus::Enforced)
        };
        let insecure = !floor.iter().all(stands);
        Self { tier, walls, insecure }
    }
}

/// One demand, and what was seen to hold it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wallpart {
    /// What was demanded: `no network`.
    pub demand: String,
    /// What holds it: `net namespace`.
    pub mechanism: String,
    /// Whether it was seen to stand.
    pub status: WallStatus,
}

/// Whether a part of a wall stands. There is no "logged only".
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WallStatus {
    /// It stands.
    Enforced,
    /// It stands in part; the mechanism says which.
    Partial,
    /// It is not there.
    Absent,
}

/// The result of a call as every interface gives it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", try_from = "Written")]
pub struct CallReport {
    ok: bool,
    value: Value,
    error: Option<Box<Failure>>,
    logs: Vec<LogLine>,
    logs_dropped: u64,
    usage: Usage,
    risk: Risk,
    receipt: Receipt,
    call_id: CallId,
    correlation_id: CorrelationId,
}

/// A report as it was written down; whether it is one is not known yet.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Written {
    ok: bool,
    value: Value,
    error: Option<Box<Failure>>,
    logs: Vec<LogLine>,
    logs_dropped: u64,
    usage: Usage,
    risk: Risk,
    receipt: Receipt,
    call_id: CallId,
    correlation_id: CorrelationId,
}

/// A written report that says both that it went well and that it did not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the report contradicts itself: `ok`, `value` and `error` do not fit together")]
pub struct Contradicts;

impl TryFrom<Written> for CallReport {
    type Error = Contradicts;

    fn try_from(written: Written) -> Result<Self, Contradicts> {
        let Written { ok, value, error, logs, logs_dropped, usage, risk, receipt, call_id, correlation_id } =
            written;
        let outcome = match (ok, error) {
            (true, None) => Outcome::Returned(value),
            (false, Some(failure)) if value.is_null() => Outcome::Failed(failure),
            _ => return Err(Contradicts),
        };
        let report = Self::new(outcome, call_id, correlation_id, risk, receipt);
        Ok(report.with_logs(logs, logs_dropped).with_usage(usage))
    }
}

impl CallReport {
    /// Puts a report together; `ok`, `value` and `error` follow from the outcome and cannot disagree.
    pub fn new(
        outcome: Outcome,
        call_id: CallId,
        correlation_id: CorrelationId,
        risk: Risk,
        receipt: Receipt,
    ) -> Self {
        let (ok, value, error) = match outcome {
            Outcome::Returned(value) => (true, value, None),
            Outcome::Failed(failure) => (false, Value::Null, Some(failure)),
        };
        Self {
            ok,
            value,
            error,
            logs: Vec::new(),
            logs_dropped: 0,
            usage: Usage::default(),
            risk,
            receipt,
            call_id,
            correlation_id,
        }
    }

    /// Adds what the guest wrote, and how many lines were dropped.
    #[must_use]
    pub fn with_logs(mut self, logs: Vec<LogLine>, dropped: u64) -> Self {
        self.logs = logs;
        self.logs_dropped = dropped;
        self
    }

    /// Adds what the call used.
    #[must_use]
    pub fn with_usage(mut self, usage: Usage) -> Self {
        self.usage = usage;
        self
    }

    /// The same call, ended by this failure after its code was done.
    #[must_use]
    pub fn failing(mut self, failure: Failure) -> Self {
        self.ok = false;
        self.value = Value::Null;
        self.error = Some(Box::new(failure));
        self
    }

    /// Adds console lines in front of those it has.
    #[must_use]
    pub fn with_lines(mut self, mut lines: Vec<LogLine>) -> Self {
        lines.append(&mut self.logs);
        self.logs = lines;
        self
    }

    /// Whether the call gave a value.
    pub const fn is_ok(&self) -> bool {
        self.ok
    }

    /// The value; null when there is none.
    pub const fn value(&self) -> &Value {
        &self.value
    }

    /// Why there is no value.
    pub fn failure(&self) -> Option<&Failure> {
        self.error.as_deref()
    }

    /// The console lines.
    pub fn logs(&self) -> &[LogLine] {
        &self.logs
    }

    /// How many console lines were dropped.
    pub const fn logs_dropped(&self) -> u64 {
        self.logs_dropped
    }

    /// What the call used.
    pub const fn usage(&self) -> &Usage {
        &self.usage
    }

    /// The badge it ran under.
    pub const fn risk(&self) -> &Risk {
        &self.risk
    }

    /// The call's id.
    pub const fn call_id(&self) -> CallId {
        self.call_id
    }

    /// What caused it.
    pub const fn correlation_id(&self) -> &CorrelationId {
        &self.correlation_id
    }

    /// Which walls stood.
    pub const fn receipt(&self) -> &Receipt {
        &self.receipt
    }

    /// The exit code of `bailiwick run`.
    pub fn exit_code(&self) -> u8 {
        self.error.as_ref().map_or(0, |failure| failure.code.class().exit_code())
    }
}
