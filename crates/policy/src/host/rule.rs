//! One entry of `hosts[]`, parsed once.
//!
//! `host`, `host:port`, `host:*`, `*.host`, an address, a CIDR block, `*`; as a map also `methods`, `paths` and
//! `private`. Without a port a rule means the default port of the scheme, so `api.github.com` is not also an
//! invitation to port 22.

use std::net::{IpAddr, Ipv4Addr};

use ipnet::{IpNet, Ipv4Net};
use serde_json::{Value, json};

use bailiwick_types::shortened;

use super::suffix::is_public_suffix;
use super::{HostName, PathGlob, is_loopback_name, views, without_userinfo};
use crate::network::{Method, MethodSet};

/// Which hosts a rule speaks of. Two patterns are nested or disjoint, never half-overlapping.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum HostPattern {
    /// `*`: every host.
    Any,
    /// `*.host`: its sub-domains, not itself.
    Wildcard(String),
    /// One name.
    Domain(String),
    /// A block of addresses.
    Block(IpNet),
    /// One address.
    Address(IpAddr),
}

/// Which ports a rule speaks of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum PortRule {
    /// The scheme's own: 80 for http, 443 for https.
    SchemeDefault,
    /// This one.
    Exact(u16),
    /// Any (`host:*`).
    Any,
}

/// A parsed entry of `hosts[]`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct HostRule {
    pub(crate) pattern: HostPattern,
    pub(crate) port: PortRule,
    pub(crate) methods: MethodSet,
    pub(crate) paths: Vec<PathGlob>,
    pub(crate) private: bool,
}

/// What a rule is written for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// To allow: must not be wider than anybody can mean.
    Grant,
    /// To refuse: may be as wide as it likes.
    Refuse,
}

/// Why a text is not a host rule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HostError {
    /// Not a host at all.
    #[error("`{0}` is not a host")]
    NotAHost(String),
    /// A whole URL.
    #[error("`{text}` is a URL, but an entry names a host")]
    Url {
        /// What was given.
        text: String,
        /// The host in it.
        host: String,
    },
    /// A user name or password.
    #[error("`{0}` holds a user name, which no request may carry")]
    Userinfo(String),
    /// A path behind the host.
    #[error("`{0}` holds a path; narrow by path with `paths`")]
    Path(String),
    /// Not a port.
    #[error("`{0}` is not a port (1 to 65535, or `*`)")]
    Port(String),
    /// A star anywhere but alone or in front.
    #[error("`{0}` has a `*` where none can stand; it stands alone or as `*.` in front of a name")]
    Star(String),
    /// A wildcard over a public suffix.
    #[error("`*.{0}` would cover everybody's hosts under a public suffix")]
    PublicSuffix(String),
    /// A block with bits behind its prefix.
    #[error("`{text}` is not the start of its block")]
    HostBits {
        /// What was given.
        text: String,
        /// The block that was meant.
        block: String,
    },
    /// Not a block.
    #[error("`{0}` is not a CIDR block")]
    Block(String),
}

impl HostError {
    /// What to write instead.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::NotAHost(_) => Some("write a name, an address, a CIDR block, `*.name` or `*`".to_owned()),
            Self::Url { host, .. } => Some(format!("write \"{host}\"; narrow by path with `paths`")),
            Self::Userinfo(_) => Some("write the host alone".to_owned()),
            Self::Path(text) => {
                let (host, path) = text.split_once('/')?;
                Some(format!("write {{host: \"{host}\", paths: [\"/{path}\"]}}"))
            }
            Self::Port(_) | Self::Block(_) => None,
            Self::Star(_) => Some("list the names, or use `network: strict` for any public host".to_owned()),
            Self::PublicSuffix(_) => Some("name the domain: \"*.example.com\"".to_owned()),
            Self::HostBits { block, .. } => Some(format!("write \"{block}\"")),
        }
    }
}

impl HostRule {
    /// Reads the short form of a rule.
    ///
    /// ```
    /// use bailiwick_policy::{HostRule, Purpose};
    /// assert_eq!(HostRule::parse("API.GitHub.com.:8443", Purpose::Grant)?.to_string(), "api.github.com:8443");
    /// assert_eq!(HostRule::parse("0x7f.1", Purpose::Grant)?.to_string(), "127.0.0.1");
    /// assert!(HostRule::parse("*.github.io", Purpose::Grant).is_err());
    /// # Ok::<(), bailiwick_policy::HostError>(())
    /// ```
    pub fn parse(text: &str, purpose: Purpose) -> Result<Self, HostError> {
        let text = text.trim();
        refuse_urls(text)?;
        let (host, port) = split_port(text)?;
        Ok(Self {
            pattern: HostPattern::parse(host, purpose)?,
            port,
            methods: MethodSet::ALL,
            paths: Vec::new(),
            private: false,
        })
    }

