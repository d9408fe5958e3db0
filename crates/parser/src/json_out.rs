//! JSON text, written piece by piece: no tree is built of what is given back, so nothing recurses over one.

use crate::bounds::OUTPUT_BYTES;
use crate::place::grouped;
use crate::{ParseError, Reason};

/// JSON that is being written, within [`OUTPUT_BYTES`]. A comma is put where a new item needs one.
#[derive(Default)]
pub(crate) struct Json {
    out: String,
}

impl Json {
    /// How much has been written.
    pub(crate) fn len(&self) -> usize {
        self.out.len()
    }

    /// Makes room for the next value; gives where it begins.
    pub(crate) fn begin(&mut self) -> usize {
        self.comma();
        self.out.len()
    }

    /// What has been written from one place to another.
    pub(crate) fn between(&self, start: usize, end: usize) -> &str {
        self.out.get(start..end).unwrap_or_default()
    }

    /// Opens a list or a map.
    pub(crate) fn open(&mut self, bracket: char) -> Result<(), ParseError> {
        self.comma();
        self.out.push(bracket);
        self.check(0)
    }

    /// Closes a list or a map.
    pub(crate) fn close(&mut self, bracket: char) {
        self.out.push(bracket);
    }

    /// A key; its value is what is written next.
    pub(crate) fn key(&mut self, name: &str) -> Result<(), ParseError> {
        self.text(name)?;
        self.out.push(':');
        Ok(())
    }

    /// A text.
    pub(crate) fn text(&mut self, text: &str) -> Result<(), ParseError> {
        self.check(text.len())?;
        self.comma();
        quote(text, &mut self.out);
        self.check(0)
    }

    /// A text, or null.
    pub(crate) fn text_or_null(&mut self, text: Option<&str>) -> Result<(), ParseError> {
        match text {
            Some(text) => self.text(text),
            None => self.raw("null"),
        }
    }

    /// JSON that is one whole value.
    pub(crate) fn raw(&mut self, json: &str) -> Result<(), ParseError> {
        self.check(json.len())?;
        self.comma();
        self.out.push_str(json);
        Ok(())
    }

    /// What was written.
    pub(crate) fn finish(self) -> Result<String, ParseError> {
        self.check(0)?;
        Ok(self.out)
    }

    // A text ends with its quote, so a bracket, colon or comma at the end is always one of ours.
    fn comma(&mut self) {
        if !matches!(self.out.as_bytes().last(), None | Some(b'[' | b'{' | b':' | b',')) {
            self.out.push(',');
        }
    }

    fn check(&self, more: usize) -> Result<(), ParseError> {
        if self.out.len() + more <= OUTPUT_BYTES {
            return Ok(());
        }
        Err(output_too_large())
    }
}

/// The error of a result that is too large.
pub(crate) fn output_too_large() -> ParseError {
    let message = format!("the result would be larger than the limit of {} bytes", grouped(OUTPUT_BYTES));
    ParseError::new(Reason::TooLarge, message)
}

/// A text as JSON has it.
pub(crate) fn quote(text: &str, out: &mut String) {
    use std::fmt::Write as _;
    out.push('"');
    let mut rest = text;
    while let Some(at) = rest.find(|c: char| c < ' ' || c == '"' || c == '\\' || c == '\u{7f}') {
        let (plain, special) = rest.split_at(at);
        out.push_str(plain);
        let mut characters = special.chars();
        match characters.next() {
            Some('"') => out.push_str("\\\""),
            Some('\\') => out.push_str("\\\\"),
            Some('\n') => out.push_str("\\n"),
            Some('\r') => out.push_str("\\r"),
            Some('\t') => out.push_str("\\t"),
            // Writing to a string cannot fail.
            Some(c) => drop(write!(out, "\\u{:04x}", u32::from(c))),
            None => {}
        }
        rest = characters.as_str();
    }
    out.push_str(rest);
    out.push('"');
}
