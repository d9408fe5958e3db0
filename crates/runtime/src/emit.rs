//! The pure function: text in, text out, nothing else; the same text always.

use bailiwick_cell::{Check, Entry, Given, Job, JobLimits, Language, Tenant, Tracing};
use bailiwick_types::{ErrorCode, Failure, Limits};

/// Text in, text out.
#[derive(Debug, Clone)]
pub struct PureCall {
    /// The code.
    pub source: String,
    /// What `read_input()` gives.
    pub input: String,
    /// Wall-clock time.
    pub wall_ms: u64,
    /// The whole output, in bytes.
    pub output_bytes: u64,
    /// Whose call it is.
    pub tenant: Tenant,
}

/// What a pure function gave.
#[derive(Debug, Clone, PartialEq)]
pub enum Emitted {
    /// Its output.
    Output(String),
    /// Its output, cut at the limit: there was more.
    Cut(String),
    /// None: it threw, or a limit ended it.
    Failed(Box<Failure>),
}

impl PureCall {
    /// What a cell is told. Memory and stack have the shipped limits; steps and CPU time have none, since the wall
    /// clock bounds both and a result must not depend on how they are counted.
    pub(crate) fn job(self) -> Job {
        let Self { source, input, wall_ms, output_bytes, tenant: _ } = self;
        let shipped = Limits::shipped_defaults();
        Job {
            entry: Entry::Emit,
            language: Language::Either,
            check: Check::Skip,
            source,
            arguments: "{}".to_owned(),
            statics: "{}".to_owned(),
            parameters: Vec::new(),
            input,
            globals: Vec::new(),
            limits: JobLimits {
                wall_ms,
                cpu_ms: None,
                steps: None,
                memory: shipped.memory.get(),
                stack: shipped.stack.get(),
                result: output_bytes,
                console_lines: 0,
                console_bytes: 0,
            },
            tracing: Tracing::Off,
        }
    }
}

impl Emitted {
    pub(crate) fn of(result: Result<Given, Box<Failure>>) -> Self {
        match result {
            Ok(Given::Output { text, over: false }) => Self::Output(text),
            Ok(Given::Output { text, over: true }) => Self::Cut(text),
            Ok(Given::Value(_) | Given::Findings(_)) => Self::Failed(Box::new(Failure {
                code: ErrorCode::Internal,
                message: "the cell gave something else than output".to_owned(),
                hint: None,
                location: None,
                stack: None,
                denied: None,
            })),
            Err(failure) => Self::Failed(failure),
        }
    }
}
