//! What the perimeter says to whoever it does not let in. None of it repeats what was sent.

use std::any::Any;
use std::time::Duration;

use axum::response::{IntoResponse as _, Response};
use bailiwick_types::ErrorCode;
use http::{HeaderValue, StatusCode, header};

use super::credentials::Unclear;
use super::host::NotOurs;
use super::origin::NotListed;
use super::rates::{Allowed, Over};
use super::who::NotKnown;
use super::{NotAKey, NotAToken, Resource};
use crate::problem::{Refused, problem, problem_as};

/// Counts a refusal, and makes it.
fn counted(reason: &'static str, response: Response) -> Response {
    metrics::counter!("bailiwick_http_refused_total", "reason" => reason).increment(1);
    response
}

/// A handler broke. What it said may hold anything, so nothing of it goes out.
pub(super) fn panicked(_why: Box<dyn Any + Send + 'static>) -> Response {
    tracing::error!("a handler panicked");
    let hint = "this is a fault of Bailiwick itself; the server's log has more";
    counted("panic", problem(ErrorCode::Internal, "the request could not be answered", hint))
}

/// Served by something else than our listener.
pub(super) fn not_ours() -> Response {
    problem(
        ErrorCode::Internal,
        "nobody told who asks",
        "this is a fault of Bailiwick itself: routes are served by its own listener only",
    )
}

pub(super) fn host(why: NotOurs) -> Response {
    counted(
        "host",
        match why {
            NotOurs::Malformed => problem_as(
                StatusCode::BAD_REQUEST,
                ErrorCode::InvalidInput,
                "the request names no host, more than one, or one that cannot be read",
                "send exactly one Host header, as every HTTP client does",
            ),
            NotOurs::Foreign => Refused::new(
                ErrorCode::Forbidden,
                "the Host header names neither the address that was reached nor a name in server.hosts",
                "have the operator add the name to server.hosts; or ask by an address of the server's machine and the \
                 port it listens on (0.0.0.0 and [::] are none: they stand for all of them)",
            )
            .with_status(StatusCode::MISDIRECTED_REQUEST)
            .with_title("This server does not answer for that host.")
            .into_response(),
        },
    )
}

pub(super) fn origin(why: NotListed) -> Response {
    counted(
        "origin",
        match why {
            NotListed::Malformed => problem_as(
                StatusCode::BAD_REQUEST,
                ErrorCode::InvalidInput,
                "the Origin header is given more than once, or cannot be read",
                "send at most one, as a browser does",
            ),
            NotListed::Foreign => problem(
                ErrorCode::Forbidden,
                "the web page that asks is not one that may",
                "have the operator list its origin in server.origins",
            ),
        },
    )
}

pub(super) fn unclear(why: Unclear) -> Response {
    let (detail, hint) = match why {
        Unclear::InAddress => (
            "credentials in an address are not taken: addresses end in logs",
            "send the key in the header `Authorization: Bearer …`; if it was a real one, revoke it",
        ),
        Unclear::Two => ("two different credentials were shown", "send one header with one of them"),
        Unclear::Malformed => {
            let response = unauthorized(
                "the credentials cannot be read",
                "send `Authorization: Bearer …` or `X-Api-Key: …`",
            );
            return counted("credentials", response);
        }
    };
    counted("credentials", problem(ErrorCode::InvalidInput, detail, hint))
}

/// Somebody who is not known.
pub(super) fn not_known(why: &NotKnown) -> Response {
    match why {
        NotKnown::Nothing => nothing_shown(),
        NotKnown::Key(why) => key(*why),
        NotKnown::Token(why) => token(why),
    }
}

fn nothing_shown() -> Response {
    let mut response = problem(
        ErrorCode::Unauthorized,
        "this needs a key, and none was shown",
        "send `Authorization: Bearer KEY`; the operator's own is in operator.key in the data folder",
    );
    let demand = HeaderValue::from_static("Bearer realm=\"bailiwick\"");
    response.headers_mut().insert(header::WWW_AUTHENTICATE, demand);
    response
}

/// Credentials were shown, and do not count.
fn unauthorized(detail: &str, hint: &str) -> Response {
    let mut response = problem(ErrorCode::Unauthorized, detail, hint);
    let demand =
        format!("Bearer realm=\"bailiwick\", error=\"invalid_token\", error_description=\"{detail}\"");
    // All of it is our own words.
    let demand =
        HeaderValue::from_str(&demand).unwrap_or(HeaderValue::from_static("Bearer realm=\"bailiwick\""));
    response.headers_mut().insert(header::WWW_AUTHENTICATE, demand);
    response
}

fn key(why: NotAKey) -> Response {
    let (detail, hint) = match why {
        NotAKey::Malformed => {
            ("what was shown is not a key", "a key begins with bwk_; send all of it, as it was told")
        }
        NotAKey::Unknown => ("there is no such key here", "check which server the key belongs to"),
        NotAKey::Expired => ("the key has expired", "make a new one with `bailiwick key create`"),
        NotAKey::Revoked => ("the key was revoked", "make a new one with `bailiwick key create`"),
    };
    unauthorized(detail, hint)
}

fn token(why: &NotAToken) -> Response {
    unauthorized(&why.to_string(), "get a new token from its issuer, for this server's audience")
}

/// Where tokens count, whoever lacks credentials is told how they are come by, and for `/mcp` which scope they need.
pub(super) fn point(response: &mut Response, resource: &Resource, to_mcp: bool) {
    if response.status() != StatusCode::UNAUTHORIZED {
        return;
    }
    let demanded = response.headers().get(header::WWW_AUTHENTICATE).and_then(|value| value.to_str().ok());
    let mut demand = resource.pointed(demanded.unwrap_or("Bearer realm=\"bailiwick\""));
    if to_mcp {
        demand.push_str(", scope=\"call\"");
    }
    // All of it is our own words, and the operator's.
    if let Ok(demand) = HeaderValue::from_str(&demand) {
        response.headers_mut().insert(header::WWW_AUTHENTICATE, demand);
    }
}

/// The header that says when to come back: whole seconds, at least one.
fn retry_after(mut response: Response, wait: Duration) -> Response {
    let seconds = wait.as_secs().saturating_add(u64::from(wait.subsec_nanos() > 0)).max(1);
    response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    response
}

pub(super) fn over(over: Over, allowed: Allowed) -> Response {
    metrics::counter!("bailiwick_http_rate_limited_total").increment(1);
    let (detail, wait) = match over {
        Over::Rate { wait } => (format!("more than {} requests in a second", allowed.per_second), wait),
        Over::AtOnce => {
            (format!("more than {} requests under way at once", allowed.at_once), Duration::from_secs(1))
        }
    };
    let hint = "wait as long as Retry-After says; a key can have a rate of its own";
    retry_after(problem(ErrorCode::RateLimited, detail, hint), wait)
}

/// Too many connections are busy with requests of callers like this one.
pub(super) fn crowded() -> Response {
    metrics::counter!("bailiwick_http_busy_total").increment(1);
    let hint = "try again in a second; the rest of the connections is kept for callers with more rights";
    let response =
        problem(ErrorCode::Busy, "as many connections are busy as callers like this one may have", hint);
    retry_after(response, Duration::from_secs(1))
}

pub(super) fn busy() -> Response {
    metrics::counter!("bailiwick_http_busy_total").increment(1);
    let hint = "try again in a second; the operator can raise server.calls, of which there are never more than a 64th of \
                the descriptors that the server may open (ulimit -n)";
    let response = problem(ErrorCode::Busy, "as many calls as may run at once do", hint);
    retry_after(response, Duration::from_secs(1))
}
