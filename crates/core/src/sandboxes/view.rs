//! Sandboxes and snapshots as lists and `show` give them.

use bailiwick_audit::rfc3339;
use bailiwick_sandbox::{ExecResult, ExecUsage, Snapshot};
use bailiwick_types::{CallId, CorrelationId, Receipt, SandboxId, Tier};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::record::spec_told;
use super::registry::One;
use super::wish::InputBytes;
use crate::Refusal;

/// A sandbox in a list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SandboxLine {
    /// Its id.
    pub id: SandboxId,
    /// What people call it.
    pub name: Option<String>,
    /// Its backend.
    pub backend: String,
    /// How strong that is.
    pub tier: Tier,
    /// `runs`, `idle`, `asleep`, `gone`.
    pub state: String,
    /// Commands that run in it through us.
    pub running: u32,
    /// What it can reach.
    pub network: String,
    /// Who made it.
    pub by: String,
    /// When it was made, RFC 3339.
    pub created_at: String,
    /// When it was last used.
    pub used_at: String,
    /// When it ends if nobody uses it before.
    pub ends_at: String,
}

/// A sandbox in full.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SandboxView {
    /// As in a list.
    #[serde(flatten)]
    pub line: SandboxLine,
    /// What it was made from; of variables only the names.
    pub spec: Value,
    /// What caused it, and goes with all that is done to it where nobody says otherwise.
    pub correlation_id: Option<CorrelationId>,
    /// What was demanded, and what holds it.
    pub receipt: Receipt,
    /// What a preset wanted and nothing here holds.
    pub warnings: Vec<String>,
    /// What it has used; none where it cannot tell.
    pub usage: Option<ExecUsage>,
}

/// A snapshot in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SnapshotLine {
    /// The snapshot.
    #[serde(flatten)]
    pub snapshot: Snapshot,
    /// The sandbox it was taken of.
    pub of: SandboxId,
    /// When, RFC 3339.
    pub created_at: String,
}

/// A port of the host's loopback that leads to a port inside of a sandbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ExposedPort {
    /// The port inside.
    pub port: u16,
    /// The port of the host.
    pub host_port: u16,
}

/// What a command gave.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Executed {
    /// The result.
    pub result: ExecResult,
    /// Lines that whoever asked should read.
    pub warnings: Vec<String>,
}

/// A command that runs, or ran, while nobody waits for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ExecLine {
    /// Its id, which is that of its call on the record.
    pub id: CallId,
    /// Its words, masked.
    pub argv: Vec<String>,
    /// Whether it still runs.
    pub is_running: bool,
}

/// How far somebody has read what a command says: a place in each stream, in bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Cursor {
    /// In its standard output.
    pub stdout: u64,
    /// In its standard error.
    pub stderr: u64,
}

/// What a command said behind a cursor.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OutputPiece {
    /// The bytes.
    pub bytes: InputBytes,
    /// How many before them were gone before anybody looked.
    pub dropped: u64,
    /// Whether there is more already.
    pub is_more: bool,
}

/// What there is to know of it now.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ExecView {
    /// As in a list.
    #[serde(flatten)]
    pub line: ExecLine,
    /// What it said.
    pub stdout: OutputPiece,
    /// What it said on its standard error.
    pub stderr: OutputPiece,
    /// Where the next look goes on.
    pub cursor: Cursor,
    /// How it ended, without what it said.
    pub result: Option<ExecResult>,
    /// Why nobody knows how it ended.
    pub failure: Option<Refusal>,
}

/// What Python code gave.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PythonRan {
    /// As of any command.
    pub executed: Executed,
    /// The last expression, as Python shows it; none where it is `None` or there is none.
    pub value: Option<String>,
    /// The exception that ended it, in one line.
    pub error: Option<String>,
    /// The session that keeps its variables.
    pub session: Option<SandboxId>,
    /// The variables of the session are lost with what ended it.
    pub is_lost: bool,
}

/// A sandbox as a line.
pub(crate) fn line(one: &One) -> SandboxLine {
    line_without(one, 0)
}

/// The same without so many uses, which are about to end.
pub(crate) fn line_without(one: &One, by: u32) -> SandboxLine {
    let (sandbox, mut use_) = (&one.sandbox, one.use_now());
    use_.running = use_.running.saturating_sub(by);
    let ttl = sandbox.spec().ttl;
    let ms = |time: std::time::Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
    let ends = use_.at_ms.saturating_add(ms(ttl.idle)).min(one.created_ms.saturating_add(ms(ttl.absolute)));
    let state = match (sandbox.is_alive(), use_.is_asleep, use_.running) {
        (false, ..) => "gone",
        (true, true, 0) => "asleep",
        (true, _, 0) => "idle",
        (true, ..) => "runs",
    };
    SandboxLine {
        id: sandbox.id(),
        name: one.name.clone(),
        backend: sandbox.backend().to_owned(),
        tier: sandbox.receipt().tier,
        state: state.to_owned(),
        running: use_.running,
        network: sandbox.spec().network.to_string(),
        by: one.by.clone(),
        created_at: rfc3339(one.created_ms),
        used_at: rfc3339(use_.at_ms),
        ends_at: rfc3339(ends),
    }
}

/// A sandbox in full.
pub(crate) fn view(one: &One, usage: Option<ExecUsage>) -> SandboxView {
    SandboxView {
        line: line(one),
        spec: spec_told(one.sandbox.spec()),
        correlation_id: one.sandbox.spec().correlation.clone(),
        receipt: one.sandbox.receipt().clone(),
        warnings: one.sandbox.warnings().to_vec(),
        usage,
    }
}
