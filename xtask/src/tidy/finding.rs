//! What a rule has to say: where, what is wrong, and what to do instead.

use std::fmt;

/// A breach of a rule. The field order is the order of the report.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Finding {
    /// Relative to the root.
    pub(crate) path: String,
    /// Counted from 1.
    pub(crate) line: usize,
    /// The rule's id.
    pub(crate) rule: &'static str,
    /// What is wrong.
    pub(crate) wrong: String,
    /// What to do instead.
    pub(crate) instead: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, line, rule, wrong, instead } = self;
        write!(f, "{path}:{line}: [{rule}] {wrong}; {instead}")
    }
}

/// A breach as a rule reports it that looks at one file only: which rule and
/// which file it is, its caller knows.
#[derive(Debug)]
pub(crate) struct Remark {
    /// Counted from 1.
    pub(crate) line: usize,
    /// What is wrong.
    pub(crate) wrong: String,
    /// What to do instead.
    pub(crate) instead: String,
}

impl Remark {
    /// A remark on `line`.
    pub(crate) fn new(line: usize, wrong: impl Into<String>, instead: impl Into<String>) -> Self {
        Self { line, wrong: wrong.into(), instead: instead.into() }
    }

    /// The remark with the file it is about.
    pub(crate) fn on(self, path: impl Into<String>) -> Placed {
        Placed { path: path.into(), remark: self }
    }
}

/// A remark and the file it is about, from a rule that looks at many files.
#[derive(Debug)]
pub(crate) struct Placed {
    path: String,
    remark: Remark,
}

impl Placed {
    /// The finding this is, under the rule's id.
    pub(crate) fn by(self, rule: &'static str) -> Finding {
        let Self { path, remark: Remark { line, wrong, instead } } = self;
        Finding { path, line, rule, wrong, instead }
    }
}
