//! Why a text was not read.

use std::fmt;

use crate::place::Place;

/// What kind of thing was wrong, as one stable word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Reason {
    /// The text, or what it would give, is too large.
    TooLarge,
    /// Nested too deep.
    TooDeep,
    /// Too many nodes.
    TooManyNodes,
    /// Too many attributes, on one element or in all.
    TooManyAttributes,
    /// A table with too many cells.
    TooManyCells,
    /// Too many fields in a row.
    TooManyColumns,
    /// Too many rows.
    TooManyRows,
    /// Too many aliases.
    TooManyAliases,
    /// A selector that cannot be read, or that is too large.
    BadSelector,
    /// An option that cannot be used.
    BadOption,
    /// A DOCTYPE in XML.
    Doctype,
    /// An entity that is not one of the five that XML has.
    Entity,
    /// A tag of YAML that is not plain data.
    CustomTag,
    /// An alias inside the value that it stands for.
    Cycle,
    /// A key given twice.
    DuplicateKey,
    /// A key that is a list or a map, or too long.
    BadKey,
    /// A merge key (`<<`).
    MergeKey,
    /// A number that plain data has no place for.
    BadNumber,
    /// A second document.
    ManyDocuments,
    /// Anything else that the format does not allow.
    Malformed,
}

impl Reason {
    /// The word that a guest sees.
    pub fn word(self) -> &'static str {
        match self {
            Self::TooLarge => "too-large",
            Self::TooDeep => "too-deep",
            Self::TooManyNodes => "too-many-nodes",
            Self::TooManyAttributes => "too-many-attributes",
            Self::TooManyCells => "too-many-cells",
            Self::TooManyColumns => "too-many-columns",
            Self::TooManyRows => "too-many-rows",
            Self::TooManyAliases => "too-many-aliases",
            Self::BadSelector => "bad-selector",
            Self::BadOption => "bad-option",
            Self::Doctype => "doctype",
            Self::Entity => "entity",
            Self::CustomTag => "custom-tag",
            Self::Cycle => "cycle",
            Self::DuplicateKey => "duplicate-key",
            Self::BadKey => "bad-key",
            Self::MergeKey => "merge-key",
            Self::BadNumber => "bad-number",
            Self::ManyDocuments => "many-documents",
            Self::Malformed => "malformed",
        }
    }
}

/// A text that was not read: why, and in words what, where and which limit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParseError {
    reason: Reason,
    message: String,
}

impl ParseError {
    pub(crate) fn new(reason: Reason, message: impl Into<String>) -> Self {
        Self { reason, message: message.into() }
    }

    pub(crate) fn at(place: Place, reason: Reason, message: impl fmt::Display) -> Self {
        Self { reason, message: format!("{message} ({place})") }
    }

    /// The kind of thing that was wrong.
    pub fn reason(&self) -> Reason {
        self.reason
    }
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ParseError {}
