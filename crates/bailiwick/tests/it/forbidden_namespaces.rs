//! Where no namespace can be made: calls still work behind the filter, and the receipt claims nothing that is not
//! there.

use std::process::Command;

use bailiwick::types::WallStatus;

use crate::alone::{argument, program};
use crate::processes::{descriptors, namespace, status};
use crate::requires::{Needs, has};
use crate::standing::Standing;
use crate::walls::NAMESPACES;

bailiwick_testkit::tests!(
    without_namespaces_the_floor_stands_and_the_rest_is_told_as_absent,
    without_namespaces_and_as_an_ordinary_user_it_is_the_same,
);

/// What makes the last user namespace, forbids more of them, and gives up all power over this one.
const FORBID: &str = "echo 0 > /proc/sys/user/max_user_namespaces && \
    exec setpriv --bounding-set -all --inh-caps -all --ambient-caps -all -- \"$@\"";

fn without_namespaces_the_floor_stands_and_the_rest_is_told_as_absent() {
    check(&["--user", "--map-root-user"]);
}

fn without_namespaces_and_as_an_ordinary_user_it_is_the_same() {
    check(&["--user", "--map-user=1000", "--map-group=1000", "--keep-caps"]);
}

#[track_caller]
fn check(how: &[&str]) {
    if !has(&[Needs::Root, Needs::UserNamespaces, Needs::Unshare, Needs::Setpriv]) {
        return;
    }
    let mut command = Command::new("unshare");
    command.args(how).args(["sh", "-c", FORBID, "sh"]).arg(program()).arg(argument("standing"));
    let standing = Standing::start(&mut command);
    for wall in &standing.receipt.walls {
        crate::output::line(format_args!("{:?}: {} ({})", wall.status, wall.demand, wall.mechanism));
    }
    assert_eq!(status(standing.pid, "CapBnd"), "0000000000000000", "the stage is not set");
    assert!(!standing.receipt.insecure, "the filter alone is the floor");
    for demand in ["own process", "no other system calls", "no network", "no files"] {
        assert_eq!(standing.wall(demand).0, WallStatus::Enforced, "{demand}");
    }
    for (demand, absent) in [
        ("no network", "(no net namespace)"),
        ("no files", "(no empty read-only root)"),
        ("no other processes", "(no pid namespace)"),
    ] {
        assert!(standing.wall(demand).1.contains(absent), "{:?}", standing.wall(demand));
    }
    assert_eq!(standing.wall("nothing shared with the host").0, WallStatus::Absent);
    assert_eq!(standing.wall("no privileges").0, WallStatus::Partial);
    assert!(standing.wall("no privileges").1.contains("no user namespace"));

    let (_, cells) = standing.walled_in();
    for cell in &cells {
        for kind in NAMESPACES {
            assert_eq!(namespace(*cell, kind), namespace(standing.pid, kind), "the stage is not set: {kind}");
        }
        for (field, expected) in [
            ("NoNewPrivs", "1"),
            ("Seccomp", "2"),
            ("CapEff", "0000000000000000"),
            ("CapPrm", "0000000000000000"),
        ] {
            assert_eq!(status(*cell, field), expected, "{field}");
        }
        assert_eq!(descriptors(*cell).len(), 1);
        assert_eq!(std::fs::read(format!("/proc/{cell}/environ")).expect("its environment"), b"");
        // Said to be an ordinary user only if it is one, as its own namespace counts.
        let inside: u32 = seen_inside(*cell);
        let claimed = standing.wall("unprivileged user").0 == WallStatus::Enforced;
        assert!(!claimed || inside != 0, "a cell that is root is said not to be");
    }
    standing.end();
}

/// The user of a process as its own user namespace numbers it.
#[track_caller]
fn seen_inside(pid: u32) -> u32 {
    let outside: u32 =
        status(pid, "Uid").split_whitespace().next().and_then(|id| id.parse().ok()).expect("a user");
    let map = std::fs::read_to_string(format!("/proc/{pid}/uid_map")).expect("a map");
    let found = map.lines().find_map(|line| {
        let numbers: Vec<u32> = line.split_whitespace().filter_map(|word| word.parse().ok()).collect();
        let [inside, first, count] = numbers.as_slice() else { return None };
        let offset = outside.checked_sub(*first)?;
        (offset < *count).then(|| inside + offset)
    });
    found.unwrap_or_else(|| panic!("{outside} is not in {map}"))
}
