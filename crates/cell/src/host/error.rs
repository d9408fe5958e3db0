//! Why there are no cells, or none for this call. What happens *in* a call is not here: that is its outcome.

use std::time::Duration;

use bailiwick_sys::Failed;
use bailiwick_types::ErrorCode;
use bailiwick_wire::Ending;

/// Why no nursery could be started.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StartError {
    /// The one line at the top of `main` is missing.
    #[error("cells cannot be made: the program does not call `enter()` at the top of `main`")]
    NotEntered,
    /// A step on this side failed.
    #[error("a nursery cannot be started: {0}")]
    Step(#[from] Failed),
    /// A step on the nursery's side failed.
    #[error("a nursery cannot be built: cannot {step}{}", errno_text(*.errno))]
    Unbuilt {
        /// The step.
        step: String,
        /// The system's error number, or zero.
        errno: i32,
    },
    /// It ended without a word.
    #[error("the nursery ended without a word{}", ending_text(*.0))]
    Silent(Option<Ending>),
    /// It said nothing for too long.
    #[error("the nursery was not ready after {0:?}")]
    Late(Duration),
    /// It said something that is no message.
    #[error("the nursery said something that is no message")]
    Garbled,
    /// There is no runtime to run on.
    #[error("cells need a tokio runtime with its I/O and time drivers enabled")]
    NoRuntime,
}

fn errno_text(errno: i32) -> String {
    if errno == 0 { String::new() } else { format!(": {}", std::io::Error::from_raw_os_error(errno)) }
}

fn ending_text(ending: Option<Ending>) -> String {
    match ending {
        None => String::new(),
        Some(Ending::Exited(code)) => format!(" (exit code {code})"),
        Some(Ending::Signalled(signal)) => format!(" (signal {signal})"),
    }
}

impl StartError {
    /// The code of the closed list.
    pub const fn code(&self) -> ErrorCode {
        match self {
            Self::Unbuilt { .. } => ErrorCode::Unenforceable,
            Self::NotEntered | Self::NoRuntime => ErrorCode::Internal,
            Self::Step(_) | Self::Silent(_) | Self::Late(_) | Self::Garbled => ErrorCode::Unavailable,
        }
    }

    /// What to do next.
    pub const fn hint(&self) -> &'static str {
        match self {
            Self::NotEntered => {
                "make `bailiwick::enter();` the first line of `main`, before any thread is started"
            }
            Self::NoRuntime => "call it within a tokio runtime built with `enable_all()`",
            Self::Unbuilt { .. } => {
                "`bailiwick doctor` shows which walls stand here; `--insecure-cells` runs without them, and says so"
            }
            Self::Step(_) | Self::Silent(_) | Self::Late(_) | Self::Garbled => {
                "`bailiwick doctor` shows which walls stand here"
            }
        }
    }
}

/// Too many calls at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("too many calls are waiting; try again in {} ms", .retry_after.as_millis())]
pub struct Busy {
    /// When it may be worth another try.
    pub retry_after: Duration,
}

/// Why a call was not started.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CallError {
    /// Too many calls at once.
    #[error(transparent)]
    Busy(#[from] Busy),
    /// There is no nursery, and none could be started.
    #[error(transparent)]
    NoNursery(#[from] StartError),
    /// The job is too large to be sent.
    #[error("the call is too large to be handed to a cell")]
    Unsendable,
}

impl CallError {
    /// The code of the closed list.
    pub const fn code(&self) -> ErrorCode {
        match self {
            Self::Busy(_) => ErrorCode::Busy,
            Self::NoNursery(error) => error.code(),
            Self::Unsendable => ErrorCode::InvalidInput,
        }
    }

    /// What to do next.
    pub const fn hint(&self) -> &'static str {
        match self {
            Self::Busy(_) => "wait for the time given, or raise the number of calls at once",
            Self::NoNursery(error) => error.hint(),
            Self::Unsendable => "send less code, fewer arguments or a shorter input",
        }
    }
}
