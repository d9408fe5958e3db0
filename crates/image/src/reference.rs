//! Names of images: `debian:12`, `registry.example:5000/team/tool@sha256:…`. A value of this type was checked; nothing
//! else becomes part of an address or of the list of names.

use std::fmt;
use std::str::FromStr;

use crate::{Digest, ImageError};

/// The longest name.
const MOST: usize = 255;
/// What a name without a registry is pulled from, by its usual name.
const HUB: &str = "docker.io";
/// Where that one is really asked.
const HUB_HOST: &str = "registry-1.docker.io";

/// The name of an image, as short as it can be said: `docker.io/library/debian` is `debian:latest`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Reference {
    registry: Option<String>,
    repository: String,
    tag: Option<String>,
    digest: Option<Digest>,
}

impl Reference {
    /// Host, and port where it is named, of the registry that has it.
    pub fn registry(&self) -> &str {
        self.registry.as_deref().unwrap_or(HUB_HOST)
    }

    /// What the registry is called in a docker config, without a scheme.
    pub(crate) fn registry_names(&self) -> Vec<&str> {
        match &self.registry {
            Some(registry) => vec![registry],
            None => vec!["index.docker.io", HUB, HUB_HOST],
        }
    }

    /// What a credential helper is asked about.
    pub(crate) fn registry_server(&self) -> String {
        self.registry.clone().unwrap_or_else(|| "https://index.docker.io/v1/".to_owned())
    }

    /// The repository as its registry calls it.
    pub(crate) fn repository(&self) -> String {
        match &self.registry {
            None if !self.repository.contains('/') => format!("library/{}", self.repository),
            _ => self.repository.clone(),
        }
    }

    /// What is asked for in the repository: the digest where there is one, else the tag.
    pub(crate) fn wanted(&self) -> String {
        match (&self.digest, &self.tag) {
            (Some(digest), _) => digest.to_string(),
            (None, Some(tag)) => tag.clone(),
            (None, None) => "latest".to_owned(),
        }
    }

    /// The digest that it must have.
    pub fn digest(&self) -> Option<Digest> {
        self.digest
    }
}

impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(registry) = &self.registry {
            write!(f, "{registry}/")?;
        }
        f.write_str(&self.repository)?;
        if let Some(tag) = &self.tag {
            write!(f, ":{tag}")?;
        }
        if let Some(digest) = &self.digest {
            write!(f, "@{digest}")?;
        }
        Ok(())
    }
}

impl FromStr for Reference {
    type Err = ImageError;

    fn from_str(text: &str) -> Result<Self, ImageError> {
        read(text).map_err(|why| ImageError::Name { name: text.chars().take(MOST).collect(), why })
    }
}

fn read(text: &str) -> Result<Reference, &'static str> {
    if text.len() > MOST {
        return Err("it is longer than 255 bytes");
    }
    let (rest, digest) = match text.split_once('@') {
        Some((rest, digest)) => {
            let digest =
                digest.parse().map_err(|_| "after `@` comes a digest: `sha256:` and 64 small digits")?;
            (rest, Some(digest))
        }
        None => (text, None),
    };
    let (registry, path) = match rest.split_once('/') {
        Some((first, path)) if first.contains(['.', ':']) || first == "localhost" => {
            (Some(registry(first)?), path)
        }
        _ => (None, rest),
    };
    let (path, tag) = match path.split_once(':') {
        Some((path, tag)) => (path, Some(checked_tag(tag)?)),
        None => (path, None),
    };
    let registry =
        registry.filter(|registry| !matches!(registry.as_str(), HUB | HUB_HOST | "index.docker.io"));
    let path = match (&registry, path.strip_prefix("library/")) {
        (None, Some(official)) if !official.contains('/') => official,
        _ => path,
    };
    if path.is_empty() || !path.split('/').all(is_part) {
        return Err("each part of it is small letters and digits, with single `.`, `_` or `-` between them");
    }
    let tag = match (tag, digest) {
        (None, None) => Some("latest".to_owned()),
        (tag, _) => tag,
    };
    Ok(Reference { registry, repository: path.to_owned(), tag, digest })
}

/// A host, with a port where one is named.
fn registry(text: &str) -> Result<String, &'static str> {
    const WHY: &str = "before the first `/` stands a host, as in `registry.example:5000`";
    let (host, port) =
        if let Some((address, rest)) = text.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            address.parse::<std::net::Ipv6Addr>().map_err(|_| WHY)?;
            (format!("[{address}]"), rest.strip_prefix(':').or_else(|| rest.is_empty().then_some("")))
        } else {
            let (host, port) = text.split_once(':').map_or((text, None), |(host, port)| (host, Some(port)));
            if !host.split('.').all(is_label) {
                return Err(WHY);
            }
            (host.to_ascii_lowercase(), Some(port.unwrap_or_default()))
        };
    match port {
        None => Err(WHY),
        Some("") if text.ends_with(':') => Err(WHY),
        Some("") => Ok(host),
        Some(port) => {
            let digits = port.bytes().all(|byte| byte.is_ascii_digit());
            match port.parse::<u16>() {
                Ok(port) if digits && port != 0 => Ok(format!("{host}:{port}")),
                _ => Err(WHY),
            }
        }
    }
}

fn is_label(label: &str) -> bool {
    !label.is_empty()
        && label.len() <= 63
        && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
        && !label.starts_with('-')
        && !label.ends_with('-')
}

fn is_part(part: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let bytes = part.as_bytes();
    let ends = bytes.first().copied().is_some_and(plain) && bytes.last().copied().is_some_and(plain);
    let runs = part.split(|c: char| c.is_ascii() && plain(c as u8)).filter(|run| !run.is_empty());
    ends && runs
        .into_iter()
        .all(|run| matches!(run, "." | "_" | "__") || run.bytes().all(|byte| byte == b'-'))
}

fn checked_tag(tag: &str) -> Result<String, &'static str> {
    let word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let first = tag.bytes().next().is_some_and(word);
    if first && tag.len() <= 128 && tag.bytes().all(|byte| word(byte) || matches!(byte, b'.' | b'-')) {
        return Ok(tag.to_owned());
    }
    Err("a tag is up to 128 letters, digits, `_`, `.` and `-`, and begins with a letter, a digit or `_`")
}
