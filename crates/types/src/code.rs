//! The closed list of error codes. A code never changes its meaning; a new situation gets a new code.
//!
//! One table makes the enum, its wire names and the sentence that explains each, so none can be
//! forgotten. What a code means for a process exit is [`ErrorClass`].

use serde::{Deserialize, Serialize};

/// The kind of "no" behind a code; the CLI's exit code follows from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ErrorClass {
    /// The guest's code failed by itself (exit 1).
    Guest,
    /// What was given to us is wrong: a document, an argument, a call (exit 2).
    Input,
    /// Policy or a person said no (exit 3).
    Denied,
    /// A limit was reached (exit 4).
    Limit,
    /// Our side: a fault, or something we need is not there (exit 5).
    Ours,
}

impl ErrorClass {
    /// The exit code of `bailiwick run` and of every command that reports one failure.
    pub const fn exit_code(self) -> u8 {
        match self {
            Self::Guest => 1,
            Self::Input => 2,
            Self::Denied => 3,
            Self::Limit => 4,
            Self::Ours => 5,
        }
    }
}

macro_rules! codes {
    ($($variant:ident $name:literal $class:ident $meaning:literal;)+) => {
        /// What went wrong, as one closed enum used by JS exceptions, the CLI, HTTP, MCP and the audit record.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        pub enum ErrorCode {
            $(#[doc = $meaning] #[serde(rename = $name)] $variant,)+
        }

        impl ErrorCode {
            /// Every code, in the order of the table.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The name on the wire, for example `NET_DENIED`.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)+ }
            }

            /// One sentence that says what the code means.
            pub const fn meaning(self) -> &'static str {
                match self { $(Self::$variant => $meaning,)+ }
            }

            /// The kind of "no" this code belongs to.
            pub const fn class(self) -> ErrorClass {
                match self { $(Self::$variant => ErrorClass::$class,)+ }
            }
        }
    };
}

codes! {
    Validation "VALIDATION" Input "The code or document breaks a rule that is checked before anything runs.";
    SyntaxError "SYNTAX_ERROR" Guest "The code does not parse.";
    EvalError "EVAL_ERROR" Guest "The code threw an exception that nothing caught.";
    CapabilityDenied "CAPABILITY_DENIED" Denied "The code used a capability that its policy does not grant.";
    NetDenied "NET_DENIED" Denied "Policy or the network guard refused a request.";
    NetFailed "NET_FAILED" Guest "An allowed request failed on the way: DNS, TLS, time, size.";
    FsDenied "FS_DENIED" Denied "Policy refused access to a path.";
    FsFailed "FS_FAILED" Guest "An allowed file operation failed.";
    InvalidInput "INVALID_INPUT" Input "The arguments or the request are malformed.";
    OutputSchema "OUTPUT_SCHEMA" Guest "The result does not match the output schema the tool declares.";
    Timeout "TIMEOUT" Limit "The wall-clock limit was reached.";
    CpuLimit "CPU_LIMIT" Limit "The CPU-time limit was reached.";
    StepLimit "STEP_LIMIT" Limit "The limit on loop turns and calls was reached.";
    MemoryLimit "MEMORY_LIMIT" Limit "The memory limit was reached.";
    StackLimit "STACK_LIMIT" Limit "The stack limit was reached.";
    OutputLimit "OUTPUT_LIMIT" Limit "The result is larger than its limit.";
    DiskLimit "DISK_LIMIT" Limit "The disk quota was reached.";
    CodeTooLarge "CODE_TOO_LARGE" Limit "The code is larger than its limit.";
    FetchLimit "FETCH_LIMIT" Limit "The limit on requests of one call was reached.";
    NestingLimit "NESTING_LIMIT" Limit "Calls within calls went too deep or became too many.";
    Deadlock "DEADLOCK" Guest "The code waits for a promise that nothing can ever settle.";
    Cancelled "CANCELLED" Guest "The caller cancelled the call.";
    Crashed "CRASHED" Ours "The cell ended by a fault of the runtime, not of the code.";
    ApprovalDeclined "APPROVAL_DECLINED" Denied "A person said no; the code did not start.";
    ApprovalTimeout "APPROVAL_TIMEOUT" Denied "Nobody answered in time; the code did not start.";
    ApprovalUnavailable "APPROVAL_UNAVAILABLE" Denied "Nobody could be asked; the code did not start.";
    MissingSecret "MISSING_SECRET" Input "A secret that the tool refers to is not set.";
    Revoked "REVOKED" Denied "The tool's document changed after its Local Pass.";
    Stale "STALE" Denied "The tool's policy became wider since its Local Pass.";
    ReplayDiverged "REPLAY_DIVERGED" Guest "The code asked for something else than the recording holds.";
    Busy "BUSY" Ours "Too many calls are waiting; try again later.";
    RateLimited "RATE_LIMITED" Limit "The caller's rate limit was reached.";
    Unauthorized "UNAUTHORIZED" Denied "No valid credentials were given.";
    Forbidden "FORBIDDEN" Denied "The credentials do not cover this action.";
    NotFound "NOT_FOUND" Input "There is no such thing.";
    Conflict "CONFLICT" Input "The state or the rules contradict each other.";
    SandboxViolation "SANDBOX_VIOLATION" Denied "The guest tried a system call that its wall forbids.";
    Unenforceable "UNENFORCEABLE" Ours "No available wall enforces what was demanded, so nothing ran.";
    Unsupported "UNSUPPORTED" Ours "This build or machine does not offer that.";
    Unavailable "UNAVAILABLE" Ours "Something this needs is not running or not reachable.";
    Internal "INTERNAL" Ours "A fault of Bailiwick itself.";
}

impl std::fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// A name that is not in the table.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not an error code")]
pub struct UnknownCode(pub String);

impl std::str::FromStr for ErrorCode {
    type Err = UnknownCode;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL.iter().copied().find(|code| code.name() == text).ok_or_else(|| UnknownCode(text.to_owned()))
    }
}
