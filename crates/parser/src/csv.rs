//! CSV, to and from: fields between delimiters, in quotes where they hold one, a row on each line (RFC 4180).
//!
//! Read strictly where a guess could lose data: a quote that is not closed, text behind a closing quote and a row with
//! more fields than the header are refused. Lines end with LF, CRLF or CR; empty lines are left out; a byte order mark
//! is skipped. A field is text: nothing is turned into a number.
//!
//! A field that begins with `=`, `+`, `-` or `@` is a formula to a spreadsheet program. That is not looked at here:
//! who writes files for people to open in one has to.

mod write;

use std::collections::BTreeMap;

pub use self::write::{Columns, WriteOptions, stringify};

use crate::bounds::{COLUMNS, ROWS, check_size};
use crate::json_out::Json;
use crate::place::{Place, grouped};
use crate::{ParseError, Reason};

/// Where the names of the columns are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Header {
    /// In the first row. A name that is empty or there already is made distinct: `column_3`, `name_2`.
    First,
    /// There are none: rows are given as lists.
    None,
    /// These; the first row is data.
    Names(Vec<String>),
}

/// How a text is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadOptions {
    /// Where the names of the columns are.
    pub header: Header,
    /// What is between fields: one ASCII character.
    pub delimiter: char,
    /// What is around a field that holds a delimiter or a line break: one ASCII character.
    pub quote: char,
    /// Take away spaces around fields.
    pub trim: bool,
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self { header: Header::First, delimiter: ',', quote: '"', trim: false }
    }
}

/// Reads rows: a list of objects, or of lists without a header. A field that a row lacks is null.
pub fn parse(text: &str, options: &ReadOptions) -> Result<String, ParseError> {
    check_size(text)?;
    check_marks(options.delimiter, options.quote)?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut rows = Rows { text, at: 0, options };
    let mut names: Option<Vec<String>> = None;
    let mut json = Json::default();
    json.open('[')?;
    if let Header::Names(given) = &options.header {
        names = Some(distinct(&given.iter().map(String::as_str).collect::<Vec<_>>()));
    }
    let mut fields = Vec::new();
    let mut count = 0_usize;
    while let Some(start) = rows.next(&mut fields)? {
        if names.is_none() && options.header == Header::First {
            names = Some(distinct(&fields.iter().map(String::as_str).collect::<Vec<_>>()));
            continue;
        }
        count += 1;
        if count > ROWS {
            let message = format!("there are more than {} rows", grouped(ROWS));
            return Err(ParseError::at(Place::of(text, start), Reason::TooManyRows, message));
        }
        let Some(names) = &names else {
            json.open('[')?;
            for field in &fields {
                json.text(field)?;
            }
            json.close(']');
            continue;
        };
        if fields.len() > names.len() {
            let message = format!("a row has {} fields, the header has {}", fields.len(), names.len());
            return Err(ParseError::at(Place::of(text, start), Reason::Malformed, message));
        }
        json.open('{')?;
        for (column, name) in names.iter().enumerate() {
            json.key(name)?;
            json.text_or_null(fields.get(column).map(String::as_str))?;
        }
        json.close('}');
    }
    json.close(']');
    json.finish()
}

/// The delimiter and the quote must be two ASCII characters that end no line.
fn check_marks(delimiter: char, quote: char) -> Result<(), ParseError> {
    let usable = |c: char| c.is_ascii() && !matches!(c, '\n' | '\r' | '\0');
    if usable(delimiter) && usable(quote) && delimiter != quote {
        return Ok(());
    }
    let message =
        "the delimiter and the quote have to be two different ASCII characters, neither a line break";
    Err(ParseError::new(Reason::BadOption, message))
}

/// Names that differ from each other and are not empty.
pub(crate) fn distinct(names: &[&str]) -> Vec<String> {
    let mut used: BTreeMap<String, usize> = BTreeMap::new();
    let mut made = Vec::with_capacity(names.len());
    for (column, name) in names.iter().enumerate() {
        let name = if name.is_empty() { format!("column_{}", column + 1) } else { (*name).to_owned() };
        let mut candidate = name.clone();
        let mut number = used.get(&name).copied().unwrap_or(0);
        while number > 0 && used.contains_key(&candidate) {
            number += 1;
            candidate = format!("{name}_{number}");
        }
        used.insert(name, number.max(1));
        used.entry(candidate.clone()).or_insert(1);
        made.push(candidate);
    }
    made
}

/// The rows of a text, one after the other.
struct Rows<'a> {
    text: &'a str,
    at: usize,
    options: &'a ReadOptions,
}

impl Rows<'_> {
    /// Puts the fields of the next row that is not empty into `fields`; gives where it begins, or none at the end.
    fn next(&mut self, fields: &mut Vec<String>) -> Result<Option<usize>, ParseError> {
        fields.clear();
        while self.peek().is_some_and(|byte| matches!(byte, b'\n' | b'\r')) {
            self.at += 1;
        }
        let start = self.at;
        if self.peek().is_none() {
            return Ok(None);
        }
        loop {
            if fields.len() >= COLUMNS {
                let message = format!("a row has more than {} fields", grouped(COLUMNS));
                return Err(ParseError::at(Place::of(self.text, start), Reason::TooManyColumns, message));
            }
            let field = self.field()?;
            fields.push(field);
            match self.peek() {
                Some(byte) if char::from(byte) == self.options.delimiter => self.at += 1,
                Some(b'\r') => {
                    self.at += 1;
                    if self.peek() == Some(b'\n') {
                        self.at += 1;
                    }
                    return Ok(Some(start));
                }
                Some(_) => {
                    self.at += 1;
                    return Ok(Some(start));
                }
                None => return Ok(Some(start)),
            }
        }
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn skip_spaces(&mut self) {
        while self.options.trim
            && self.peek().is_some_and(|byte| {
                matches!(byte, b' ' | b'\t') && char::from(byte) != self.options.delimiter
            })
        {
            self.at += 1;
        }
    }

    /// A field; what comes next is a delimiter, a line break or the end.
    fn field(&mut self) -> Result<String, ParseError> {
        self.skip_spaces();
        if self.peek().map(char::from) == Some(self.options.quote) {
            return self.quoted();
        }
        let rest = self.text.get(self.at..).unwrap_or_default();
        let delimiter = self.options.delimiter;
        let end = rest.find([delimiter, '\n', '\r']).unwrap_or(rest.len());
        self.at += end;
        let field = rest.get(..end).unwrap_or_default();
        Ok(if self.options.trim { field.trim() } else { field }.to_owned())
    }

    fn quoted(&mut self) -> Result<String, ParseError> {
        let start = self.at;
        let quote = self.options.quote;
        let mut field = String::new();
        self.at += 1;
        loop {
            let rest = self.text.get(self.at..).unwrap_or_default();
            let Some(end) = rest.find(quote) else {
                let message = "a quoted field is not closed";
                return Err(ParseError::at(Place::of(self.text, start), Reason::Malformed, message));
            };
            field.push_str(rest.get(..end).unwrap_or_default());
            self.at += end + 1;
            if self.peek().map(char::from) != Some(quote) {
                break;
            }
            field.push(quote);
            self.at += 1;
        }
        self.skip_spaces();
        match self.peek() {
            None | Some(b'\n' | b'\r') => Ok(field),
            Some(byte) if char::from(byte) == self.options.delimiter => Ok(field),
            Some(_) => {
                let message =
                    format!("text behind a closing quote; a quote inside a field is written {quote}{quote}");
                Err(ParseError::at(Place::of(self.text, self.at), Reason::Malformed, message))
            }
        }
    }
}