    /// A rule for one host and port, as a fix proposes it.
    pub(crate) fn exact(host: &HostName, port: PortRule) -> Self {
        let pattern = match host {
            HostName::Domain(name) => HostPattern::Domain(name.clone()),
            HostName::Address(address) => HostPattern::Address(*address),
        };
        Self { pattern, port, methods: MethodSet::ALL, paths: Vec::new(), private: false }
    }

    /// The same, for these methods only.
    #[must_use]
    pub fn with_methods(self, methods: MethodSet) -> Self {
        Self { methods, ..self }
    }

    /// The same, for these paths only; all of them where there is none.
    #[must_use]
    pub fn with_paths(self, paths: Vec<PathGlob>) -> Self {
        Self { paths, ..self }
    }

    /// The hosts it speaks of.
    pub const fn pattern(&self) -> &HostPattern {
        &self.pattern
    }

    /// The ports it speaks of.
    pub const fn port(&self) -> PortRule {
        self.port
    }

    /// Whether it may lead to addresses that are not public.
    pub const fn is_private(&self) -> bool {
        self.private
    }

    /// Whether a grant for this host and port is meant.
    pub(crate) fn grants(&self, host: &HostName, port: u16, default_port: u16) -> bool {
        let port_fits = match self.port {
            PortRule::SchemeDefault => port == default_port,
            PortRule::Exact(exact) => port == exact,
            PortRule::Any => true,
        };
        port_fits && self.pattern.grants(host)
    }

    /// Whether a refusal speaks of this host; a port narrows it, and an address hides in no other address.
    pub(crate) fn refuses(&self, host: &HostName, port: u16) -> bool {
        let port_fits = match self.port {
            PortRule::Exact(exact) => port == exact,
            // Refusing is for all ports unless one is named.
            PortRule::SchemeDefault | PortRule::Any => true,
        };
        port_fits && self.pattern.refuses(host)
    }

    /// Whether everything the other rule grants is granted by this one.
    pub fn covers(&self, other: &Self) -> bool {
        let Self { pattern, port, methods, paths, private } = self;
        let ports = *port == PortRule::Any || *port == other.port;
        let all_paths = paths.is_empty()
            || (!other.paths.is_empty()
                && other.paths.iter().all(|path| paths.iter().any(|mine| mine.covers(path))));
        pattern.covers(&other.pattern)
            && ports
            && methods.covers(other.methods)
            && all_paths
            && (*private || !other.private)
    }

    /// The hosts and ports that both rules speak of, where a rule without a port means 80 and 443.
    pub(crate) fn meeting(&self, other: &Self) -> Option<Self> {
        let pattern = if self.pattern.covers(&other.pattern) {
            other.pattern.clone()
        } else if other.pattern.covers(&self.pattern) {
            self.pattern.clone()
        } else {
            return None;
        };
        let port = match (self.port, other.port) {
            (mine, theirs) if mine == theirs => mine,
            (PortRule::Any, port) | (port, PortRule::Any) => port,
            (PortRule::SchemeDefault, PortRule::Exact(port @ (80 | 443)))
            | (PortRule::Exact(port @ (80 | 443)), PortRule::SchemeDefault) => PortRule::Exact(port),
            _ => return None,
        };
        Some(Self { pattern, port, methods: MethodSet::ALL, paths: Vec::new(), private: false })
    }

    /// Whether everything the other rule refuses is refused by this one. A refusal without a port is for all ports.
    pub fn refuses_all_of(&self, other: &Self) -> bool {
        let ports = !matches!(self.port, PortRule::Exact(_)) || self.port == other.port;
        ports && self.pattern.covers(&other.pattern)
    }

    /// Whether a grant names a host that a refusal refuses. `*` names none: it means what is left open.
    pub fn meets_refusal(&self, refusal: &Self) -> bool {
        let ports = match (refusal.port, self.port) {
            (PortRule::Exact(refused), PortRule::Exact(granted)) => refused == granted,
            (PortRule::Exact(refused), PortRule::SchemeDefault) => matches!(refused, 80 | 443),
            _ => true,
        };
        let hosts = match &self.pattern {
            HostPattern::Any => false,
            HostPattern::Address(address) => refusal.pattern.refuses(&HostName::Address(*address)),
            HostPattern::Wildcard(_) | HostPattern::Domain(_) | HostPattern::Block(_) => {
                refusal.pattern.overlaps(&self.pattern)
            }
        };
        ports && hosts
    }

