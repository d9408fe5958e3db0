use std::collections::BTreeSet;

use bailiwick_sys::Errno;
use bailiwick_sys::ipc::Kind;

use super::ours::Ours;
use super::sockets::{Sockets, count};
use super::state::{Folder, State};
use crate::text::column;

/// How something that was never used looks.
fn birth() -> State {
    let sockets = Sockets::from([("tcp", vec![]), ("unix", vec![7, 8])]);
    let folder = Folder {
        path: "/work".to_owned(),
        stat: rustix::fs::stat("/"),
        attributes: Ok(Vec::new()),
        entry: Ok(None),
        used: Some(Ok((3, 4))),
    };
    State {
        mounts: Ok(b"one\n".to_vec()),
        sockets: Ok(sockets),
        ipc: Ok(BTreeSet::new()),
        terminals: Ok(BTreeSet::from([c"ptmx".to_owned()])),
        folders: vec![folder],
        ours: Ours::look(),
        has_queues: false,
    }
}

#[track_caller]
fn check(change: impl FnOnce(&mut State), expected: &[&str]) {
    let (then, mut now) = (birth(), birth());
    change(&mut now);
    assert_eq!(then.left(&now), expected);
}

#[test]
fn what_looks_the_same_has_nothing_left() {
    check(|_| {}, &[]);
    // What was there before and is gone is not left.
    check(|now| now.sockets = Ok(Sockets::new()), &[]);
    check(|now| now.terminals = Ok(BTreeSet::new()), &[]);
}

#[test]
fn everything_that_is_left_is_told() {
    let folder = |now: &mut State, change: fn(&mut Folder)| change(&mut now.folders[0]);
    check(|now| now.mounts = Ok(b"one\ntwo\n".to_vec()), &["other mounts than at birth"]);
    check(
        |now| now.sockets = Ok(Sockets::from([("tcp", vec![0, 0]), ("unix", vec![7, 8, 9])])),
        &["2 sockets of the kind tcp", "1 sockets of the kind unix"],
    );
    check(|now| now.ipc = Ok(BTreeSet::from([(Kind::Semaphores, 3)])), &["System V IPC: Semaphores 3"]);
    check(|now| now.terminals = Ok(BTreeSet::from([c"ptmx".to_owned(), c"0".to_owned()])), &["terminal 0"]);
    check(|now| folder(now, |one| one.entry = Ok(Some("x".to_owned()))), &["/work is not empty: x"]);
    check(
        |now| folder(now, |one| one.used = Some(Ok((4, 4)))),
        &["space of /work is in use: Some(Ok((4, 4))), at birth Some(Ok((3, 4)))"],
    );
    check(|now| folder(now, |one| one.attributes = Ok(b"user.x\0".to_vec())), &["other attributes of /work"]);
    check(
        |now| folder(now, |one| one.stat = rustix::fs::stat("/proc")),
        &["other permissions, owner or time of /work"],
    );
    check(|now| now.has_queues = true, &["messages may be in queues, which no limit rules out"]);
    check(|now| now.ours.limits[0].current = Some(12345), &["another limit on address space"]);
    check(|now| now.ours.io = Ok(99_999), &["another priority of input and output"]);
    check(|now| now.folders[0].path = "/other".to_owned(), &["/other was not looked at at birth"]);
}

#[test]
fn what_cannot_be_looked_at_counts_as_left() {
    check(|now| now.mounts = Err(Errno::NOENT), &[&format!("mounts cannot be looked at: {}", Errno::NOENT)]);
    check(
        |now| now.sockets = Err(Errno::ACCESS),
        &[&format!("sockets cannot be looked at: {}", Errno::ACCESS)],
    );
    check(
        |now| now.ipc = Err(Errno::NOENT),
        &[&format!("System V IPC cannot be looked at: {}", Errno::NOENT)],
    );
    check(
        |now| now.terminals = Err(Errno::ACCESS),
        &[&format!("terminals cannot be looked at: {}", Errno::ACCESS)],
    );
    check(
        |now| now.folders[0].entry = Err(Errno::NOENT),
        &[&format!("/work cannot be looked at: {}", Errno::NOENT)],
    );
}

#[test]
fn the_lists_of_the_kernel_are_read_by_column() {
    let tcp = b"  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 4711 1 0000000000000000 100 0 0 10 0\n   1: 0100007F:1F90 0100007F:C350 06 00000000:00000000 03:00001770 00000000     0        0 0 3 0000000000000000\n";
    assert_eq!(column(tcp, 9), [4711, 0]);
    assert_eq!(column(b"key shmid\n 0 12 1\nodd\n", 1), [12, 0]);
    assert!(column(b"", 1).is_empty());
}

#[test]
fn sockets_are_counted_with_those_that_wait() {
    let text = |used, waiting| {
        format!(
            "sockets: used {used}\nTCP: inuse 1 orphan 0 tw {waiting} alloc 1 mem 91\nUDP: inuse 0 mem 0\n"
        )
    };
    assert_eq!(count(text(0, 0).as_bytes()), Some(0));
    assert_eq!(count(text(3, 2).as_bytes()), Some(5));
    assert_eq!(count(b"sockets: used 0\n"), None);
    assert_eq!(count(b""), None);
}
