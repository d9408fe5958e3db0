use std::io::{Read as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::{Duration, SystemTime};

use bailiwick_agent_host::label;

use super::{Kind, MOST, Ready};
use crate::monitor::{Accelerator, Size};

const SIZE: Size = Size { memory: 128, processors: 1 };

fn kind(begins: &str) -> Kind {
    Kind::of("files", begins.as_bytes(), SIZE, Accelerator::Emulated)
}

fn keep(ready: &Ready, kind: &Kind, text: &str) {
    let (memory, mut file) = ready.begin(&label::fresh()).unwrap();
    file.write_all(text.as_bytes()).unwrap();
    ready.finish(kind, memory).unwrap();
}

fn found(ready: &Ready, kind: &Kind) -> Option<String> {
    let mut text = String::new();
    ready.find(kind)?.read_to_string(&mut text).unwrap();
    Some(text)
}

#[test]
fn machines_are_of_one_kind_only_if_nothing_of_them_differs() {
    let one = kind("agent");
    assert_eq!(one, kind("agent"));
    for other in [
        kind("another agent"),
        Kind::of("other files", b"agent", SIZE, Accelerator::Emulated),
        Kind::of("files", b"agent", Size { memory: 129, ..SIZE }, Accelerator::Emulated),
        Kind::of("files", b"agent", Size { processors: 2, ..SIZE }, Accelerator::Emulated),
        Kind::of("files", b"agent", SIZE, Accelerator::Kvm),
    ] {
        assert_ne!(one, other);
    }
}

#[test]
fn one_that_is_ready_is_found_by_its_kind_until_it_is_forgotten() {
    let folder = tempfile::tempdir().unwrap();
    let ready = Ready::below(folder.path());
    assert_eq!(found(&ready, &kind("a")), None);
    keep(&ready, &kind("a"), "memory");
    assert_eq!(found(&ready, &kind("a")).as_deref(), Some("memory"));
    assert_eq!(found(&ready, &kind("b")), None);
    ready.forget(&kind("a"));
    assert_eq!(found(&ready, &kind("a")), None);
}

#[test]
fn one_that_was_not_finished_is_not_there() {
    let folder = tempfile::tempdir().unwrap();
    let ready = Ready::below(folder.path());
    drop(ready.begin(&label::fresh()).unwrap());
    let left = std::fs::read_dir(folder.path().join("ready")).unwrap().count();
    assert_eq!(left, 0);
}

#[test]
fn what_others_could_have_written_is_not_taken() {
    let folder = tempfile::tempdir().unwrap();
    let ready = Ready::below(folder.path());
    let path = |kind: &Kind| folder.path().join("ready").join(&kind.0);
    let open_to_others = kind("open to others");
    keep(&ready, &open_to_others, "memory");
    std::fs::set_permissions(path(&open_to_others), std::fs::Permissions::from_mode(0o620)).unwrap();
    assert_eq!(found(&ready, &open_to_others), None);
    let (real, link) = (kind("real"), kind("link"));
    keep(&ready, &real, "memory");
    std::os::unix::fs::symlink(path(&real), path(&link)).unwrap();
    assert_eq!(found(&ready, &link), None);
    let folder_instead = kind("folder");
    std::fs::create_dir(path(&folder_instead)).unwrap();
    assert_eq!(found(&ready, &folder_instead), None);
    assert_eq!(found(&ready, &real).as_deref(), Some("memory"));
}

#[test]
#[expect(clippy::disallowed_methods, reason = "files of a test's own, made older than they are")]
fn only_the_last_used_are_kept() {
    let folder = tempfile::tempdir().unwrap();
    let ready = Ready::below(folder.path());
    let kinds: Vec<Kind> = (0..=MOST).map(|number| kind(&number.to_string())).collect();
    let (last, others) = kinds.split_last().unwrap();
    for (age, kind) in others.iter().enumerate() {
        keep(&ready, kind, "memory");
        let file = std::fs::File::open(folder.path().join("ready").join(&kind.0)).unwrap();
        let before = Duration::from_mins(age as u64 + 1);
        file.set_modified(SystemTime::now() - before).unwrap();
    }
    // The oldest is used once more, so the second oldest goes.
    let (second, oldest) = (&others[MOST - 2], &others[MOST - 1]);
    assert!(ready.find(oldest).is_some());
    keep(&ready, last, "memory");
    assert!(ready.find(second).is_none());
    assert!(kinds.iter().filter(|kind| *kind != second).all(|kind| ready.find(kind).is_some()));
}

#[test]
#[expect(clippy::disallowed_methods, reason = "a file of a test's own")]
fn what_a_killed_owner_did_not_finish_is_removed() {
    let folder = tempfile::tempdir().unwrap();
    let ready = Ready::below(folder.path());
    keep(&ready, &kind("a"), "memory");
    let left = folder.path().join("ready/unfinished-bailiwick-sandbox-1-0-0");
    let place: &Path = &left;
    std::fs::File::create(place).unwrap();
    let is_left = label::is_left("bailiwick-sandbox-1-0-0");
    keep(&ready, &kind("b"), "memory");
    assert!(is_left && !left.exists());
}
