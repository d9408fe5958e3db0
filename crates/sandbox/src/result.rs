//! What a command gave: how it ended, what it said, what it used, and what stood around it.

mod shape;

use bailiwick_types::{CorrelationId, Denial, Receipt, SandboxId, Tier};
use bytes::Bytes;

/// How a command ended: by itself, or by a signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// With this code.
    Code(i32),
    /// By this signal.
    Signal(i32),
    /// It did not begin: there is no such program.
    NotFound,
    /// It did not begin: what is there cannot be run.
    NotExecutable,
}

impl Exit {
    /// As a shell would tell it: 126 and 127 for what did not begin, 128 and more for signals.
    pub const fn status(self) -> i32 {
        match self {
            Self::Code(code) => code,
            Self::Signal(signal) => 128 + signal,
            Self::NotFound => 127,
            Self::NotExecutable => 126,
        }
    }
}

/// What was used.
#[derive(Debug, Clone, Copy, Default, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ExecUsage {
    /// Wall-clock time in milliseconds.
    pub wall_ms: f64,
    /// CPU time in milliseconds.
    pub cpu_ms: f64,
    /// The most memory that was held, in bytes.
    pub memory_peak: u64,
    /// How many processes there were.
    pub processes: u64,
}

/// What was kept of a stream.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Captured {
    /// Its beginning.
    pub bytes: Bytes,
    /// Whether there was more.
    pub truncated: bool,
}

impl Captured {
    /// As text, if it is; a character that the cut went through is left out.
    pub fn text(&self) -> Option<&str> {
        match std::str::from_utf8(&self.bytes) {
            Ok(text) => Some(text),
            Err(error) if self.truncated && error.error_len().is_none() => {
                self.bytes.get(..error.valid_up_to()).and_then(|whole| std::str::from_utf8(whole).ok())
            }
            Err(_) => None,
        }
    }
}

/// The result of a command that ran to its end.
#[derive(Debug, Clone, PartialEq)]
pub struct ExecResult {
    /// How it ended.
    pub exit: Exit,
    /// Its deadline ended it.
    pub timed_out: bool,
    /// The kernel ended something of it for want of memory.
    pub oom: bool,
    /// Its standard output.
    pub stdout: Captured,
    /// Its standard error.
    pub stderr: Captured,
    /// What it used.
    pub usage: ExecUsage,
    /// What was refused to it.
    pub denials: Vec<Denial>,
    /// What was demanded, and what held it.
    pub receipt: Receipt,
    /// Where it ran.
    pub sandbox_id: SandboxId,
    /// Behind which kind of wall.
    pub backend: String,
    /// How strong that is.
    pub tier: Tier,
    /// What caused it.
    pub correlation_id: CorrelationId,
}

impl ExecResult {
    /// What the result is for a command that ended in this sandbox.
    pub fn new(
        sandbox: &dyn crate::Sandbox,
        finished: crate::Finished,
        correlation_id: CorrelationId,
    ) -> Self {
        let crate::Finished { ended, stdout, stderr } = finished;
        let crate::Ended { exit, timed_out, oom, usage, denials } = ended;
        Self {
            exit,
            timed_out,
            oom,
            stdout,
            stderr,
            usage,
            denials,
            receipt: sandbox.receipt().clone(),
            sandbox_id: sandbox.id(),
            backend: sandbox.backend().to_owned(),
            tier: sandbox.receipt().tier,
            correlation_id,
        }
    }

    /// What a program that ran this for somebody ends with: the command's own, 124 where its deadline ended it, 126 and
    /// 127 for what did not begin, 128 and more for signals.
    pub const fn exit_status(&self) -> i32 {
        if self.timed_out { 124 } else { self.exit.status() }
    }
}
