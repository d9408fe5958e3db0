//! One host, in the one spelling we use: an address, or a lower-case ASCII name without a trailing dot.

use std::net::{IpAddr, Ipv6Addr};

use bailiwick_types::shortened;

use super::HostError;

/// A host after normalisation by the URL standard (letter case, IDNA, full-width digits, percent signs, every
/// spelling of an IPv4 address), with v4-mapped v6 addresses turned into v4 and one trailing dot dropped.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum HostName {
    /// A name.
    Domain(String),
    /// An address.
    Address(IpAddr),
}

impl HostName {
    /// Reads a host as it would stand in a URL; a v6 address may come without its brackets.
    pub fn parse(text: &str) -> Result<Self, HostError> {
        if let Ok(address) = text.parse::<Ipv6Addr>() {
            return Ok(Self::Address(IpAddr::V6(address).to_canonical()));
        }
        match url::Host::parse(text) {
            Ok(host) => Self::from_url_host(&host),
            Err(_) => Err(HostError::NotAHost(shortened(text))),
        }
    }

    /// Takes over the host of a URL that was parsed already.
    pub(crate) fn from_url_host<S: AsRef<str>>(host: &url::Host<S>) -> Result<Self, HostError> {
        match host {
            url::Host::Ipv4(address) => Ok(Self::Address(IpAddr::V4(*address))),
            url::Host::Ipv6(address) => Ok(Self::Address(IpAddr::V6(*address).to_canonical())),
            url::Host::Domain(name) => Self::domain(name.as_ref()),
        }
    }

    fn domain(name: &str) -> Result<Self, HostError> {
        let name = name.strip_suffix('.').unwrap_or(name).to_ascii_lowercase();
        let label_ok = |label: &str| {
            (1..=63).contains(&label.len())
                && label.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
        };
        if name.len() > 253 || !name.split('.').all(label_ok) {
            return Err(HostError::NotAHost(shortened(&name)));
        }
        Ok(Self::Domain(name))
    }
}

impl std::fmt::Display for HostName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Domain(name) => f.write_str(name),
            Self::Address(IpAddr::V4(address)) => address.fmt(f),
            Self::Address(IpAddr::V6(address)) => write!(f, "[{address}]"),
        }
    }
}

/// A URL or host as it may be shown: what stands before the `@` of its authority is hidden. It may be a password.
pub fn without_userinfo(text: &str) -> String {
    if let Ok(mut url) = url::Url::parse(text)
        && url.has_host()
    {
        let hidden = !url.username().is_empty() || url.password().is_some();
        if !hidden {
            return text.to_owned();
        }
        if url.set_password(None).is_ok() && url.set_username("***").is_ok() {
            return url.into();
        }
    }
    // What is no URL has no authority to look into: everything up to its last `@` goes.
    match text.rsplit_once('@') {
        None => text.to_owned(),
        Some((before, host)) => {
            let is_scheme = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
            let scheme = before.split_once(':').filter(|(scheme, rest)| {
                rest.starts_with(['/', '\\']) && !scheme.is_empty() && scheme.chars().all(is_scheme)
            });
            let scheme = scheme.map_or_else(String::new, |(scheme, _)| format!("{scheme}://"));
            format!("{scheme}***@{host}")
        }
    }
}
