//! The heads of requests and answers.
//!
//! Lines end with CR LF and nothing else does; a name has no space around it; a value goes on in no second line.

use std::io;

use super::super::line::Reader;
use crate::net::sealed::Header;

/// The most headers of a message.
const MOST_HEADERS: usize = 128;

/// The headers of a message in order: names in lower case, values without the space around them.
pub(in super::super) type Headers = Vec<Header>;

/// The version that a message claims.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Version {
    Http10,
    Http11,
}

/// The head of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in super::super) struct RequestHead {
    pub(in super::super) method: String,
    pub(in super::super) target: String,
    pub(in super::super) version: Version,
    pub(in super::super) headers: Headers,
}

/// The head of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in super::super) struct AnswerHead {
    pub(in super::super) version: Version,
    pub(in super::super) status: u16,
    pub(in super::super) reason: String,
    pub(in super::super) headers: Headers,
}

/// Why there is no head.
#[derive(Debug)]
pub(in super::super) enum HeadFault {
    /// The connection broke, or ended within the head.
    Gone,
    /// It is larger than it may be.
    TooLarge,
    /// It is not one.
    Malformed(&'static str),
}

impl From<io::Error> for HeadFault {
    fn from(_: io::Error) -> Self {
        Self::Gone
    }
}

/// Reads a head with its last empty line; nothing when the other side is done.
pub(in super::super) async fn read_head(
    reader: &mut Reader,
    most: usize,
) -> Result<Option<Vec<u8>>, HeadFault> {
    let (mut searched, mut has_begun) = (0, false);
    loop {
        let from = searched;
        let (end, sound) = search(reader.unread(), from)?;
        // What is no HTTP from its first line on may wait for an answer to it, so it is told at once.
        if !has_begun && let Some(first) = first_line(reader.unread(), from) {
            if !is_first_line(first) {
                return Err(HeadFault::Malformed("its first line is none of HTTP/1.1"));
            }
            has_begun = true;
        }
        if let Some(end) = end {
            if end > most {
                return Err(HeadFault::TooLarge);
            }
            let head = reader.unread().get(..end).unwrap_or_default().to_vec();
            reader.used(end);
            return Ok(Some(head));
        }
        searched = sound;
        if reader.unread().len() > most {
            return Err(HeadFault::TooLarge);
        }
        if reader.fill().await? == 0 {
            return if reader.unread().is_empty() { Ok(None) } else { Err(HeadFault::Gone) };
        }
    }
}

/// The first line, if it is whole; its end is looked for only where it was not before.
fn first_line(bytes: &[u8], from: usize) -> Option<&[u8]> {
    let end = bytes.get(from..)?.windows(2).position(|two| two == b"\r\n")?;
    bytes.get(..from + end)
}

/// Whether a line begins a request or an answer.
fn is_first_line(line: &[u8]) -> bool {
    line.starts_with(b"HTTP/1.") || line.ends_with(b" HTTP/1.1") || line.ends_with(b" HTTP/1.0")
}

/// Where the head ends, and up to where its lines are sound.
fn search(bytes: &[u8], from: usize) -> Result<(Option<usize>, usize), HeadFault> {
    let mut at = from;
    while let Some(found) =
        bytes.get(at..).and_then(|rest| rest.iter().position(|b| matches!(b, b'\r' | b'\n')))
    {
        let here = at + found;
        match (bytes.get(here), bytes.get(here + 1)) {
            (Some(b'\r'), Some(b'\n')) => {
                let line_end = here + 2;
                if bytes.get(line_end..line_end + 2) == Some(b"\r\n") {
                    return Ok((Some(line_end + 2), line_end));
                }
                // What follows may be the first half of the empty line.
                if bytes.get(line_end..).is_some_and(|rest| rest.is_empty() || rest == b"\r") {
                    return Ok((None, here));
                }
                at = line_end;
            }
            (Some(b'\r'), None) => return Ok((None, here)),
            _ => return Err(HeadFault::Malformed("a line of the head ends without CR LF")),
        }
    }
    Ok((None, bytes.len()))
}

/// Reads the head of a request.
pub(in super::super) fn parse_request(head: &[u8]) -> Result<RequestHead, HeadFault> {
    let mut lines = lines(head);
    let first = lines.next().unwrap_or_default();
    let mut words = first.split(|byte| *byte == b' ');
    let (Some(method), Some(target), Some(version), None) =
        (words.next(), words.next(), words.next(), words.next())
    else {
        return Err(HeadFault::Malformed("the first line is not `METHOD TARGET VERSION`"));
    };
    let method = token(method).ok_or(HeadFault::Malformed("the method is no word"))?;
    if target.is_empty() || !target.iter().all(u8::is_ascii_graphic) {
        return Err(HeadFault::Malformed("the target has characters that none may have"));
    }
    let target = String::from_utf8_lossy(target).into_owned();
    let version = match version {
        b"HTTP/1.1" => Version::Http11,
        b"HTTP/1.0" => Version::Http10,
        _ => return Err(HeadFault::Malformed("the version is neither HTTP/1.1 nor HTTP/1.0")),
    };
    Ok(RequestHead { method, target, version, headers: headers(lines)? })
}

/// Reads the head of an answer.
pub(in super::super) fn parse_answer(head: &[u8]) -> Result<AnswerHead, HeadFault> {
    let mut lines = lines(head);
    let first = lines.next().unwrap_or_default();
    let mut words = first.splitn(3, |byte| *byte == b' ');
    let (version, status) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let version = match version {
        b"HTTP/1.1" => Version::Http11,
        b"HTTP/1.0" => Version::Http10,
        _ => return Err(HeadFault::Malformed("it is not an answer in HTTP/1.1")),
    };
    let status = std::str::from_utf8(status)
        .ok()
        .filter(|text| text.len() == 3 && text.bytes().all(|byte| byte.is_ascii_digit()))
        .and_then(|text| text.parse::<u16>().ok())
        .filter(|status| *status >= 100)
        .ok_or(HeadFault::Malformed("it has no status"))?;
    let reason = words.next().unwrap_or_default();
    let reason = reason.iter().map(|byte| if is_text(*byte) { char::from(*byte) } else { '?' });
    Ok(AnswerHead {
        version,
        status,
        reason: reason.filter(char::is_ascii).collect(),
        headers: headers(lines)?,
    })
}

/// The lines of a head, whose ends were seen to be sound.
fn lines(head: &[u8]) -> impl Iterator<Item = &[u8]> {
    let head = head.strip_suffix(b"\r\n\r\n").unwrap_or(head);
    head.split(|byte| *byte == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line))
}

