//! `purity`, of the sources: the pure crates name nothing of `std` that looks
//! at the machine. A whole module is not imported where only some of it is
//! fine, for then nobody can tell from the imports what is used.

use std::fmt;

use proc_macro2::Delimiter;

use crate::tidy::finding::Remark;
use crate::tidy::layers::PURE;
use crate::tidy::source::Source;
use crate::tidy::tokens::Tokens;

/// The paths below `std` that are not for pure crates, and what to do instead.
const IMPURE: &[(&[&str], &str)] = &[
    (&["fs"], "take the text as an argument"),
    (&["env"], "take the value as an argument"),
    (&["process"], "return a value and let the caller act"),
    (&["thread"], "compute in the caller's thread"),
    (&["os"], "leave the platform to `sys`"),
    (&["net", "TcpStream"], "leave sockets to the gateway"),
    (&["net", "TcpListener"], "leave sockets to the gateway"),
    (&["net", "UdpSocket"], "leave sockets to the gateway"),
    (&["net", "ToSocketAddrs"], "leave names to the gateway, which resolves once and checks"),
    (&["time", "Instant"], "take the time as an argument"),
    (&["time", "SystemTime"], "take the time as an argument"),
];

pub(super) fn look(source: &Source) -> Vec<Remark> {
    let is_pure = source.path.strip_prefix("crates/").and_then(|rest| rest.split('/').next());
    if !is_pure.is_some_and(|name| PURE.contains(&name)) {
        return Vec::new();
    }
    let roots = source.tokens.idents().filter(|(_, _, word)| *word == "std");
    roots
        .filter(|(index, ..)| !source.is_test_code(*index))
        .flat_map(|(index, ..)| paths(&source.tokens, index))
        .filter_map(|path| path.remark())
        .collect()
}

/// A path as the code names it, from `std` on.
struct Path<'t> {
    line: usize,
    names: Vec<&'t str>,
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("std")?;
        self.names.iter().try_for_each(|name| write!(f, "::{name}"))
    }
}

impl Path<'_> {
    fn remark(&self) -> Option<Remark> {
        if let Some((_, instead)) = IMPURE.iter().find(|(banned, _)| self.names.starts_with(banned)) {
            return Some(Remark::new(self.line, format!("a pure crate names `{self}`"), *instead));
        }
        let names: Vec<&str> =
            self.names.iter().copied().filter(|name| !matches!(*name, "*" | "self")).collect();
        let whole = IMPURE.iter().any(|(banned, _)| banned.starts_with(&names));
        whole.then(|| {
            let wrong = format!("a pure crate names all of `{self}`, of which some is not pure");
            Remark::new(self.line, wrong, "name the items that are needed")
        })
    }
}

/// The paths that start with the `std` at `root`: one, or each of a `use`
/// tree's. None for a `std` that is not followed by `::`.
fn paths(tokens: &Tokens, root: usize) -> Vec<Path<'_>> {
    let mut found = Vec::new();
    // What is left to read: an index, and the names before it. At each there is `::`, or a path has ended.
    let mut open = vec![(root + 1, Vec::new())];
    while let Some((index, names)) = open.pop() {
        let next = index + 2;
        if !tokens.is_path_separator(index) {
            found.push(Path { line: tokens.line(index.saturating_sub(1)), names });
        } else if let Some(name) = tokens.ident(next) {
            open.push((next + 1, with(&names, name)));
        } else if tokens.is_punct(next, '*') {
            found.push(Path { line: tokens.line(next), names: with(&names, "*") });
        } else if let Some(inside) = tokens.group_of(next, Delimiter::Brace) {
            for branch in tokens.split_at_commas(inside) {
                match tokens.ident(branch.start) {
                    Some(name) => open.push((branch.start + 1, with(&names, name))),
                    None => found.push(Path { line: tokens.line(branch.start), names: with(&names, "*") }),
                }
            }
        } else {
            // A turbofish: the path is what came before it.
            found.push(Path { line: tokens.line(index), names });
        }
    }
    found.retain(|path| !path.names.is_empty());
    found
}

fn with<'t>(names: &[&'t str], name: &'t str) -> Vec<&'t str> {
    names.iter().copied().chain([name]).collect()
}
