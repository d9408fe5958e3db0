//! One request from its head to its answer: screened, its body bounded, and the answer stamped.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use axum::body::Body;
use axum::extract::DefaultBodyLimit;
use bailiwick_types::ErrorCode;
use http::{HeaderMap, HeaderName, HeaderValue, Request, Response, StatusCode, header};
use hyper::body::Incoming;
use tower::{Layer as _, ServiceExt as _};

use super::bodies::Full;
use super::body::{Bounded, Broken, Fate};
use super::connection::Shared;
use super::head::Seen;
use super::places::Seat;
use super::{Peer, screen};
use crate::correlation;
use crate::problem::{problem, problem_as};

/// What of a request lies unread when its connection ends after the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Unread {
    Nothing,
    Perhaps,
}

/// Answers one request. Where it is HTTP/1, `raw` tells of its raw head, and is told when the connection ends with
/// something unread.
pub(super) async fn to(
    shared: Arc<Shared>,
    peer: Peer,
    seat: Seat,
    raw: Option<(Seen, Arc<AtomicBool>)>,
    request: Request<Incoming>,
) -> Result<Response<Body>, Infallible> {
    // For what is said here and not further in.
    let asked: HeaderMap = request
        .headers()
        .get_all(correlation::HEADER)
        .iter()
        .map(|id| (correlation::HEADER, id.clone()))
        .collect();
    let chunked = request.headers().contains_key(header::TRANSFER_ENCODING);
    let (mut response, close) = if let Some(shape) = raw.as_ref().and_then(|(seen, _)| seen.shape()) {
        metrics::counter!("bailiwick_http_refused_total", "reason" => "shape").increment(1);
        let hint = "send it as a usual HTTP client does";
        let response = problem_as(StatusCode::BAD_REQUEST, ErrorCode::InvalidInput, shape.told(), hint);
        (response, Some(Unread::Perhaps))
    } else if let Some(refusal) = screen::refused(&request, shared.bounds.headers, shared.body_bytes) {
        metrics::counter!("bailiwick_http_refused_total", "reason" => "screen").increment(1);
        (refusal, Some(Unread::Perhaps))
    } else {
        let (response, whole) = pass(&shared, peer, seat, request).await;
        let unread = if whole { Unread::Nothing } else { Unread::Perhaps };
        (response, (chunked || !whole).then_some(unread))
    };
    response = correlation::tied(response, Some(&asked));
    if let (Some(unread), Some((_, tell))) = (close, &raw) {
        tell.store(unread == Unread::Perhaps, Ordering::Release);
        response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    stamp(response.headers_mut(), peer.encrypted);
    Ok(response)
}

/// Hands it on with a bounded body; tells also whether the body was read to its end.
async fn pass(shared: &Shared, peer: Peer, seat: Seat, request: Request<Incoming>) -> (Response<Body>, bool) {
    let (fate, charge) = (Fate::default(), shared.bodies.charge());
    let bounds = &shared.bounds;
    let mut request = request.map(|body| {
        let times = (bounds.body_pause, bounds.body_in_all);
        Body::new(Bounded::new(body, shared.body_bytes, times, fate.clone(), charge.clone()))
    });
    // What was read of the body counts until the request is answered: by then nothing of it is in memory any more.
    request.extensions_mut().insert(charge.clone());
    request.extensions_mut().insert(seat);
    request.extensions_mut().insert(peer);
    request.extensions_mut().insert(shared.closing.clone());
    // The body has its bound; the one of the framework would be a second opinion.
    let app = DefaultBodyLimit::disable().layer(shared.app.clone());
    let response = match app.oneshot(request).await {
        Ok(response) => response,
        Err(never) => match never {},
    };
    match fate.broken() {
        None => (response, fate.ended()),
        Some(Broken::TooLarge) => (screen::too_large(shared.body_bytes), false),
        Some(Broken::TooSlow) => {
            let (detail, hint) = ("the body did not come in time", "send it without long pauses");
            (problem_as(StatusCode::REQUEST_TIMEOUT, ErrorCode::InvalidInput, detail, hint), false)
        }
        Some(Broken::NoRoom) => {
            let detail = fate.full().map(Full::told).unwrap_or_default();
            let hint = "send it again in a second, or one body after the other; the operator can raise server.bodies";
            (problem(ErrorCode::Busy, detail, hint), false)
        }
        Some(Broken::Malformed) => {
            let (detail, hint) =
                ("the body is malformed, or ended before its end", "send it as a usual HTTP client does");
            (problem_as(StatusCode::BAD_REQUEST, ErrorCode::InvalidInput, detail, hint), false)
        }
    }
}

/// What every answer carries. What a page of ours has chosen for itself stays.
fn stamp(headers: &mut HeaderMap, encrypted: bool) {
    const CORP: HeaderName = HeaderName::from_static("cross-origin-resource-policy");
    let always = [
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (CORP, "same-origin"),
    ];
    for (name, value) in always {
        headers.insert(name, HeaderValue::from_static(value));
    }
    let unless_chosen = [
        (header::CONTENT_SECURITY_POLICY, "default-src 'none'; frame-ancestors 'none'"),
        (header::CACHE_CONTROL, "no-store"),
    ];
    for (name, value) in unless_chosen {
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    }
    if encrypted {
        let year = HeaderValue::from_static("max-age=31536000");
        headers.insert(header::STRICT_TRANSPORT_SECURITY, year);
    }
}
