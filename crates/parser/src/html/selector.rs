//! CSS selectors, read into steps that one walk over a tree can follow.
//!
//! Known are types, `*`, `#id`, `.class`, `[attribute]` with its operators and `i`, the four combinators, lists, and
//! of the pseudo-classes those in [`Parser::pseudo`]. `:has()` is not: it would look at each part of a tree many times.

use crate::bounds::{SELECTOR_BYTES, SELECTOR_COMPOUNDS, SELECTOR_DEPTH};
use crate::place::{grouped, shortened};
use crate::{ParseError, Reason};

/// How two compounds are to each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Combinator {
    Descendant,
    Child,
    NextSibling,
    LaterSibling,
}

/// One condition on one element.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Simple {
    /// A name, as written and in lower case.
    Tag(String, String),
    Id(String),
    Class(String),
    Attribute {
        /// A name, as written and in lower case.
        name: String,
        lower: String,
        how: How,
        value: String,
        any_case: bool,
    },
    /// One of these steps is the end of a match.
    Is(Vec<usize>),
    /// None of them is.
    Not(Vec<usize>),
    /// `a·n + b` counted from the first or the last, among all or those of the same name.
    Nth {
        a: i32,
        b: i32,
        from_last: bool,
        same_name: bool,
    },
    Empty,
    Root,
}

/// How an attribute's value is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum How {
    Present,
    Equals,
    HasWord,
    IsOrBeginsWithDash,
    BeginsWith,
    EndsWith,
    Contains,
}

/// A compound: an element fits if all conditions hold and the step before fits an element at the right place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Step {
    pub(super) conditions: Vec<Simple>,
    pub(super) behind: Option<(Combinator, usize)>,
}

/// A selector: its steps, each behind those that it asks about, and those that end a match.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Selector {
    pub(super) steps: Vec<Step>,
    pub(super) ends: Vec<usize>,
    /// Counting from the last needs to know how many there are.
    pub(super) counts_from_last: bool,
    /// Counting those of the same name takes a table for each parent.
    pub(super) counts_names: bool,
}

impl Selector {
    /// Reads a selector.
    pub(super) fn parse(text: &str) -> Result<Self, ParseError> {
        if text.len() > SELECTOR_BYTES {
            let message = format!(
                "the selector has {} bytes, the limit is {}",
                grouped(text.len()),
                grouped(SELECTOR_BYTES)
            );
            return Err(ParseError::new(Reason::BadSelector, message));
        }
        let mut parser = Parser { text, at: 0, steps: Vec::new() };
        let ends = parser.list(0)?;
        if parser.peek().is_some() {
            return Err(parser.bad("is not expected here"));
        }
        let conditions = || parser.steps.iter().flat_map(|step| &step.conditions);
        let counts_from_last = conditions().any(|one| matches!(one, Simple::Nth { from_last: true, .. }));
        let counts_names = conditions().any(|one| matches!(one, Simple::Nth { same_name: true, .. }));
        Ok(Self { ends, counts_from_last, counts_names, steps: parser.steps })
    }
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    steps: Vec<Step>,
}

