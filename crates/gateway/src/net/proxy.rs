//! The operator's upstream proxy: https goes through it by `CONNECT`, http in absolute form.
//!
//! The proxy resolves names, so addresses are not pinned, and the receipt has to say so. Its credentials must never
//! be seen by a guest or stand in a message.

use std::io;

use bailiwick_redact::Secret;
use bailiwick_types::{DenialReason, Refused};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::HeaderValue;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use url::Url;

use super::refusal::failed;

/// The most that a proxy may say to a `CONNECT`, in bytes.
const MOST_ANSWER: usize = 16 * 1024;

/// Why a text is not a proxy.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProxyError {
    /// Not a URL of a proxy.
    #[error(
        "the proxy must be written `http://host:port`, with `user:password@` in front of the host if it wants them"
    )]
    NotAProxy,
    /// A proxy that is spoken to over TLS, or not in HTTP at all.
    #[error("a proxy of the scheme `{0}` is not supported; only `http` is")]
    Scheme(String),
}

/// A proxy that all requests go through.
#[derive(Debug)]
pub struct UpstreamProxy {
    pub(super) host: String,
    pub(super) port: u16,
    credentials: Option<Secret>,
}

impl UpstreamProxy {
    /// Reads `http://[user:password@]host[:port]`.
    pub fn parse(text: &str) -> Result<Self, ProxyError> {
        let url = Url::parse(text).map_err(|_| ProxyError::NotAProxy)?;
        if url.scheme() != "http" {
            return Err(ProxyError::Scheme(url.scheme().to_owned()));
        }
        let plain = matches!(url.path(), "" | "/") && url.query().is_none() && url.fragment().is_none();
        let host = url.host_str().filter(|_| plain).ok_or(ProxyError::NotAProxy)?;
        let host = host.trim_start_matches('[').trim_end_matches(']').to_owned();
        let credentials = match (url.username(), url.password()) {
            ("", None) => None,
            (user, password) => {
                let decoded = |text: &str| -> Result<String, ProxyError> {
                    let bytes = super::percent::decode(text.as_bytes());
                    String::from_utf8(bytes).map_err(|_| ProxyError::NotAProxy)
                };
                let both = format!("{}:{}", decoded(user)?, decoded(password.unwrap_or_default())?);
                Some(Secret::new(format!("Basic {}", STANDARD.encode(both))))
            }
        };
        Ok(Self { host, port: url.port().unwrap_or(80), credentials })
    }

    /// `Proxy-Authorization`, if the proxy wants it.
    pub(crate) fn authorization(&self) -> Option<HeaderValue> {
        let mut value = HeaderValue::from_str(self.credentials.as_ref()?.expose_secret()).ok()?;
        value.set_sensitive(true);
        Some(value)
    }

    /// Asks for a tunnel to a host.
    pub(crate) async fn tunnel(&self, stream: &mut TcpStream, authority: &str) -> Result<(), Refused> {
        let mut ask = format!("CONNECT {authority} HTTP/1.1\r\nHost: {authority}\r\n");
        if let Some(credentials) = &self.credentials {
            ask.push_str("Proxy-Authorization: ");
            ask.push_str(credentials.expose_secret());
            ask.push_str("\r\n");
        }
        ask.push_str("\r\n");
        let ask = zeroize::Zeroizing::new(ask);
        let broken = |error: io::Error| {
            failed(DenialReason::ConnectFailed, format!("the operator's proxy broke off: {}", error.kind()))
        };
        stream.write_all(ask.as_bytes()).await.map_err(broken)?;
        let mut answer = Vec::new();
        let head_of =
            |answer: &[u8]| answer.windows(4).position(|four| four == b"\r\n\r\n").map(|end| end + 4);
        while head_of(&answer).is_none() {
            if answer.len() > MOST_ANSWER || stream.read_buf(&mut answer).await.map_err(broken)? == 0 {
                return Err(failed(
                    DenialReason::ConnectFailed,
                    "the operator's proxy gave no proper answer",
                ));
            }
        }
        let first = answer.split(|byte| *byte == b'\r').next().unwrap_or_default();
        let mut words = first.split(|byte| *byte == b' ');
        let (version, status) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        match (version.starts_with(b"HTTP/1."), status) {
            // The other side is silent until we speak TLS: a yes with more behind it is not the start of a tunnel. A no
            // may well have a page behind it.
            (true, [b'2', _, _]) if head_of(&answer) == Some(answer.len()) => Ok(()),
            (true, [b'2', _, _]) => {
                Err(failed(DenialReason::ConnectFailed, "the operator's proxy gave no proper answer"))
            }
            (true, [_, _, _]) => {
                let status = String::from_utf8_lossy(status);
                let message = format!("the operator's proxy refused a tunnel to {authority} with {status}");
                Err(failed(DenialReason::ConnectFailed, message))
            }
            _ => Err(failed(DenialReason::ConnectFailed, "the operator's proxy gave no proper answer")),
        }
    }
}
