//! Places of code in files of each kind.

use std::path::Path;

use super::Places;

#[track_caller]
fn check(file: &str, text: &str, expected: &str) {
    assert_eq!(Places::of(Path::new(file), text).place(2, 5), expected);
}

#[test]
fn a_line_of_the_code_is_told_as_a_line_of_the_file() {
    check("a.js", "/*---\nname: a\n---*/\nx\n", "a.js:2:5");
    check("a.tool.yaml", "name: a\ncode: |\n  one\n  two two\n", "a.tool.yaml:4:7");
    check("a.tool.yaml", "code: |-\n\n    one\n    two\nname: a\n", "a.tool.yaml:3:9");
}

#[test]
fn a_block_that_is_not_plainly_there_is_not_guessed() {
    for text in ["code: \"one\\ntwo\"\n", "code: |2\n   one\n", "{code: x}", "code: |\n", "x: |\n  code: |\n"]
    {
        check("a.tool.yaml", text, "a.tool.yaml, line 2, column 5 of its code");
    }
}
