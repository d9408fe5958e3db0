//! What a hostile name, link or file can do: nothing.

use std::os::unix::fs::symlink;

use bailiwick_testkit::requires;
use rustix::fs::{CWD, FileType, Mode, mknodat};

use super::super::{RootError, check_root};
use super::*;

#[test]
fn links_do_not_lead_out_and_are_not_written_through() {
    let stage = Stage::new();
    let (workspace, secret) = (stage.workspace(), stage.secret());
    let links = [
        secret.clone(),
        "../../../elsewhere/secret".into(),
        "/proc/self/root/etc/passwd".into(),
        "/proc/self/environ".into(),
    ];
    for (number, target) in links.iter().enumerate() {
        let name = format!("link{number}");
        symlink(target, workspace.join(&name)).unwrap();
        stage.check(read(&name), "FS_FAILED leads-out");
        stage.check(exists(&name), "false");
        stage.check(write(&name, "x"), "FS_FAILED link");
        stage.check(append(&name, "x"), "FS_FAILED link");
        stage.check(copy(&name, "copy"), "FS_FAILED leads-out");
        stage.check(rename(&name, "moved"), "FS_FAILED link");
    }
    symlink(stage.top.path().join("elsewhere"), workspace.join("dir")).unwrap();
    stage.check(read("dir/secret"), "FS_FAILED leads-out");
    stage.check(write("dir/new", "x"), "FS_FAILED link");
    stage.check(mkdir("dir/new"), "FS_FAILED link");
    stage.check(delete("dir/secret"), "FS_FAILED link");
    stage.check(delete_dir("dir", true), "FS_FAILED link");
    stage.check(write("own", "mine"), r#"{"size":4}"#);
    symlink("own", workspace.join("inner")).unwrap();
    stage.check(read("inner"), "mine");
    stage.check(write("inner", "x"), "FS_FAILED link");
    stage.check(delete("link0"), "null");
    assert_eq!(std::fs::read_to_string(secret).unwrap(), SECRET);
    assert_eq!(std::fs::read_dir(stage.top.path().join("elsewhere")).unwrap().count(), 1);
}

#[test]
fn a_file_with_other_names_is_neither_read_nor_written() {
    let stage = Stage::new();
    std::fs::hard_link(stage.secret(), stage.workspace().join("hard")).unwrap();
    for request in [
        read("hard"),
        write("hard", "x"),
        append("hard", "x"),
        edit("hard", "o", "x", true),
        copy("hard", "c"),
    ] {
        stage.check(request, "FS_FAILED hard-linked");
    }
    stage.check(delete("hard"), "null");
    assert_eq!(std::fs::read_to_string(stage.secret()).unwrap(), SECRET);
}

#[test]
fn special_files_are_refused_and_nothing_hangs() {
    let stage = Stage::new();
    let workspace = stage.workspace();
    mknodat(CWD, workspace.join("fifo"), FileType::Fifo, Mode::RWXU, 0).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(workspace.join("socket")).unwrap();
    for name in ["fifo", "socket"] {
        for request in [
            read(name),
            write(name, "x"),
            append(name, "x"),
            copy(name, "c"),
            rename(name, "m"),
            delete(name),
        ] {
            stage.check(request, "FS_FAILED special-file");
        }
    }
    assert!(stage.ask(grep("fifo", "x")).is_err());
    let device = mknodat(
        CWD,
        workspace.join("zero"),
        FileType::CharacterDevice,
        Mode::RWXU,
        rustix::fs::makedev(1, 5),
    );
    requires!("mknod", device.is_ok());
    stage.check(read("zero"), "FS_FAILED special-file");
    stage.check(write("zero", "x"), "FS_FAILED special-file");
}

#[test]
fn names_that_mislead_are_not_made() {
    let stage = Stage::new();
    let long = "n".repeat(256);
    let ours = format!(".bailiwick-{}.part", "0".repeat(32));
    for name in ["a\u{202e}b", "a\nb", "a\u{7f}", "a\u{2066}", &long, &ours] {
        stage.check(write(name, "x"), "FS_FAILED bad-name");
        stage.check(mkdir(name), "FS_FAILED bad-name");
    }
    stage.check(write(&"n".repeat(255), "x"), r#"{"size":1}"#);
    for path in ["a\0b", "", &"p/".repeat(2049)] {
        assert!(stage.ask(read(path)).unwrap_err().starts_with("FS_DENIED"), "{path:?}");
    }
    for path in ["..", "../x", "a/../../x", "./../x", "/etc/passwd", "//etc/passwd"] {
        assert!(stage.ask(read(path)).unwrap_err().starts_with("FS_DENIED"), "{path:?}");
    }
    stage.check(write("%2e%2e%2fx", "only a name"), r#"{"size":11}"#);
    stage.check(write("..x", "only a name"), r#"{"size":11}"#);
    stage.check(read("a/../..x"), "only a name");
}

#[test]
fn read_roots_are_read_and_some_are_refused() {
    let stage = Stage::new();
    let top = stage.top.path();
    std::fs::write(top.join("root/r"), "from the root").unwrap();
    symlink(stage.secret(), top.join("root/link")).unwrap();
    let path = |below: &str| top.join(below).to_str().unwrap().to_owned();
    assert_eq!(stage.ask(read(&path("root/r"))).unwrap(), "from the root");
    let refusals = [
        (read(&path("root/link")), "FS_FAILED leads-out"),
        (write(&path("root/r"), "x"), "FS_DENIED read-only-root"),
        (read(&path("config/x")), "FS_FAILED root-refused"),
        (read("/proc/self/environ"), "FS_FAILED root-refused"),
    ];
    for (request, expected) in refusals {
        let refused = stage.runtime.block_on(stage.files.serve(request)).unwrap_err();
        assert_eq!(format!("{} {}", refused.code, refused.reason), expected);
    }
    let check = |root: &str| check_root(&top.join(root), &top.join("data"), &top.join("config"));
    symlink(top.join("config"), top.join("alias")).unwrap();
    std::fs::create_dir(top.join("data/store")).unwrap();
    assert!(matches!(check("."), Err(RootError::Holds { .. })));
    assert!(matches!(check("alias"), Err(RootError::Holds { .. })));
    assert!(matches!(check("data/store"), Err(RootError::LiesIn { .. })));
    assert!(matches!(check("absent"), Err(RootError::Open { .. })));
    assert_eq!(check("data/workspaces/w"), Ok(()));
    assert_eq!(check("elsewhere"), Ok(()));
}

#[test]
fn a_workspace_that_is_moved_or_removed_is_not_found_elsewhere() {
    let stage = Stage::new();
    stage.check(write("a", "1"), r#"{"size":1}"#);
    let moved = stage.top.path().join("moved");
    std::fs::rename(stage.workspace(), &moved).unwrap();
    symlink(stage.top.path().join("elsewhere"), stage.workspace()).unwrap();
    stage.check(read("a"), "1");
    stage.check(read("secret"), "FS_FAILED not-found");
    stage.check(delete("a"), "null");
    std::fs::remove_dir(&moved).unwrap();
    stage.check(write("b", "x"), "FS_FAILED not-found");
}
