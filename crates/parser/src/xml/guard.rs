//! Counts what the parser has no bound for, before it runs: depth, attributes of an element, namespaces.
//!
//! A rough reading of markup. In a well-formed document it sees what the parser sees; in another the parser stops at
//! the first fault.

use crate::bounds::{
    ALL_ATTRIBUTES, ATTRIBUTES, DEPTH, NAMESPACES, NAMESPACES_AT_ONCE, XML_BRACKETS, XML_EQUALS,
};
use crate::place::{Place, grouped};
use crate::{ParseError, Reason};

/// Why a DOCTYPE is refused.
pub(super) const DOCTYPE: &str = "a DOCTYPE is not accepted: it can declare entities; remove it";

/// Refuses a document that goes past a bound, or has a DOCTYPE.
pub(super) fn check(text: &str) -> Result<(), ParseError> {
    check_room(text)?;
    // What is open, and how many namespaces are declared for what is in it.
    let mut open: Vec<usize> = Vec::new();
    let mut all_attributes = 0_usize;
    let mut namespaces = 0_usize;
    let mut at = 0;
    while let Some(found) = text.get(at..).and_then(|rest| rest.find('<')).map(|length| at + length) {
        let rest = text.get(found..).unwrap_or_default();
        let refuse = |reason, message: &str| ParseError::at(Place::of(text, found), reason, message);
        let behind = |end: &str| rest.find(end).map_or(text.len(), |length| found + length + end.len());
        if rest.starts_with("<!--") {
            at = behind("-->");
        } else if rest.starts_with("<![CDATA[") {
            at = behind("]]>");
        } else if rest.starts_with("<?") {
            at = behind("?>");
        } else if rest.starts_with("<!") {
            return Err(refuse(Reason::Doctype, DOCTYPE));
        } else if rest.starts_with("</") {
            open.pop();
            at = behind(">");
        } else {
            let tag = Tag::read(rest.as_bytes());
            if tag.attributes > ATTRIBUTES {
                let message = format!("an element has more than {ATTRIBUTES} attributes");
                return Err(refuse(Reason::TooManyAttributes, &message));
            }
            all_attributes += tag.attributes;
            namespaces += tag.namespaces;
            if all_attributes > ALL_ATTRIBUTES || namespaces > NAMESPACES {
                let message = format!(
                    "the document has more than {} attributes or declares more than {} namespaces",
                    grouped(ALL_ATTRIBUTES),
                    grouped(NAMESPACES)
                );
                return Err(refuse(Reason::TooManyAttributes, &message));
            }
            let declared = open.last().copied().unwrap_or(0) + tag.namespaces;
            if declared > NAMESPACES_AT_ONCE {
                let message =
                    format!("more than {NAMESPACES_AT_ONCE} namespaces are declared around an element");
                return Err(refuse(Reason::TooManyAttributes, &message));
            }
            if open.len() >= DEPTH {
                let message = format!("elements are nested deeper than the limit of {DEPTH}");
                return Err(refuse(Reason::TooDeep, &message));
            }
            if !tag.is_closed {
                open.push(declared);
            }
            at = found + tag.length;
        }
    }
    Ok(())
}

/// The parser counts these, too, and takes room for a node or an attribute each before it reads any.
fn check_room(text: &str) -> Result<(), ParseError> {
    let count = |wanted: u8| text.bytes().filter(|byte| *byte == wanted).count();
    for (sign, limit, reason) in
        [(b'<', XML_BRACKETS, Reason::TooManyNodes), (b'=', XML_EQUALS, Reason::TooManyAttributes)]
    {
        let found = count(sign);
        if found > limit {
            let sign = char::from(sign);
            let message =
                format!("the document has {} `{sign}`, the limit is {}", grouped(found), grouped(limit));
            return Err(ParseError::new(reason, message));
        }
    }
    Ok(())
}

/// What there is to count about a tag.
struct Tag {
    length: usize,
    attributes: usize,
    namespaces: usize,
    is_closed: bool,
}

impl Tag {
    fn read(bytes: &[u8]) -> Self {
        let mut tag = Self { length: bytes.len(), attributes: 0, namespaces: 0, is_closed: false };
        let mut quote = None;
        let mut word_start = 0;
        for (at, byte) in bytes.iter().enumerate() {
            match (quote, byte) {
                (Some(open), _) if open == *byte => quote = None,
                (Some(_), _) => continue,
                (None, b'"' | b'\'') => quote = Some(*byte),
                (None, b'=') => {
                    tag.attributes += 1;
                    let name = bytes.get(word_start..at).unwrap_or_default();
                    if name.starts_with(b"xmlns") {
                        tag.namespaces += 1;
                    }
                    if tag.attributes > ATTRIBUTES {
                        tag.length = at;
                        return tag;
                    }
                }
                (None, b'>') => {
                    tag.length = at + 1;
                    tag.is_closed = at > 0 && bytes.get(at - 1) == Some(&b'/');
                    return tag;
                }
                _ => {}
            }
            if byte.is_ascii_whitespace() && quote.is_none() {
                word_start = at + 1;
            }
        }
        tag
    }
}
