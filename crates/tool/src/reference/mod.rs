//! The reference of tool documents, made from the tables that the reader goes by. Tests hold them together.

mod command;
mod rows;

use std::fmt::Write as _;

use crate::lifecycle::{Event, State, next};
use crate::schema::{
    DEEPEST, DEEPEST_VALUE, MOST_CHECKS, MOST_PARTS, MOST_PARTS_IN_ALL, MOST_PATTERNS, MOST_PATTERNS_IN_ALL,
};
use crate::write::{COVERED, MANAGED, TEXTS};
pub(crate) use command::{command_rows, limit_rows};
pub(crate) use rows::{Row, approval_rows, param_rows, static_rows, test_rows, tool_rows};

/// The tables of the reference as Markdown.
pub fn markdown() -> String {
    let mut page = String::new();
    fields(&mut page);
    let of = |page: &mut String, title: &str, rows: &[Row]| {
        heading(page, title, &["field", "type", "rule", "without it", "example"]);
        for Row { name, kind, rule, absent, example } in rows {
            line(page, &[&format!("`{name}`"), kind, rule, absent, &format!("`{example}`")]);
        }
    };
    of(&mut page, "Parameters", &param_rows());
    of(&mut page, "Statics", &static_rows());
    of(&mut page, "Approval", &approval_rows());
    of(&mut page, "Commands", &command_rows());
    page.push_str(command::RULES);
    of(&mut page, "Limits of a command", &limit_rows());
    of(&mut page, "Tests", &test_rows());
    page.push_str("\nA test that expects nothing passes when the call gives a result; that is a warning.\n");
    schemas(&mut page);
    states(&mut page);
    page
}

fn heading(page: &mut String, title: &str, columns: &[&str]) {
    let _ =
        write!(page, "\n## {title}\n\n| {} |\n|{}\n", columns.join(" | "), " --- |".repeat(columns.len()));
}

fn line(page: &mut String, cells: &[&str]) {
    let escaped: Vec<String> = cells.iter().map(|cell| cell.replace('|', "\\|")).collect();
    let _ = writeln!(page, "| {} |", escaped.join(" | "));
}

fn fields(page: &mut String) {
    heading(page, "Fields", &["field", "type", "rule", "without it", "a change", "example"]);
    for Row { name, kind, rule, absent, example } in tool_rows() {
        let change = if COVERED.contains(&name) {
            "takes the pass away"
        } else if TEXTS.contains(&name) {
            "keeps the pass"
        } else if MANAGED.contains(&name) {
            "is ours"
        } else {
            "has no effect"
        };
        line(page, &[&format!("`{name}`"), kind, &rule, absent, change, &format!("`{example}`")]);
    }
    page.push_str(
        "\nAny other field is a problem, at every level, with the name that was probably meant: a misspelt `approval` \
         must not read as none. Two exceptions are kept as they are, in their order, and have no effect: the map \
         `metadata`, for notes of your own, and fields that begin with `x-`, for other programs.\n",
    );
}

fn schemas(page: &mut String) {
    heading(page, "What a JSON Schema may cost", &["bound", "at most"]);
    for (bound, most) in [
        ("parts and values in them, each counted as often as a reference leads to it", MOST_PARTS),
        ("parts within each other, references followed", DEEPEST),
        ("parts of all schemas of a document", MOST_PARTS_IN_ALL),
        ("patterns", MOST_PATTERNS),
        ("patterns of a document, `matches` included", MOST_PATTERNS_IN_ALL),
        ("parts, times values that are checked", MOST_CHECKS),
        ("lists and maps within each other, in a value that is checked", DEEPEST_VALUE),
    ] {
        line(page, &[bound, &most.to_string()]);
    }
    page.push_str(
        "\nSchemas are of draft 2020-12. `$ref` is `#` or `#/…` and never leads back to itself; `$id`, `$anchor` and \
         words of older drafts are problems. `format` is for people and is not held against a value.\n",
    );
}

fn states(page: &mut String) {
    let mut columns = vec!["state"];
    let events = [
        (Event::CoveredEdited, "covered edit"),
        (Event::TextEdited, "text edit"),
        (Event::Passed, "pass"),
        (Event::Failed, "failed pass"),
        (Event::RequirementMissing, "secret missing"),
        (Event::PublishAsked { needs_review: false }, "publish"),
        (Event::PublishAsked { needs_review: true }, "publish, review needed"),
        (Event::Justified, "justified"),
        (Event::Unpublished, "unpublish"),
        (Event::Tampered, "hash differs"),
    ];
    columns.extend(events.iter().map(|(_, word)| *word));
    heading(page, "States", &columns);
    for from in State::ALL {
        let mut cells = vec![from.word()];
        cells.extend(events.iter().map(|(event, _)| next(from, *event).map_or("–", State::word)));
        line(page, &cells);
    }
}
