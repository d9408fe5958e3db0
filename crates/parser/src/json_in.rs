//! JSON text read piece by piece: the values of a guest that are to be written as CSV or YAML.
//!
//! The text was made by the engine's own `JSON.stringify`, so it is well formed; what is not is refused all the same.

use crate::bounds::DEPTH;
use crate::{ParseError, Reason};

/// A piece of JSON.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Piece<'a> {
    OpenList,
    CloseList,
    OpenMap,
    CloseMap,
    /// The key of what comes next.
    Key(String),
    Text(String),
    /// A number, `true`, `false` or `null`, as written.
    Word(&'a str),
}

/// What is read from a JSON text, one piece after the other.
pub(crate) struct Pieces<'a> {
    text: &'a str,
    at: usize,
    /// What is open: whether it is a map.
    open: Vec<bool>,
    /// A key comes next, if what is open is a map.
    key_next: bool,
}

impl<'a> Pieces<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Self { text, at: 0, open: Vec::new(), key_next: false }
    }

    /// The next piece; none at the end.
    pub(crate) fn next(&mut self) -> Result<Option<Piece<'a>>, ParseError> {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let skipped = rest.trim_start_matches([' ', '\n', '\r', '\t', ',', ':']);
        self.at += rest.len() - skipped.len();
        let Some(first) = skipped.bytes().next() else {
            return if self.open.is_empty() { Ok(None) } else { Err(malformed()) };
        };
        let in_map = self.open.last().copied().unwrap_or(false);
        match first {
            b'{' | b'[' => {
                self.at += 1;
                self.open.push(first == b'{');
                self.key_next = true;
                if self.open.len() > DEPTH {
                    let message = format!("the value is nested deeper than the limit of {DEPTH}");
                    return Err(ParseError::new(Reason::TooDeep, message));
                }
                Ok(Some(if first == b'{' { Piece::OpenMap } else { Piece::OpenList }))
            }
            b'}' | b']' => {
                self.at += 1;
                if self.open.pop() != Some(first == b'}') {
                    return Err(malformed());
                }
                self.key_next = true;
                Ok(Some(if first == b'}' { Piece::CloseMap } else { Piece::CloseList }))
            }
            b'"' => {
                let raw = quoted(skipped).ok_or_else(malformed)?;
                self.at += raw.len();
                let text: String = serde_json::from_str(raw).map_err(|_| malformed())?;
                let is_key = in_map && self.key_next;
                self.key_next = !is_key;
                Ok(Some(if is_key { Piece::Key(text) } else { Piece::Text(text) }))
            }
            _ => {
                let end = skipped.find([',', '}', ']', ' ', '\n', '\r', '\t']).unwrap_or(skipped.len());
                let word = skipped.get(..end).filter(|word| !word.is_empty()).ok_or_else(malformed)?;
                self.at += end;
                self.key_next = true;
                Ok(Some(Piece::Word(word)))
            }
        }
    }
}

/// The quoted text at the beginning, with its quotes.
fn quoted(text: &str) -> Option<&str> {
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return text.get(..=at),
            _ => {}
        }
    }
    None
}

fn malformed() -> ParseError {
    ParseError::new(Reason::Malformed, "the value is not what JSON can hold")
}
