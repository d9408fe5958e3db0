//! What a request shows of itself: a key or a token, in a header, and nowhere else.
//!
//! Cookies are not looked at: a page that a sandbox exposes shares our host name, and a browser would send them along.
//! What is in an address ends in logs and histories, so credentials there are refused even where they are right.

use http::{HeaderMap, HeaderName, HeaderValue, header};
use zeroize::Zeroizing;

/// The header of a key, beside `Authorization`.
pub(super) const X_API_KEY: HeaderName = HeaderName::from_static("x-api-key");
/// The longest credentials that are looked at.
const MOST_BYTES: usize = 8 << 10;
/// Names of query parameters under which people send credentials.
const IN_ADDRESS: &[&str] = &[
    "access_token",
    "api-key",
    "api_key",
    "apikey",
    "auth",
    "authorization",
    "bearer",
    "token",
    "x-api-key",
];

/// The text of credentials. It is shown to nobody, and wiped.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Shown(Zeroizing<String>);

impl Shown {
    fn new(text: &str) -> Self {
        Self(Zeroizing::new(text.to_owned()))
    }

    /// The text, for whoever compares it.
    pub(super) fn reveal(&self) -> &str {
        &self.0
    }

    /// Whether it has the shape of a token: three parts with dots between.
    pub(super) fn looks_like_a_token(&self) -> bool {
        let parts: Vec<&str> = self.0.split('.').collect();
        parts.len() == 3 && parts.iter().take(2).all(|part| !part.is_empty())
    }
}

impl std::fmt::Debug for Shown {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Shown(…)")
    }
}

/// What was shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Credentials {
    /// Nothing.
    None,
    /// A key or a token.
    Bearer(Shown),
    /// A key.
    Key(Shown),
}

/// Why it cannot be told what was shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unclear {
    /// In the address.
    InAddress,
    /// Two that differ, or the same header twice.
    Two,
    /// Another scheme than `Bearer`, or not text.
    Malformed,
}

impl Credentials {
    /// Takes them out of a request's headers, and every cookie with them.
    pub(super) fn take(headers: &mut HeaderMap, query: Option<&str>) -> Result<Self, Unclear> {
        headers.remove(header::COOKIE);
        let authorization = only(headers, &header::AUTHORIZATION);
        let key = only(headers, &X_API_KEY);
        headers.remove(header::AUTHORIZATION);
        headers.remove(X_API_KEY);
        if query.is_some_and(in_address) {
            return Err(Unclear::InAddress);
        }
        let bearer = authorization?.map(|value| bearer(&value)).transpose()?;
        let key = key?.map(|value| text(&value).map(Shown::new)).transpose()?;
        match (bearer, key) {
            (None, None) => Ok(Self::None),
            (Some(bearer), None) => Ok(Self::Bearer(bearer)),
            (None, Some(key)) => Ok(Self::Key(key)),
            (Some(bearer), Some(key)) if bearer == key => Ok(Self::Key(key)),
            (Some(_), Some(_)) => Err(Unclear::Two),
        }
    }
}

/// The only header of this name.
fn only(headers: &HeaderMap, name: &HeaderName) -> Result<Option<HeaderValue>, Unclear> {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (None, _) => Ok(None),
        (Some(value), None) => Ok(Some(value.clone())),
        (Some(_), Some(_)) => Err(Unclear::Two),
    }
}

fn text(value: &HeaderValue) -> Result<&str, Unclear> {
    let text = value.to_str().map_err(|_| Unclear::Malformed)?.trim();
    let fine =
        !text.is_empty() && text.len() <= MOST_BYTES && text.bytes().all(|byte| byte.is_ascii_graphic());
    if fine { Ok(text) } else { Err(Unclear::Malformed) }
}

fn bearer(value: &HeaderValue) -> Result<Shown, Unclear> {
    let whole = value.to_str().map_err(|_| Unclear::Malformed)?;
    let (scheme, rest) = whole.split_once(' ').ok_or(Unclear::Malformed)?;
    if !scheme.eq_ignore_ascii_case("bearer") {
        return Err(Unclear::Malformed);
    }
    let rest = HeaderValue::from_str(rest).map_err(|_| Unclear::Malformed)?;
    text(&rest).map(Shown::new)
}

/// Whether a query has a parameter that is there to carry credentials, or one that begins like a key of ours.
fn in_address(query: &str) -> bool {
    query.split('&').any(|pair| {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        let name = name.replace("%5F", "_").replace("%5f", "_").replace("%2D", "-").replace("%2d", "-");
        IN_ADDRESS.iter().any(|word| name.eq_ignore_ascii_case(word)) || value.starts_with("bwk_")
    })
}
