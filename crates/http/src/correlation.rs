//! What ties a request to the records it leaves: taken from `x-correlation-id`, made where there is none, told on every
//! answer.

use axum::extract::Request;
use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use bailiwick_core::new_correlation;
use bailiwick_types::{CorrelationId, ErrorCode};

use crate::problem::{Refused, Told, written};

/// The header.
pub(crate) const HEADER: HeaderName = HeaderName::from_static("x-correlation-id");

/// What a request is tied to.
#[derive(Debug, Clone)]
pub(crate) struct Correlation(pub(crate) CorrelationId);

/// Ties a request. Stands outside of everything else, so that a refusal at the door is tied, too; and once more around
/// the routes, so that a problem is whole before anything packs it.
pub(crate) async fn correlate(mut request: Request, next: Next) -> Response {
    let known = request.extensions().get::<Correlation>().cloned();
    let id = match known.map_or_else(|| named(request.headers()), |Correlation(id)| Ok(id)) {
        Ok(id) => id,
        Err(refused) => return tied(refused.into_response(), None),
    };
    request.extensions_mut().insert(Correlation(id.clone()));
    told(next.run(request).await, &id)
}

/// An answer that was given before its request came to [`correlate`], or in the place of what came from there.
pub(crate) fn tied(response: Response, asked: Option<&HeaderMap>) -> Response {
    if response.extensions().get::<Told>().is_none() {
        return response;
    }
    let id = asked.and_then(|headers| named(headers).ok()).map_or_else(new_correlation, Ok);
    match id {
        Ok(id) => told(response, &id),
        Err(refusal) => {
            tracing::error!(%refusal, "an answer is tied to nothing");
            response
        }
    }
}

/// The id that a request names, or a new one.
fn named(headers: &HeaderMap) -> Result<CorrelationId, Refused> {
    let mut values = headers.get_all(&HEADER).iter();
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
        response.headers_mut().remove(header::CONTENT_LENGTH);
        *response.body_mut() = written(&problem.of_request(id.as_str()));
    }
    response
}
