//! What is printed to be typed again.

use super::{first, quoted};

#[track_caller]
fn check(path: &str, expected: &str) {
    assert_eq!(quoted(path.as_ref()), expected);
}

#[test]
fn a_path_is_quoted_where_a_shell_would_take_it_apart() {
    check("/home/a/.local/share/bailiwick", "/home/a/.local/share/bailiwick");
    check("/my data", "'/my data'");
    check("/it's $HOME", r"'/it'\''s $HOME'");
}

#[test]
fn ten_tools_are_named_and_the_rest_is_counted() {
    assert_eq!(first(&["a", "b"]), "a, b");
    assert_eq!(first(&["a"; 10]), "a, a, a, a, a, a, a, a, a, a");
    assert_eq!(first(&["a"; 12]), "a, a, a, a, a, a, a, a, a, a and 2 more");
}
