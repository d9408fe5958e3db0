//! Puts values in, and looks for placeholders where none may be.
//!
//! Two texts are made of each part of a request: the one that is sent, with the value, and one with a star in its
//! place. Whatever still looks like a placeholder in the latter is in the wrong place.

use std::borrow::Cow;

use bailiwick_policy::FetchTarget;
use bailiwick_redact::Redactor;
use bailiwick_types::{DenialReason, Refused};
use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderMap, HeaderValue};
use url::Url;

use super::super::hop::Hop;
use super::super::percent;
use super::super::refusal::guard;
use super::{PERCENT_ROUNDS, Place, SealedSet};

/// What stands for a placeholder that is in its place.
const IN_PLACE: &str = "*";
/// How often a value may be put into one body: each time makes it longer.
const MOST_IN_BODY: usize = 16;

/// A request as it goes over the wire, values and all. Not for anybody's eyes.
pub(in super::super) struct Sent {
    pub(in super::super) url: Url,
    pub(in super::super) headers: HeaderMap,
    pub(in super::super) body: Bytes,
}

/// A part of a request: as it is sent, and as it is searched.
struct Both<T> {
    sent: T,
    searched: T,
}

impl SealedSet {
    /// The request with the values in their places.
    pub(in super::super) fn put_in(&self, hop: &Hop, target: &FetchTarget) -> Result<Sent, Refused> {
        let plain = || hop.body.clone().unwrap_or_default();
        if self.is_empty() {
            return Ok(Sent { url: target.url().clone(), headers: hop.headers.clone(), body: plain() });
        }
        let named = hop.headers.iter().map(|(name, value)| (name.as_str().as_bytes(), value.as_bytes()));
        let named: Vec<(&[u8], &[u8])> = named.collect();
        if self.strays(target.url(), &named, hop.body.as_deref().unwrap_or_default())
            || self.finds_value(hop.method.as_bytes())
        {
            return Err(guard(DenialReason::SealedValue, &hop.method, &hop.url).with_hint(
                "write the placeholder where the value belongs; the value itself is for no code to send",
            ));
        }
        let mut query = Both { sent: target.url().query().map(str::to_owned), searched: None };
        query.searched.clone_from(&query.sent);
        let mut headers = Both { sent: hop.headers.clone(), searched: hop.headers.clone() };
        let mut body = Both { sent: plain(), searched: plain() };
        let wrong = || {
            let hint =
                self.items.iter().map(|sealed| format!("`{}` {}", sealed.name, sealed.seal.describe()));
            guard(DenialReason::SealedPlace, &hop.method, &hop.url).with_hint(format!(
                "the placeholder stands as it is, and only there: {}",
                hint.collect::<Vec<_>>().join("; ")
            ))
        };
        for sealed in self.items.iter().filter(|sealed| sealed.seal.allows(target)) {
            let (value, placeholder) = (&sealed.value, sealed.placeholder.as_str());
            match sealed.seal.place() {
                Place::Query(key) => {
                    let encoded = percent::encode(value.expose_secret());
                    query.sent = query.sent.map(|text| in_query(&text, key, placeholder, &encoded));
                    query.searched = query.searched.map(|text| in_query(&text, key, placeholder, IN_PLACE));
                }
                Place::Header(name) => {
                    in_header(&mut headers.sent, name, placeholder, value.expose_secret())
                        .ok_or_else(wrong)?;
                    in_header(&mut headers.searched, name, placeholder, IN_PLACE).ok_or_else(wrong)?;
                }
                Place::Body => {
                    if occurrences(&body.sent, placeholder) > MOST_IN_BODY {
                        return Err(wrong());
                    }
                    let spelled = spelled_for(&hop.headers, value.expose_secret());
                    body.sent = in_body(&body.sent, placeholder, &spelled);
                    body.searched = in_body(&body.searched, placeholder, IN_PLACE);
                }
            }
        }
        let mut searched = target.url().clone();
        searched.set_query(query.searched.as_deref());
        let in_headers = headers.searched.iter().any(|(name, value)| {
            self.holds_placeholder(name.as_str().as_bytes()) || self.holds_placeholder(value.as_bytes())
        });
        if in_headers
            || self.holds_placeholder(searched.as_str().as_bytes())
            || self.holds_placeholder(hop.method.as_bytes())
            || self.holds_placeholder(&body.searched)
        {
            return Err(wrong());
        }
        let mut url = target.url().clone();
        url.set_query(query.sent.as_deref());
        Ok(Sent { url, headers: headers.sent, body: body.sent })
    }

    /// Whether bytes hold a value, in any disguise or escape that the redactor knows.
    pub(crate) fn finds_value(&self, bytes: &[u8]) -> bool {
        self.values.finds(bytes)
    }

    /// Whether a request that no value was put into yet holds one all the same, where that value may not go: at another host,
    /// or at one of its own in another place than its own.
    pub(crate) fn strays(&self, url: &Url, headers: &[(&[u8], &[u8])], body: &[u8]) -> bool {
        let in_header =
            |values: &Redactor, (name, value): &(&[u8], &[u8])| values.finds(name) || values.finds(value);
        let is_anywhere = self.values.finds(url.as_str().as_bytes())
            || headers.iter().any(|header| in_header(&self.values, header))
            || self.values.finds(body);
        if !is_anywhere {
            return false;
        }
        self.items.iter().zip(&self.each).any(|(sealed, value)| {
            let place = sealed.seal.allows_url(url).then(|| sealed.seal.place());
            let elsewhere = match place {
                Some(Place::Query(key)) => {
                    let mut rest = url.clone();
                    rest.set_query(url.query().map(|query| without_key(query, key)).as_deref());
                    Cow::Owned(rest)
                }
                _ => Cow::Borrowed(url),
            };
            let mut others = headers.iter().filter(|(name, _)| {
                !matches!(place, Some(Place::Header(own)) if name.eq_ignore_ascii_case(own.as_bytes()))
            });
            value.finds(elsewhere.as_str().as_bytes())
                || others.any(|header| in_header(value, header))
                || (!matches!(place, Some(Place::Body)) && value.finds(body))
        })
    }

