//! The lock and the folder it is in: who gets it, who is refused, and what others may do with both.

use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::path::Path;
use std::time::{Duration, Instant};

use bailiwick_types::ErrorCode;

use super::{Stage, alone, list};
use crate::owner::{Folder, socket};

fn mode(path: &Path) -> u32 {
    std::fs::symlink_metadata(path).unwrap().permissions().mode() & 0o777
}

fn set_mode(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

#[tokio::test]
async fn a_folder_that_is_not_there_is_made_for_its_owner_alone() {
    let stage = Stage::new();
    let deep = Stage { data: stage.data.join("a/b"), ..stage.clone() };
    let desk = deep.desk().await;
    assert_eq!(
        [mode(&deep.data), mode(&deep.data.join("owner.lock")), mode(&deep.data.join("owner.sock"))],
        [0o700, 0o600, 0o600]
    );
    desk.close().await.unwrap();
}

#[tokio::test]
async fn one_has_the_lock_and_the_next_gets_it_when_it_is_given_back() {
    let stage = Stage::new();
    let folder = stage.folder();
    let ownership = folder.lock().unwrap().expect("nobody has it");
    let copy = ownership.clone();
    assert!(folder.lock().unwrap().is_none());
    drop(ownership);
    assert!(folder.lock().unwrap().is_none(), "a copy is still there");
    drop(copy);
    assert!(folder.lock().unwrap().is_some());
    assert_eq!(folder.owner(), Some(std::process::id()));
}

#[test]
#[expect(clippy::disallowed_methods, reason = "any program will do: it only has to outlive the lock")]
fn a_process_that_was_started_meanwhile_does_not_keep_the_lock() {
    let stage = Stage::new();
    let ownership = stage.folder().lock().unwrap().expect("nobody has it");
    let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
    drop(ownership);
    // A process that is being started closes what it inherited a moment after its parent goes on.
    let until = Instant::now() + Duration::from_secs(20);
    let mut free = None;
    while free.is_none() && Instant::now() < until {
        std::thread::yield_now();
        free = stage.folder().lock().unwrap();
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(free.is_some());
}

#[tokio::test]
async fn a_lock_whose_file_was_taken_away_is_not_taken_for_the_one_that_is_there() {
    let stage = Stage::new();
    let folder = stage.folder();
    drop(folder.lock().unwrap());
    std::fs::rename(stage.data.join("owner.lock"), stage.data.join("elsewhere")).unwrap();
    assert!(folder.lock().unwrap().is_some(), "a new file is made");
    assert_eq!(mode(&stage.data.join("owner.lock")), 0o600);
}

/// What stands where a folder or its lock should be, and what is said about it.
#[track_caller]
fn check_refused(prepare: impl FnOnce(&Path), says: &str, hint: &str) {
    let stage = Stage::new();
    prepare(&stage.data);
    let refusal = Folder::hold(&stage.data).and_then(|folder| folder.lock().map(drop)).expect_err(says);
    assert_eq!(refusal.code, ErrorCode::InvalidInput, "{refusal:?}");
    assert!(refusal.message.contains(says), "{refusal:?} does not say {says:?}");
    assert!(refusal.hint.as_ref().is_some_and(|text| text.contains(hint)), "{refusal:?}: no {hint:?}");
}

fn made(data: &Path, mode: u32) {
    std::fs::DirBuilder::new().create(data).unwrap();
    set_mode(data, mode);
}

#[test]
fn what_others_could_get_at_is_refused() {
    check_refused(|data| made(data, 0o770), "can be written by other users (mode 770)", "chmod go-w");
    check_refused(|data| made(data, 0o707), "can be written by other users (mode 707)", "chmod go-w");
    check_refused(|data| made(data, 0o1777), "can be written by other users (mode 777)", "chmod go-w");
    check_refused(
        |data| drop(std::fs::OpenOptions::new().create(true).append(true).open(data)),
        "not a folder",
        "ls -ld",
    );
    let lock = |mode| {
        move |data: &Path| {
            std::fs::DirBuilder::new().mode(0o700).create(data).unwrap();
            let lock = data.join("owner.lock");
            std::fs::OpenOptions::new().create(true).append(true).open(&lock).unwrap();
            set_mode(&lock, mode);
        }
    };
    check_refused(lock(0o640), "owner.lock can be read or written by other users (mode 640)", "chmod go=");
    check_refused(lock(0o606), "(mode 606)", "chmod go=");
    let link = |data: &Path| {
        std::fs::DirBuilder::new().mode(0o700).create(data).unwrap();
        std::os::unix::fs::symlink("/etc/passwd", data.join("owner.lock")).unwrap();
    };
    check_refused(link, "owner.lock is not a file, or is a link to one", "ls -ld");
    let folder = |data: &Path| std::fs::create_dir_all(data.join("owner.lock")).unwrap();
    check_refused(
        |data| {
            folder(data);
            set_mode(data, 0o700);
        },
        "owner.lock is not a file",
        "ls -ld",
    );
}

#[test]
fn a_folder_that_others_may_look_at_is_fine() {
    let stage = Stage::new();
    made(&stage.data, 0o755);
    assert!(stage.folder().lock().unwrap().is_some());
}

#[tokio::test]
async fn what_an_earlier_owner_left_is_replaced() {
    for left in ["a socket", "a file", "a link"] {
        let stage = Stage::new();
        let ownership = stage.folder().lock().unwrap().unwrap();
        let path = stage.data.join("owner.sock");
        match left {
            "a socket" => drop(std::os::unix::net::UnixListener::bind(&path).unwrap()),
            "a file" => drop(std::fs::OpenOptions::new().create(true).append(true).open(&path).unwrap()),
            _ => std::os::unix::fs::symlink("/nowhere", &path).unwrap(),
        }
        let (listener, named) = socket::listen(&ownership).unwrap();
        assert_eq!(mode(&path), 0o600, "{left}");
        assert!(socket::connect(&stage.folder()).await.is_ok(), "{left}");
        drop((listener, named));
        assert!(!path.exists());
    }
}

#[tokio::test]
async fn a_path_longer_than_an_address_will_do() {
    let stage = Stage::new();
    let long = Stage { data: stage.data.join("d".repeat(120)).join("e".repeat(120)), ..stage.clone() };
    let owner = long.desk().await;
    let client = long.desk().await;
    assert!(owner.is_owner() && !client.is_owner());
    client.perform(alone(), list()).await.unwrap();
    owner.close().await.unwrap();
}

#[test]
fn only_the_same_user_is_served() {
    let us = bailiwick_sys::privileges::identity().0;
    for (user, is_served) in [(us, true), (us ^ 1, false), (us.wrapping_add(1000), false), (u32::MAX, false)]
    {
        assert_eq!(socket::is_us(user), is_served, "{user}");
    }
}
