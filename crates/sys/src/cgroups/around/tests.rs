use std::path::PathBuf;

use super::super::{Bounds, Home};
use super::*;

/// A process that waits, and ends with the test.
struct Waits(std::process::Child);

impl Drop for Waits {
    fn drop(&mut self) {
        let _ended = self.0.kill();
        let _reaped = self.0.wait();
    }
}

#[test]
#[expect(clippy::disallowed_methods, reason = "a process of the test's own, and files of the kernel")]
fn cgroups_of_somebody_else_are_found_by_their_name_and_left_to_them() {
    let home = Home::find();
    // Whoever may make no cgroup has nothing to look at.
    if home.holds(Controller::Memory).is_err() {
        return;
    }
    let name = format!("bailiwick-test-around-{}", std::process::id());
    let bounds = Bounds { memory: 64 << 20, cpu: 500, pids: Some(7) };
    let made = home.make(&name, bounds, &[Controller::Memory, Controller::Cpu, Controller::Pids]);
    let waits = Waits(std::process::Command::new("/bin/sleep").arg("1000").spawn().expect("a process"));
    let number = waits.0.id();
    for door in made.doors() {
        std::fs::write(door, number.to_string()).expect("it goes through");
    }
    let found = Group::around(number, &name).expect("its cgroups");
    assert_eq!(found.held(), Held { memory: Some(64 << 20), cpu: Some(500), pids: Some(7) });
    assert_eq!(found.kills(), Some(0));
    // Another name is another's cgroup, and nothing is said about it.
    assert!(Group::around(number, "bailiwick-test-another").is_none());
    drop(waits);
    drop(found);
    assert!(made.doors().iter().all(|door| door.exists()), "they are their maker's to remove");
}

#[test]
fn version_1_counts_buffers_of_sockets_only_where_their_limit_is_set_and_version_2_always() {
    let memory = Some(64 << 20);
    for (version, sockets, expected) in [
        (Version::One, None, false),
        // What the kernel writes for no limit.
        (Version::One, Some(9_223_372_036_854_771_712), false),
        (Version::One, Some(8 << 20), true),
        (Version::Two, None, true),
    ] {
        assert_eq!(version.counts_sockets(sockets, memory), expected, "{version:?} {sockets:?}");
    }
}

/// A directory that looks like a cgroup for memory, with these files in it.
#[expect(clippy::disallowed_methods, reason = "files of the test's own")]
fn pretended(version: Version, files: &[(&str, &str)]) -> (Group, PathBuf) {
    static NUMBER: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    let path = std::env::temp_dir().join(format!("bailiwick-test-memory-{}-{number}", std::process::id()));
    std::fs::create_dir(&path).expect("a directory");
    for (name, text) in files {
        std::fs::write(path.join(name), text).expect("a file");
    }
    let folder = Folder { controllers: vec![Controller::Memory], path: path.clone(), version };
    (Group { folders: vec![folder], missing: Vec::new(), maker: Maker::SomebodyElse }, path)
}

#[test]
#[expect(clippy::disallowed_methods, reason = "files of the test's own")]
fn private_memory_is_what_is_anonymous_and_the_kernels_in_both_versions() {
    let one = [
        ("memory.stat", "cache 9000\nrss 1\ntotal_cache 9000\ntotal_rss 400\ntotal_shmem 8000\n"),
        ("memory.kmem.usage_in_bytes", "30\n"),
    ];
    let two = [("memory.stat", "anon 400\nfile 9000\nkernel 30\nshmem 8000\n")];
    for (version, files) in [(Version::One, &one[..]), (Version::Two, &two[..])] {
        let (group, path) = pretended(version, files);
        assert_eq!(group.private_memory(), Some(430), "{version:?}");
        std::fs::remove_dir_all(path).expect("it goes");
    }
}

#[test]
#[expect(clippy::disallowed_methods, reason = "files of the test's own")]
fn another_bound_on_memory_is_one_on_swap_in_both_versions() {
    for (version, files, both) in [
        (Version::One, ["memory.limit_in_bytes", "memory.memsw.limit_in_bytes"], "67108864"),
        (Version::Two, ["memory.max", "memory.swap.max"], "0"),
    ] {
        let (group, path) = pretended(version, &files.map(|file| (file, "1")));
        group.hold_memory(64 << 20).expect("it is held");
        assert_eq!(group.held().memory, Some(64 << 20), "{version:?}");
        assert_eq!(read(&path.join(files[1])).expect("a file"), both, "{version:?}");
        assert!(!group.swaps_without_bound(), "{version:?}");
        std::fs::remove_dir_all(path).expect("it goes");
    }
}
