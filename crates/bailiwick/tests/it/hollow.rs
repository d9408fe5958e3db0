//! The walls proven by their absence: what is stopped in a cell goes through in a process without them.

use bailiwick::types::WallStatus;
use bailiwick::{Demand, Probe, ProbeResult, Tenant, seccomp};

use crate::stage::{block_on, few};

bailiwick_testkit::tests![what_a_wall_stops_goes_through_without_it, cells_without_walls_say_so];

/// System calls that do nothing with arguments of zero, and need no wall to be harmless.
const HARMLESS: &[(&str, [u64; 6])] = &[
    ("socket", [2, 1, 0, 0, 0, 0]),
    ("openat", [0; 6]),
    ("execve", [0; 6]),
    ("unshare", [0; 6]),
    ("mprotect", [0; 6]),
    ("ioctl", [0; 6]),
    ("sendmsg", [0; 6]),
    ("memfd_create", [0; 6]),
    ("prctl", [0; 6]),
    ("getppid", [0; 6]),
    ("uname", [0; 6]),
    ("getcwd", [0; 6]),
];

fn what_a_wall_stops_goes_through_without_it() {
    block_on(async {
        let walled = few().build().await.expect("cells");
        let hollow = few().demand(Demand::Hollow).build().await.expect("cells without walls");
        for (name, arguments) in HARMLESS {
            let number = seccomp::number(name).expect("a system call of this machine");
            let probe = Probe::SystemCall { number, arguments: *arguments };
            let stopped = walled.probe(probe).await.expect("a cell");
            assert_eq!(stopped, ProbeResult::Trapped((*name).to_owned()));
            let through = hollow.probe(probe).await.expect("a cell");
            assert!(matches!(through, ProbeResult::WentThrough(_)), "{name}: {through:?}");
        }
    });
}

fn cells_without_walls_say_so() {
    block_on(async {
        let hollow = few().demand(Demand::Hollow).build().await.expect("cells without walls");
        let walls = hollow.walls(&Tenant::default()).await.expect("walls");
        for demand in ["own process", "no other system calls", "no network", "no files", "no privileges"] {
            let wall = walls.iter().find(|wall| wall.demand == demand).expect("a line for each demand");
            assert_eq!(wall.status, WallStatus::Absent, "{wall:?}");
        }
        let report = hollow.run(bailiwick::Call::body("return 1")).await.expect("a report");
        assert!(report.receipt().insecure);
    });
}
