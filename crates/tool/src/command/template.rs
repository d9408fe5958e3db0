//! A text with slots: `{param}` is filled with one argument, `{{` and `}}` are braces.

use bailiwick_types::{did_you_mean, shortened};

use crate::param::Param;

/// A part of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Piece {
    /// As it stands.
    Text(String),
    /// The argument of this name.
    Slot(String),
}

/// A text with slots.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template {
    pub(crate) pieces: Vec<Piece>,
}

/// What is wrong with a text with slots, and what to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) message: String,
    pub(crate) hint: String,
}

impl Fault {
    pub(crate) fn new(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { message: message.into(), hint: hint.into() }
    }
}

impl Template {
    /// Reads a text whose slots name these parameters.
    pub(crate) fn parse(text: &str, params: &[Param]) -> Result<Self, Fault> {
        let mut pieces = Vec::new();
        let mut plain = String::new();
        let mut rest = text;
        while let Some(at) = rest.find(['{', '}']) {
            let (before, from) = rest.split_at(at);
            plain.push_str(before);
            if let Some(after) = from.strip_prefix("{{") {
                plain.push('{');
                rest = after;
            } else if let Some(after) = from.strip_prefix("}}") {
                plain.push('}');
                rest = after;
            } else {
                let (name, after) = slot(from)?;
                known(name, params)?;
                if !plain.is_empty() {
                    pieces.push(Piece::Text(std::mem::take(&mut plain)));
                }
                pieces.push(Piece::Slot(name.to_owned()));
                rest = after;
            }
        }
        plain.push_str(rest);
        if !plain.is_empty() {
            pieces.push(Piece::Text(plain));
        }
        Ok(Self { pieces })
    }

    /// The names in its slots.
    pub(crate) fn slots(&self) -> impl Iterator<Item = &str> {
        self.pieces.iter().filter_map(|piece| match piece {
            Piece::Slot(name) => Some(name.as_str()),
            Piece::Text(_) => None,
        })
    }

    /// The text, where it has no slots.
    pub(crate) fn literal(&self) -> Option<&str> {
        match self.pieces.as_slice() {
            [] => Some(""),
            [Piece::Text(text)] => Some(text),
            _ => None,
        }
    }

    /// What its author wrote before the first slot.
    pub(crate) fn prefix(&self) -> &str {
        match self.pieces.first() {
            Some(Piece::Text(text)) => text,
            Some(Piece::Slot(_)) | None => "",
        }
    }

    /// As a document writes it.
    pub(crate) fn written(&self) -> String {
        let mut text = String::new();
        for piece in &self.pieces {
            match piece {
                Piece::Text(plain) => text.push_str(&plain.replace('{', "{{").replace('}', "}}")),
                Piece::Slot(name) => {
                    text.push('{');
                    text.push_str(name);
                    text.push('}');
                }
            }
        }
        text
    }
}

/// The name in the slot that a text begins with, and what follows it.
fn slot(from: &str) -> Result<(&str, &str), Fault> {
    let hint = "a slot is {param}; write {{ and }} for braces";
    let inside = from.strip_prefix('{').ok_or_else(|| Fault::new("a `}` stands alone", hint))?;
    let end = inside.find(['{', '}']).filter(|end| inside.get(*end..).is_some_and(|at| at.starts_with('}')));
    let end = end.ok_or_else(|| Fault::new("a `{` has no `}`", hint))?;
    let (name, after) = inside.split_at(end);
    Ok((name, after.strip_prefix('}').unwrap_or(after)))
}

/// Whether a slot names a parameter.
pub(crate) fn known<'a>(name: &str, params: &'a [Param]) -> Result<&'a Param, Fault> {
    params.iter().find(|param| param.name == name).ok_or_else(|| {
        if name.ends_with("...") {
            return Fault::new(
                format!("`{{{}}}` does not stand alone in its word", shortened(name)),
                "a list of words is {param...}, alone in an item of `argv`",
            );
        }
        let names = || params.iter().map(|param| param.name.as_str());
        let hint = did_you_mean(name, names(), || match params.len() {
            0 => "the tool has no parameters; write {{ and }} for braces".to_owned(),
            _ => format!("its parameters are: {}", names().collect::<Vec<_>>().join(", ")),
        });
        Fault::new(format!("the slot `{{{}}}` names no parameter", shortened(name)), hint)
    })
}
