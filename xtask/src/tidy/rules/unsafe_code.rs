//! `unsafe`: the keyword, attributes included, is for the places that
//! make raw calls. The lint forbids it too; this also sees what no build compiles.

use crate::tidy::finding::Remark;
use crate::tidy::source::Source;

/// The places it may be: our own system calls, the calls of the engine that its crate does not wrap, and the one that reads code back
/// that was compiled from WebAssembly.
const HOMES: [&str; 3] = ["crates/sys/", "crates/engine/src/raw", "crates/sandbox-wasm/src/raw.rs"];

pub(super) fn look(source: &Source) -> Vec<Remark> {
    if HOMES.iter().any(|home| source.path.starts_with(home)) {
        return Vec::new();
    }
    let keywords = source.tokens.idents().filter(|(_, _, word)| *word == "unsafe");
    keywords
        .map(|(_, line, _)| {
            Remark::new(
                line,
                format!("`unsafe` outside {}", HOMES.join(" and ")),
                "give `sys` a safe function that does it",
            )
        })
        .collect()
}
