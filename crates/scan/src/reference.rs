//! The rules as a table for the documents, made from the table that scans. Nothing here is written twice.

use std::fmt::Write as _;

use crate::rule::Rule;

/// The rules as Markdown.
pub fn rules_markdown() -> String {
    let mut page =
        String::from("| rule | weight | what it means | what to do |\n| --- | --- | --- | --- |\n");
    for rule in Rule::ALL {
        let _ = writeln!(
            page,
            "| `{}` | {} | {} | {} |",
            rule.id(),
            rule.severity().word(),
            rule.meaning(),
            rule.advice()
        );
    }
    page
}
