use super::{read, tool};
use crate::read::FIELDS;
use crate::reference::{
    Row, approval_rows, command_rows, limit_rows, markdown, param_rows, static_rows, test_rows, tool_rows,
};

fn names(rows: &[Row]) -> Vec<&'static str> {
    rows.iter().map(|row| row.name).collect()
}

/// The fields that the reader knows where `around` puts a field that nobody knows.
#[track_caller]
fn check_known(around: impl Fn(&str) -> String, rows: &[Row]) {
    let around = around("zzzzzzzzzzzz: 1");
    let body = if around.starts_with("command") { "" } else { "code: x\n" };
    let problems = read(&format!("name: a\n{body}{around}")).unwrap_err();
    let hints: Vec<&str> = problems.list.iter().filter_map(|problem| problem.hint.as_deref()).collect();
    let known = hints.iter().find_map(|hint| hint.strip_prefix("known here: ")).unwrap();
    let mut known: Vec<&str> = known.split(", ").collect();
    let mut listed = names(rows);
    known.sort_unstable();
    known.dedup();
    listed.sort_unstable();
    assert_eq!(listed, known);
}

#[test]
fn the_reference_lists_exactly_the_fields_that_are_read() {
    assert_eq!(names(&tool_rows()), FIELDS);
    check_known(|field| format!("params: [{{name: p, type: STRING, {field}}}]"), &param_rows());
    check_known(|field| format!("statics: [{{name: s, value: 1, {field}}}]"), &static_rows());
    check_known(|field| format!("approval: {{{field}}}"), &approval_rows());
    check_known(|field| format!("tests: [{{equals: 1, {field}}}]"), &test_rows());
    check_known(|field| format!("command: {{argv: [ls], {field}}}"), &command_rows());
    check_known(|field| format!("command: {{argv: [ls], limits: {{{field}}}}}"), &limit_rows());
}

#[test]
fn every_example_of_the_reference_is_read() {
    for row in tool_rows() {
        assert!(row.example.starts_with(&format!("{}: ", row.name)), "{}", row.example);
        let name = if row.name == "name" { "" } else { "name: a\n" };
        let body = if matches!(row.name, "code" | "command") { "" } else { "code: x\n" };
        tool(&format!("{name}{body}{}\n", row.example));
    }
    for (list, rows) in [("params", param_rows()), ("statics", static_rows()), ("tests", test_rows())] {
        for row in rows {
            assert!(row.example.contains(&format!("{}: ", row.name)), "{}", row.example);
            tool(&format!("name: a\ncode: x\n{list}: [{}]\n", row.example));
        }
    }
    for row in command_rows() {
        assert!(row.example.contains(&format!("{}: ", row.name)), "{}", row.example);
        tool(&format!(
            "name: a\nparams: [{{name: p, type: STRING, required: true}}]\ncommand: {}\n",
            row.example
        ));
    }
    for row in limit_rows() {
        tool(&format!("name: a\ncommand: {{argv: [ls], limits: {}}}\n", row.example));
    }
    for row in approval_rows() {
        tool(&format!("name: a\ncode: x\napproval: {}\n", row.example));
    }
}

#[test]
fn the_reference_is_made_of_whole_tables() {
    let page = markdown();
    for block in page.split("\n\n").filter(|block| block.starts_with('|')) {
        // A `|` that belongs to a cell is escaped.
        let columns = |line: &str| line.replace("\\|", "").matches('|').count();
        let first = columns(block.lines().next().unwrap());
        assert!(block.lines().all(|line| columns(line) == first), "{block}");
    }
}
