//! Where a sealed secret may be used, as a document says it.

use bailiwick_policy::{FetchTarget, HostName, PathGlob};
use serde_json::{Map, Value};

/// Why a seal, or a value under it, cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum SealError {
    /// Not a map.
    #[error("`sealed` is a map: {{hosts: [\"api.example.com\"], in: \"header:Authorization\"}}")]
    NotAMap,
    /// A key that means nothing.
    #[error("`sealed` has no key `{0}`; its keys are `hosts`, `in` and `paths`")]
    UnknownKey(String),
    /// No hosts.
    #[error("`sealed.hosts` lists the hosts that may get the value, at least one: [\"api.example.com\"]")]
    Hosts,
    /// A host that is not one exact name.
    #[error(
        "`{0}` in `sealed.hosts` is not one exact host; write \"api.example.com\" or \"api.example.com:8443\""
    )]
    Host(String),
    /// No place, or none that there is.
    #[error("`sealed.in` is \"header:NAME\", \"query:KEY\" or \"body\"")]
    Place,
    /// A header that the gateway sets itself.
    #[error("the header `{0}` never carries a sealed value, since it is dropped or set by the gateway")]
    Header(String),
    /// Not path patterns.
    #[error("`sealed.paths` lists path patterns: [\"/v1/**\"]")]
    Paths,
    /// A path pattern that is none.
    #[error("in `sealed.paths`: {0}")]
    Path(String),
    /// A value that is too short.
    #[error("a sealed value has at least 16 characters; this one has fewer")]
    TooShort,
    /// A value that could end a header.
    #[error("a sealed value has no control characters, no line breaks; this one does")]
    ControlCharacter,
    /// The system gives no random bytes.
    #[error("no randomness for a placeholder")]
    NoRandomness(#[source] std::io::Error),
}

/// In which place of a request a value stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// In the value of this header; the name is in lower case.
    Header(String),
    /// In the value of this key of the query.
    Query(String),
    /// Anywhere in the body.
    Body,
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Header(name) => write!(f, "header:{name}"),
            Self::Query(key) => write!(f, "query:{key}"),
            Self::Body => f.write_str("body"),
        }
    }
}

/// Where a sealed secret may be used: these hosts, this place, these paths; over https, always.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seal {
    hosts: Vec<(HostName, u16)>,
    place: Place,
    /// Empty for all.
    paths: Vec<PathGlob>,
}

impl Seal {
    /// Reads `{hosts: […], in: "header:NAME" | "query:KEY" | "body", paths: […]}`.
    pub fn parse(document: &Value) -> Result<Self, SealError> {
        let map = document.as_object().ok_or(SealError::NotAMap)?;
        if let Some(odd) = map.keys().find(|key| !matches!(key.as_str(), "hosts" | "in" | "paths")) {
            return Err(SealError::UnknownKey(bailiwick_types::shortened(odd)));
        }
        let hosts = texts(map, "hosts").filter(|hosts| !hosts.is_empty()).ok_or(SealError::Hosts)?;
        let hosts = hosts.into_iter().map(host).collect::<Result<_, _>>()?;
        let place = place(map.get("in").and_then(Value::as_str).ok_or(SealError::Place)?)?;
        let paths = match map.get("paths") {
            None => Vec::new(),
            Some(_) => texts(map, "paths")
                .filter(|paths| !paths.is_empty())
                .ok_or(SealError::Paths)?
                .into_iter()
                .map(|path| PathGlob::parse(path).map_err(SealError::Path))
                .collect::<Result<_, _>>()?,
        };
        Ok(Self { hosts, place, paths })
    }

    /// The hosts that may get the value, each with its port.
    pub fn hosts(&self) -> &[(HostName, u16)] {
        &self.hosts
    }

    /// In which place the value stands.
    pub const fn place(&self) -> &Place {
        &self.place
    }

    /// Whether a granted request may carry the value.
    pub(super) fn allows(&self, target: &FetchTarget) -> bool {
        self.allows_url(target.url())
    }

    /// Whether a request to this URL may carry the value.
    pub(super) fn allows_url(&self, url: &url::Url) -> bool {
        let Some(host) = url
            .host_str()
            .and_then(|host| HostName::parse(host.trim_start_matches('[').trim_end_matches(']')).ok())
        else {
            return false;
        };
        url.scheme() == "https"
            && self.hosts.contains(&(host, url.port().unwrap_or(443)))
            && (self.paths.is_empty() || self.paths.iter().any(|glob| glob.fits(url.path())))
    }

    /// Whether the host and port of this URL are among those that may get the value.
    pub(super) fn names_host_of(&self, url: &url::Url) -> bool {
        let port = url.port_or_known_default();
        url.host_str()
            .and_then(|host| HostName::parse(host.trim_start_matches('[').trim_end_matches(']')).ok())
            .is_some_and(|host| self.hosts.iter().any(|(one, at)| *one == host && Some(*at) == port))
    }

    /// In one line, for a hint.
    pub(super) fn describe(&self) -> String {
        let hosts: Vec<String> = self
            .hosts
            .iter()
            .map(|(host, port)| if *port == 443 { host.to_string() } else { format!("{host}:{port}") })
            .collect();
        let mut text = format!("in {} to https://{}", self.place, hosts.join(", https://"));
        if !self.paths.is_empty() {
            let paths: Vec<&str> = self.paths.iter().map(PathGlob::text).collect();
            text.push_str(" at ");
            text.push_str(&paths.join(", "));
        }
        text
    }
}

fn texts<'a>(map: &'a Map<String, Value>, key: &str) -> Option<Vec<&'a str>> {
    map.get(key)?.as_array()?.iter().map(Value::as_str).collect()
}

fn host(text: &str) -> Result<(HostName, u16), SealError> {
    let wrong = || SealError::Host(bailiwick_types::shortened(text));
    if text.contains(['*', '/', '@', '?', '#', '%']) {
        return Err(wrong());
    }
    let url = url::Url::parse(&format!("https://{text}/")).map_err(|_| wrong())?;
    let host = url.host_str().ok_or_else(wrong)?;
    let host = HostName::parse(host.trim_start_matches('[').trim_end_matches(']')).map_err(|_| wrong())?;
    Ok((host, url.port().unwrap_or(443)))
}

fn place(text: &str) -> Result<Place, SealError> {
    match text.split_once(':') {
        None if text == "body" => Ok(Place::Body),
        Some(("header", name)) => {
            let name = http::HeaderName::from_bytes(name.as_bytes()).map_err(|_| SealError::Place)?;
            if super::super::headers::is_dropped(name.as_str())
                || matches!(name.as_str(), "range" | "if-range" | "accept-encoding")
            {
                return Err(SealError::Header(name.as_str().to_owned()));
            }
            Ok(Place::Header(name.as_str().to_owned()))
        }
        Some(("query", key)) if !key.is_empty() => Ok(Place::Query(key.to_owned())),
        _ => Err(SealError::Place),
    }
}
