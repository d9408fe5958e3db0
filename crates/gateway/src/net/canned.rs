//! Canned answers, in place of the network: what a tool's example says a server would answer.
//!
//! Policy is asked before, as for a real request; a canned answer never widens anything. The first entry that fits
//! answers, as often as its `times` says, without end if it says nothing.

use std::sync::atomic::{AtomicU64, Ordering};

use bailiwick_types::{ErrorCode, Refused};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use serde_json::{Map, Value};
use url::Url;

use super::exchange::{Coming, Reply};

/// Why a list of canned answers is none.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}{what}", at.map_or_else(String::new, |at| format!("http[{at}]: ")))]
pub struct CannedError {
    /// Which entry, counted from 0; none when it is no list.
    pub at: Option<usize>,
    /// What is wrong, and what to write.
    pub what: String,
}

/// The canned answers of a call.
#[derive(Debug, Default)]
pub struct Canned {
    entries: Vec<Entry>,
}

#[derive(Debug)]
struct Entry {
    method: String,
    url: Url,
    headers: Vec<(String, String)>,
    body: Option<Value>,
    left: AtomicU64,
    status: u16,
    answer_headers: HeaderMap,
    answer: Vec<u8>,
}

impl Canned {
    /// Reads `[{request: {method, url, headers?, body?}, response: {status, headers?, json | text | base64}, times?}]`.
    pub fn parse(document: &Value) -> Result<Self, CannedError> {
        let list = document.as_array().ok_or_else(|| CannedError {
            at: None,
            what: "`http` is a list of {request, response}".to_owned(),
        })?;
        let entries = list
            .iter()
            .enumerate()
            .map(|(at, entry)| Entry::parse(entry).map_err(|what| CannedError { at: Some(at), what }));
        Ok(Self { entries: entries.collect::<Result<_, _>>()? })
    }

    /// The answer to a request, of which placeholders are shown as `***`.
    pub(super) fn reply(
        &self,
        method: &str,
        url: &str,
        headers: &[(String, String)],
        body: &[u8],
    ) -> Result<Reply, Refused> {
        let mut plain = Url::parse(url).ok();
        if let Some(plain) = &mut plain {
            plain.set_fragment(None);
        }
        let found = self.entries.iter().find(|entry| {
            Some(&entry.url) == plain.as_ref() && entry.fits(method, headers, body) && entry.take()
        });
        let Some(Entry { status, answer_headers, answer, .. }) = found else {
            let canned: Vec<String> =
                self.entries.iter().take(10).map(|entry| format!("{} {}", entry.method, entry.url)).collect();
            let hint = if canned.is_empty() {
                "nothing is canned; add an entry to `http`".to_owned()
            } else {
                format!("canned are: {}", canned.join(", "))
            };
            let shown: String = url.chars().take(300).collect();
            let message = format!("no canned answer for {method} {shown}");
            return Err(
                Refused::failed(ErrorCode::NetFailed, Refused::NO_CANNED_ANSWER, message).with_hint(hint)
            );
        };
        let phrase = http::StatusCode::from_u16(*status).ok().and_then(|status| status.canonical_reason());
        Ok(Reply {
            status: *status,
            status_text: phrase.unwrap_or_default().to_owned(),
            headers: answer_headers.clone(),
            body: Coming::Here(if method == "HEAD" { Vec::new() } else { answer.clone() }),
        })
    }
}

