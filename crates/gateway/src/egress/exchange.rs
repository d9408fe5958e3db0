//! One request on its way: both bodies are passed on as they come, at the same time.
//!
//! Hop-by-hop headers are for the hop they came by and are dropped; the framing and `Host` are ours. A connection is used
//! again only after an answer whose end was plain. What comes back is for `answer`.

use std::sync::atomic::{AtomicBool, Ordering};

use bailiwick_policy::{Checked, EgressRequest, EgressTarget};
use bailiwick_types::{Denial, DenialReason, ErrorCode, Refused};
use tokio::io::AsyncWriteExt as _;

use super::answer::answer;
use super::line::{Activity, Line};
use super::message::{BodyFault, Chunks, Framing, Headers, RequestHead, Sink, Version, pass_body};
use super::requests::Over;
use super::sealing::Watch;
use super::way::{Form, Opened, Way};

/// Headers that are for one hop, or that we write ourselves.
pub(super) const DROPPED: &[&str] = &[
    "connection",
    "content-length",
    "host",
    "http2-settings",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// A request that was judged, ready to be sent.
pub(super) struct Prepared {
    pub(super) target: Checked<EgressTarget>,
    pub(super) over: Over,
    pub(super) request: Checked<EgressRequest>,
    headers: Headers,
    framing: Framing,
    pub(super) version: Version,
    /// Whether the program may send another request.
    pub(super) keeps: bool,
    pub(super) upgrades: bool,
    /// Whether sealed values are taken out of the answer.
    pub(super) is_cleaned: bool,
}

impl Prepared {
    /// Whether sending it twice does nothing twice.
    pub(super) fn may_repeat(&self) -> bool {
        self.framing == Framing::Empty && matches!(self.request.get().method(), "GET" | "HEAD" | "OPTIONS")
    }
}

/// A connection to a host, kept for the next request.
pub(super) struct Held {
    to: EgressTarget,
    over: Over,
    opened: Opened,
}

impl Held {
    pub(super) fn new(target: &Checked<EgressTarget>, over: Over, opened: Opened) -> Self {
        Self { to: target.get().clone(), over, opened }
    }

    pub(super) fn is_for(&self, prepared: &Prepared) -> bool {
        self.to == *prepared.target.get() && self.over == prepared.over
    }

    pub(super) fn line(&mut self) -> &mut Line {
        &mut self.opened.line
    }
}

/// What becomes of a connection after an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum After {
    /// Another request may come, and the host's connection is good for it.
    KeepBoth,
    /// Another request may come.
    KeepClient,
    /// Nothing more, and that is to be said.
    Close,
    /// It is over already.
    Gone,
    /// Both sides speak something else from now on.
    Switched,
}

/// Why there was no answer.
pub(super) enum Trouble {
    /// The host closed before it said anything, as it may on a connection that waited.
    Stale,
    /// The request was refused on its way; nothing was answered yet.
    Denied(Box<Denial>),
    /// The host gave no proper answer; nothing was answered yet.
    Failed(Refused),
    /// It broke in the middle of an answer.
    Broken,
}

/// What is told when a host says nothing.
pub(super) fn no_answer() -> Refused {
    bad_answer("the host closed the connection without an answer")
}

pub(super) fn bad_answer(why: &str) -> Refused {
    Refused::failed(ErrorCode::NetFailed, DenialReason::BadAnswer.word(), why.to_owned())
}

/// Makes a judged request ready: without what is for this hop only, with sealed values in their places.
pub(super) fn prepared(
    way: &Way,
    target: Checked<EgressTarget>,
    request: Checked<EgressRequest>,
    head: RequestHead,
    framing: Framing,
    over: Over,
) -> Result<Prepared, Box<Denial>> {
    let RequestHead { method, version, mut headers, .. } = head;
    let options = connection_options(&headers);
    let url = request.get().url();
    let asks_upgrade = options.iter().any(|option| option == "upgrade");
    let is_websocket =
        headers.iter().any(|(name, value)| name == "upgrade" && value.eq_ignore_ascii_case(b"websocket"));
    let upgrades = asks_upgrade
        && is_websocket
        && method == "GET"
        && framing == Framing::Empty
        && version == Version::Http11;
    let keeps = match version {
        Version::Http11 => !options.iter().any(|option| option == "close"),
        Version::Http10 => false,
    };
    headers.retain(|(name, value)| {
        let is_expected = name == "expect" && !value.eq_ignore_ascii_case(b"100-continue");
        !DROPPED.contains(&name.as_str()) && !options.contains(name) && !is_expected
    });
    let sealed_place = || {
        let asked = format!("{method} {url}");
        way.policy.refuse(asked, DenialReason::SealedPlace)
    };
    let is_cleaned = way.sealed.is_for_host_of(url);
    if is_cleaned {
        // What comes back must be whole and readable, and a tunnel is neither.
        if upgrades {
            return Err(sealed_place());
        }
        headers.retain(|(name, _)| !matches!(name.as_str(), "accept-encoding" | "range" | "if-range"));
        headers.push(("accept-encoding".to_owned(), b"identity".to_vec()));
    }
    let named = headers.iter().map(|(name, value)| (name.as_bytes(), value.as_slice()));
    if way.sealed.strays(url, &named.collect::<Vec<_>>(), &[]) {
        return Err(way.policy.refuse(format!("{method} {url}"), DenialReason::SealedValue));
    }
    way.sealed.put_into_headers(&mut headers, url).map_err(|_| sealed_place())?;
    Ok(Prepared { target, over, request, headers, framing, version, keeps, upgrades, is_cleaned })
}

