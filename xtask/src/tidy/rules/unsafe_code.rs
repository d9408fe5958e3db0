//! `unsafe`: the keyword, attributes included, is for the one crate that makes
//! the syscalls. The lint forbids it too; this also sees what no build compiles.

use crate::tidy::finding::Remark;
use crate::tidy::source::Source;

/// The one place it may be.
const HOME: &str = "crates/sys/";

pub(super) fn look(source: &Source) -> Vec<Remark> {
    if source.path.starts_with(HOME) {
        return Vec::new();
    }
    let keywords = source.tokens.idents().filter(|(_, _, word)| *word == "unsafe");
    keywords
        .map(|(_, line, _)| {
            Remark::new(line, format!("`unsafe` outside {HOME}"), "give `sys` a safe function that does it")
        })
        .collect()
}
