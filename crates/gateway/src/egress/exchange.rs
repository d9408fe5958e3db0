//! One request and its answer: both bodies are passed on as they come, at the same time.
//!
//! Hop-by-hop headers are for the hop they came by and are dropped; the framing and `Host` are ours. A connection is used
//! again only after an answer whose end was plain.

use std::sync::atomic::{AtomicBool, Ordering};

use bailiwick_policy::{Checked, EgressRequest, EgressTarget};
use bailiwick_types::{Denial, DenialReason, ErrorCode, Refused};
use tokio::io::AsyncWriteExt as _;

use super::line::{Activity, Line};
use super::message::{
    AnswerHead, BodyFault, Chunks, Framing, HeadFault, Headers, RequestHead, Sink, Version, answer_framing,
    parse_answer, pass_body, read_head,
};
use super::requests::Over;
use super::sealing::{Cleaner, Watch};
use super::way::{Form, Opened, Way};

/// Headers that are for one hop, or that we write ourselves.
const DROPPED: &[&str] = &[
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
/// The most messages before an answer.
const MOST_INTERIM: usize = 16;

/// A request that was judged, ready to be sent.
pub(super) struct Prepared {
    pub(super) target: Checked<EgressTarget>,
    pub(super) over: Over,
    request: Checked<EgressRequest>,
    headers: Headers,
    framing: Framing,
    version: Version,
    keeps: bool,
    upgrades: bool,
    /// Whether sealed values are taken out of the answer.
    is_cleaned: bool,
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
    /// Nothing more.
    Close,
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

fn bad_answer(why: &str) -> Refused {
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
    way.sealed.put_into_headers(&mut headers, url).map_err(|_| sealed_place())?;
    Ok(Prepared { target, over, request, headers, framing, version, keeps, upgrades, is_cleaned })
}

/// What `Connection` names, in lower case.
fn connection_options(headers: &Headers) -> Vec<String> {
    headers
        .iter()
        .filter(|(name, _)| name == "connection" || name == "proxy-connection")
        .flat_map(|(_, value)| value.split(|byte| *byte == b','))
        .map(|option| String::from_utf8_lossy(option.trim_ascii()).to_ascii_lowercase())
        .collect()
}

fn push(head: &mut Vec<u8>, name: &str, value: &[u8]) {
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
    let head = written(prepared, &held.opened.form);
    let host = &mut held.opened.line;
    let activity = Activity::default();
    let has_begun = AtomicBool::new(false);
    let sending = async {
        let begun = async {
            host.writer.write_all(&head).await?;
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
        BodyFault::Stopped => {
            Trouble::Denied(way.policy.refuse(asked("in its body"), DenialReason::SealedPlace))
        }
        BodyFault::Cut | BodyFault::Unwanted => Trouble::Broken,
    }
}

/// Reads an answer and passes it on.
async fn answer(
    way: &Way,
    reader: &mut super::line::Reader,
    writer: &mut super::line::Writer,
    prepared: &Prepared,
    activity: &Activity,
    has_begun: &AtomicBool,
) -> Result<After, Trouble> {
    let failed = |why: &str| Trouble::Failed(bad_answer(why));
    for _ in 0..MOST_INTERIM {
        let head = match read_head(reader, way.bounds.head_bytes.saturating_mul(2)).await {
            Ok(Some(bytes)) => parse_answer(&bytes),
            Ok(None) => return Err(Trouble::Stale),
            Err(fault) => Err(fault),
        };
        let head = head.map_err(|fault| match fault {
            HeadFault::Gone => Trouble::Stale,
            HeadFault::TooLarge => failed("the head of the answer is larger than it may be"),
            HeadFault::Malformed(why) => failed(&format!("the answer of the host is none: {why}")),
        })?;
        activity.moved();
        let framing = answer_framing(&head, prepared.request.get().method()).map_err(failed)?;
        let is_switch = head.status == 101;
        if is_switch && !prepared.upgrades {
            return Err(failed("the host speaks something else than was asked for"));
        }
        let is_interim = matches!(head.status, 100..=199) && !is_switch;
        if is_interim && prepared.version == Version::Http10 {
            continue;
        }
        if prepared.is_cleaned && !is_readable(&head) {
            return Err(failed("the answer is in an encoding that cannot be searched for sealed values"));
        }
        let plan = Plan::of(prepared, &head, framing, is_switch || is_interim);
        let bytes = passed_on(way, prepared, &head, &plan);
        has_begun.store(!is_interim, Ordering::Relaxed);
        let sending = async {
            writer.write_all(&bytes).await?;
            writer.flush().await
        };
        sending.await.map_err(|_: std::io::Error| Trouble::Broken)?;
        activity.moved();
        if is_interim {
            continue;
        }
        if is_switch {
            return Ok(After::Switched);
        }
        let look = prepared.is_cleaned.then(|| Cleaner::boxed(&way.sealed));
        let sink = Sink { writer, in_chunks: plan.in_chunks, look, activity };
        pass_body(reader, framing, Chunks::Extended, sink).await.map_err(|_| Trouble::Broken)?;
        return Ok(match (plan.keeps_client, plan.keeps_host && reader.unread().is_empty()) {
            (true, true) => After::KeepBoth,
            (true, false) => After::KeepClient,
            (false, _) => After::Close,
        });
    }
    Err(failed("the host sends messages before its answer and no answer"))
}

fn is_readable(head: &AnswerHead) -> bool {
    head.headers
        .iter()
        .all(|(name, value)| name != "content-encoding" || value.eq_ignore_ascii_case(b"identity"))
}

/// How an answer is framed for the program, and what may follow it.
struct Plan {
    in_chunks: bool,
    length: Option<u64>,
    keeps_client: bool,
    keeps_host: bool,
    has_framing: bool,
}

impl Plan {
    fn of(prepared: &Prepared, head: &AnswerHead, framing: Framing, is_bare: bool) -> Self {
        let has_chunks = prepared.version == Version::Http11;
        let (in_chunks, length, ends) = match framing {
            Framing::Empty => (false, None, true),
            Framing::Length(length) if !prepared.is_cleaned => (false, Some(length), true),
            Framing::Length(_) | Framing::Chunked | Framing::UntilClose => (has_chunks, None, has_chunks),
        };
        let host_closes = connection_options(&head.headers).iter().any(|option| option == "close");
        Self {
            in_chunks,
            length,
            keeps_client: prepared.keeps && ends,
            keeps_host: framing != Framing::UntilClose && head.version == Version::Http11 && !host_closes,
            has_framing: !is_bare,
        }
    }
}

/// The head of an answer as it is passed on.
fn passed_on(way: &Way, prepared: &Prepared, head: &AnswerHead, plan: &Plan) -> Vec<u8> {
    let options = connection_options(&head.headers);
    let mut bytes = format!("HTTP/1.1 {} {}\r\n", head.status, head.reason).into_bytes();
    for (name, value) in &head.headers {
        // An answer without a body may well tell how long it would be.
        let is_told_length = name == "content-length"
            && (prepared.request.get().method() == "HEAD" || head.status == 304 || head_is_empty(value));
        if is_told_length {
            push(&mut bytes, name, value);
        } else if !DROPPED.contains(&name.as_str()) && !options.contains(name) {
            let clean = prepared.is_cleaned.then(|| way.sealed.cleaned_header(value));
            push(&mut bytes, name, clean.as_deref().unwrap_or(value));
        }
    }
    if plan.has_framing {
        if let Some(length) = plan.length {
            push(&mut bytes, "content-length", length.to_string().as_bytes());
        } else if plan.in_chunks {
            push(&mut bytes, "transfer-encoding", b"chunked");
        }
        push(&mut bytes, "connection", if plan.keeps_client { b"keep-alive" } else { b"close" });
    } else if head.status == 101 {
        push(&mut bytes, "connection", b"upgrade");
        push(&mut bytes, "upgrade", b"websocket");
    }
    bytes.extend_from_slice(b"\r\n");
    bytes
}

fn head_is_empty(length: &[u8]) -> bool {
    !length.is_empty() && length.iter().all(|byte| *byte == b'0')
}
