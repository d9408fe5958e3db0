//! Effects on their way: a cell asks by number, the host answers to that number.

use bailiwick_types::{Answer, ErrorCode, Refused};
use serde::{Deserialize, Serialize};

/// What the host says to an effect.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Reply {
    /// It happened, and gave this.
    Given(Answer),
    /// It did not.
    Refused(Refusal),
}

/// Why it did not, in a form that any reader can take: a denial travels as JSON text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusal {
    /// The code.
    pub code: ErrorCode,
    /// A stable word.
    pub reason: String,
    /// What happened, for people.
    pub message: String,
    /// What to do next.
    pub hint: Option<String>,
    /// The denial as JSON text.
    pub denied: Option<String>,
}

impl From<&Refused> for Refusal {
    fn from(refused: &Refused) -> Self {
        let Refused { code, reason, message, hint, denied } = refused;
        Self {
            code: *code,
            reason: reason.clone().into_owned(),
            message: message.clone(),
            hint: hint.clone(),
            denied: denied.as_ref().and_then(|denial| serde_json::to_string(denial).ok()),
        }
    }
}

/// What a call must be given again to go the same way again, beside its arguments and the answers to its effects.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trace {
    /// Where all randomness of the call came from.
    pub seed: [u8; 32],
    /// What the clock said, in order.
    pub clock: Vec<Reading>,
    /// What happened to the call from outside, in order.
    pub events: Vec<Event>,
}

/// The clock said the same this many times in a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reading {
    /// Milliseconds since the epoch.
    pub at: u64,
    /// How often.
    pub times: u32,
}

/// Something that set waiting code going.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Event {
    /// The answer to this request came.
    Answer(u32),
    /// The next timer was due.
    Timer,
}

/// Whether a call is traced.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Tracing {
    /// It is not.
    #[default]
    Off,
    /// It is: the report has the trace.
    Record,
    /// It goes the way of this trace.
    Replay(Box<Trace>),
}
