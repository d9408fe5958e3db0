//! The requests of one connection, one after the other: each is judged on its own, whatever came before it.
//!
//! A request goes to the host that it names and its connection is for, or nowhere. What is sent is written anew from what
//! was judged; no byte of a head is passed on as it came.

use bailiwick_policy::{Checked, EgressRequest, EgressTarget, HostName, without_userinfo};
use bailiwick_types::{Denial, DenialReason};
use tokio::time::timeout;
use url::Url;

use super::exchange::{self, After, Held, Prepared, Trouble};
use super::line::{Line, part, splice};
use super::message::{Framing, HeadFault, RequestHead, Version, parse_request, read_head, request_framing};
use super::way::{Purpose, Unreached, Way};
use super::words::{self, GOODBYE, refused, tell, told};

/// Whom requests of a connection are for.
pub(super) enum Speaking<'a> {
    /// The proxy: every one names its host.
    Proxy,
    /// One host, over a connection of its own.
    Host(&'a Checked<EgressTarget>, Over),
}

/// How a program speaks to a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Over {
    /// In the clear.
    Plain,
    /// In TLS, which we end.
    Tls,
}

/// Serves requests until there is none more, or until one asks for a tunnel: then that is returned.
pub(super) async fn serve(
    way: &Way,
    line: &mut Line,
    speaking: &Speaking<'_>,
    mut held: Option<Held>,
) -> Option<RequestHead> {
    let mut patience = way.bounds.head;
    loop {
        // A connection that waits for another request may take its time; a request that has begun may not.
        match timeout(patience, line.reader.first()).await {
            Ok(Ok(Some(_))) => {}
            Ok(Ok(None) | Err(_)) | Err(_) => return None,
        }
        let reading = timeout(way.bounds.head, read_head(&mut line.reader, way.bounds.head_bytes));
        let read = match reading.await {
            Ok(Ok(Some(bytes))) => parse_request(&bytes),
            Ok(Err(fault)) => Err(fault),
            Ok(Ok(None)) => return None,
            Err(_) => Err(HeadFault::Malformed("it did not come to its end in time")),
        };
        let request = match read {
            Ok(request) => request,
            Err(HeadFault::Gone) => return None,
            Err(fault) => {
                tell(line, &refused(way, malformed(way, &fault))).await;
                return None;
            }
        };
        if matches!(speaking, Speaking::Proxy) && request.method == "CONNECT" {
            return Some(request);
        }
        let after = match prepare(way, speaking, request) {
            Ok(prepared) => answered(way, line, prepared, &mut held).await,
            Err(denial) => {
                tell(line, &refused(way, *denial)).await;
                return None;
            }
        };
        match after {
            After::Gone => return None,
            After::Close => {
                // TLS ends with a word, and who is still sending reads the answer all the same.
                part(line, GOODBYE).await;
                return None;
            }
            After::KeepBoth | After::KeepClient | After::Switched => {}
        }
        patience = way.bounds.keep_alive;
    }
}

fn malformed(way: &Way, fault: &HeadFault) -> Denial {
    let (why, reason) = match fault {
        HeadFault::TooLarge => ("its head is larger than it may be", DenialReason::TooLarge),
        HeadFault::Malformed(why) => (*why, DenialReason::BadRequest),
        HeadFault::Gone => ("it is cut", DenialReason::BadRequest),
    };
    *way.policy.refuse(format!("a request: {why}"), reason)
}

/// Has a request answered, and says what becomes of the connection.
async fn answered(way: &Way, line: &mut Line, prepared: Prepared, held: &mut Option<Held>) -> After {
    let before = held.take().filter(|held| held.is_for(&prepared));
    let is_reused = before.is_some();
    let mut used = match before {
        Some(held) => held,
        None => match connected(way, &prepared).await {
            Ok(held) => held,
            Err(unreached) => return say(line, &told(way, unreached)).await,
        },
    };
    let mut came = exchange::run(way, line, &mut used, &prepared).await;
    if matches!(came, Err(Trouble::Stale)) && is_reused && prepared.may_repeat() {
        used = match connected(way, &prepared).await {
            Ok(held) => held,
            Err(unreached) => return say(line, &told(way, unreached)).await,
        };
        came = exchange::run(way, line, &mut used, &prepared).await;
    }
    match came {
        Ok(After::Switched) => {
            splice(line, used.line(), way.bounds.idle).await;
            After::Gone
        }
        Ok(After::KeepBoth) => {
            *held = Some(used);
            After::KeepBoth
        }
        Ok(after) => after,
        Err(Trouble::Denied(denial)) => say(line, &refused(way, *denial)).await,
        Err(Trouble::Failed(failed)) => say(line, &words::failed(&failed)).await,
        Err(Trouble::Stale) => say(line, &words::failed(&exchange::no_answer())).await,
        // Whoever got half of an answer must not take it for all.
        Err(Trouble::Broken) => After::Gone,
    }
}

async fn say(line: &mut Line, told: &words::Told) -> After {
    tell(line, told).await;
    After::Gone
}

async fn connected(way: &Way, prepared: &Prepared) -> Result<Held, Unreached> {
    let opened = match prepared.over {
        Over::Plain => way.open(&prepared.target, Purpose::Requests).await?,
        Over::Tls => way.open_tls(&prepared.target).await?,
    };
    Ok(Held::new(&prepared.target, prepared.over, opened))
}

