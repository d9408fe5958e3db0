//! Which tokens of a file are compiled for tests only: the items under a
//! `#[cfg(test)]`, the attribute included.

use std::ops::Range;

use proc_macro2::Delimiter;

use super::attributes::{self, Attribute, Place};
use super::tokens::Tokens;

/// The tokens of every `#[cfg(test)]` item.
pub(crate) fn items(tokens: &Tokens, attributes: &[Attribute]) -> Vec<Range<usize>> {
    attributes
        .iter()
        .filter(|attribute| is_test_only(tokens, attribute))
        .map(|attribute| match attribute.place {
            Place::Outer => attribute.start..end_of_item(tokens, after_attributes(tokens, attribute.end)),
            Place::Inner => around(tokens, attribute.start),
        })
        .collect()
}

/// Whether the attribute is a `cfg` that cannot hold outside of tests: `test`,
/// alone or as one condition of an `all`.
pub(crate) fn is_test_only(tokens: &Tokens, attribute: &Attribute) -> bool {
    let meta = attribute.written(tokens);
    if meta.path != "cfg" {
        return false;
    }
    let mut index = meta.arguments.start;
    while index < meta.arguments.end {
        let followed_by_group = tokens.group(index + 1).is_some();
        match tokens.ident(index) {
            Some("test") if !followed_by_group => return true,
            // Into the group: each of its conditions must hold.
            Some("all") => index += 2,
            // Over the group of `any`, `not` and the like: there `test` need not hold.
            _ => index = tokens.after(index),
        }
    }
    false
}

/// The index of the first token at or after `index` that is not an attribute.
pub(crate) fn after_attributes(tokens: &Tokens, mut index: usize) -> usize {
    while let Some(attribute) = attributes::at(tokens, index) {
        index = attribute.end;
    }
    index
}

/// The index of the first token at or after `index` that is not a visibility.
pub(crate) fn after_visibility(tokens: &Tokens, index: usize) -> usize {
    if tokens.ident(index) != Some("pub") {
        return index;
    }
    if tokens.group_of(index + 1, Delimiter::Parenthesis).is_some() {
        tokens.after(index + 1)
    } else {
        index + 1
    }
}

/// How the end of an item is told.
enum End {
    /// `use a::{b};`: by its semicolon; braces are part of it.
    Semicolon,
    /// `fn f<A, B>() {}`: by its braces, or by a semicolon before any.
    Body,
    /// A field, a variant, an arm, a statement: by a comma, too.
    Comma,
}

/// The index after the item that starts at `start`.
fn end_of_item(tokens: &Tokens, start: usize) -> usize {
    let first = after_visibility(tokens, start);
    let end = match tokens.ident(first) {
        Some("use" | "static" | "type" | "let") => End::Semicolon,
        Some("const") => match tokens.ident(first + 1) {
            Some("fn" | "unsafe" | "extern" | "async") => End::Body,
            _ => End::Semicolon,
        },
        Some(
            "fn" | "mod" | "struct" | "enum" | "union" | "trait" | "impl" | "extern" | "unsafe" | "async"
            | "macro_rules",
        ) => End::Body,
        _ => End::Comma,
    };
    let mut index = first;
    // A `Close` here is the end of what the item is in.
    while index < tokens.len() && !tokens.is_close(index) {
        let is_body = tokens.group_of(index, Delimiter::Brace).is_some() && !matches!(end, End::Semicolon);
        let is_end =
            tokens.is_punct(index, ';') || (tokens.is_punct(index, ',') && matches!(end, End::Comma));
        index = tokens.after(index);
        if is_body || is_end {
            return index;
        }
    }
    index
}

/// The tokens of the innermost group around `index`, or of the whole file.
fn around(tokens: &Tokens, index: usize) -> Range<usize> {
    (0..index)
        .rev()
        .find_map(|open| {
            tokens.group(open).map(|(_, inside)| inside).filter(|inside| inside.contains(&index))
        })
        .unwrap_or(0..tokens.len())
}
