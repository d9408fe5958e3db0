//! What of a change is shown.

use super::{Changed, lines};

#[track_caller]
fn check(before: &str, now: &str, expected: &[&str]) {
    let shown: Vec<String> = lines(before, now)
        .unwrap_or_default()
        .iter()
        .map(|line| match line {
            Changed::Gone(number, text) => format!("{number}-{text}"),
            Changed::New(number, text) => format!("{number}+{text}"),
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
fn a_comma_that_comes_with_the_next_line_does_not_show_its_own() {
    check("{\nsecret\n}\n", "{\nsecret,\nnew\n}\n", &["3+new"]);
    check("{\nsecret\n}\n", "{\nsecret,\nnew,\nnewer\n}\n", &["3+new,", "4+newer"]);
    check("{\nsecret,\nnew\n}\n", "{\nsecret\n}\n", &["3-new"]);
}

#[test]
fn of_one_long_line_only_the_part_that_differs_is_shown() {
    check("{secret}", "{secret, new}", &["1+…, new…"]);
    check("{secret, new}", "{secret}", &["1-…, new…"]);
    check("{secret, old}", "{secret, new}", &["1-…old…", "1+…new…"]);
    check("über", "übler", &["1+…l…"]);
    check("aa", "aaa", &["1+…a"]);
}

#[test]
fn a_long_file_with_a_short_change_is_shown() {
    let (before, after) = ("a\n".repeat(40_000), "b\n".repeat(10_000));
    check(&format!("{before}{after}"), &format!("{before}new\n{after}"), &["40001+new"]);
}
