//! What ties a request to the records it leaves: taken from `x-correlation-id`, made where there is none, told on every
//! answer.

use axum::extract::Request;
use axum::http::{HeaderName, HeaderValue};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use bailiwick_core::new_correlation;
use bailiwick_types::{CorrelationId, ErrorCode};

use super::problem::{Refused, Told, written};

/// The header.
pub(crate) const HEADER: HeaderName = HeaderName::from_static("x-correlation-id");

/// What a request is tied to.
#[derive(Debug, Clone)]
pub(crate) struct Correlation(pub(crate) CorrelationId);

/// Ties a request. Meant to stand outside of everything else, so that a refusal at the door is tied, too.
pub async fn correlate(mut request: Request, next: Next) -> Response {
    // Whoever stands further out has done it.
    if request.extensions().get::<Correlation>().is_some() {
        return next.run(request).await;
    }
    let id = match named(&request) {
        Ok(id) => id,
        Err(refused) => return refused.into_response(),
    };
    request.extensions_mut().insert(Correlation(id.clone()));
    told(next.run(request).await, &id)
}

/// The id that a request names, or a new one.
fn named(request: &Request) -> Result<CorrelationId, Refused> {
    let mut values = request.headers().get_all(&HEADER).iter();
    match (values.next(), values.next()) {
        (None, _) => Ok(new_correlation()?),
        (Some(value), None) => {
            let id = value.to_str().ok().and_then(|text| CorrelationId::parse(text).ok());
            id.ok_or_else(|| {
                Refused::new(
                    ErrorCode::InvalidInput,
                    "`x-correlation-id` is not a correlation id",
                    "give 1 to 128 characters of visible ASCII, or leave it out",
                )
            })
        }
        (Some(_), Some(_)) => Err(Refused::new(
            ErrorCode::InvalidInput,
            "`x-correlation-id` is there more than once",
            "give it once, or leave it out",
        )),
    }
}

/// An answer that tells what its request was tied to.
fn told(mut response: Response, id: &CorrelationId) -> Response {
    if let Ok(value) = HeaderValue::from_str(id.as_str()) {
        // A call may be tied to something else by its body.
        response.headers_mut().entry(HEADER).or_insert(value);
    }
    if let Some(Told(problem)) = response.extensions_mut().remove() {
        *response.body_mut() = written(&problem.of_request(id.as_str()));
    }
    response
}