impl Parser<'_> {
    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn take(&mut self, wanted: char) -> bool {
        let there = self.peek() == Some(wanted);
        if there {
            self.at += wanted.len_utf8();
        }
        there
    }

    fn space(&mut self) -> bool {
        let rest = self.rest();
        let length = rest.len() - rest.trim_start_matches([' ', '\t', '\n', '\r', '\x0c']).len();
        self.at += length;
        length > 0
    }

    fn bad(&self, why: &str) -> ParseError {
        let column = self.text.get(..self.at).unwrap_or_default().chars().count() + 1;
        let rest = self.rest();
        let what = if rest.is_empty() { "its end".to_owned() } else { format!("`{}`", shortened(rest)) };
        ParseError::new(Reason::BadSelector, format!("not a selector: {what} {why} (column {column})"))
    }

    /// Alternatives, up to the end or a closing bracket; gives the steps that end a match.
    fn list(&mut self, depth: usize) -> Result<Vec<usize>, ParseError> {
        if depth > SELECTOR_DEPTH {
            return Err(self.bad(&format!("is nested deeper than the limit of {SELECTOR_DEPTH}")));
        }
        let mut ends = Vec::new();
        loop {
            ends.push(self.complex(depth)?);
            self.space();
            if !self.take(',') {
                return Ok(ends);
            }
        }
    }

    fn complex(&mut self, depth: usize) -> Result<usize, ParseError> {
        let mut behind = None;
        self.space();
        loop {
            let conditions = self.compound(depth)?;
            if self.steps.len() >= SELECTOR_COMPOUNDS {
                return Err(self.bad(&format!("is past the limit of {SELECTOR_COMPOUNDS} compounds")));
            }
            self.steps.push(Step { conditions, behind });
            let this = self.steps.len() - 1;
            let spaced = self.space();
            let combinator = match self.peek() {
                Some('>') => Combinator::Child,
                Some('+') => Combinator::NextSibling,
                Some('~') => Combinator::LaterSibling,
                None | Some(',' | ')') => return Ok(this),
                Some(_) if spaced => {
                    behind = Some((Combinator::Descendant, this));
                    continue;
                }
                Some(_) => return Err(self.bad("is not expected here")),
            };
            self.at += 1;
            self.space();
            behind = Some((combinator, this));
        }
    }

    fn compound(&mut self, depth: usize) -> Result<Vec<Simple>, ParseError> {
        let start = self.at;
        let mut conditions = Vec::new();
        if !self.take('*') && self.begins_name() {
            let name = self.name()?;
            let lower = name.to_ascii_lowercase();
            conditions.push(Simple::Tag(name, lower));
        }
        loop {
            match self.peek() {
                Some('#') => {
                    self.at += 1;
                    conditions.push(Simple::Id(self.name()?));
                }
                Some('.') => {
                    self.at += 1;
                    conditions.push(Simple::Class(self.name()?));
                }
                Some('[') => {
                    self.at += 1;
                    conditions.push(self.attribute()?);
                }
                Some(':') => {
                    self.at += 1;
                    self.pseudo(depth, &mut conditions)?;
                }
                _ if self.at == start => return Err(self.bad("is not a name, `#`, `.`, `[`, `:` or `*`")),
                _ => return Ok(conditions),
            }
        }
    }

    fn attribute(&mut self) -> Result<Simple, ParseError> {
        self.space();
        let name = self.name()?;
        let lower = name.to_ascii_lowercase();
        self.space();
        if self.take(']') {
            let value = String::new();
            return Ok(Simple::Attribute { name, lower, how: How::Present, value, any_case: false });
        }
        let how = match self.peek() {
            Some('~') => How::HasWord,
            Some('|') => How::IsOrBeginsWithDash,
            Some('^') => How::BeginsWith,
            Some('$') => How::EndsWith,
            Some('*') => How::Contains,
            _ => How::Equals,
        };
        if how != How::Equals {
            self.at += 1;
        }
        if !self.take('=') {
            return Err(self.bad("is no comparison of an attribute"));
        }
        self.space();
        let value = match self.peek() {
            Some(quote @ ('"' | '\'')) => self.quoted(quote)?,
            _ => self.name()?,
        };
        self.space();
        let any_case = self.take('i') || self.take('I');
        if !any_case {
            let _ = self.take('s') || self.take('S');
        }
        self.space();
        if !self.take(']') {
            return Err(self.bad("is where `]` should be"));
        }
        Ok(Simple::Attribute { name, lower, how, value, any_case })
    }

    fn pseudo(&mut self, depth: usize, conditions: &mut Vec<Simple>) -> Result<(), ParseError> {
        let start = self.at;
        let name = self.name()?.to_ascii_lowercase();
        let nth = |b, from_last, same_name| Simple::Nth { a: 0, b, from_last, same_name };
        if self.take('(') {
            let condition = match name.as_str() {
                "not" => Simple::Not(self.list(depth + 1)?),
                "is" | "where" | "matches" => Simple::Is(self.list(depth + 1)?),
                "nth-child" => self.nth(false, false)?,
                "nth-last-child" => self.nth(true, false)?,
                "nth-of-type" => self.nth(false, true)?,
                "nth-last-of-type" => self.nth(true, true)?,
                _ => {
                    self.at = start;
                    return Err(self.bad("is a pseudo-class that is not known here"));
                }
            };
            self.space();
            if !self.take(')') {
                return Err(self.bad("is where `)` should be"));
            }
            conditions.push(condition);
            return Ok(());
        }
        match name.as_str() {
            "first-child" => conditions.push(nth(1, false, false)),
            "last-child" => conditions.push(nth(1, true, false)),
            "only-child" => conditions.extend([nth(1, false, false), nth(1, true, false)]),
            "first-of-type" => conditions.push(nth(1, false, true)),
            "last-of-type" => conditions.push(nth(1, true, true)),
            "only-of-type" => conditions.extend([nth(1, false, true), nth(1, true, true)]),
            "empty" => conditions.push(Simple::Empty),
            "root" => conditions.push(Simple::Root),
            _ => {
                self.at = start;
                return Err(self.bad("is a pseudo-class that is not known here"));
            }
        }
        Ok(())
    }

    /// What is in the brackets of `:nth-child(…)`.
    fn nth(&mut self, from_last: bool, same_name: bool) -> Result<Simple, ParseError> {
        self.space();
        let rest = self.rest();
        let end = rest.find(')').ok_or_else(|| self.bad("has no closing bracket"))?;
        let written: String =
            rest.get(..end).unwrap_or_default().chars().filter(|c| !c.is_whitespace()).collect();
        let written = written.to_ascii_lowercase();
        let (a, b) = match written.as_str() {
            "odd" => (2, 1),
            "even" => (2, 0),
            other => match other.split_once('n') {
                None => (0, number(other).ok_or_else(|| self.bad("is no `an+b`"))?),
                Some((a, b)) => {
                    let a = match a {
                        "" | "+" => Some(1),
                        "-" => Some(-1),
                        _ => number(a),
                    };
                    let b = if b.is_empty() { Some(0) } else { number(b) };
                    a.zip(b).ok_or_else(|| self.bad("is no `an+b`"))?
                }
            },
        };
        self.at += end;
        Ok(Simple::Nth { a, b, from_last, same_name })
    }

    fn begins_name(&self) -> bool {
        self.peek().is_some_and(|c| is_name(c) || c == '\\')
    }

    fn name(&mut self) -> Result<String, ParseError> {
        if !self.begins_name() {
            return Err(self.bad("is where a name should be"));
        }
        let mut name = String::new();
        while let Some(c) = self.peek() {
            if c == '\\' {
                self.at += 1;
                name.push(self.escape()?);
            } else if is_name(c) {
                self.at += c.len_utf8();
                name.push(c);
            } else {
                break;
            }
        }
        Ok(name)
    }

    fn quoted(&mut self, quote: char) -> Result<String, ParseError> {
        self.at += 1;
        let mut text = String::new();
        loop {
            match self.peek() {
                None => return Err(self.bad("comes before the closing quote")),
                Some('\\') => {
                    self.at += 1;
                    text.push(self.escape()?);
                }
                Some(c) => {
                    self.at += c.len_utf8();
                    if c == quote {
                        return Ok(text);
                    }
                    text.push(c);
                }
            }
        }
    }

    /// What is behind a backslash: up to six hexadecimal digits and a space, or a character as it is.
    fn escape(&mut self) -> Result<char, ParseError> {
        let digits: String = self.rest().chars().take(6).take_while(char::is_ascii_hexdigit).collect();
        if digits.is_empty() {
            let c = self.peek().ok_or_else(|| self.bad("is behind a backslash"))?;
            self.at += c.len_utf8();
            return Ok(c);
        }
        self.at += digits.len();
        let _ = self.take(' ');
        let code = u32::from_str_radix(&digits, 16).ok().filter(|code| *code != 0);
        Ok(code.and_then(char::from_u32).unwrap_or('\u{fffd}'))
    }
}

fn number(text: &str) -> Option<i32> {
    text.strip_prefix('+').filter(|rest| !rest.starts_with('-')).unwrap_or(text).parse().ok()
}

fn is_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '-' || c == '_' || !c.is_ascii()
}