/// What `Connection` names, in lower case.
pub(super) fn connection_options(headers: &Headers) -> Vec<String> {
    headers
        .iter()
        .filter(|(name, _)| name == "connection" || name == "proxy-connection")
        .flat_map(|(_, value)| value.split(|byte| *byte == b','))
        .map(|option| String::from_utf8_lossy(option.trim_ascii()).to_ascii_lowercase())
        .collect()
}

pub(super) fn push(head: &mut Vec<u8>, name: &str, value: &[u8]) {
    head.extend_from_slice(name.as_bytes());
    head.extend_from_slice(b": ");
    head.extend_from_slice(value);
    head.extend_from_slice(b"\r\n");
}

/// The head of a request as it is sent.
fn written(prepared: &Prepared, form: &Form) -> Vec<u8> {
    let request = prepared.request.get();
    let url = request.url();
    let query = url.query().map_or_else(String::new, |query| format!("?{query}"));
    let target = prepared.target.get();
    let usual = if prepared.over == Over::Tls { 443 } else { 80 };
    let authority = if target.port() == usual { target.host().to_string() } else { target.to_string() };
    let (place, authorization) = match form {
        Form::Origin => (String::new(), None),
        Form::Absolute(authorization) => (format!("http://{authority}"), authorization.as_ref()),
    };
    let mut head = format!("{} {place}{}{query} HTTP/1.1\r\n", request.method(), url.path()).into_bytes();
    push(&mut head, "host", authority.as_bytes());
    for (name, value) in &prepared.headers {
        push(&mut head, name, value);
    }
    if let Some(authorization) = authorization {
        push(&mut head, "proxy-authorization", authorization.as_bytes());
    }
    match prepared.framing {
        Framing::Length(length) => push(&mut head, "content-length", length.to_string().as_bytes()),
        Framing::Chunked => push(&mut head, "transfer-encoding", b"chunked"),
        // What usually has a body says that it has none.
        Framing::Empty if matches!(request.method(), "POST" | "PUT" | "PATCH") => {
            push(&mut head, "content-length", b"0");
        }
        Framing::Empty | Framing::UntilClose => {}
    }
    if prepared.upgrades {
        push(&mut head, "connection", b"upgrade");
        push(&mut head, "upgrade", b"websocket");
    }
    head.extend_from_slice(b"\r\n");
    head
}

/// Sends a request and passes its answer on.
pub(super) async fn run(
    way: &Way,
    client: &mut Line,
    held: &mut Held,
    prepared: &Prepared,
) -> Result<After, Trouble> {
    let words = written(prepared, &held.opened.form);
    let host = &mut held.opened.line;
    let activity = Activity::default();
    let has_begun = AtomicBool::new(false);
    let sending = async {
        let begun = async {
            host.writer.write_all(&words).await?;
            host.writer.flush().await
        };
        begun.await.map_err(|_: std::io::Error| BodyFault::Unwanted)?;
        let sink = Sink {
            writer: &mut host.writer,
            in_chunks: prepared.framing == Framing::Chunked,
            look: Watch::over(&way.sealed),
            activity: &activity,
        };
        pass_body(&mut client.reader, prepared.framing, Chunks::Plain, sink).await
    };
    let answering = answer(way, &mut host.reader, &mut client.writer, prepared, &activity, &has_begun);
    tokio::pin!(sending, answering);
    let mut is_sent = None;
    let came = loop {
        tokio::select! {
            sent = &mut sending, if is_sent.is_none() => match sent {
                Ok(()) => is_sent = Some(true),
                // The host may have answered all the same.
                Err(BodyFault::Unwanted) => is_sent = Some(false),
                Err(fault) => break Err(stopped(way, prepared, &fault)),
            },
            came = &mut answering => break came,
            () = activity.stops_for(way.bounds.idle) => {
                let message = format!("nothing moved for {} s", way.bounds.idle.as_secs());
                break Err(Trouble::Failed(Refused::failed(ErrorCode::NetFailed, DenialReason::Timeout.word(), message)));
            }
        }
    };
    match came {
        Ok(After::KeepBoth | After::KeepClient) if is_sent != Some(true) => Ok(After::Close),
        Err(_) if has_begun.load(Ordering::Relaxed) => Err(Trouble::Broken),
        came => came,
    }
}

fn stopped(way: &Way, prepared: &Prepared, fault: &BodyFault) -> Trouble {
    let request = prepared.request.get();
    let asked = |why: &str| format!("{} {}: {why}", request.method(), request.url());
    match fault {
        BodyFault::Malformed(why) => Trouble::Denied(way.policy.refuse(asked(why), DenialReason::BadRequest)),
        BodyFault::Stopped(reason) => Trouble::Denied(way.policy.refuse(asked("in its body"), *reason)),
        BodyFault::Cut | BodyFault::Unwanted => Trouble::Broken,
    }
}
