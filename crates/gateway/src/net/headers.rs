//! The headers of a request: which of the guest's are sent, and which are ours to set.
//!
//! A guest must never decide how a message is framed or whom it is for: hop-by-hop headers, `Host` and
//! `Content-Length` are dropped without a word, as the Fetch standard does with forbidden ones.

use bailiwick_types::{DenialReason, Refused};
use http::header::{ACCEPT, ACCEPT_ENCODING, CONNECTION, HeaderMap, HeaderName, HeaderValue, USER_AGENT};

use super::refusal::{failed, malformed};

/// The most that all headers of a request take, in bytes.
const MOST_BYTES: usize = 64 * 1024;
/// The most headers of a request.
const MOST_HEADERS: usize = 256;

/// Ours to set, or nobody's.
const DROPPED: &[&str] = &[
    "connection",
    "content-length",
    "expect",
    "host",
    "http2-settings",
    "keep-alive",
    "te",
    "trailer",
    "trailers",
    "transfer-encoding",
    "upgrade",
];

/// Whether a header never goes out, whoever sets it.
pub(super) fn is_dropped(name: &str) -> bool {
    DROPPED.contains(&name) || name.starts_with("proxy-")
}

/// The headers that are sent, in order. With `whole`, answers must come whole, so nobody may ask for a part.
pub(super) fn read(given: &[(String, String)], whole: bool) -> Result<HeaderMap, Refused> {
    let size: usize = given.iter().map(|(name, value)| name.len() + value.len() + 4).sum();
    if given.len() > MOST_HEADERS || size > MOST_BYTES {
        let message = format!(
            "the headers of a request are at most {MOST_HEADERS} and {MOST_BYTES} bytes in all; these are {} and {size}",
            given.len()
        );
        return Err(failed(DenialReason::TooLarge, message));
    }
    let mut headers = HeaderMap::with_capacity(given.len() + 3);
    for (name, value) in given {
        let name = HeaderName::from_bytes(name.as_bytes())
            .map_err(|_| malformed("bad-header", "a header has a name that is no header name"))?;
        let value = value_of(value).ok_or_else(|| {
            malformed("bad-header", format!("the header `{name}` has a value that no header can have"))
        })?;
        headers.append(name, value);
    }
    // What `Connection` names is meant for the next hop only, and there we speak for ourselves.
    let named: Vec<HeaderName> = headers
        .get_all(CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter_map(|name| name.trim().parse().ok())
        .collect();
    let part = |name: &str| whole && matches!(name, "range" | "if-range");
    let gone: Vec<HeaderName> = headers
        .keys()
        .filter(|name| is_dropped(name.as_str()) || part(name.as_str()) || named.contains(name))
        .cloned()
        .collect();
    for name in gone {
        headers.remove(name);
    }
    for (name, usual) in [
        (USER_AGENT, concat!("bailiwick/", env!("CARGO_PKG_VERSION"))),
        (ACCEPT, "*/*"),
        (ACCEPT_ENCODING, super::decode::ACCEPTED),
    ] {
        headers.entry(name).or_insert(HeaderValue::from_static(usual));
    }
    Ok(headers)
}

/// A value of one character a byte, as a header has it.
fn value_of(text: &str) -> Option<HeaderValue> {
    let bytes: Option<Vec<u8>> =
        text.trim_matches([' ', '\t']).chars().map(|c| u8::try_from(c).ok()).collect();
    HeaderValue::from_bytes(&bytes?).ok()
}

/// The value of a header as text of one character a byte.
pub(super) fn text_of(bytes: &[u8]) -> String {
    bytes.iter().copied().map(char::from).collect()
}

/// What headers take, in bytes, as HTTP/1.1 would write them.
pub(super) fn size(headers: &HeaderMap) -> usize {
    headers.iter().map(|(name, value)| name.as_str().len() + value.len() + 4).sum()
}
