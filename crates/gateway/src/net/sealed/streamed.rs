//! Sealed values in requests that are passed on while they come: only headers, since a body cannot be held back.
//!
//! The rules are those of `place`: a value stands in its place only, and whatever still looks like a placeholder
//! elsewhere is in the wrong one.

use bailiwick_redact::RedactStream;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use url::Url;

use super::place::replace;
use super::{Place, Sealed, SealedSet};

/// A header as it came or as it goes: its name in lower case, and its value.
pub(crate) type Header = (String, Vec<u8>);

impl SealedSet {
    /// The name of a secret whose place is not a header, if there is one.
    pub(crate) fn beside_headers(&self) -> Option<&str> {
        let elsewhere = |sealed: &&Sealed| !matches!(sealed.seal.place(), Place::Header(_));
        self.items.iter().find(elsewhere).map(|sealed| sealed.name.as_str())
    }

    /// Whether some seal names the host and port of this URL, whatever its scheme and path.
    pub(crate) fn is_for_host_of(&self, url: &Url) -> bool {
        self.items.iter().any(|sealed| sealed.seal.names_host_of(url))
    }

    /// Whether bytes hold a placeholder in any disguise that is looked for.
    pub(crate) fn finds_placeholder(&self, bytes: &[u8]) -> bool {
        self.holds_placeholder(bytes)
    }

    /// A text for people without any value.
    pub(crate) fn cleaned_text(&self, text: &str) -> String {
        self.clean_cut(text)
    }

    /// The value of a header of an answer without any value of ours.
    pub(crate) fn cleaned_header(&self, bytes: &[u8]) -> Vec<u8> {
        self.clean_header(bytes)
    }

    /// What takes values out of a body that comes in pieces.
    pub(crate) fn cleaner(&self) -> RedactStream {
        self.values.stream()
    }

    /// Puts values into the headers of a request to this URL; a no when a placeholder stands anywhere else.
    pub(crate) fn put_into_headers(&self, headers: &mut [Header], url: &Url) -> Result<(), WrongPlace> {
        if self.is_empty() {
            return Ok(());
        }
        let mut searched = headers.to_vec();
        for sealed in self.items.iter().filter(|sealed| sealed.seal.allows_url(url)) {
            let Place::Header(name) = sealed.seal.place() else { continue };
            for (header, star) in headers.iter_mut().zip(&mut searched).filter(|(one, _)| one.0 == *name) {
                let value = sealed.value.expose_secret();
                let placeholder = sealed.placeholder.as_bytes();
                if let (Some(sent), Some(shown)) =
                    (put(&header.1, placeholder, value.as_bytes()), put(&star.1, placeholder, b"*"))
                {
                    (header.1, star.1) = (sent, shown);
                }
            }
        }
        let is_elsewhere = self.holds_placeholder(url.as_str().as_bytes())
            || searched.iter().any(|(name, value)| {
                self.holds_placeholder(name.as_bytes()) || self.holds_placeholder(value)
            });
        if is_elsewhere { Err(WrongPlace) } else { Ok(()) }
    }
}

/// A placeholder stands where none may.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct WrongPlace;

/// The value of a header with a placeholder replaced, also in the credentials of `Basic`; nothing if there is none.
fn put(header: &[u8], placeholder: &[u8], value: &[u8]) -> Option<Vec<u8>> {
    if let Some(encoded) = header.get(..6).filter(|scheme| scheme.eq_ignore_ascii_case(b"basic ")) {
        let credentials = STANDARD.decode(header.get(encoded.len()..)?.trim_ascii()).ok()?;
        let replaced = zeroize::Zeroizing::new(replace(&credentials, placeholder, value)?);
        let mut put = encoded.to_vec();
        put.extend_from_slice(STANDARD.encode(&*replaced).as_bytes());
        return Some(put);
    }
    replace(header, placeholder, value)
}
