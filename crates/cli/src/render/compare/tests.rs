//! Comparisons as a person would make them.

use super::{Compared, lines};

#[track_caller]
fn check(before: &str, now: &str, expected: &str) {
    let compared = lines(before, now).expect("short texts");
    let shown: Vec<String> = compared
        .iter()
        .map(|line| match line {
            Compared::Same(line) => format!(" {line}"),
            Compared::Gone(line) => format!("-{line}"),
            Compared::New(line) => format!("+{line}"),
        })
        .collect();
    assert_eq!(shown.join("|"), expected);
}

#[test]
fn what_stayed_went_and_came_is_told_apart() {
    check("", "", "");
    check("a", "a", " a");
    check("a\nb\nc", "a\nx\nc", " a|-b|+x| c");
    check("a\nb", "b", "-a| b");
    check("b", "a\nb\nc", "+a| b|+c");
    check("a", "", "-a");
    check("", "a", "+a");
    check("a\nb\na", "a\na\nb", " a|-b| a|+b");
}

#[test]
fn every_line_of_the_text_now_is_shown() {
    let (before, now) = ("{\n  \"a\": 1,\n  \"b\": 2\n}", "{\n  \"b\": 2,\n  \"c\": 3\n}");
    let kept: Vec<&str> = lines(before, now)
        .expect("short texts")
        .into_iter()
        .filter_map(|line| match line {
            Compared::Same(line) | Compared::New(line) => Some(line),
            Compared::Gone(_) => None,
        })
        .collect();
    assert_eq!(kept.join("\n"), now);
}

#[test]
fn long_texts_are_not_compared() {
    assert_eq!(lines(&"a\n".repeat(1_001), "a"), None);
}
