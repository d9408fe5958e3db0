//! A refusal as it goes back to a client: problem+json with our codes.
//!
//! Nothing that a client sent stands in one, but for what is shown harmless and short.

use axum::body::Body;
use axum::response::Response;
use bailiwick_types::ErrorCode;
use http::{HeaderValue, StatusCode, header};
use serde_json::json;

/// The status that a code has where nothing more special is known.
const fn status(code: ErrorCode) -> StatusCode {
    match code {
        ErrorCode::Unauthorized => StatusCode::UNAUTHORIZED,
        ErrorCode::Forbidden => StatusCode::FORBIDDEN,
        ErrorCode::NotFound => StatusCode::NOT_FOUND,
        ErrorCode::Conflict | ErrorCode::Revoked | ErrorCode::Stale => StatusCode::CONFLICT,
        ErrorCode::RateLimited => StatusCode::TOO_MANY_REQUESTS,
        ErrorCode::Busy | ErrorCode::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
        ErrorCode::Validation | ErrorCode::InvalidInput => StatusCode::BAD_REQUEST,
        _ => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

/// A refusal with this code: what happened, and what to do about it.
pub fn problem(code: ErrorCode, detail: impl Into<String>, hint: impl Into<String>) -> Response {
    problem_as(status(code), code, detail, hint)
}

/// A refusal whose status says more than its code does.
pub fn problem_as(
    status: StatusCode,
    code: ErrorCode,
    detail: impl Into<String>,
    hint: impl Into<String>,
) -> Response {
    let body = json!({
        "type": format!("urn:bailiwick:error:{code}"),
        "title": code.meaning(),
        "status": status.as_u16(),
        "detail": detail.into(),
        "code": code.name(),
        "hint": hint.into(),
    });
    let mut response = Response::new(Body::from(body.to_string()));
    *response.status_mut() = status;
    let kind = HeaderValue::from_static("application/problem+json");
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    response
}
