//! What is said where there is nothing: no such place, or none that takes such a request.

use axum::http::{Method, StatusCode, Uri};
use bailiwick_types::{ErrorCode, shortened};

pub use crate::problem::Refused;

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
