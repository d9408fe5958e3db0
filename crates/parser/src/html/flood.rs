//! Counts the attributes of each tag before the parser reads it, as it looks for duplicates among them one by one.
//!
//! This is a rough reading of markup and only a guard. It is done twice: once with scripts, styles and comments left
//! out, and once, with much higher limits, as if they were markup: a tag can hide from the first reading, not from both.
//! Tags are counted too: each, an end tag that closes nothing among them, may look at all that is open.

use crate::bounds::{ATTRIBUTES, HIDDEN_ATTRIBUTES, HIDDEN_COMPARISONS, REFERENCES, TAGS};
use crate::place::{Place, grouped};
use crate::{ParseError, Reason};

/// Elements whose contents are no markup.
const RAW: &[&str] =
    &["script", "style", "textarea", "title", "xmp", "iframe", "noembed", "noframes", "plaintext"];

/// Refuses a text in which a tag has too many attributes, or that has too many tags or references.
pub(super) fn check(text: &str) -> Result<(), ParseError> {
    scan(text, true, ATTRIBUTES)?;
    scan(text, false, HIDDEN_ATTRIBUTES)?;
    // The parser tells each of these on its own, be it the beginning of a tag or not.
    let tags = text.bytes().filter(|byte| matches!(byte, b'<' | b'\0')).count();
    if tags > TAGS {
        let message =
            format!("the document has {} `<` or U+0000, the limit is {}", grouped(tags), grouped(TAGS));
        return Err(ParseError::new(Reason::TooManyNodes, message));
    }
    let references = text.bytes().filter(|byte| *byte == b'&').count();
    if references > REFERENCES {
        let message = format!(
            "the document has {} references, the limit is {}",
            grouped(references),
            grouped(REFERENCES)
        );
        return Err(ParseError::new(Reason::TooManyNodes, message));
    }
    Ok(())
}

fn scan(text: &str, leave_out_raw: bool, limit: usize) -> Result<(), ParseError> {
    let bytes = text.as_bytes();
    let mut at = 0;
    let mut comparisons = 0_usize;
    while let Some(found) = find(bytes, at, b'<') {
        at = found + 1;
        if leave_out_raw && text.get(at..).is_some_and(|rest| rest.starts_with("!--")) {
            at = text.get(at..).and_then(|rest| rest.find("-->")).map_or(bytes.len(), |end| at + end);
            continue;
        }
        if !bytes.get(at).is_some_and(u8::is_ascii_alphabetic) {
            continue;
        }
        let name_end = bytes
            .iter()
            .skip(at)
            .position(|byte| byte.is_ascii_whitespace() || matches!(byte, b'/' | b'>'))
            .map_or(bytes.len(), |length| at + length);
        let name = text.get(at..name_end).unwrap_or_default();
        let (end, attributes) = attributes(bytes, name_end, limit);
        comparisons = comparisons.saturating_add(attributes.saturating_mul(attributes) / 2);
        if attributes > limit || comparisons > HIDDEN_COMPARISONS {
            let message = format!(
                "a tag has more than {} attributes, the limit is {}",
                grouped(limit),
                grouped(ATTRIBUTES)
            );
            return Err(ParseError::at(Place::of(text, found), Reason::TooManyAttributes, message));
        }
        at = end;
        if leave_out_raw && let Some(raw) = RAW.iter().find(|raw| name.eq_ignore_ascii_case(raw)) {
            at = end_of_raw(bytes, at, raw);
        }
    }
    Ok(())
}

/// Where a tag ends, and how many attributes it has, counted a little past the limit.
fn attributes(bytes: &[u8], start: usize, limit: usize) -> (usize, usize) {
    let mut at = start;
    let mut count = 0;
    let mut in_name = false;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'>' => return (at + 1, count),
            b'=' if in_name => {
                in_name = false;
                at = end_of_value(bytes, at + 1);
                continue;
            }
            b'/' => in_name = false,
            _ if byte.is_ascii_whitespace() => {
                // A name may be followed by space and then its value.
                let next = bytes.iter().skip(at).position(|byte| !byte.is_ascii_whitespace());
                let next = next.map_or(bytes.len(), |spaces| at + spaces);
                if in_name && bytes.get(next) == Some(&b'=') {
                    at = next;
                    continue;
                }
                in_name = false;
                at = next;
                continue;
            }
            _ if !in_name => {
                in_name = true;
                count += 1;
                if count > limit {
                    return (at, count);
                }
            }
            _ => {}
        }
        at += 1;
    }
    (at, count)
}

fn end_of_value(bytes: &[u8], start: usize) -> usize {
    let spaces = bytes.iter().skip(start).position(|byte| !byte.is_ascii_whitespace());
    let Some(at) = spaces.map(|spaces| start + spaces) else { return bytes.len() };
    match bytes.get(at) {
        Some(quote @ (b'"' | b'\'')) => find(bytes, at + 1, *quote).map_or(bytes.len(), |end| end + 1),
        _ => bytes
            .iter()
            .skip(at)
            .position(|byte| byte.is_ascii_whitespace() || *byte == b'>')
            .map_or(bytes.len(), |length| at + length),
    }
}

fn end_of_raw(bytes: &[u8], start: usize, name: &str) -> usize {
    let mut at = start;
    while let Some(found) = find(bytes, at, b'<') {
        let tag = bytes.get(found + 1..found + 2 + name.len());
        if tag
            .and_then(|tag| tag.split_first())
            .is_some_and(|(slash, rest)| *slash == b'/' && rest.eq_ignore_ascii_case(name.as_bytes()))
        {
            return found;
        }
        at = found + 1;
    }
    bytes.len()
}

fn find(bytes: &[u8], from: usize, wanted: u8) -> Option<usize> {
    bytes.get(from..)?.iter().position(|byte| *byte == wanted).map(|at| from + at)
}
