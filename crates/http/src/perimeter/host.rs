//! By which name we were asked: our own address, a name of this machine, or one that the operator listed.
//!
//! A page of a stranger can have its own name point to our address; the browser then sends that name as `Host`, and
//! that is how it is told from everybody else (DNS rebinding).

use std::net::IpAddr;

use http::uri::Authority;
use http::{Request, header};

use crate::Peer;

/// A host that passed: its name and port as the client wrote them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Host {
    pub(super) name: String,
    pub(super) port: u16,
}

/// Why a host did not pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NotOurs {
    /// None, more than one, or not a host.
    Malformed,
    /// A name that is not ours.
    Foreign,
}

/// The port that is meant where none is written.
pub(super) const fn usual_port(encrypted: bool) -> u16 {
    if encrypted { 443 } else { 80 }
}

/// The names that the operator listed.
#[derive(Debug, Clone)]
pub(super) struct Hosts(Vec<(String, Option<u16>)>);

impl Hosts {
    pub(super) fn new(listed: &[String]) -> Self {
        let read = |entry: &String| {
            let entry = entry.to_ascii_lowercase();
            match entry.rsplit_once(':') {
                Some((name, port)) if !port.is_empty() && !name.ends_with(':') => match port.parse() {
                    Ok(port) if name.starts_with('[') || !name.contains(':') => (name.to_owned(), Some(port)),
                    _ => (entry, None),
                },
                _ => (entry, None),
            }
        };
        Self(listed.iter().map(read).collect())
    }

    /// The host of a request, if it is one of ours.
    pub(super) fn check<B>(&self, request: &Request<B>, peer: Peer) -> Result<Host, NotOurs> {
        let mut given = request.headers().get_all(header::HOST).iter();
        let from_header = match (given.next(), given.next()) {
            (None, _) => None,
            (Some(value), None) => Some(value.to_str().map_err(|_| NotOurs::Malformed)?),
            (Some(_), Some(_)) => return Err(NotOurs::Malformed),
        };
        let from_target = request.uri().authority().map(Authority::as_str);
        let text = match (from_header, from_target) {
            (Some(one), Some(other)) if !one.eq_ignore_ascii_case(other) => return Err(NotOurs::Malformed),
            (Some(text), _) | (None, Some(text)) => text,
            (None, None) => return Err(NotOurs::Malformed),
        };
        let host = parsed(text, peer.encrypted).ok_or(NotOurs::Malformed)?;
        if self.is_ours(&host, peer) { Ok(host) } else { Err(NotOurs::Foreign) }
    }

    fn is_ours(&self, host: &Host, peer: Peer) -> bool {
        let listed = |(name, port): &(String, Option<u16>)| {
            *name == host.name && port.is_none_or(|port| port == host.port)
        };
        if self.0.iter().any(listed) {
            return true;
        }
        let literal =
            host.name.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(&host.name);
        let at_home = match literal.parse::<IpAddr>() {
            Ok(address) => {
                let address = address.to_canonical();
                address == peer.reached.ip() || address.is_loopback()
            }
            Err(_) => host.name == "localhost",
        };
        at_home && host.port == peer.reached.port()
    }
}

/// A host as it is written in a header, in lower case.
fn parsed(text: &str, encrypted: bool) -> Option<Host> {
    let authority: Authority = text.parse().ok()?;
    if text.contains('@') || authority.host().is_empty() {
        return None;
    }
    let written = text.strip_prefix(authority.host())?;
    let port = match written.strip_prefix(':') {
        None if written.is_empty() => usual_port(encrypted),
        Some(digits) if digits.bytes().all(|byte| byte.is_ascii_digit()) => digits.parse().ok()?,
        _ => return None,
    };
    Some(Host { name: authority.host().to_ascii_lowercase(), port })
}
