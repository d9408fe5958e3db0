//! A refusal as a server tells it, read leniently: what is missing, or of another version, must not hide what is there.

use bailiwick_api::Fault;
use bailiwick_core::{Fault as InnerFault, Refusal};
use bailiwick_types::ErrorCode;
use hyper::StatusCode;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// The refusal in a problem; none where the text is none.
pub(crate) fn read(status: StatusCode, body: &[u8]) -> Option<Refusal> {
    let problem: Map<String, Value> = serde_json::from_slice(body).ok()?;
    let code = part(&problem, "code").unwrap_or_else(|| code_of(status));
    let message = part(&problem, "detail").or_else(|| part(&problem, "title"));
    let message: String = message.unwrap_or_else(|| format!("the server answers {status} and tells no more"));
    let faults: Vec<Fault> = part(&problem, "faults").unwrap_or_default();
    let refusal = Refusal::new(code, message).with_faults(faults.into_iter().map(InnerFault::from).collect());
    let hint: Option<String> = part(&problem, "hint");
    Some(hint.into_iter().fold(refusal, Refusal::with_hint))
}

fn part<T: DeserializeOwned>(problem: &Map<String, Value>, name: &str) -> Option<T> {
    problem.get(name).and_then(|value| T::deserialize(value).ok())
}

/// The code of a problem that tells none that we know.
fn code_of(status: StatusCode) -> ErrorCode {
    match status.as_u16() {
        401 => ErrorCode::Unauthorized,
        403 | 421 => ErrorCode::Forbidden,
        404 => ErrorCode::NotFound,
        409 => ErrorCode::Conflict,
        429 => ErrorCode::RateLimited,
        500 => ErrorCode::Internal,
        501 => ErrorCode::Unsupported,
        502..=599 => ErrorCode::Unavailable,
        _ => ErrorCode::InvalidInput,
    }
}
