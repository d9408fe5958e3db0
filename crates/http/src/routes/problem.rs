//! A refusal on its way out: problem+json, with the status that goes with its code.

use axum::body::Body;
use axum::http::{HeaderValue, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use bailiwick_api::{MEDIA_TYPE, Problem, retry_after};
use bailiwick_core::Refusal;
use bailiwick_types::{ErrorCode, shortened};

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

/// The body of a problem.
pub(crate) fn written(problem: &Problem) -> Body {
    // A problem is made of texts and numbers, which can always be written.
    Body::from(serde_json::to_vec(problem).unwrap_or_default())
}

/// What whoever asks for nothing that is here is told.
pub(crate) async fn no_such_route(uri: Uri) -> Refused {
    let message = format!("there is nothing at `{}`", shortened(uri.path()));
    Refused::new(ErrorCode::NotFound, message, "GET /v1/openapi.json tells what there is")
}

/// What whoever asks in a way that a place does not take is told.
pub(crate) async fn no_such_method(method: Method, uri: Uri) -> Refused {
    let message = format!("`{}` takes no {}", shortened(uri.path()), shortened(method.as_str()));
    Refused::new(ErrorCode::InvalidInput, message, "the header `allow` tells what it takes")
        .with_status(StatusCode::METHOD_NOT_ALLOWED)
}
