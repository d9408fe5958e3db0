//! Why something was not done, as problem+json (RFC 9457), and which status goes with which code.

use bailiwick_core::{Fault as InnerFault, Refusal};
use bailiwick_types::ErrorCode;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::shape::Across as _;
use crate::{Fault, schema};

/// The media type of a problem.
pub const MEDIA_TYPE: &str = "application/problem+json";
/// What the `type` of a problem begins with; its code follows.
pub const URN: &str = "urn:bailiwick:problem:";

/// Why something was not done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Problem {
    /// `urn:bailiwick:problem:` and the code.
    #[serde(rename = "type")]
    pub kind: String,
    /// What the code means.
    pub title: String,
    /// The status of the answer.
    pub status: u16,
    /// What happened.
    pub detail: String,
    /// What kind of refusal.
    #[schema(value_type = schema::ErrorCode)]
    pub code: ErrorCode,
    /// What to do next.
    pub hint: Option<String>,
    /// Every mistake, where a document or a body has some.
    pub faults: Vec<Fault>,
    /// The correlation id of the request.
    pub instance: Option<String>,
}

impl Problem {
    /// The same under another status: one that HTTP has a number for and we have no code.
    #[must_use]
    pub fn with_status(mut self, status: u16) -> Self {
        self.status = status;
        self
    }

    /// The same, of this request.
    #[must_use]
    pub fn of_request(mut self, correlation: impl Into<String>) -> Self {
        self.instance = Some(correlation.into());
        self
    }
}

impl From<Refusal> for Problem {
    fn from(refusal: Refusal) -> Self {
        let Refusal { code, message, hint, faults } = refusal;
        Self {
            kind: format!("{URN}{code}"),
            title: code.meaning().to_owned(),
            status: status(code),
            detail: message,
            code,
            hint,
            faults: faults.across(),
            instance: None,
        }
    }
}

impl From<Problem> for Refusal {
    fn from(problem: Problem) -> Self {
        // The rest follows from the code.
        let Problem { kind: _, title: _, status: _, detail, code, hint, faults, instance: _ } = problem;
        let faults: Vec<InnerFault> = faults.across();
        let refusal = Self::new(code, detail).with_faults(faults);
        hint.into_iter().fold(refusal, Self::with_hint)
    }
}

/// The status of an answer that refuses with this code. A call that ran has none of these: it is a 200.
pub const fn status(code: ErrorCode) -> u16 {
    match code {
        // What was asked is wrong, or what it asked for came to nothing.
        ErrorCode::Validation
        | ErrorCode::SyntaxError
        | ErrorCode::EvalError
        | ErrorCode::InvalidInput
        | ErrorCode::OutputSchema
        | ErrorCode::MissingSecret
        | ErrorCode::NetFailed
        | ErrorCode::FsFailed
        | ErrorCode::Deadlock
        | ErrorCode::ReplayDiverged
        | ErrorCode::Timeout
        | ErrorCode::CpuLimit
        | ErrorCode::StepLimit
        | ErrorCode::MemoryLimit
        | ErrorCode::StackLimit
        | ErrorCode::DiskLimit
        | ErrorCode::FetchLimit
        | ErrorCode::NestingLimit => 400,
        ErrorCode::Unauthorized => 401,
        ErrorCode::Forbidden
        | ErrorCode::CapabilityDenied
        | ErrorCode::NetDenied
        | ErrorCode::FsDenied
        | ErrorCode::SandboxViolation
        | ErrorCode::ApprovalDeclined
        | ErrorCode::ApprovalTimeout
        | ErrorCode::ApprovalUnavailable => 403,
        ErrorCode::NotFound => 404,
        ErrorCode::Conflict | ErrorCode::Revoked | ErrorCode::Stale => 409,
        ErrorCode::CodeTooLarge | ErrorCode::OutputLimit => 413,
        ErrorCode::RateLimited => 429,
        ErrorCode::Internal | ErrorCode::Crashed => 500,
        ErrorCode::Unsupported | ErrorCode::Unenforceable => 501,
        ErrorCode::Busy | ErrorCode::Unavailable | ErrorCode::Cancelled => 503,
    }
}

/// After how many seconds whoever was refused with this code may ask again; none where waiting does not help.
pub const fn retry_after(code: ErrorCode) -> Option<u32> {
    match code {
        ErrorCode::Busy | ErrorCode::RateLimited => Some(1),
        ErrorCode::Unavailable | ErrorCode::Cancelled => Some(5),
        _ => None,
    }
}
