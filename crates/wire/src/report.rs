//! What a cell says. All of it is a claim of something that ran hostile code.

use bailiwick_types::{Effect, ErrorCode, Location, LogLevel};
use serde::{Deserialize, Serialize};

use crate::{Job, Reply, Trace};

/// From the host to a cell.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum ToCell {
    /// Do this. Sent once.
    Start(Box<Job>),
    /// The answer to an effect that the cell asked for.
    Answer {
        /// The number that the cell gave it.
        id: u32,
        /// What came of it.
        reply: Box<Reply>,
    },
    /// The cell was made to stand still for this long: its clocks have to leave that out.
    Stood {
        /// How long, in microseconds.
        micros: u64,
    },
    /// Try to break the wall this way, and say how it went. Sent by `doctor` and by tests, in place of a job; nothing
    /// a guest writes can send it.
    Probe(Probe),
}

/// A deliberate misdeed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Probe {
    /// A raw system call.
    SystemCall {
        /// Its number.
        number: u32,
        /// Its arguments.
        arguments: [u64; 6],
    },
    /// A panic.
    Panic,
    /// An allocation that cannot be had.
    Allocation,
    /// A full native stack.
    Overflow,
    /// Memory that is not there.
    Fault,
    /// `abort()`.
    Abort,
}

/// From a cell to the host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum FromCell {
    /// A console line, in order.
    Log {
        /// Its level.
        level: LogLevel,
        /// Its text.
        text: String,
    },
    /// A system call was trapped; the last thing a cell says.
    Violation {
        /// The number of the system call.
        number: u32,
    },
    /// The call is over; the last thing a cell says.
    Done(Box<Report>),
    /// A probe went through: nothing stopped it. The last thing a cell says.
    Probed {
        /// What the kernel gave, or the negative of its error.
        result: i64,
    },
    /// Something is asked of the world.
    Ask {
        /// A number for the answer; each is larger than the one before.
        id: u32,
        /// What is asked.
        effect: Box<Effect>,
    },
    /// The answer is not wanted any more.
    Cancel {
        /// The number of the effect.
        id: u32,
    },
}

/// How the call went, by the cell's own account.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// What it gave.
    pub given: Given,
    /// What it used.
    pub usage: CellUsage,
    /// Console lines beyond the limits.
    pub logs_dropped: u64,
    /// The trace, if one was wanted.
    pub trace: Option<Box<Trace>>,
}

/// What a call gave.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Given {
    /// The result, as JSON text.
    Value(String),
    /// What `emit` gathered.
    Output {
        /// The text, cut at the limit.
        text: String,
        /// Whether there was more.
        over: bool,
    },
    /// What validation found; the code was not run.
    Findings(Vec<Finding>),
    /// It did not go well.
    Trouble(Box<Trouble>),
}

/// What the engine counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CellUsage {
    /// CPU time in microseconds.
    pub cpu_us: u64,
    /// Loop turns and calls, counted in blocks.
    pub steps: u64,
    /// The most memory the engine held, in bytes.
    pub memory_peak: u64,
}

/// Why a call has no value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trouble {
    /// What kind of trouble.
    pub kind: TroubleKind,
    /// What happened, for people, without the position.
    pub message: String,
    /// Where in the author's code.
    pub location: Option<Location>,
    /// The stack in the author's code, one frame a line.
    pub stack: Option<String>,
    /// The global that the code wanted and that is not there: `setTimeout`, `eval`.
    pub missing: Option<String>,
    /// The number of the effect whose refusal was thrown and not caught.
    pub refusal: Option<u32>,
}

/// The kinds of trouble that a cell can know of. What it cannot know (a denial, a crash) is not its to tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum TroubleKind {
    /// A name, a parameter or the shape of the code breaks a rule.
    Validation,
    /// It does not parse.
    Syntax,
    /// It threw.
    Threw,
    /// The arguments are not what they have to be.
    Input,
    /// The wall-clock limit.
    Wall,
    /// The CPU limit.
    Cpu,
    /// The step limit.
    Steps,
    /// The memory limit.
    Memory,
    /// The stack limit.
    Stack,
    /// The result is too large.
    Output,
    /// A promise that nothing can settle.
    Deadlock,
    /// A fault of ours that the guest cannot cause.
    Fault,
}

impl TroubleKind {
    /// The code of the closed list.
    pub const fn code(self) -> ErrorCode {
        match self {
            Self::Validation => ErrorCode::Validation,
            Self::Syntax => ErrorCode::SyntaxError,
            Self::Threw => ErrorCode::EvalError,
            Self::Input => ErrorCode::InvalidInput,
            Self::Wall => ErrorCode::Timeout,
            Self::Cpu => ErrorCode::CpuLimit,
            Self::Steps => ErrorCode::StepLimit,
            Self::Memory => ErrorCode::MemoryLimit,
            Self::Stack => ErrorCode::StackLimit,
            Self::Output => ErrorCode::OutputLimit,
            Self::Deadlock => ErrorCode::Deadlock,
            Self::Fault => ErrorCode::Internal,
        }
    }
}

/// One thing that validation found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Finding {
    /// What is blocked: `require`, `eval`.
    pub name: String,
    /// Why it is blocked.
    pub why: String,
    /// What to do instead.
    pub instead: String,
    /// Where in the author's code.
    pub location: Location,
    /// How bad it is.
    pub severity: Severity,
}

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// It cannot work; the code is not run.
    Error,
    /// It will probably not do what its author expects.
    Warning,
}
