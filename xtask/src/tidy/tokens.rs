//! A file's tokens in one flat row, so that a rule is a look at neighbours and
//! nesting costs no recursion. Strings are single tokens and comments are none,
//! so neither can be mistaken for code; a doc comment is the `#[doc = "..."]`
//! it stands for.

use std::ops::Range;
use std::str::FromStr as _;

use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// A token and where it is.
#[derive(Debug)]
pub(crate) struct Token {
    /// What it is.
    pub(crate) kind: Kind,
    /// The line it starts on, counted from 1.
    pub(crate) line: usize,
}

/// What a token is.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A word or keyword; a raw one keeps its `r#`.
    Ident(String),
    /// One character; `::` is two of them.
    Punct(char),
    /// A string, character or number, as written.
    Literal(String),
    /// The start of a group; `close` is the index of its end.
    Open {
        /// Which bracket.
        delimiter: Delimiter,
        /// The index of the matching [`Kind::Close`].
        close: usize,
    },
    /// The end of a group.
    Close,
}

/// The tokens of a file. Asking beyond the end is answered with "no".
#[derive(Debug, Default)]
pub(crate) struct Tokens {
    list: Vec<Token>,
}

impl Tokens {
    /// Lexes `text`; an error is the line at which that fails.
    pub(crate) fn lex(text: &str) -> Result<Self, usize> {
        let stream = TokenStream::from_str(text).map_err(|error| error.span().start().line.max(1))?;
        let mut list: Vec<Token> = Vec::new();
        let mut iter = stream.into_iter();
        // The groups around the current one: what is left of each, and where the inner one started.
        let mut around = Vec::new();
        loop {
            match iter.next() {
                Some(TokenTree::Ident(word)) => {
                    list.push(Token { line: word.span().start().line, kind: Kind::Ident(word.to_string()) });
                }
                Some(TokenTree::Punct(punct)) => {
                    list.push(Token { line: punct.span().start().line, kind: Kind::Punct(punct.as_char()) });
                }
                Some(TokenTree::Literal(literal)) => {
                    let line = literal.span().start().line;
                    list.push(Token { line, kind: Kind::Literal(literal.to_string()) });
                }
                Some(TokenTree::Group(group)) => {
                    let open = list.len();
                    let kind = Kind::Open { delimiter: group.delimiter(), close: open };
                    list.push(Token { line: group.span_open().start().line, kind });
                    let outer = std::mem::replace(&mut iter, group.stream().into_iter());
                    around.push((outer, open, group.span_close().start().line));
                }
                None => {
                    let Some((outer, open, line)) = around.pop() else { break };
                    let end = list.len();
                    if let Some(Token { kind: Kind::Open { close, .. }, .. }) = list.get_mut(open) {
                        *close = end;
                    }
                    list.push(Token { line, kind: Kind::Close });
                    iter = outer;
                }
            }
        }
        Ok(Self { list })
    }

    /// How many tokens there are.
    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    /// The tokens with their indices.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (usize, &Token)> {
        self.list.iter().enumerate()
    }

    /// Every word with its index and line.
    pub(crate) fn idents(&self) -> impl Iterator<Item = (usize, usize, &str)> {
        self.iter().filter_map(|(index, token)| match &token.kind {
            Kind::Ident(word) => Some((index, token.line, word.as_str())),
            _ => None,
        })
    }

    /// The line of the token at `index`; 1 where there is none.
    pub(crate) fn line(&self, index: usize) -> usize {
        self.list.get(index).map_or(1, |token| token.line)
    }

    /// The word at `index`.
    pub(crate) fn ident(&self, index: usize) -> Option<&str> {
        match &self.list.get(index)?.kind {
            Kind::Ident(word) => Some(word),
            _ => None,
        }
    }

    /// The literal at `index`, as written.
    pub(crate) fn literal(&self, index: usize) -> Option<&str> {
        match &self.list.get(index)?.kind {
            Kind::Literal(text) => Some(text),
            _ => None,
        }
    }

    /// Whether the character `wanted` is at `index`.
    pub(crate) fn is_punct(&self, index: usize, wanted: char) -> bool {
        self.list.get(index).is_some_and(|token| token.kind == Kind::Punct(wanted))
    }

    /// Whether a group ends at `index`.
    pub(crate) fn is_close(&self, index: usize) -> bool {
        self.list.get(index).is_some_and(|token| token.kind == Kind::Close)
    }

    /// Whether `::` is at `index` and after.
    pub(crate) fn is_path_separator(&self, index: usize) -> bool {
        self.is_punct(index, ':') && self.is_punct(index + 1, ':')
    }

    /// The group that opens at `index`: its bracket, and the tokens within.
    pub(crate) fn group(&self, index: usize) -> Option<(Delimiter, Range<usize>)> {
        match self.list.get(index)?.kind {
            Kind::Open { delimiter, close } => Some((delimiter, index + 1..close)),
            _ => None,
        }
    }

    /// The tokens within the group that opens at `index` with that bracket.
    pub(crate) fn group_of(&self, index: usize, wanted: Delimiter) -> Option<Range<usize>> {
        self.group(index).filter(|(delimiter, _)| *delimiter == wanted).map(|(_, inside)| inside)
    }

    /// The index after the token, or after the whole group, at `index`.
    pub(crate) fn after(&self, index: usize) -> usize {
        self.group(index).map_or(index, |(_, inside)| inside.end) + 1
    }

    /// Whether the word at `index` is the name of a macro being called.
    pub(crate) fn is_macro_call(&self, index: usize) -> bool {
        self.is_punct(index + 1, '!') && self.group(index + 2).is_some()
    }

    /// The tokens of `range` cut at its own commas, groups being one piece.
    pub(crate) fn split_at_commas(&self, range: Range<usize>) -> Vec<Range<usize>> {
        let mut pieces = Vec::new();
        let (mut start, mut index) = (range.start, range.start);
        while index < range.end {
            if self.is_punct(index, ',') {
                pieces.push(start..index);
                start = index + 1;
            }
            index = self.after(index);
        }
        if start < range.end {
            pieces.push(start..range.end);
        }
        pieces
    }
}