    /// The rule as it is written in a document: a text where that is enough.
    pub fn to_json(&self) -> Value {
        let Self { pattern, port, methods, paths, private } = self;
        // A block has no short form with a port.
        let short = !matches!(pattern, HostPattern::Block(_)) || *port == PortRule::SchemeDefault;
        if *methods == MethodSet::ALL && paths.is_empty() && !private && short {
            return Value::String(self.to_string());
        }
        let mut map = serde_json::Map::new();
        map.insert("host".to_owned(), json!(pattern.to_string()));
        match port {
            PortRule::SchemeDefault => {}
            PortRule::Exact(port) => drop(map.insert("port".to_owned(), json!(port))),
            PortRule::Any => drop(map.insert("port".to_owned(), json!("*"))),
        }
        if *methods != MethodSet::ALL {
            let words: Vec<&str> = methods.iter().map(Method::word).collect();
            map.insert("methods".to_owned(), json!(words));
        }
        if !paths.is_empty() {
            let texts: Vec<&str> = paths.iter().map(PathGlob::text).collect();
            map.insert("paths".to_owned(), json!(texts));
        }
        if *private {
            map.insert("private".to_owned(), json!(true));
        }
        Value::Object(map)
    }

    /// The rule in one line for a person, with everything that narrows or widens it.
    pub fn describe(&self) -> String {
        let mut line = self.to_string();
        if self.methods != MethodSet::ALL {
            let words: Vec<&str> = self.methods.iter().map(Method::word).collect();
            line = format!("{line} {}", words.join("|"));
        }
        if !self.paths.is_empty() {
            let texts: Vec<&str> = self.paths.iter().map(PathGlob::text).collect();
            line = format!("{line} {}", texts.join(" "));
        }
        if self.private {
            line.push_str(" (private)");
        }
        line
    }
}

impl HostPattern {
    fn parse(host: &str, purpose: Purpose) -> Result<Self, HostError> {
        if host == "*" {
            return Ok(Self::Any);
        }
        if let Some(suffix) = host.strip_prefix("*.") {
            return wildcard(suffix, purpose);
        }
        if host.contains('*') {
            return Err(HostError::Star(shortened(host)));
        }
        if host.contains('/') {
            return block(host);
        }
        match HostName::parse(host)? {
            HostName::Domain(name) => Ok(Self::Domain(name)),
            HostName::Address(address) => Ok(Self::Address(address)),
        }
    }

    pub(crate) fn grants(&self, host: &HostName) -> bool {
        match (self, host) {
            (Self::Any, _) => true,
            (Self::Wildcard(suffix), HostName::Domain(name)) => is_below(suffix, name),
            (Self::Domain(mine), HostName::Domain(name)) => mine == name,
            (Self::Block(block), HostName::Address(address)) => block.contains(address),
            (Self::Address(mine), HostName::Address(address)) => mine == address,
            (Self::Wildcard(_) | Self::Domain(_), HostName::Address(_))
            | (Self::Block(_) | Self::Address(_), HostName::Domain(_)) => false,
        }
    }

    /// Like `grants`, but an address is also refused when a refused one is carried inside it.
    pub(crate) fn refuses(&self, host: &HostName) -> bool {
        match host {
            HostName::Domain(_) => self.grants(host),
            HostName::Address(address) => views(*address).any(|view| self.grants(&HostName::Address(view))),
        }
    }

    /// Whether every host of the other pattern is one of this one.
    pub fn covers(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Any, _) => true,
            (Self::Wildcard(suffix), Self::Wildcard(theirs)) => suffix == theirs || is_below(suffix, theirs),
            (Self::Wildcard(suffix), Self::Domain(name)) => is_below(suffix, name),
            (Self::Domain(mine), Self::Domain(theirs)) => mine == theirs,
            (Self::Block(mine), Self::Block(theirs)) => mine.contains(theirs),
            (Self::Block(block), Self::Address(address)) => block.contains(address),
            (Self::Address(mine), Self::Address(theirs)) => mine == theirs,
            (Self::Wildcard(_), Self::Any | Self::Block(_) | Self::Address(_))
            | (Self::Domain(_), Self::Any | Self::Wildcard(_) | Self::Block(_) | Self::Address(_))
            | (Self::Block(_), Self::Any | Self::Wildcard(_) | Self::Domain(_))
            | (Self::Address(_), Self::Any | Self::Wildcard(_) | Self::Domain(_) | Self::Block(_)) => false,
        }
    }

    /// Whether some host belongs to both.
    pub fn overlaps(&self, other: &Self) -> bool {
        self.covers(other) || other.covers(self)
    }
}

impl std::fmt::Display for HostPattern {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Any => f.write_str("*"),
            Self::Wildcard(suffix) => write!(f, "*.{suffix}"),
            Self::Domain(name) => f.write_str(name),
            Self::Block(block) => block.fmt(f),
            Self::Address(address) => HostName::Address(*address).fmt(f),
        }
    }
}

