//! Why a source cannot be used. One error, the first in the text; it never carries the author's code.

use bailiwick_types::Location;

/// Why a source cannot be used, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct SourceError {
    /// What is wrong and what to do about it, for people, without the position.
    pub message: String,
    /// Where in the author's text.
    pub location: Option<Location>,
    /// What kind of error it is.
    pub kind: SourceErrorKind,
}

/// The kinds of error a source can have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SourceErrorKind {
    /// It does not parse.
    Syntax,
    /// It has a TypeScript construct that needs code to be generated.
    Unerasable,
    /// It parses, and breaks a rule about its shape: no `execute`, a parameter that cannot be a variable.
    Rule,
}
