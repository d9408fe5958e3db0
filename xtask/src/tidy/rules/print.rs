//! `print`: output has one door in the binary and one in this tool. Tests do
//! not print either: what they have to say is an assertion.

use crate::tidy::finding::Remark;
use crate::tidy::source::Source;

const MACROS: &[&str] = &["println", "print", "eprintln", "eprint", "dbg"];

/// The doors: folders end with `/`. A build script tells cargo what it found by printing it.
const DOORS: &[&str] = &[
    "crates/cli/src/render/",
    "crates/cli/src/render.rs",
    "crates/agent-program/build.rs",
    "xtask/src/output.rs",
];

pub(super) fn look(source: &Source) -> Vec<Remark> {
    let path = source.path.as_str();
    if DOORS.iter().any(|door| path == *door || (door.ends_with('/') && path.starts_with(door))) {
        return Vec::new();
    }
    let tokens = &source.tokens;
    tokens
        .idents()
        .filter(|(index, _, word)| MACROS.contains(word) && tokens.is_macro_call(*index))
        .map(|(_, line, word)| {
            let instead = "return the text, and let the CLI's `render` print it";
            Remark::new(line, format!("`{word}!` outside the places that print"), instead)
        })
        .collect()
}
