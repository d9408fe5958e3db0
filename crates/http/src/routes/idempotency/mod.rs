//! `idempotency-key`: a request that is sent twice is done once, and answered alike.
//!
//! The same caller, the same place, the same key and the same body within a day get the answer that was given; another
//! body is a conflict, and so is a request whose first copy is still being worked on. What succeeded is kept, in memory
//! and within bounds: not over a restart, and not where thousands came after it. What was refused is not kept: nothing
//! was done, so it may be tried again.

mod kept;

use axum::body::{Body, Bytes};
use axum::extract::{FromRequest as _, FromRequestParts as _, MatchedPath, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderName, HeaderValue, Method, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use bailiwick_core::Refusal;
use bailiwick_types::ErrorCode;
use http_body_util::BodyExt as _;
use sha2::{Digest as _, Sha256};

pub(crate) use kept::Kept;
use kept::{Answer, Begun, Stored, Turn};

use super::Served;
use super::problem::Refused;
use super::stream::Wants;
use crate::perimeter::Principal;

/// The header.
pub(crate) const HEADER: HeaderName = HeaderName::from_static("idempotency-key");
/// What an answer carries that was given before.
const REPLAYED: HeaderName = HeaderName::from_static("idempotency-replayed");
/// The longest key.
const LONGEST: usize = 128;
/// The largest answer that is kept whole.
const LARGEST: usize = 8 << 20;

/// What becomes of work whose sender goes away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Then {
    /// It ends, and may be sent again.
    Ends,
    /// What it writes is written, so its answer is kept.
    GoesOn,
}

/// Where a key is taken.
pub(crate) const TAKEN: &[(&str, Then)] = &[
    ("/v1/exec", Then::Ends),
    ("/v1/execute", Then::Ends),
    ("/v1/sandboxes", Then::GoesOn),
    ("/v1/sandboxes/{sandbox}/commit", Then::GoesOn),
    ("/v1/sandboxes/{sandbox}/discard", Then::GoesOn),
    ("/v1/sandboxes/{sandbox}/exec", Then::Ends),
    ("/v1/sandboxes/{sandbox}/fork", Then::GoesOn),
    ("/v1/sandboxes/{sandbox}/snapshot", Then::GoesOn),
    ("/v1/tools", Then::GoesOn),
    ("/v1/tools/import", Then::GoesOn),
    ("/v1/tools/publish", Then::GoesOn),
    ("/v1/tools/{tool}/publish", Then::GoesOn),
    ("/v1/tools/{tool}/unpublish", Then::GoesOn),
    ("/v1/approvals/{id}", Then::GoesOn),
    ("/v1/keys", Then::GoesOn),
];

/// What of an answer is told once and never again: where it is asked for a second time, this is said.
#[derive(Debug, Clone)]
pub(crate) struct ToldOnce(pub(crate) String);

/// Does a request once, where it asks for that.
pub(crate) async fn once(State(served): State<Served>, request: Request, next: Next) -> Response {
    let matched = request.extensions().get::<MatchedPath>().map(MatchedPath::as_str);
    let taken = TAKEN.iter().find(|(path, _)| matched == Some(path)).map(|(_, then)| *then);
    let Some(then) = taken.filter(|_| request.method() == Method::POST) else {
        return next.run(request).await;
    };
    if !request.headers().contains_key(&HEADER) {
        return next.run(request).await;
    }
    match kept_or_done(&served, then, request, next).await {
        Ok(response) => response,
        Err(refused) => refused.into_response(),
    }
}

