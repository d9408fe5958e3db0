//! `crate-doc` and `module-doc`: the first thing in a file is a `//!` that
//! says what it is. Test files are spared: their names are sentences.

use crate::tidy::attributes::{self, Place};
use crate::tidy::finding::{Placed, Remark};
use crate::tidy::source::Source;
use crate::tidy::survey::Survey;

pub(super) fn look_at_crates(survey: &Survey) -> Vec<Placed> {
    undocumented(survey)
        .filter(|source| is_crate_root(survey, source))
        .map(|source| {
            let instead = "say what the crate is, what it must never do, and where to start reading";
            Remark::new(1, "the crate does not start with a `//!`", instead).on(&source.path)
        })
        .collect()
}

pub(super) fn look_at_modules(survey: &Survey) -> Vec<Placed> {
    undocumented(survey)
        .filter(|source| !is_crate_root(survey, source))
        .map(|source| {
            let instead = "say in a line or two what it is";
            Remark::new(1, "the file does not start with a `//!`", instead).on(&source.path)
        })
        .collect()
}

fn undocumented(survey: &Survey) -> impl Iterator<Item = &Source> {
    survey.sources.iter().filter(|source| !source.is_test_file() && !starts_with_doc(source))
}

fn is_crate_root(survey: &Survey, source: &Source) -> bool {
    survey
        .members
        .iter()
        .any(|member| matches!(source.path.strip_prefix(member.folder()), Some("src/lib.rs" | "src/main.rs")))
}

/// Whether the file's first tokens are inner docs that say something. An
/// included text (`#![doc = include_str!(..)]`) is taken to.
fn starts_with_doc(source: &Source) -> bool {
    let tokens = &source.tokens;
    let mut index = 0;
    while let Some(attribute) = attributes::at(tokens, index).filter(|one| one.place == Place::Inner) {
        let meta = attribute.written(tokens);
        if meta.path != "doc" {
            return false;
        }
        let says_something = match tokens.literal(meta.value.start) {
            Some(text) => text.chars().any(char::is_alphanumeric),
            None => !meta.value.is_empty(),
        };
        if says_something {
            return true;
        }
        index = attribute.end;
    }
    false
}
