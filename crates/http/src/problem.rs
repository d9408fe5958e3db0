//! A refusal on its way out: problem+json, with the status that goes with its code. Nothing else writes one.
//!
//! Nothing that a client sent stands in one, but for what is shown harmless and short.

use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use bailiwick_api::{MEDIA_TYPE, Problem, retry_after};
use bailiwick_core::Refusal;
use bailiwick_types::ErrorCode;

/// Why a request gets no other answer.
#[derive(Debug, Clone)]
pub struct Refused(Box<Problem>);

/// The problem that an answer tells, so that whoever knows the request can say which it was.
#[derive(Debug, Clone)]
pub(crate) struct Told(pub(crate) Box<Problem>);

impl Refused {
    /// A refusal with a message and what to do.
    pub(crate) fn new(code: ErrorCode, message: impl Into<String>, hint: &str) -> Self {
        Refusal::new(code, message).with_hint(hint).into()
    }

    /// The same under a status for which we have no code.
    #[must_use]
    pub(crate) fn with_status(mut self, status: StatusCode) -> Self {
        self.0.status = status.as_u16();
        self
    }

    /// The same under a title that says more than the meaning of the code.
    #[must_use]
    pub(crate) fn with_title(mut self, title: &str) -> Self {
        title.clone_into(&mut self.0.title);
        self
    }

    /// What was asked for came back as something else: a fault of ours.
    pub(crate) fn unexpected() -> Self {
        Refusal::new(ErrorCode::Internal, "an action gave another reply than it has").into()
    }

    /// The problem itself.
    pub(crate) fn problem(self) -> Problem {
        *self.0
    }
}

impl From<Refusal> for Refused {
    fn from(refusal: Refusal) -> Self {
        Self(Box::new(refusal.into()))
    }
}

impl From<Problem> for Refused {
    fn from(problem: Problem) -> Self {
        Self(Box::new(problem))
    }
}

impl IntoResponse for Refused {
    fn into_response(self) -> Response {
        let Self(problem) = self;
        let mut response = Response::new(written(&problem));
        *response.status_mut() =
            StatusCode::from_u16(problem.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(MEDIA_TYPE));
        if let Some(seconds) = retry_after(problem.code) {
            headers.insert(header::RETRY_AFTER, seconds.into());
        }
        response.extensions_mut().insert(Told(problem));
        response
    }
}

/// A refusal with this code: what happened, and what to do about it.
pub(crate) fn problem(code: ErrorCode, detail: impl Into<String>, hint: &str) -> Response {
    Refused::new(code, detail, hint).into_response()
}

/// A refusal whose status says more than its code does.
pub(crate) fn problem_as(
    status: StatusCode,
    code: ErrorCode,
    detail: impl Into<String>,
    hint: &str,
) -> Response {
    Refused::new(code, detail, hint).with_status(status).into_response()
}

/// The body of a problem.
pub(crate) fn written(problem: &Problem) -> Body {
    // A problem is made of texts and numbers, which can always be written.
    Body::from(serde_json::to_vec(problem).unwrap_or_default())
}
