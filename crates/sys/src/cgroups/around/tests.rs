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