async fn kept_or_done(
    served: &Served,
    then: Then,
    request: Request,
    next: Next,
) -> Result<Response, Refused> {
    let (mut parts, body) = request.into_parts();
    let key = named(&parts)?;
    if Wants::from_request_parts(&mut parts, &()).await? == Wants::Stream {
        return Err(Refused::new(
            ErrorCode::InvalidInput,
            "a stream is not kept, so it takes no `idempotency-key`",
            "leave out one of the two",
        ));
    }
    let Some(principal) = parts.extensions.get::<Principal>() else {
        // Refused further in.
        return Ok(next.run(Request::from_parts(parts, body)).await);
    };
    let Principal { actor, scopes: _, key: shown, dialogue: _, ends_s: _ } = principal;
    let place = (shown.map(|id| id.to_string()), actor.key.clone(), actor.client.clone(), path(&parts), key);
    let bytes = whole(&parts, body).await?;
    match served.kept.begin(place, hash(&parts, &bytes)) {
        Begun::Mine(turn) => {
            let work = done(turn, next.run(Request::from_parts(parts, Body::from(bytes))));
            match then {
                Then::Ends => Ok(work.await),
                Then::GoesOn => served.going_on.spawn(work).await.map_err(|_| {
                    Refusal::new(ErrorCode::Internal, "a fault of this program ended the request").into()
                }),
            }
        }
        Begun::Running => {
            let mut response = Refused::new(
                ErrorCode::Conflict,
                "a request with this `idempotency-key` is still being worked on",
                "wait for its answer, or ask again in a second",
            )
            .into_response();
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
            Ok(response)
        }
        Begun::Another => Err(Refused::new(
            ErrorCode::Conflict,
            "this `idempotency-key` came with another body before",
            "use a new key for a new request",
        )),
        Begun::Before(Answer::Whole(stored)) => Ok(replayed(&stored)),
        Begun::Before(Answer::Only(says)) => {
            Err(Refused::new(ErrorCode::Conflict, says, "use a new key for a new request"))
        }
    }
}

/// The key that a request names.
fn named(parts: &Parts) -> Result<String, Refused> {
    let mut values = parts.headers.get_all(&HEADER).iter();
    let (first, second) = (values.next(), values.next());
    let text = first.filter(|_| second.is_none()).and_then(|value| value.to_str().ok()).unwrap_or_default();
    if (1..=LONGEST).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Ok(text.to_owned());
    }
    Err(Refused::new(
        ErrorCode::InvalidInput,
        "`idempotency-key` is not a key",
        "give it once, with 1 to 128 characters of visible ASCII",
    ))
}

fn path(parts: &Parts) -> String {
    parts.uri.path().to_owned()
}

/// All of a body, within what a body may have.
async fn whole(parts: &Parts, body: Body) -> Result<Bytes, Refused> {
    let mut request = Request::new(body);
    // The limit of bodies travels with the request.
    *request.extensions_mut() = parts.extensions.clone();
    Bytes::from_request(request, &()).await.map_err(|rejection| {
        Refused::new(ErrorCode::InvalidInput, rejection.body_text(), "send less")
            .with_status(rejection.status())
    })
}

/// What two copies of a request have in common.
fn hash(parts: &Parts, body: &[u8]) -> [u8; 32] {
    let mut hash = Sha256::new();
    let kind = parts.headers.get(header::CONTENT_TYPE).map(HeaderValue::as_bytes).unwrap_or_default();
    for part in [parts.uri.query().unwrap_or_default().as_bytes(), kind] {
        hash.update(part.len().to_le_bytes());
        hash.update(part);
    }
    hash.update(body);
    hash.finalize().into()
}

/// Does the work, and keeps its answer where it succeeded.
async fn done(turn: Turn, work: impl Future<Output = Response>) -> Response {
    let response = work.await;
    if !response.status().is_success() {
        return response;
    }
    let (mut parts, body) = response.into_parts();
    let once = parts.extensions.remove::<ToldOnce>();
    let body = match body.collect().await {
        Ok(collected) => collected.to_bytes(),
        Err(_) => return Refused::unexpected().into_response(),
    };
    turn.end(match once {
        Some(ToldOnce(says)) => Answer::Only(says),
        None if body.len() > LARGEST => {
            Answer::Only("this was done before, and its answer was too large to be kept".to_owned())
        }
        None => {
            Answer::Whole(Stored { status: parts.status, headers: parts.headers.clone(), body: body.clone() })
        }
    });
    Response::from_parts(parts, Body::from(body))
}

/// The answer that was given before.
fn replayed(stored: &Stored) -> Response {
    let mut response = Response::new(Body::from(stored.body.clone()));
    *response.status_mut() = stored.status;
    *response.headers_mut() = stored.headers.clone();
    response.headers_mut().insert(REPLAYED, HeaderValue::from_static("true"));
    response
}

#[cfg(test)]
mod tests;
