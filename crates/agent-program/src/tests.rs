//! The file of the program is the program, whatever was there before.

use std::os::unix::fs::PermissionsExt as _;

use super::*;

/// Places the program where something was before, and looks at what is there then.
#[track_caller]
#[expect(clippy::disallowed_methods, reason = "tests make files of their own")]
fn check(before: impl Fn(&Path)) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join(name(bytes().expect("a program")));
    before(&path);
    let placed = place(folder.path()).expect("it is placed");
    assert_eq!(placed, path);
    let found = std::fs::symlink_metadata(&placed).expect("it is there");
    assert!(found.is_file());
    assert_eq!(found.permissions().mode() & 0o777, 0o555);
    assert_eq!(std::fs::read(&placed).expect("it can be read"), bytes().expect("a program"));
}

#[test]
#[expect(clippy::disallowed_methods, reason = "tests make files of their own")]
fn what_is_placed_is_the_program_whatever_was_there() {
    check(|_| {});
    check(|path| std::fs::write(path, b"#!/bin/sh\n").expect("another program"));
    check(|path| std::os::unix::fs::symlink("/bin/sh", path).expect("a link"));
    check(|path| {
        let mut other = bytes().expect("a program").to_vec();
        other.reverse();
        std::fs::write(path, other).expect("of the same length");
    });
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the program is started as a sandbox would")]
fn the_program_runs_by_itself_and_ends_with_its_stream() {
    let folder = tempfile::tempdir().expect("a folder");
    let program = place(folder.path()).expect("it is placed");
    let ended = std::process::Command::new(program)
        .env_clear()
        .stdin(std::process::Stdio::null())
        .stdout(std::process::Stdio::null())
        .status()
        .expect("it runs");
    // It was told nothing, and nobody is there any more.
    assert_eq!(ended.code(), Some(i32::from(0_u8)), "{ended}");
}