impl std::fmt::Display for HostRule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.port {
            PortRule::SchemeDefault => self.pattern.fmt(f),
            PortRule::Exact(port) => write!(f, "{}:{port}", self.pattern),
            PortRule::Any => write!(f, "{}:*", self.pattern),
        }
    }
}

fn is_below(suffix: &str, name: &str) -> bool {
    name.strip_suffix(suffix).is_some_and(|rest| rest.len() > 1 && rest.ends_with('.'))
}

fn refuse_urls(text: &str) -> Result<(), HostError> {
    if text.contains("://") {
        let host = url::Url::parse(text)
            .ok()
            .and_then(|url| {
                let host = url.host_str()?.to_owned();
                Some(url.port().map_or(host.clone(), |port| format!("{host}:{port}")))
            })
            .unwrap_or_else(|| "api.example.com".to_owned());
        return Err(HostError::Url { text: shortened(&without_userinfo(text)), host });
    }
    if text.contains('@') {
        return Err(HostError::Userinfo(shortened(&without_userinfo(text))));
    }
    // A block has one slash and a number behind it; anything else with a slash has a path.
    if let Some((_, rest)) = text.split_once('/')
        && !rest.bytes().next().is_some_and(|b| b.is_ascii_digit())
    {
        return Err(HostError::Path(shortened(text)));
    }
    Ok(())
}

/// Takes a port off the end. A bare v6 address has colons but no port.
fn split_port(text: &str) -> Result<(&str, PortRule), HostError> {
    let (host, port) = if text.starts_with('[') {
        match text.split_once(']') {
            // Keep the brackets: the URL parser wants them.
            Some((inside, rest)) => {
                let host = text.get(..inside.len() + 1).unwrap_or(text);
                match rest.strip_prefix(':') {
                    Some(port) => (host, Some(port)),
                    None if rest.is_empty() => (host, None),
                    // A block with its address in brackets.
                    None if rest.starts_with('/') => (text, None),
                    None => return Err(HostError::NotAHost(shortened(text))),
                }
            }
            None => return Err(HostError::NotAHost(shortened(text))),
        }
    } else if text.matches(':').count() == 1 && !text.contains('/') {
        text.split_once(':').map_or((text, None), |(host, port)| (host, Some(port)))
    } else {
        (text, None)
    };
    let rule = match port {
        None => PortRule::SchemeDefault,
        Some("*") => PortRule::Any,
        Some(port) => parse_port(port).map(PortRule::Exact)?,
    };
    Ok((host, rule))
}

fn parse_port(text: &str) -> Result<u16, HostError> {
    let digits_only = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    match text.parse::<u16>() {
        Ok(port) if digits_only && port != 0 => Ok(port),
        _ => Err(HostError::Port(shortened(text))),
    }
}

fn wildcard(suffix: &str, purpose: Purpose) -> Result<HostPattern, HostError> {
    if suffix.contains('*') {
        return Err(HostError::Star(format!("*.{}", shortened(suffix))));
    }
    let HostName::Domain(name) = HostName::parse(suffix)? else {
        return Err(HostError::NotAHost(format!("*.{}", shortened(suffix))));
    };
    if purpose == Purpose::Grant && is_public_suffix(&name) && !is_loopback_name(&name) {
        return Err(HostError::PublicSuffix(name));
    }
    Ok(HostPattern::Wildcard(name))
}

fn block(text: &str) -> Result<HostPattern, HostError> {
    let malformed = || HostError::Block(shortened(text));
    let (address, length) = text.split_once('/').ok_or_else(malformed)?;
    if length.is_empty() || !length.bytes().all(|b| b.is_ascii_digit()) {
        return Err(malformed());
    }
    let length: u8 = length.parse().map_err(|_| malformed())?;
    // The address part may be spelled as freely as a host, except that a block is not a name; the length of a
    // v4-mapped block counts in v6 bits.
    let mapped = address.trim_matches(['[', ']']).parse::<std::net::Ipv6Addr>().is_ok();
    let HostName::Address(address) = HostName::parse(address)? else { return Err(malformed()) };
    let block = match address {
        IpAddr::V4(v4) if mapped => v4_block(v4, length.checked_sub(96).ok_or_else(malformed)?),
        IpAddr::V4(v4) => v4_block(v4, length),
        IpAddr::V6(_) => IpNet::new(address, length).ok(),
    };
    let block = block.ok_or_else(malformed)?;
    if block.addr() != block.network() {
        return Err(HostError::HostBits { text: shortened(text), block: block.trunc().to_string() });
    }
    if block.prefix_len() == block.max_prefix_len() {
        return Ok(HostPattern::Address(block.addr()));
    }
    Ok(HostPattern::Block(block))
}

fn v4_block(address: Ipv4Addr, length: u8) -> Option<IpNet> {
    Ipv4Net::new(address, length).ok().map(IpNet::V4)
}
