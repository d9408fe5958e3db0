//! Where a body ends. There is one answer to that for a message, or the message is refused.

use super::head::{AnswerHead, Headers, RequestHead, Version};

/// Where a body ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Framing {
    /// There is none.
    Empty,
    /// After so many bytes.
    Length(u64),
    /// After its last chunk.
    Chunked,
    /// With the connection; only an answer's may.
    UntilClose,
}

/// Names that some servers take for those of the framing.
const DOUBLES: [&str; 2] = ["content_length", "transfer_encoding"];

/// Where the body of a request ends.
pub(in super::super) fn request_framing(head: &RequestHead) -> Result<Framing, &'static str> {
    if head.headers.iter().any(|(name, _)| DOUBLES.contains(&name.as_str())) {
        return Err("a header looks like one that says where the body ends");
    }
    said(&head.headers, head.version).map(|said| said.unwrap_or(Framing::Empty))
}

/// Where the body of an answer ends.
pub(in super::super) fn answer_framing(head: &AnswerHead, method: &str) -> Result<Framing, &'static str> {
    if method == "HEAD" || matches!(head.status, 100..=199 | 204 | 304) {
        return Ok(Framing::Empty);
    }
    said(&head.headers, head.version).map(|said| said.unwrap_or(Framing::UntilClose))
}

fn said(headers: &Headers, version: Version) -> Result<Option<Framing>, &'static str> {
    let all =
        |wanted: &'static str| headers.iter().filter(move |(name, _)| name == wanted).map(|(_, value)| value);
    let (mut lengths, mut codings) = (all("content-length"), all("transfer-encoding"));
    match (lengths.next(), codings.next()) {
        (Some(_), Some(_)) => Err("it says in two ways where its body ends"),
        (None, None) => Ok(None),
        (None, Some(_)) if version == Version::Http10 => Err("HTTP/1.0 knows no chunks"),
        (None, Some(coding)) if codings.next().is_none() && coding.eq_ignore_ascii_case(b"chunked") => {
            Ok(Some(Framing::Chunked))
        }
        (None, Some(_)) => Err("its body is in another coding than chunks"),
        (Some(length), None) if lengths.next().is_none() => {
            let digits = std::str::from_utf8(length)
                .ok()
                .filter(|text| (1..=18).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit()));
            let length = digits.and_then(|text| text.parse().ok()).ok_or("its length is no number")?;
            Ok(Some(if length == 0 { Framing::Empty } else { Framing::Length(length) }))
        }
        (Some(_), None) => Err("it says twice how long its body is"),
    }
}