fn headers<'a>(lines: impl Iterator<Item = &'a [u8]>) -> Result<Headers, HeadFault> {
    let mut headers = Vec::new();
    for line in lines {
        if headers.len() == MOST_HEADERS {
            return Err(HeadFault::TooLarge);
        }
        if line.first().is_some_and(|byte| matches!(byte, b' ' | b'\t')) {
            return Err(HeadFault::Malformed("a header goes on in a second line"));
        }
        let colon = line
            .iter()
            .position(|byte| *byte == b':')
            .ok_or(HeadFault::Malformed("a header has no colon"))?;
        let (name, value) = line.split_at(colon);
        let name = token(name).ok_or(HeadFault::Malformed("a header has a name that is no word"))?;
        let value = trimmed(value.get(1..).unwrap_or_default());
        if !value.iter().all(|byte| is_text(*byte)) {
            return Err(HeadFault::Malformed("a header has a value that none may have"));
        }
        headers.push((name.to_ascii_lowercase(), value.to_vec()));
    }
    Ok(headers)
}

/// Without the spaces around it.
fn trimmed(mut value: &[u8]) -> &[u8] {
    while let [b' ' | b'\t', rest @ ..] | [rest @ .., b' ' | b'\t'] = value {
        value = rest;
    }
    value
}

/// A character of a header's value.
const fn is_text(byte: u8) -> bool {
    matches!(byte, b'\t' | b' '..=b'~' | 0x80..=0xff)
}

/// A word as HTTP means it.
fn token(bytes: &[u8]) -> Option<String> {
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(byte);
    (!bytes.is_empty() && bytes.iter().all(is_word)).then(|| String::from_utf8_lossy(bytes).into_owned())
}
