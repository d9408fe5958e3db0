//! The wall from outside: what the kernel shows of parked cells and of their nursery.

use bailiwick::types::WallStatus;
use bailiwick::{Call, Tenant};
use serde_json::json;

use crate::alone::in_a_process_of_its_own;
use crate::processes::{self, descriptors, namespace, status};
use crate::requires::{Needs, has};
use crate::stage::{block_on, comes_true, few, gives};

bailiwick_testkit::tests!(parked_cells_have_what_the_receipt_says_and_nothing_else);

/// The namespaces that are a cell's own.
pub(crate) const NAMESPACES: &[&str] = &["user", "pid", "net", "mnt", "ipc", "uts"];

fn parked_cells_have_what_the_receipt_says_and_nothing_else() {
    if has(&[Needs::Root, Needs::UserNamespaces]) {
        in_a_process_of_its_own("walls");
    }
}

/// Runs in a process of its own.
pub(crate) fn role() {
    // Something that the program leaves open for whatever it starts.
    let left_open = std::fs::File::open("/dev/null").expect("a file");
    rustix::io::fcntl_setfd(&left_open, rustix::io::FdFlags::empty()).expect("a descriptor to inherit");
    block_on(async {
        let runtime = few().parked(4).build().await.expect("cells");
        gives(&runtime, Call::body("return 1"), json!(1)).await;
        assert!(comes_true(|| runtime.count(&Tenant::default()).0 >= 3).await);
        let nursery = processes::nurseries()[0].pid;
        let cells: Vec<u32> = processes::cells().iter().map(|cell| cell.pid).collect();
        // A cell is told to the host before it has walled itself in, and hears nothing before that.
        assert!(comes_true(|| cells.iter().all(|cell| is_walled_in(nursery, *cell))).await, "{cells:?}");
        for cell in &cells {
            look_at(*cell);
            assert_eq!(descriptors(*cell).iter().map(|one| one.0).collect::<Vec<_>>(), [0]);
            assert!(descriptors(*cell)[0].1.starts_with("socket:"), "{:?}", descriptors(*cell));
            assert_eq!(hard_limit(*cell, "Max open files"), Some(1));
        }
        look_at(nursery);
        let walls = runtime.walls(&Tenant::default()).await.expect("walls");
        let together =
            walls.iter().find(|wall| wall.demand == "memory of all calls together").expect("a demand");
        for pid in cells.iter().chain([&nursery]) {
            let claimed = together.status == WallStatus::Enforced;
            assert_eq!(claimed, processes::is_in_a_cgroup_of_ours(*pid), "{together:?}");
        }
        let numbers = status(nursery, "NSpid");
        assert!(numbers.ends_with("\t1"), "the nursery is not pid 1 of its namespace: {numbers}");
        drop(runtime);
    });
}

/// Whether a cell has its own filter over the nursery's, and closed all that it does not need.
pub(crate) fn is_walled_in(nursery: u32, cell: u32) -> bool {
    let filters = |pid| status(pid, "Seccomp_filters").parse::<u32>().expect("a number");
    filters(cell) > filters(nursery) && descriptors(cell).len() == 1
}

/// What holds for cells and nursery alike.
#[track_caller]
fn look_at(pid: u32) {
    let own = std::process::id();
    for (field, expected) in [
        ("NoNewPrivs", "1"),
        ("Seccomp", "2"),
        ("CapInh", "0000000000000000"),
        ("CapPrm", "0000000000000000"),
        ("CapEff", "0000000000000000"),
        ("CapBnd", "0000000000000000"),
        ("CapAmb", "0000000000000000"),
        ("Groups", ""),
        ("Threads", "1"),
    ] {
        assert_eq!(status(pid, field), expected, "{field} of {pid}");
    }
    for field in ["Uid", "Gid"] {
        let ids = status(pid, field);
        assert!(ids.split_whitespace().all(|id| id != "0" && id != "65535"), "{field} of {pid}: {ids}");
    }
    for kind in NAMESPACES {
        assert_ne!(namespace(pid, kind), namespace(own, kind), "the {kind} namespace of {pid} is ours");
    }
    let numbers = status(pid, "NSpid");
    assert_eq!(
        numbers.split_whitespace().count(),
        status(own, "NSpid").split_whitespace().count() + 1,
        "{numbers}"
    );
    let environment = std::fs::read(format!("/proc/{pid}/environ")).expect("an environment");
    assert_eq!(environment, b"", "the environment of {pid}");
    for folder in ["root", "cwd"] {
        let entries = std::fs::read_dir(format!("/proc/{pid}/{folder}")).expect("a folder");
        assert_eq!(entries.count(), 0, "the {folder} of {pid} is not empty");
    }
    let mounts = std::fs::read_to_string(format!("/proc/{pid}/mounts")).expect("mounts");
    let only = mounts.lines().collect::<Vec<_>>();
    assert!(matches!(only.as_slice(), [one] if one.contains("tmpfs ro,")), "{mounts}");
    let devices = std::fs::read_to_string(format!("/proc/{pid}/net/dev")).expect("devices");
    assert_eq!(
        devices.lines().skip(2).map(|line| line.split(':').next().unwrap_or("").trim()).collect::<Vec<_>>(),
        ["lo"]
    );
    let routes = std::fs::read_to_string(format!("/proc/{pid}/net/route")).expect("routes");
    assert!(routes.lines().count() <= 1, "{routes}");
    for (limit, most) in [("Max core file size", 0), ("Max file size", 0), ("Max locked memory", 0)] {
        assert_eq!(hard_limit(pid, limit), Some(most), "{limit} of {pid}");
    }
    let maps = std::fs::read_to_string(format!("/proc/{pid}/maps")).expect("maps");
    let both = maps
        .lines()
        .find(|line| line.split_whitespace().nth(1).is_some_and(|flags| flags.starts_with("rwx")));
    assert_eq!(both, None, "memory of {pid} that can be written and executed");
}

/// A hard limit of a process; none where it is unlimited.
#[track_caller]
fn hard_limit(pid: u32, name: &str) -> Option<u64> {
    let limits = std::fs::read_to_string(format!("/proc/{pid}/limits")).expect("limits");
    let line = limits.lines().find_map(|line| line.strip_prefix(name)).expect("a limit");
    line.split_whitespace().nth(1).and_then(|word| word.parse().ok())
}
