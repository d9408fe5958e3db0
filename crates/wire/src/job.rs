//! What a cell is told to do: once, before it runs a byte of the guest's code.

use serde::{Deserialize, Serialize};

use crate::Tracing;

/// One call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Job {
    /// The shape of the code.
    pub entry: Entry,
    /// What the code is written in.
    pub language: Language,
    /// Whether it is validated, run, or both.
    pub check: Check,
    /// The author's code, as written.
    pub source: String,
    /// The arguments as the text of one JSON object.
    pub arguments: String,
    /// The statics as the text of one JSON object.
    pub statics: String,
    /// The names of all declared parameters; one that has no argument is `undefined`. For [`Entry::Body`].
    pub parameters: Vec<String>,
    /// What `read_input()` gives. For [`Entry::Emit`].
    pub input: String,
    /// The names granted beside the ECMAScript built-ins, dotted where only a part of an object is: `console`,
    /// `Math.random`, `eval`. Nothing else is installed.
    pub globals: Vec<String>,
    /// The bounds the cell keeps by itself; the host keeps its own.
    pub limits: JobLimits,
    /// Whether what is not in the code or its arguments is traced, or comes from a trace.
    pub tracing: Tracing,
}

/// The shape of the code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Entry {
    /// The body of an async function.
    Body,
    /// A lone expression, whose value is the result.
    Expression,
    /// The code defines `execute(params, config)`.
    Execute,
    /// The pure function: `read_input()` and `emit(s)` only.
    Emit,
    /// A script as it stands, run for its effect; its result is null. For conformance suites.
    Script,
}

/// What the code is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Language {
    /// JavaScript.
    JavaScript,
    /// TypeScript whose types can be erased.
    TypeScript,
    /// JavaScript if it parses as such, else TypeScript.
    Either,
}

/// Whether the code is validated, run, or both.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Check {
    /// Run it; it was validated before.
    Skip,
    /// Validate it, and run it if nothing in it is blocked.
    First,
    /// Only validate it.
    Only,
}

/// The bounds that the engine keeps. Times are in milliseconds, sizes in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobLimits {
    /// Wall-clock time.
    pub wall_ms: u64,
    /// CPU time; none in `emit`.
    pub cpu_ms: Option<u64>,
    /// Loop turns and calls; none in `emit`.
    pub steps: Option<u64>,
    /// The engine's memory.
    pub memory: u64,
    /// The engine's stack.
    pub stack: u64,
    /// The result's JSON text, or the whole output of `emit`.
    pub result: u64,
    /// Console lines kept.
    pub console_lines: u64,
    /// Console text kept.
    pub console_bytes: u64,
}
