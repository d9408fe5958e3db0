use std::io::{Read as _, Write as _};
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

use rustix::process::{Pid, PidfdFlags, getpid, pidfd_open};

use super::{Come, Doors};

/// Doors in a folder whose path is longer than the name of a socket can be.
fn doors() -> (tempfile::TempDir, PathBuf, Doors) {
    let above = tempfile::tempdir().unwrap();
    let folder = above.path().join("long".repeat(40)).join("doors");
    let doors = Doors::open(folder.clone(), None).unwrap();
    (above, folder, doors)
}

/// Comes to a door, by the folder that is held.
fn come(doors: &Doors, number: u32) -> UnixStream {
    UnixStream::connect(format!("{}_{number}", Doors::name(doors.place.as_raw_fd()))).unwrap()
}

fn this() -> (OwnedFd, u32) {
    (pidfd_open(getpid(), PidfdFlags::empty()).unwrap(), std::process::id())
}

fn is_empty(folder: &Path) -> bool {
    std::fs::read_dir(folder).is_err()
}

#[test]
fn each_door_is_a_stream_and_none_is_left_when_all_have_opened() {
    let (_above, folder, doors) = doors();
    let mode = std::fs::metadata(&folder).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
    let place = doors.place().unwrap();
    let name = Doors::name(place.as_raw_fd());
    // In another order than they are asked for, and something is said before anybody listens.
    let mut machine: Vec<UnixStream> = [3, 1, 2].map(|number| come(&doors, number)).into();
    for (stream, said) in machine.iter_mut().zip(["orders", "agent", "files"]) {
        stream.write_all(said.as_bytes()).unwrap();
    }
    let (monitor, number) = this();
    let Come { agent, files, orders } = doors.wait(&monitor, number).unwrap();
    drop(machine);
    for (mut stream, said) in [(agent, "agent"), (files, "files"), (orders, "orders")] {
        let mut heard = String::new();
        stream.read_to_string(&mut heard).unwrap();
        assert_eq!(heard, said);
    }
    assert!(is_empty(&folder));
    // Whoever still holds the folder finds nobody in it, and can put nothing there.
    assert!(UnixStream::connect(format!("{name}_1")).is_err());
    assert!(std::os::unix::net::UnixListener::bind(format!("{name}_4")).is_err());
}

#[test]
fn somebody_else_is_not_let_in() {
    let (_above, folder, doors) = doors();
    let _stranger = come(&doors, 1);
    let (monitor, number) = this();
    let refused = doors.wait(&monitor, number + 1).expect_err("refused").to_string();
    assert!(refused.contains(&format!("process {number} came to a door")), "{refused}");
    assert!(is_empty(&folder));
}

#[test]
fn a_door_opens_once() {
    let (_above, _, doors) = doors();
    let (_first, _second) = (come(&doors, 1), come(&doors, 1));
    let (monitor, number) = this();
    let refused = doors.wait(&monitor, number).expect_err("refused").to_string();
    assert!(refused.contains("the same door twice"), "{refused}");
}

#[test]
#[expect(clippy::disallowed_methods, reason = "a process of this test's own, to be one that has ended")]
fn a_monitor_that_ends_is_not_waited_for() {
    let (_above, folder, doors) = doors();
    let mut child = std::process::Command::new("true").spawn().unwrap();
    let monitor = pidfd_open(Pid::from_raw(child.id().cast_signed()).unwrap(), PidfdFlags::empty()).unwrap();
    let refused = doors.wait(&monitor, child.id()).expect_err("refused").to_string();
    assert!(refused.contains("ended before its machine stood"), "{refused}");
    assert!(is_empty(&folder));
    child.wait().unwrap();
}

#[test]
fn doors_belong_to_whoever_is_started() {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let above = tempfile::tempdir().unwrap();
    let folder = above.path().join("doors");
    let _doors = Doors::open(folder.clone(), Some((64_925, 64_925))).unwrap();
    for path in ["", "v_1", "v_2", "v_3"].map(|name| folder.join(name)) {
        let found = std::fs::metadata(&path).unwrap();
        assert_eq!((found.uid(), found.gid()), (64_925, 64_925), "{path:?}");
    }
}
