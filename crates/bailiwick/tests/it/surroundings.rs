//! Programs in odd surroundings: children that nobody waits for, a binary that is gone, a tokio runtime that has ended.

use std::process::Command;
use std::time::Duration;

use bailiwick::{Call, Probe, ProbeResult};
use rustix::process::{Resource, Rlimit, setrlimit};
use serde_json::json;

use crate::alone::{argument, command, program, succeeds};
use crate::processes;
use crate::requires::{Needs, has};
use crate::stage::{PATIENCE, block_on, comes_true, few, gives, limited, runtime};

bailiwick_testkit::tests!(
    a_program_that_ignores_the_end_of_its_children_has_cells_all_the_same,
    a_program_whose_file_is_gone_still_makes_nurseries,
    a_runtime_can_be_dropped_where_no_tokio_is,
    a_runtime_whose_tokio_has_ended_gives_an_error_and_no_panic,
    the_smallest_numbers_still_make_a_runtime,
    two_runtimes_do_not_get_in_each_others_way,
    a_program_under_bounds_of_its_own_has_cells_all_the_same,
);

fn a_program_that_ignores_the_end_of_its_children_has_cells_all_the_same() {
    if has(&[Needs::Env]) {
        succeeds(
            Command::new("env").arg("--ignore-signal=CHLD").arg(program()).arg(argument("children_ignored")),
        );
    }
}

/// Runs in a process of its own.
pub(crate) fn children_ignored_role() {
    let ignored = u64::from_str_radix(&processes::status(std::process::id(), "SigIgn"), 16).expect("a mask");
    assert_ne!(ignored & (1 << 16), 0, "the stage is not set");
    block_on(async {
        let runtime = few().parked(2).build().await.expect("cells");
        for _ in 0..5 {
            gives(&runtime, Call::body("return 1"), json!(1)).await;
        }
        for (probe, expected) in
            [(Probe::Panic, "a panic"), (Probe::Fault, "a memory fault"), (Probe::Abort, "an abort")]
        {
            assert_eq!(
                runtime.probe(probe).await.expect("a cell"),
                ProbeResult::Ended(expected),
                "{probe:?}"
            );
        }
        drop(runtime);
        assert!(comes_true(|| processes::nurseries().is_empty()).await, "{:?}", processes::nurseries());
    });
}

fn a_program_whose_file_is_gone_still_makes_nurseries() {
    let folder = tempfile::tempdir().expect("a folder");
    let copy = folder.path().join("it");
    std::fs::copy(program(), &copy).expect("a copy");
    succeeds(Command::new(&copy).arg(argument("program_deleted")));
    assert!(!copy.exists());
}

/// Runs in a process of its own, from a file of its own.
pub(crate) fn program_deleted_role() {
    std::fs::remove_file(program()).expect("its own file");
    block_on(async {
        let runtime = runtime().await;
        gives(&runtime, Call::body("return 1"), json!(1)).await;
        runtime.kill_nursery(&bailiwick::Tenant::default());
        let again = || processes::nurseries().iter().all(|one| one.state != 'Z');
        assert!(comes_true(again).await);
        let _may_crash = runtime.run(Call::body("return 1")).await;
        gives(&runtime, Call::body("return 2"), json!(2)).await;
    });
}

fn a_runtime_can_be_dropped_where_no_tokio_is() {
    let runtime = block_on(async {
        let runtime = runtime().await;
        gives(&runtime, Call::body("return 1"), json!(1)).await;
        runtime
    });
    drop(runtime);
}

fn a_runtime_whose_tokio_has_ended_gives_an_error_and_no_panic() {
    let runtime = block_on(runtime());
    block_on(async {
        let ended =
            tokio::time::timeout(PATIENCE, runtime.run(Call::body("return 1"))).await.expect("it ends");
        // A nursery that nobody listens to any more may be noticed and replaced, or the call may be told.
        if let Ok(report) = ended {
            assert!(
                report.is_ok() || report.failure().is_some_and(|failure| failure.hint.is_some()),
                "{report:?}"
            );
        }
    });
}

fn the_smallest_numbers_still_make_a_runtime() {
    block_on(async {
        let runtime =
            few().parked(0).at_once(0, 0).renew_after(0, Duration::ZERO).build().await.expect("cells");
        for number in 0..5 {
            gives(&runtime, Call::body("return n").argument("n", number), json!(number)).await;
        }
    });
}

fn two_runtimes_do_not_get_in_each_others_way() {
    block_on(async {
        let (one, two) = (runtime().await, runtime().await);
        one.kill_nursery(&bailiwick::Tenant::default());
        gives(&two, Call::body("return 2"), json!(2)).await;
        drop(one);
        gives(&two, Call::body("return 2"), json!(2)).await;
    });
}

/// The variable that says which bound the program is under, and how much it is.
const BOUND: &str = "BOUND_OF_THE_HOST";

/// Bounds that machines and operators put around programs.
const BOUNDS: &[(&str, Resource, u64)] = &[
    ("signals that wait", Resource::Sigpending, 1000),
    ("CPU time", Resource::Cpu, 20),
    ("memory", Resource::As, 1 << 30),
    ("stack", Resource::Stack, 2 << 20),
    ("core", Resource::Core, 0),
];

fn a_program_under_bounds_of_its_own_has_cells_all_the_same() {
    let mut wrong = Vec::new();
    for (name, ..) in BOUNDS {
        let output = command("bounded").env(BOUND, name).output().expect("it starts");
        if !output.status.success() {
            wrong.push(format!("{name}: {}", String::from_utf8_lossy(&output.stderr)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Runs in a process of its own.
pub(crate) fn bounded_role() {
    let asked = std::env::var(BOUND).expect("the name of a bound");
    let (_, resource, most) = *BOUNDS.iter().find(|(name, ..)| *name == asked).expect("a bound");
    setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) }).expect("a bound");
    block_on(async {
        let runtime = runtime().await;
        gives(&runtime, Call::body("return 1"), json!(1)).await;
        // As much as a tool may ask for by default, which is more than the program itself has.
        let policy = limited("cpu: 30s, wall: 30s, memory: 512MiB, stack: 4MiB");
        gives(&runtime, Call::body("return 2").policy(policy), json!(2)).await;
    });
}