impl Entry {
    fn parse(entry: &Value) -> Result<Self, String> {
        let entry = map(entry, "an entry", &["request", "response", "times"])?;
        let request = entry.get("request").ok_or("an entry needs `request: {method, url}`")?;
        let request = map(request, "`request`", &["method", "url", "headers", "body"])?;
        let method = match request.get("method") {
            None => "GET".to_owned(),
            Some(method) => method.as_str().ok_or("`request.method` is a text")?.to_ascii_uppercase(),
        };
        let url = request.get("url").and_then(Value::as_str).ok_or("`request.url` is a text")?;
        let mut url = Url::parse(url).map_err(|_| "`request.url` is not a whole URL")?;
        url.set_fragment(None);
        let response = entry.get("response").ok_or("an entry needs `response: {status}`")?;
        let response = map(response, "`response`", &["status", "headers", "json", "text", "base64"])?;
        let status = match response.get("status") {
            None => 200,
            Some(status) => status
                .as_u64()
                .and_then(|status| u16::try_from(status).ok())
                .filter(|status| (200..=599).contains(status))
                .ok_or("`response.status` is a number from 200 to 599")?,
        };
        let mut answer_headers = HeaderMap::new();
        for (name, value) in texts(response, "headers")? {
            let name =
                HeaderName::from_bytes(name.as_bytes()).map_err(|_| format!("`{name}` is not a header"))?;
            let value =
                HeaderValue::from_str(&value).map_err(|_| format!("`{name}` has a value that is none"))?;
            answer_headers.append(name, value);
        }
        let (answer, kind) = body(response)?;
        if let Some(kind) = kind {
            answer_headers.entry(CONTENT_TYPE).or_insert(HeaderValue::from_static(kind));
        }
        let times = match entry.get("times") {
            None => u64::MAX,
            Some(times) => {
                times.as_u64().filter(|times| *times > 0).ok_or("`times` is a number from 1 on")?
            }
        };
        let headers = texts(request, "headers")?;
        let body = request.get("body").cloned();
        Ok(Self { method, url, headers, body, left: AtomicU64::new(times), status, answer_headers, answer })
    }

    fn fits(&self, method: &str, headers: &[(String, String)], body: &[u8]) -> bool {
        let has = |(name, value): &(String, String)| {
            headers.iter().any(|(given, is)| given.eq_ignore_ascii_case(name) && is == value)
        };
        let says = |wanted: &Value| match wanted {
            Value::String(text) => text.as_bytes() == body,
            other => serde_json::from_slice::<Value>(body).is_ok_and(|given| given == *other),
        };
        self.method == method && self.headers.iter().all(has) && self.body.as_ref().is_none_or(says)
    }

    /// Uses it once, if it may be.
    fn take(&self) -> bool {
        let less = |left: u64| if left == u64::MAX { Some(left) } else { left.checked_sub(1) };
        self.left.fetch_update(Ordering::AcqRel, Ordering::Acquire, less).is_ok()
    }
}

fn map<'a>(value: &'a Value, what: &str, keys: &[&str]) -> Result<&'a Map<String, Value>, String> {
    let map = value.as_object().ok_or_else(|| format!("{what} is a map with {}", keys.join(", ")))?;
    match map.keys().find(|key| !keys.contains(&key.as_str())) {
        Some(odd) => {
            Err(format!("{what} has no `{}`; it has {}", bailiwick_types::shortened(odd), keys.join(", ")))
        }
        None => Ok(map),
    }
}

fn texts(map: &Map<String, Value>, key: &str) -> Result<Vec<(String, String)>, String> {
    let Some(value) = map.get(key) else { return Ok(Vec::new()) };
    let wrong = || format!("`{key}` is a map of texts");
    let pairs = value.as_object().ok_or_else(wrong)?.iter();
    pairs
        .map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned())))
        .collect::<Option<_>>()
        .ok_or_else(wrong)
}

fn body(response: &Map<String, Value>) -> Result<(Vec<u8>, Option<&'static str>), String> {
    match (response.get("json"), response.get("text"), response.get("base64")) {
        (None, None, None) => Ok((Vec::new(), None)),
        (Some(json), None, None) => Ok((json.to_string().into_bytes(), Some("application/json"))),
        (None, Some(text), None) => {
            let text = text.as_str().ok_or("`response.text` is a text")?;
            Ok((text.as_bytes().to_vec(), Some("text/plain;charset=utf-8")))
        }
        (None, None, Some(text)) => {
            let text = text.as_str().ok_or("`response.base64` is a text")?;
            let bytes = STANDARD.decode(text).map_err(|_| "`response.base64` is not base64")?;
            Ok((bytes, None))
        }
        _ => Err("a response has one of `json`, `text` and `base64`".to_owned()),
    }
}
