//! `inline-tests`: tests live in a `tests.rs` next to what they test, so that
//! a file is as long as it looks.

use proc_macro2::Delimiter;

use crate::tidy::attributes::Place;
use crate::tidy::finding::Remark;
use crate::tidy::source::Source;
use crate::tidy::test_code::{after_attributes, after_visibility, is_test_only};

pub(super) fn look(source: &Source) -> Vec<Remark> {
    if source.is_test_file() {
        return Vec::new();
    }
    let tokens = &source.tokens;
    let on_items = source
        .attributes
        .iter()
        .filter(|attribute| attribute.place == Place::Outer && is_test_only(tokens, attribute));
    on_items
        .filter_map(|attribute| {
            let item = after_visibility(tokens, after_attributes(tokens, attribute.end));
            let has_body = tokens.group_of(item + 2, Delimiter::Brace).is_some();
            let name = tokens.ident(item + 1).filter(|_| tokens.ident(item) == Some("mod") && has_body)?;
            let wrong = format!("the tests of `mod {name}` are in the middle of the code");
            let instead = "move them to tests.rs and leave `#[cfg(test)] mod tests;`";
            Some(Remark::new(tokens.line(item), wrong, instead))
        })
        .collect()
}
