//! Every rule there is, in one table. A rule is a pure function in a file of
//! its own; to add one, write it, give it a row, and give it cases in `tests.rs`.

mod allow_reason;
mod docs;
mod ignored_test;
mod inline_tests;
mod layering;
mod long_file;
mod print;
mod pure_manifests;
mod pure_sources;
mod unfinished;
mod unreadable;
mod unsafe_code;
mod vague_name;

#[cfg(test)]
mod tests;

use super::finding::{Finding, Placed, Remark};
use super::source::Source;
use super::survey::Survey;

/// A rule: what it is called in the report, and how it looks.
#[derive(Debug)]
pub(crate) struct Rule {
    id: &'static str,
    look: Look,
}

/// What a rule has to see.
#[derive(Debug)]
enum Look {
    /// One Rust file at a time.
    Source(fn(&Source) -> Vec<Remark>),
    /// The whole tree.
    Tree(fn(&Survey) -> Vec<Placed>),
}

/// The rules. One id may have more than one way of looking.
pub(crate) const RULES: &[Rule] = &[
    Rule { id: "unreadable", look: Look::Tree(unreadable::look) },
    Rule { id: "long-file", look: Look::Source(long_file::look) },
    Rule { id: "crate-doc", look: Look::Tree(docs::look_at_crates) },
    Rule { id: "module-doc", look: Look::Tree(docs::look_at_modules) },
    Rule { id: "layering", look: Look::Tree(layering::look) },
    Rule { id: "purity", look: Look::Tree(pure_manifests::look) },
    Rule { id: "purity", look: Look::Source(pure_sources::look) },
    Rule { id: "unsafe", look: Look::Source(unsafe_code::look) },
    Rule { id: "ignored-test", look: Look::Source(ignored_test::look) },
    Rule { id: "unfinished", look: Look::Source(unfinished::look) },
    Rule { id: "print", look: Look::Source(print::look) },
    Rule { id: "vague-name", look: Look::Tree(vague_name::look) },
    Rule { id: "inline-tests", look: Look::Source(inline_tests::look) },
    Rule { id: "allow-reason", look: Look::Source(allow_reason::look) },
];

impl Rule {
    /// What the rule finds.
    pub(crate) fn findings(&self, survey: &Survey) -> Vec<Finding> {
        let place = |source: &Source, look: fn(&Source) -> Vec<Remark>| -> Vec<Placed> {
            look(source).into_iter().map(|remark| remark.on(&source.path)).collect()
        };
        let placed = match self.look {
            Look::Source(look) => survey.sources.iter().flat_map(|source| place(source, look)).collect(),
            Look::Tree(look) => look(survey),
        };
        placed.into_iter().map(|placed| placed.by(self.id)).collect()
    }
}

/// The id of every rule.
#[cfg(test)]
pub(super) fn ids() -> std::collections::BTreeSet<&'static str> {
    RULES.iter().map(|rule| rule.id).collect()
}