/// Judges a request: whom it is for, where its body ends, what it asks for.
fn prepare(way: &Way, speaking: &Speaking<'_>, head: RequestHead) -> Result<Prepared, Box<Denial>> {
    let no = |why: &str, reason: DenialReason| {
        let method: String = head.method.chars().take(20).collect();
        let place = match speaking {
            Speaking::Host(target, _) if head.target.starts_with('/') => target.get().to_string(),
            Speaking::Host(..) | Speaking::Proxy => String::new(),
        };
        let target: String = without_userinfo(&head.target).chars().take(200).collect();
        way.policy.refuse(format!("{method} {place}{target}: {why}"), reason)
    };
    let bad = |why: &str| no(why, DenialReason::BadRequest);
    let framing = request_framing(&head).map_err(bad)?;
    let (url, over) = match speaking {
        Speaking::Proxy => {
            if head.target.starts_with('/') || head.target == "*" {
                return Err(bad("this is a proxy, which has to be told the whole URL"));
            }
            (
                parse(&head.target, "http").ok_or_else(|| bad("it is no http URL; https goes by CONNECT"))?,
                Over::Plain,
            )
        }
        Speaking::Host(target, over) => {
            if head.method == "CONNECT" {
                return Err(no("a tunnel inside of a connection", DenialReason::HostMismatch));
            }
            let scheme = if *over == Over::Tls { "https" } else { "http" };
            let written = if head.target.starts_with('/') {
                format!("{scheme}://{}{}", target.get(), head.target)
            } else {
                head.target.clone()
            };
            (parse(&written, scheme).ok_or_else(|| bad("it is no URL of this connection"))?, *over)
        }
    };
    let (host, port) = host_of(&url).ok_or_else(|| bad("its URL has no host"))?;
    let usual = if over == Over::Tls { 443 } else { 80 };
    named_host(&head, &host, port, usual).map_err(|(why, reason)| no(why, reason))?;
    let target = match speaking {
        Speaking::Proxy => way.policy.connect(&host, port)?,
        Speaking::Host(target, _) => {
            if *target.get().host() != host || target.get().port() != port {
                return Err(no("the connection is for another host", DenialReason::HostMismatch));
            }
            way.policy.connect(&host, port)?
        }
    };
    let request: Checked<EgressRequest> = way.policy.request(&target, &head.method, url)?;
    exchange::prepared(way, target, request, head, framing, over)
}

/// A URL of this scheme, without anybody's name in it. Its host is where everybody looks for one: between two slashes and
/// the next; spellings that a browser would mend are refused.
fn parse(text: &str, scheme: &str) -> Option<Url> {
    let (written, rest) = text.split_once("://")?;
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    if !written.eq_ignore_ascii_case(scheme) || host.is_empty() || host.contains('\\') {
        return None;
    }
    let url = Url::parse(text).ok()?;
    let is_plain = url.scheme() == scheme && url.username().is_empty() && url.password().is_none();
    is_plain.then_some(url)
}

fn host_of(url: &Url) -> Option<(HostName, u16)> {
    let host = url.host_str()?;
    let host = HostName::parse(host.trim_start_matches('[').trim_end_matches(']')).ok()?;
    Some((host, url.port_or_known_default()?))
}

/// Whether `Host` says what the URL says, once.
fn named_host(
    head: &RequestHead,
    host: &HostName,
    port: u16,
    usual: u16,
) -> Result<(), (&'static str, DenialReason)> {
    let mut named = head.headers.iter().filter(|(name, _)| name == "host").map(|(_, value)| value);
    match (named.next(), named.next()) {
        (None, _) if head.version == Version::Http10 && !head.target.starts_with('/') => Ok(()),
        (None, _) => Err(("it has no Host", DenialReason::BadRequest)),
        (Some(_), Some(_)) => Err(("it has two Hosts", DenialReason::BadRequest)),
        (Some(value), None) => {
            let value = std::str::from_utf8(value).unwrap_or_default();
            match authority(value, Some(usual)) {
                Some((named, at)) if named == *host && at == port => Ok(()),
                _ => Err(("its Host is another one", DenialReason::HostMismatch)),
            }
        }
    }
}

/// `host:port`, or `host` where there is a usual port; a v6 address in brackets.
pub(super) fn authority(text: &str, usual: Option<u16>) -> Option<(HostName, u16)> {
    let (host, port) = match text.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => {
            let is_number = (1..=5).contains(&port.len()) && port.bytes().all(|byte| byte.is_ascii_digit());
            (host, port.parse::<u16>().ok().filter(|port| is_number && *port > 0)?)
        }
        _ => (text, usual?),
    };
    let is_bare_v6 = host.contains(':') && !host.starts_with('[');
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | ':' | '[' | ']');
    if host.is_empty() || is_bare_v6 || !host.chars().all(is_plain) {
        return None;
    }
    let host = host.strip_prefix('[').map_or(Some(host), |inner| inner.strip_suffix(']'))?;
    Some((HostName::parse(host).ok()?, port))
}

/// Whether a body can follow.
pub(super) fn is_bodiless(head: &RequestHead) -> bool {
    matches!(request_framing(head), Ok(Framing::Empty))
}
