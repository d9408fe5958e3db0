//! Which server is asked, and with which key. A key never leaves in the clear: over plain HTTP it goes to this machine
//! only.

use std::time::Duration;

use bailiwick_core::Refusal;
use bailiwick_types::ErrorCode;
use url::{Host, Url};

/// A key, and where it was found, so that a refusal can name that.
#[derive(Clone)]
pub struct Credential {
    text: String,
    found_in: String,
}

impl std::fmt::Debug for Credential {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Credential").field("found_in", &self.found_in).finish_non_exhaustive()
    }
}

impl Credential {
    /// A key as it was found. What cannot be a key is refused without being shown.
    pub fn new(text: &str, found_in: impl Into<String>) -> Result<Self, Refusal> {
        let (text, found_in) = (text.trim(), found_in.into());
        let is_visible = text.bytes().all(|byte| byte.is_ascii_graphic());
        if text.is_empty() || text.len() > MOST_OF_A_KEY || !is_visible {
            let message = format!("what is in {found_in} is not a key");
            return Err(Refusal::new(ErrorCode::InvalidInput, message)
                .with_hint("a key is one line that begins with bwk_: bailiwick key create NAME --scope …"));
        }
        Ok(Self { text: text.to_owned(), found_in })
    }

    /// Where it was found.
    pub fn found_in(&self) -> &str {
        &self.found_in
    }

    pub(crate) fn header(&self) -> String {
        format!("Bearer {}", self.text)
    }
}

/// The longest credential; a token is longer than a key.
const MOST_OF_A_KEY: usize = 8 << 10;

/// A server that is asked.
#[derive(Debug, Clone)]
pub struct Server {
    url: Url,
    pub(crate) key: Option<Credential>,
    /// Certificates in PEM that it may have beside the platform's.
    pub(crate) roots: Option<String>,
    /// For how long a connection is tried again.
    pub(crate) patience: Duration,
}

impl Server {
    /// The server at this address.
    pub fn parse(address: &str) -> Result<Self, Refusal> {
        let wrong = |message: String| {
            Refusal::new(ErrorCode::InvalidInput, message)
                .with_hint("write it like http://127.0.0.1:8282 or https://tools.example")
        };
        let url = Url::parse(address)
            .map_err(|error| wrong(format!("`{}` is not an address: {error}", shortened(address))))?;
        if !matches!(url.scheme(), "http" | "https") || url.host().is_none() {
            return Err(wrong(format!("`{}` is not the address of a server", shortened(address))));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(wrong("a server's address holds no user name and no password".to_owned()));
        }
        if url.query().is_some() || url.fragment().is_some() {
            return Err(wrong(format!("`{}` is more than the address of a server", shortened(address))));
        }
        Ok(Self { url, key: None, roots: None, patience: Duration::ZERO })
    }

    /// With a key. Refused where it would be readable on its way.
    pub fn with_key(mut self, key: Credential) -> Result<Self, Refusal> {
        if !self.is_tls() && !self.is_on_this_machine() {
            let message = format!("{} would send the key from {} in the clear", self.shown(), key.found_in());
            return Err(Refusal::new(ErrorCode::InvalidInput, message)
                .with_hint("use https://, or a tunnel to a port of this machine"));
        }
        self.key = Some(key);
        Ok(self)
    }

    /// The port it is asked at.
    pub fn port(&self) -> u16 {
        self.url.port_or_known_default().unwrap_or_default()
    }

    /// With certificates that it may have beside the platform's, in PEM.
    #[must_use]
    pub fn with_roots(mut self, pem: String) -> Self {
        self.roots = Some(pem);
        self
    }

    /// With so much time to get a connection, which is tried again and again meanwhile. Nothing was asked for by then: once a
    /// byte of a request may have been read, nothing is ever sent again.
    #[must_use]
    pub const fn with_patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// Whether its address is of this machine.
    pub fn is_on_this_machine(&self) -> bool {
        match self.url.host() {
            Some(Host::Domain(name)) => name == "localhost",
            Some(Host::Ipv4(address)) => address.is_loopback(),
            Some(Host::Ipv6(address)) => address.is_loopback(),
            None => false,
        }
    }

    /// Its address, for messages.
    pub fn shown(&self) -> String {
        self.url.as_str().trim_end_matches('/').to_owned()
    }

    pub(crate) fn is_tls(&self) -> bool {
        self.url.scheme() == "https"
    }

    /// The host as a name server or a certificate knows it, without the brackets of IPv6.
    pub(crate) fn host(&self) -> String {
        match self.url.host() {
            Some(Host::Domain(name)) => name.to_owned(),
            Some(Host::Ipv4(address)) => address.to_string(),
            Some(Host::Ipv6(address)) => address.to_string(),
            None => String::new(),
        }
    }
    /// What the Host header says.
    pub(crate) fn authority(&self) -> String {
        let host = self.url.host_str().unwrap_or_default();
        self.url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
    }

    /// A path of the interface below this address.
    pub(crate) fn path(&self, below: &str) -> String {
        format!("{}{below}", self.url.path().trim_end_matches('/'))
    }
}

fn shortened(text: &str) -> String {
    text.chars().take(100).flat_map(char::escape_debug).collect()
}

#[cfg(test)]
mod tests;
