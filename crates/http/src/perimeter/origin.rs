//! Which web page asks, where one does: our own, or one that the operator listed. All others are refused.
//!
//! Programs send no `Origin`; browsers do for whatever a page could read or change, and say `Sec-Fetch-Site` besides.
//! Pages never get at credentials that a browser keeps: we have none, and say so.

use axum::body::Body;
use axum::response::Response;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, StatusCode, header};

use super::host::{Host, usual_port};
use crate::Peer;

const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
const PRIVATE_NETWORK_ASKED: HeaderName = HeaderName::from_static("access-control-request-private-network");
const PRIVATE_NETWORK: HeaderName = HeaderName::from_static("access-control-allow-private-network");
/// What a listed page may use.
const METHODS: &str = "GET, HEAD, POST, PUT, PATCH, DELETE";
const HEADERS: &str = "authorization, content-type, idempotency-key, last-event-id, mcp-method, mcp-name, mcp-protocol-version, \
     mcp-session-id, x-api-key, x-correlation-id";
const EXPOSED: &str =
    "retry-after, www-authenticate, x-correlation-id, location, mcp-protocol-version, mcp-session-id";

/// Who asks, as far as browsers tell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Asker {
    /// A program, or a page of our own.
    Own,
    /// A page that the operator listed.
    Listed(HeaderValue),
}

/// Why a page is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NotListed {
    /// More than one origin, or none that can be read.
    Malformed,
    /// A page of somebody else, or one without an origin.
    Foreign,
}

/// Who asks.
pub(super) fn check(
    headers: &HeaderMap,
    host: &Host,
    peer: Peer,
    listed: &[String],
) -> Result<Asker, NotListed> {
    let mut given = headers.get_all(header::ORIGIN).iter();
    let origin = match (given.next(), given.next()) {
        (None, _) => None,
        (Some(origin), None) => Some(origin),
        (Some(_), Some(_)) => return Err(NotListed::Malformed),
    };
    if let Some(origin) = origin {
        let text = origin.to_str().map_err(|_| NotListed::Malformed)?;
        if listed.iter().any(|one| one.eq_ignore_ascii_case(text)) {
            return Ok(Asker::Listed(origin.clone()));
        }
        if !is_same(text, host, peer.encrypted) {
            return Err(NotListed::Foreign);
        }
    }
    match headers.get(SEC_FETCH_SITE).map(HeaderValue::as_bytes) {
        None | Some(b"same-origin" | b"none") => Ok(Asker::Own),
        Some(_) => Err(NotListed::Foreign),
    }
}

/// Whether an origin is the host that was asked.
fn is_same(origin: &str, host: &Host, encrypted: bool) -> bool {
    let scheme = if encrypted { "https://" } else { "http://" };
    let Some(rest) = origin.to_ascii_lowercase().strip_prefix(scheme).map(str::to_owned) else {
        return false;
    };
    rest == format!("{}:{}", host.name, host.port)
        || (host.port == usual_port(encrypted) && rest == host.name)
}

/// The answer to a browser that asks before it asks, for a page that is listed.
pub(super) fn preflight<B>(request: &Request<B>, asker: &Asker) -> Option<Response> {
    let asks = request.method() == Method::OPTIONS
        && request.headers().contains_key(header::ACCESS_CONTROL_REQUEST_METHOD);
    if !asks || *asker == Asker::Own {
        return None;
    }
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::NO_CONTENT;
    let headers = response.headers_mut();
    headers.insert(header::ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static(METHODS));
    headers.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, HeaderValue::from_static(HEADERS));
    headers.insert(header::ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("600"));
    if request.headers().contains_key(PRIVATE_NETWORK_ASKED) {
        headers.insert(PRIVATE_NETWORK, HeaderValue::from_static("true"));
    }
    Some(response)
}

/// Lets a listed page read an answer.
pub(super) fn allow(headers: &mut HeaderMap, asker: &Asker) {
    headers.append(header::VARY, HeaderValue::from_static("origin"));
    if let Asker::Listed(origin) = asker {
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone());
        headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static(EXPOSED));
    }
}