    /// Whether bytes hold a placeholder, in any disguise that the redactor knows, in any letter case, or percent-encoded.
    pub(in super::super) fn holds_placeholder(&self, bytes: &[u8]) -> bool {
        if self.is_empty() {
            return false;
        }
        let mut bytes = Cow::Borrowed(bytes);
        for _ in 0..=PERCENT_ROUNDS {
            let holds = |bytes: &[u8]| matches!(self.placeholders.redact_bytes(bytes), Cow::Owned(_));
            if holds(&bytes) || holds(&bytes.to_ascii_lowercase()) {
                return true;
            }
            if !bytes.contains(&b'%') {
                return false;
            }
            bytes = Cow::Owned(percent::decode(&bytes));
        }
        false
    }

    /// Refuses a redirect that would carry a value to where it may not go, because a server echoed it.
    pub(in super::super) fn check_echo(
        &self,
        method: &str,
        location: &str,
        next: &str,
    ) -> Result<(), Refused> {
        for (sealed, redactor) in self.items.iter().zip(&self.each) {
            let refused = || guard(DenialReason::SealedPlace, method, next);
            let holds = |text: &[u8]| matches!(redactor.redact_bytes(text), Cow::Owned(_));
            let is_echo = [location, next].iter().any(|text| {
                let mut text = Cow::Borrowed(text.as_bytes());
                for _ in 0..PERCENT_ROUNDS {
                    if holds(&text) {
                        return true;
                    }
                    text = Cow::Owned(percent::decode(&text));
                }
                holds(&text)
            });
            let may = || Url::parse(next).is_ok_and(|next| sealed.seal.allows_url(&next));
            if is_echo && !may() {
                return Err(refused());
            }
        }
        Ok(())
    }

    /// A text with every placeholder shown as the mask of what it stands for.
    pub(in super::super) fn masked(&self, text: &str) -> String {
        self.items.iter().fold(text.to_owned(), |text, sealed| text.replace(&sealed.placeholder, "***"))
    }
}

/// The query with a placeholder replaced in the values of one key.
fn in_query(query: &str, key: &str, placeholder: &str, by: &str) -> String {
    let pairs = query.split('&').map(|pair| match pair.split_once('=') {
        Some((name, value)) if is_key(name, key) => {
            Cow::Owned(format!("{name}={}", value.replace(placeholder, by)))
        }
        _ => Cow::Borrowed(pair),
    });
    pairs.collect::<Vec<_>>().join("&")
}

/// The query without the pairs of one key.
fn without_key(query: &str, key: &str) -> String {
    let is_other = |pair: &&str| !is_key(pair.split('=').next().unwrap_or_default(), key);
    query.split('&').filter(is_other).collect::<Vec<_>>().join("&")
}

fn is_key(written: &str, key: &str) -> bool {
    let spaced: Vec<u8> = written.bytes().map(|byte| if byte == b'+' { b' ' } else { byte }).collect();
    percent::decode(&spaced) == key.as_bytes()
}

/// The headers with a placeholder replaced in the values of one; nothing when that is no header any more.
fn in_header(headers: &mut HeaderMap, name: &str, placeholder: &str, by: &str) -> Option<()> {
    let http::header::Entry::Occupied(mut entry) = headers.try_entry(name).ok()? else { return Some(()) };
    for value in entry.iter_mut() {
        if let Some(replaced) = replace(value.as_bytes(), placeholder.as_bytes(), by.as_bytes()) {
            *value = HeaderValue::from_bytes(&replaced).ok()?;
            value.set_sensitive(true);
        }
    }
    Some(())
}

fn occurrences(body: &[u8], placeholder: &str) -> usize {
    let what = placeholder.as_bytes();
    let (mut count, mut rest) = (0, body);
    while let Some(at) = rest.windows(what.len()).position(|window| window == what) {
        count += 1;
        rest = rest.get(at + what.len()..).unwrap_or_default();
    }
    count
}

fn in_body(body: &Bytes, placeholder: &str, by: &str) -> Bytes {
    replace(body, placeholder.as_bytes(), by.as_bytes()).map_or_else(|| body.clone(), Bytes::from)
}

/// With every occurrence replaced; nothing if there is none.
pub(super) fn replace(text: &[u8], what: &[u8], by: &[u8]) -> Option<Vec<u8>> {
    let mut replaced = Vec::with_capacity(text.len());
    let mut rest = text;
    let mut found = false;
    while let Some(at) = rest.windows(what.len()).position(|window| window == what) {
        found = true;
        replaced.extend_from_slice(rest.get(..at)?);
        replaced.extend_from_slice(by);
        rest = rest.get(at + what.len()..)?;
    }
    replaced.extend_from_slice(rest);
    found.then_some(replaced)
}

/// A value as a body of this type has to spell it.
fn spelled_for(headers: &HeaderMap, value: &str) -> String {
    let kind = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    if kind == "application/x-www-form-urlencoded" {
        return percent::encode(value);
    }
    if kind == "application/json" || kind.ends_with("+json") {
        let quoted = serde_json::Value::from(value).to_string();
        return quoted.trim_start_matches('"').strip_suffix('"').map_or_else(String::new, str::to_owned);
    }
    value.to_owned()
}
