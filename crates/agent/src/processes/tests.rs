use super::Process;

#[track_caller]
fn check(text: &str, expected: Option<(i32, u8, i32, i32, u64)>) {
    let found =
        Process::parse(text.as_bytes()).map(|one| (one.pid, one.state, one.parent, one.session, one.started));
    assert_eq!(found, expected, "{text}");
}

#[test]
fn a_process_is_read_whatever_its_name() {
    let rest = "S 7 8 9 0 -1 4194560 81 0 0 0 1 2 0 0 20 0 1 0 4242 2568192 200";
    for name in ["sh", "a) S 1 1 1", "(((", ") ) )", "", "two words", "new\nline"] {
        check(&format!("12 ({name}) {rest}"), Some((12, b'S', 7, 9, 4242)));
    }
}

#[test]
fn what_is_no_process_is_nobody() {
    for text in [
        "",
        "12",
        "12 (sh",
        "12 (sh)",
        "12 (sh) S 1 2",
        "x (sh) S 7 8 9 0 -1 1 1 0 0 0 1 2 0 0 20 0 1 0 4 2 2",
    ] {
        check(text, None);
    }
}
