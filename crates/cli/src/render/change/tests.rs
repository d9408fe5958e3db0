//! Which lines of a change are shown.

use super::super::compare::Compared;
use super::lines;

#[track_caller]
fn check(before: &str, now: &str, expected: &[&str]) {
    let shown = lines(before, now).unwrap_or_default();
    let shown: Vec<String> = shown
        .iter()
        .map(|line| match line.compared {
            Compared::Gone(text) => format!("{}-{text}", line.number),
            Compared::New(text) => format!("{}+{text}", line.number),
            Compared::Same(text) => format!("{}={text}", line.number),
        })
        .collect();
    assert_eq!(shown, expected);
}

#[test]
fn only_what_goes_and_comes_is_shown_with_its_line() {
    check("a\nb\nc\n", "a\nb\nc\n", &[]);
    check("a\nb\nc\n", "a\nx\nb\nc\n", &["2+x"]);
    check("a\nb\nc\n", "a\nc\n", &["2-b"]);
    check("a\nb\nc\nd\n", "a\nB\nc\nD\nd\n", &["2-b", "2+B", "4+D"]);
    check("", "a\n", &["1+a"]);
    check("a\n", "", &["1-a"]);
    // A line that is there twice.
    check("a\na\n", "a\na\na\n", &["3+a"]);
}

#[test]
fn a_long_file_with_a_short_change_is_shown() {
    let long: String = (0..50_000).map(|number| format!("line {number}\n")).collect();
    let changed = long.replacen("line 40000\n", "line 40000\nnew\n", 1);
    check(&long, &changed, &["40002+new"]);
}
