//! What an upstream got: every request as it came, and how many connections there were.

use std::net::SocketAddr;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::message::{bytes_of, header};

/// A request as it came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// The method.
    pub method: String,
    /// Path and query (or all of the address, if the client sent that).
    pub target: String,
    /// The headers in order, with duplicates and as they were spelt; over HTTP/2 after its pseudo-headers.
    /// Each character is one byte as it came (Latin-1), of the target too; see [`Request::header_bytes`].
    pub headers: Vec<(String, String)>,
    /// The body, without its framing.
    pub body: Vec<u8>,
    /// Whether all of the body came.
    pub is_whole: bool,
    /// The connection it came by; the first is 1.
    pub connection: usize,
    /// Over which protocol.
    pub protocol: Spoken,
    /// What was agreed in the TLS handshake; `None` without TLS.
    pub tls: Option<Tls>,
    /// Who sent it.
    pub peer: SocketAddr,
}

/// The version of HTTP that a request came by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spoken {
    /// HTTP/1.1 or what claimed to be.
    Http1,
    /// HTTP/2.
    Http2,
}

/// What was agreed in a TLS handshake.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tls {
    /// The name that the client asked for.
    pub sni: Option<String>,
    /// The protocol that was agreed on.
    pub alpn: Option<String>,
}

impl Request {
    /// The first header of this name, whatever its case.
    pub fn header(&self, name: &str) -> Option<&str> {
        header(&self.headers, name)
    }

    /// All values of the headers of this name.
    pub fn header_values(&self, name: &str) -> Vec<&str> {
        let of_name = self.headers.iter().filter(|(one, _)| one.eq_ignore_ascii_case(name));
        of_name.map(|(_, value)| value.as_str()).collect()
    }

    /// The bytes of the first header of this name, whatever the case of the name.
    pub fn header_bytes(&self, name: &str) -> Option<Vec<u8>> {
        self.header(name).map(bytes_of)
    }

    /// The target up to its query.
    pub fn path(&self) -> &str {
        self.target.split('?').next().unwrap_or_default()
    }

    /// The body as text.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub(super) fn as_json(&self) -> Vec<u8> {
        serde_json::json!({
            "method": self.method,
            "target": self.target,
            "headers": self.headers,
            "body": self.text(),
            "connection": self.connection,
            "sni": self.tls.as_ref().and_then(|tls| tls.sni.clone()),
        })
        .to_string()
        .into_bytes()
    }
}

/// How long a test waits for something that should long have happened.
const PATIENCE: Duration = Duration::from_secs(20);

/// What was seen so far.
#[derive(Debug, Default)]
pub(super) struct Seen {
    pub(super) requests: Vec<Request>,
    pub(super) connections: usize,
    pub(super) open: usize,
    pub(super) failed_handshakes: Vec<String>,
}

/// What was seen so far, for the upstream that sees it and the test that asks.
#[derive(Debug, Default)]
pub(super) struct Record {
    seen: Mutex<Seen>,
    changed: Condvar,
}

impl Record {
    pub(super) fn change<Out>(&self, change: impl FnOnce(&mut Seen) -> Out) -> Out {
        let out = change(&mut self.look());
        self.changed.notify_all();
        out
    }

    pub(super) fn look(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until it is so; `false` when it did not come to be.
    pub(super) fn wait(&self, is_so: impl Fn(&Seen) -> bool) -> bool {
        let seen = self.look();
        let waited = self.changed.wait_timeout_while(seen, PATIENCE, |seen| !is_so(seen));
        !waited.unwrap_or_else(PoisonError::into_inner).1.timed_out()
    }
}
