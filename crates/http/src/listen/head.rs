//! Looks at the raw bytes of HTTP/1 heads for shapes that two servers could read in two ways.
//!
//! The parser behind takes a bare line feed for the end of a line, and forgets a `Content-Length` beside a
//! `Transfer-Encoding`; whoever stands before us may read those otherwise, and what they take for a body would be a
//! request to us. It must never accept for the parser: it only marks a connection as one to be refused and closed.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

/// What was wrong with a head.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// A line that does not end with a carriage return and a line feed, or a carriage return within a line.
    LineEnd,
    /// A header that goes on in the next line.
    Folded,
    /// Both a length and a transfer encoding.
    TwoLengths,
    /// More than one length.
    RepeatedLength,
    /// A length that is no plain number.
    BadLength,
    /// A transfer encoding other than `chunked` alone.
    Encoding,
    /// A header name with something in it that no name has, or none at all.
    Name,
}

impl Shape {
    const ALL: [Self; 7] = [
        Self::LineEnd,
        Self::Folded,
        Self::TwoLengths,
        Self::RepeatedLength,
        Self::BadLength,
        Self::Encoding,
        Self::Name,
    ];

    /// What a client is told.
    pub(super) const fn told(self) -> &'static str {
        match self {
            Self::LineEnd => "a line of the head does not end with CR LF",
            Self::Folded => "a header goes on in a second line",
            Self::TwoLengths => "both Content-Length and Transfer-Encoding are given",
            Self::RepeatedLength => "Content-Length is given more than once",
            Self::BadLength => "Content-Length is not a plain number",
            Self::Encoding => "Transfer-Encoding is something else than `chunked`",
            Self::Name => "a header has no proper name",
        }
    }
}

/// Shared with whoever answers: whether a shape was seen on this connection, and which.
#[derive(Debug, Clone, Default)]
pub(super) struct Seen(Arc<AtomicU8>);

impl Seen {
    fn mark(&self, shape: Shape) {
        let number = Shape::ALL.iter().position(|one| *one == shape).unwrap_or(0).saturating_add(1);
        self.0.store(u8::try_from(number).unwrap_or(1), Ordering::Release);
    }

    /// The shape that was seen.
    pub(super) fn shape(&self) -> Option<Shape> {
        let number = usize::from(self.0.load(Ordering::Acquire));
        number.checked_sub(1).and_then(|index| Shape::ALL.get(index).copied())
    }
}

/// Where in the stream we are.
#[derive(Debug)]
enum Place {
    /// Within a head.
    Head,
    /// So many bytes of a body are left.
    Body(u64),
    /// Nothing more is looked at: a body without a length, after which the connection ends, or a refused one.
    Rest,
}

/// Follows the bytes of one connection.
#[derive(Debug)]
pub(super) struct Watch {
    seen: Seen,
    place: Place,
    line: Vec<u8>,
    after_request_line: bool,
    length: Option<u64>,
    chunked: bool,
}

/// A longer line is refused by the parser for its size.
const MOST_OF_A_LINE: usize = 64 << 10;

impl Watch {
    pub(super) fn new(seen: Seen) -> Self {
        Self {
            seen,
            place: Place::Head,
            line: Vec::new(),
            after_request_line: false,
            length: None,
            chunked: false,
        }
    }

    /// Takes the bytes that came next.
    pub(super) fn take(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            match self.place {
                Place::Rest => return,
                Place::Body(left) => {
                    let here = usize::try_from(left).unwrap_or(usize::MAX).min(bytes.len());
                    let (_, rest) = bytes.split_at(here);
                    bytes = rest;
                    let left = left.saturating_sub(u64::try_from(here).unwrap_or(u64::MAX));
                    self.place = if left == 0 { Place::Head } else { Place::Body(left) };
                }
                Place::Head => {
                    let end = bytes.iter().position(|byte| *byte == b'\n');
                    let (piece, rest) = match end {
                        Some(at) => bytes.split_at(at.saturating_add(1)),
                        None => (bytes, &[][..]),
                    };
                    bytes = rest;
                    self.line.extend_from_slice(piece);
                    let verdict = if end.is_some() {
                        let line = std::mem::take(&mut self.line);
                        let verdict = self.end_of_line(&line);
                        self.line = line;
                        self.line.clear();
                        verdict
                    } else if self.line.len() > MOST_OF_A_LINE {
                        self.place = Place::Rest;
                        Ok(())
                    } else {
                        Ok(())
                    };
                    if let Err(shape) = verdict {
                        self.seen.mark(shape);
                        self.place = Place::Rest;
                    }
                }
            }
        }
    }

    fn end_of_line(&mut self, line: &[u8]) -> Result<(), Shape> {
        let line = line.strip_suffix(b"\r\n").ok_or(Shape::LineEnd)?;
        if line.contains(&b'\r') {
            return Err(Shape::LineEnd);
        }
        if !self.after_request_line {
            // Empty lines before a request are let through, as the standard wants it.
            self.after_request_line = !line.is_empty();
            return Ok(());
        }
        if line.is_empty() {
            self.end_of_head();
            return Ok(());
        }
        if line.starts_with(b" ") || line.starts_with(b"\t") {
            return Err(Shape::Folded);
        }
        let colon = line.iter().position(|byte| *byte == b':').ok_or(Shape::Name)?;
        let (name, value) = line.split_at(colon);
        if name.is_empty() || !name.iter().all(|byte| is_of_a_name(*byte)) {
            return Err(Shape::Name);
        }
        let value = value.strip_prefix(b":").unwrap_or_default().trim_ascii();
        if name.eq_ignore_ascii_case(b"content-length") {
            self.length_given(value)?;
        } else if name.eq_ignore_ascii_case(b"transfer-encoding") {
            if self.chunked || !value.eq_ignore_ascii_case(b"chunked") {
                return Err(Shape::Encoding);
            }
            self.chunked = true;
        }
        if self.chunked && self.length.is_some() { Err(Shape::TwoLengths) } else { Ok(()) }
    }

    fn length_given(&mut self, value: &[u8]) -> Result<(), Shape> {
        if self.length.is_some() {
            return Err(Shape::RepeatedLength);
        }
        let digits = !value.is_empty() && value.iter().all(u8::is_ascii_digit);
        let number = std::str::from_utf8(value).ok().filter(|_| digits).and_then(|text| text.parse().ok());
        self.length = Some(number.ok_or(Shape::BadLength)?);
        Ok(())
    }

    fn end_of_head(&mut self) {
        self.after_request_line = false;
        let length = self.length.take().unwrap_or(0);
        self.place = match (std::mem::take(&mut self.chunked), length) {
            (true, _) => Place::Rest,
            (false, 0) => Place::Head,
            (false, length) => Place::Body(length),
        };
    }
}

/// Whether a header's name may have it: `tchar` of RFC 9110.
fn is_of_a_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}
