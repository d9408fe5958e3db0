//! Tests of what needs no mount.

use crate::change::Node;
use crate::links::leads_out;
use crate::seen::Moment;
use crate::sensitive::{self, Sensitive};
use crate::{Kind, NoPath, RelPath};

#[track_caller]
fn check_path(bytes: &[u8], text: &str) {
    let path = RelPath::of(bytes).expect("a path");
    assert_eq!(path.to_string(), text);
    assert_eq!(RelPath::parse(text), Ok(path));
}

#[test]
fn a_path_has_one_text_that_misleads_nobody() {
    check_path(b"a/b", "a/b");
    check_path(b"./a//b/.", "a/b");
    check_path(b"", ".");
    check_path(b"with blank", "with blank");
    check_path("grün/文".as_bytes(), "grün/文");
    check_path(b" blank in front", "\" blank in front\"");
    check_path(b"a\"b", r#""a\"b""#);
    check_path(b"a\\b", r#""a\\b""#);
    check_path(b"a\nb\tc\rd", r#""a\nb\tc\rd""#);
    check_path(b"\x1b[2J\x07\x7f", r#""\033[2J\007\177""#);
    check_path(b"\xff\x80", r#""\377\200""#);
    check_path("a\u{202e}b\u{200b}".as_bytes(), r#""a\342\200\256b\342\200\213""#);
    check_path(b"0\x011", r#""0\0011""#);
}

#[test]
fn a_path_leads_down_only() {
    for text in ["/a", "..", "a/..", "a/../b", "\"/a\"", "\"a/\\056\\056/b\""] {
        assert_eq!(RelPath::parse(text), Err(NoPath::Out), "{text}");
    }
    for text in ["\"a", "\"a\\", "\"a\\q\"", "\"a\\9\"", "\"a\\4000\"", "\"a\"b\"", "\""] {
        assert_eq!(RelPath::parse(text), Err(NoPath::Quoting), "{text}");
    }
    assert_eq!(RelPath::parse("\"a\\000\""), Err(NoPath::Nul));
}

#[test]
fn a_folder_comes_right_before_what_is_in_it() {
    let mut paths =
        ["a-b", "a/b", "a", "a b", "a/b/c", "b"].map(|text| RelPath::parse(text).expect("a path"));
    paths.sort();
    assert_eq!(paths.map(|path| path.to_string()), ["a", "a/b", "a/b/c", "a b", "a-b", "b"]);
    let path = |text| RelPath::parse(text).expect("a path");
    assert!(
        path("a/b").is_within(&path("a"))
            && path("a").is_within(&path("a"))
            && path("a").is_within(&path("."))
    );
    assert!(!path("a-b").is_within(&path("a")) && !path("a").is_within(&path("a/b")));
}

#[test]
fn a_link_leads_out_when_it_may() {
    #[track_caller]
    fn check(depth: usize, target: &str, expected: bool) {
        assert_eq!(leads_out(depth, target.as_bytes()), expected, "`{target}` at depth {depth}");
    }
    check(1, "a", false);
    check(1, "./a/b", false);
    check(1, ".", false);
    check(1, "..", true);
    check(1, "../a", true);
    check(2, "../a", false);
    check(2, "..", false);
    check(2, "../..", true);
    check(3, ".././../a", false);
    check(1, "/a", true);
    check(5, "a/../b", true);
    check(5, "a/..", true);
    check(2, "..a/...", false);
}

#[test]
fn what_is_run_later_is_flagged() {
    #[track_caller]
    fn check(path: &str, before: Option<&Node>, after: Option<&Node>, expected: &[Sensitive]) {
        let path = RelPath::parse(path).expect("a path");
        assert_eq!(sensitive::of(&path, before, after), expected, "{path}");
    }
    let file = |mode| Node { kind: Kind::File, mode, size: 1, target: None, sha256: None };
    let folder = Node { kind: Kind::Folder, mode: 0o755, size: 0, target: None, sha256: None };
    let plain = file(0o644);
    let new = |path, expected: &[Sensitive]| check(path, None, Some(&plain), expected);
    new("src/main.rs", &[]);
    new(".git/hooks/pre-commit", &[Sensitive::Git]);
    new("sub/.GIT/Config", &[Sensitive::Git]);
    new(".git/modules/sub/hooks/post-checkout", &[Sensitive::Git]);
    new(".git/objects/ab/cdef", &[]);
    new("hooks/config", &[]);
    new(".git", &[Sensitive::Git]);
    new(".envrc", &[Sensitive::ShellStart]);
    new("deep/Makefile", &[Sensitive::Build]);
    new(".vscode/tasks.json", &[Sensitive::Editor]);
    new(".github/workflows/ci.yml", &[Sensitive::Pipeline]);
    new(".ssh/authorized_keys", &[Sensitive::Access]);
    check(".git", None, Some(&folder), &[]);
    check(".git", Some(&folder), None, &[Sensitive::Git]);
    check("tool", Some(&plain), Some(&file(0o711)), &[Sensitive::Executable]);
    check("tool", Some(&file(0o755)), Some(&file(0o711)), &[]);
    check("tool", None, Some(&file(0o100)), &[Sensitive::Executable]);
}

#[test]
fn a_stamp_that_was_cut_off_may_be_later() {
    let at = |seconds, nanos| Moment { seconds, nanos };
    let began = at(10, 500);
    for (stamp, expected) in [
        (at(10, 500), true),
        (at(10, 499), false),
        (at(11, 1), true),
        (at(10, 0), true),
        (at(9, 0), true),
        (at(8, 0), false),
        (at(9, 9), false),
    ] {
        assert_eq!(stamp.may_be_since(began), expected, "{stamp:?}");
    }
}
