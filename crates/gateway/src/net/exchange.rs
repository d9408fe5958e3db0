//! One request and its answer over a connection of the call.
//!
//! A request is sent a second time only if a connection that was used before turned out to be closed, and only if
//! that cannot do the same thing twice.

use bailiwick_policy::{Checked, EffectivePolicy, FetchBounds, FetchTarget};
use bailiwick_types::{DenialReason, Refused};
use bytes::Bytes;
use http::header::{CONTENT_ENCODING, CONTENT_LENGTH, HOST, HeaderMap, HeaderValue, PROXY_AUTHORIZATION};
use http::{Method, Request, Response, Version};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;

use super::connect::{Connections, Lease, Origin, Sender, authority_of, broken, origin_of};
use super::decode::{Decoder, encodings, too_large};
use super::headers::size;
use super::refusal::{failed, guard, malformed};
use super::sealed::Sent;
use super::usage::Counters;

/// The head of an answer, with the body still to come.
pub(super) struct Reply {
    pub(super) status: u16,
    pub(super) status_text: String,
    pub(super) headers: HeaderMap,
    pub(super) body: Coming,
}

/// A body to come.
pub(super) enum Coming {
    /// Over a connection, which is given back when the body has ended.
    Live { body: Incoming, origin: Origin, sender: Sender },
    /// All there.
    Here(Vec<u8>),
}

/// Sends a request and waits for the head of its answer.
pub(super) async fn send(
    connections: &Connections,
    target: &Checked<FetchTarget>,
    policy: &EffectivePolicy,
    sent: &Sent,
    bounds: FetchBounds,
) -> Result<Reply, Refused> {
    let (response, sender) = loop {
        let Lease { sender, is_reused } = connections.lease(target, policy).await?;
        match on(connections, sender, target.get(), sent).await {
            Ok(both) => break both,
            Err((_, may_repeat)) if is_reused && may_repeat => {}
            Err((error, _)) => return Err(error),
        }
    };
    let (head, body) = response.into_parts();
    if size(&head.headers) as u64 > bounds.header_bytes {
        let message = format!("the headers of the answer are larger than {} bytes", bounds.header_bytes);
        return Err(failed(DenialReason::TooLarge, message));
    }
    let status_text = match head.extensions.get::<hyper::ext::ReasonPhrase>() {
        Some(phrase) => super::headers::text_of(phrase.as_bytes()),
        None if head.version == Version::HTTP_2 => String::new(),
        None => head.status.canonical_reason().unwrap_or_default().to_owned(),
    };
    Ok(Reply {
        status: head.status.as_u16(),
        status_text,
        headers: head.headers,
        body: Coming::Live { body, origin: origin_of(target.get()), sender },
    })
}

type Unsent = (Refused, bool);

/// One try on one connection; the error says whether it may be repeated.
async fn on(
    connections: &Connections,
    sender: Sender,
    target: &FetchTarget,
    sent: &Sent,
) -> Result<(Response<Incoming>, Sender), Unsent> {
    let is_many = matches!(sender, Sender::Many(_));
    let request = request(connections, target, sent, is_many).map_err(|error| (error, false))?;
    let is_harmless = matches!(*request.method(), Method::GET | Method::HEAD | Method::OPTIONS);
    let (result, sender) = match sender {
        Sender::One(mut lane) => (lane.try_send_request(request).await, Sender::One(lane)),
        Sender::Many(mut lane) => (lane.try_send_request(request).await, Sender::Many(lane)),
    };
    match result {
        Ok(response) => Ok((response, sender)),
        Err(mut error) => {
            let was_not_sent = error.take_message().is_some();
            let error = error.into_error();
            let may_repeat = was_not_sent
                || (is_harmless
                    && (error.is_incomplete_message() || error.is_closed() || error.is_canceled()));
            Err((broken(&error), may_repeat))
        }
    }
}

fn request(
    connections: &Connections,
    target: &FetchTarget,
    sent: &Sent,
    is_many: bool,
) -> Result<Request<Full<Bytes>>, Refused> {
    let no_url = || guard(DenialReason::BadUrl, target.method().word(), target.url().as_str());
    let authority = authority_of(target);
    let scheme = sent.url.scheme();
    let path = sent.url.path();
    let query = sent.url.query().map_or_else(String::new, |query| format!("?{query}"));
    let proxy = connections.net().proxy.as_ref().filter(|_| scheme == "http");
    // To an origin over HTTP/1.1 only the path is sent; HTTP/2 and a proxy want all of it.
    let uri = if is_many || proxy.is_some() {
        format!("{scheme}://{authority}{path}{query}")
    } else {
        format!("{path}{query}")
    };
    let method = Method::from_bytes(target.method().word().as_bytes())
        .map_err(|_| malformed("bad-method", "this is not a method"))?;
    let mut request = Request::builder()
        .method(method)
        .uri(uri)
        .body(Full::new(sent.body.clone()))
        .map_err(|_| no_url())?;
    *request.headers_mut() = sent.headers.clone();
    if !is_many {
        request.headers_mut().insert(HOST, HeaderValue::from_str(&authority).map_err(|_| no_url())?);
    }
    if let Some(authorization) = proxy.and_then(super::proxy::UpstreamProxy::authorization) {
        request.headers_mut().insert(PROXY_AUTHORIZATION, authorization);
    }
    Ok(request)
}

/// Reads a body to its end, without its encodings. `must_decode` refuses what we cannot read.
pub(super) async fn read(
    connections: Option<&Connections>,
    headers: &HeaderMap,
    body: Coming,
    bounds: FetchBounds,
    must_decode: bool,
    counters: &Counters,
) -> Result<Vec<u8>, Refused> {
    let (mut body, origin, sender) = match body {
        Coming::Here(bytes) if bytes.len() as u64 > bounds.body_bytes => {
            return Err(too_large(bounds.body_bytes));
        }
        Coming::Here(bytes) => return Ok(bytes),
        Coming::Live { body, origin, sender } => (body, origin, sender),
    };
    let named: Vec<String> = headers
        .get_all(CONTENT_ENCODING)
        .iter()
        .map(|value| super::headers::text_of(value.as_bytes()))
        .collect();
    let found = match encodings(&named.join(",")) {
        Some(found) => found,
        None if must_decode => {
            let message = "the body is in an encoding that cannot be undone, so it cannot be searched for sealed values";
            return Err(failed(DenialReason::BadAnswer, message));
        }
        None => Vec::new(),
    };
    let is_bodiless = hyper::body::Body::is_end_stream(&body);
    let announced = headers.get(CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse::<u64>().ok());
    if !is_bodiless && announced.is_some_and(|length| length > bounds.body_bytes) {
        return Err(too_large(bounds.body_bytes));
    }
    let mut decoder = Decoder::new(&found, bounds.body_bytes)?;
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| broken(&error))?;
        if let Some(piece) = frame.data_ref() {
            counters.came_in(piece.len());
            decoder.push(piece)?;
        }
    }
    if let Some(connections) = connections {
        connections.give_back(origin, sender);
    }
    decoder.end()
}
