//! The attributes of a file, and what each of them says once every `cfg_attr`
//! around it is unwrapped.

use std::ops::Range;

use proc_macro2::Delimiter;

use super::tokens::{Kind, Tokens};

/// `#[...]` or `#![...]`.
#[derive(Debug)]
pub(crate) struct Attribute {
    /// The index of its `#`.
    pub(crate) start: usize,
    /// The index after its `]`.
    pub(crate) end: usize,
    /// What it is written on.
    pub(crate) place: Place,
    /// The tokens between its brackets.
    body: Range<usize>,
}

/// What an attribute is written on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// `#[...]`: on what comes next.
    Outer,
    /// `#![...]`: on what it is in.
    Inner,
}

/// One thing an attribute says: `path`, `path = value` or `path(arguments)`.
#[derive(Debug)]
pub(crate) struct Meta {
    /// Its path, `clippy::all`, as one word.
    pub(crate) path: String,
    /// The line it starts on.
    pub(crate) line: usize,
    /// The tokens of its arguments; empty for `path` and `path = value`.
    pub(crate) arguments: Range<usize>,
    /// The tokens after `=`; empty for the other two.
    pub(crate) value: Range<usize>,
}

/// Every attribute of the file.
pub(crate) fn all(tokens: &Tokens) -> Vec<Attribute> {
    tokens
        .iter()
        .filter_map(|(index, token)| match token.kind {
            Kind::Punct('#') => at(tokens, index),
            _ => None,
        })
        .collect()
}

/// The attribute whose `#` is at `start`.
pub(crate) fn at(tokens: &Tokens, start: usize) -> Option<Attribute> {
    if !tokens.is_punct(start, '#') {
        return None;
    }
    let (place, bracket) =
        if tokens.is_punct(start + 1, '!') { (Place::Inner, start + 2) } else { (Place::Outer, start + 1) };
    let body = tokens.group_of(bracket, Delimiter::Bracket)?;
    Some(Attribute { start, end: body.end + 1, place, body })
}

impl Attribute {
    /// The attribute as it stands, whatever `cfg_attr` would make of it.
    pub(crate) fn written(&self, tokens: &Tokens) -> Meta {
        meta(tokens, self.body.clone())
    }

    /// Everything the attribute may come to say: a `cfg_attr` is replaced by
    /// what it adds, an `unsafe(...)` by what it holds.
    pub(crate) fn said(&self, tokens: &Tokens) -> Vec<Meta> {
        let mut said = Vec::new();
        let mut open = vec![self.body.clone()];
        while let Some(piece) = open.pop() {
            let meta = meta(tokens, piece);
            match meta.path.as_str() {
                "cfg_attr" => open.extend(tokens.split_at_commas(meta.arguments).into_iter().skip(1)),
                "unsafe" => open.push(meta.arguments),
                _ => said.push(meta),
            }
        }
        said
    }
}

fn meta(tokens: &Tokens, piece: Range<usize>) -> Meta {
    let line = tokens.line(piece.start);
    let mut path = String::new();
    let mut index = piece.start;
    while index < piece.end {
        if let Some(word) = tokens.ident(index) {
            path.push_str(word);
            index += 1;
        } else if tokens.is_path_separator(index) {
            path.push_str("::");
            index += 2;
        } else {
            break;
        }
    }
    let none = piece.end..piece.end;
    if tokens.is_punct(index, '=') {
        Meta { path, line, arguments: none, value: index + 1..piece.end }
    } else {
        let arguments = tokens.group(index).map_or(none.clone(), |(_, inside)| inside);
        Meta { path, line, arguments, value: none }
    }
}
