//! What is left when a runtime is dropped, and when its program ends or is killed: nothing.

use std::time::{Duration, Instant};

use bailiwick::{Call, Tenant};
use serde_json::{Value, json};

use crate::alone::{command, in_a_process_of_its_own};
use crate::processes;
use crate::stage::{PATIENCE, block_on, comes_true, few, gives};
use crate::standing::Standing;

bailiwick_testkit::tests!(
    a_runtime_that_is_dropped_leaves_no_process_and_no_cgroup,
    a_program_that_ends_leaves_no_process_and_no_cgroup,
    a_program_that_is_killed_takes_its_cells_with_it,
);

fn a_runtime_that_is_dropped_leaves_no_process_and_no_cgroup() {
    in_a_process_of_its_own("dropping");
}

/// Runs in a process of its own.
pub(crate) fn role() {
    let own = std::process::id();
    // Another process may have had this number and have left something.
    let before = processes::cgroups_of(own);
    block_on(async {
        for _ in 0..3 {
            let runtime = few().parked(6).build().await.expect("cells");
            gives(&runtime, Call::body("return 1"), json!(1)).await;
            gives(&runtime, Call::body("return 1").tenant(Tenant::named("other")), json!(1)).await;
            let clone = runtime.clone();
            drop(runtime);
            gives(&clone, Call::body("return 2"), json!(2)).await;
            assert_eq!(processes::nurseries().len(), 2);
            drop(clone);
            assert!(comes_true(|| processes::nurseries().is_empty()).await, "{:?}", processes::nurseries());
            let tidy = || processes::cgroups_of(own) == before;
            assert!(comes_true(tidy).await, "{:?} but {before:?}", processes::cgroups_of(own));
        }
    });
}

/// Runs in a process of its own and ends as soon as it has made a call.
pub(crate) fn leaving_role() {
    let before = processes::cgroups_of(std::process::id());
    block_on(async {
        let runtime = few().parked(6).build().await.expect("cells");
        gives(&runtime, Call::body("return 1"), json!(1)).await;
        let nurseries: Vec<u32> = processes::nurseries().iter().map(|one| one.pid).collect();
        crate::output::line(json!({"pid": std::process::id(), "nurseries": nurseries, "before": before}));
    });
}

fn a_program_that_ends_leaves_no_process_and_no_cgroup() {
    let number = |value: &Value| value.as_u64().and_then(|pid| u32::try_from(pid).ok()).expect("a pid");
    // More than once: what is left behind is left by a race.
    for _ in 0..8 {
        let said = in_a_process_of_its_own("leaving");
        let said: Value = serde_json::from_str(said.trim()).expect("JSON");
        let nurseries: Vec<u32> = said["nurseries"].as_array().expect("a list").iter().map(number).collect();
        vanish(&nurseries);
        let left = processes::cgroups_of(number(&said["pid"]));
        assert_eq!(json!(left), said["before"], "a cgroup was left behind");
    }
}

fn a_program_that_is_killed_takes_its_cells_with_it() {
    let standing = Standing::start(&mut command("standing"));
    let all: Vec<u32> = standing.nurseries().into_iter().chain(standing.cells()).collect();
    assert!(all.len() >= 3, "{all:?}");
    standing.kill();
    vanish(&all);
}

/// Waits until processes are gone.
#[track_caller]
fn vanish(pids: &[u32]) {
    let deadline = Instant::now() + PATIENCE;
    // One that nobody has reaped yet has ended all the same.
    while pids.iter().any(|pid| processes::one(*pid).is_some_and(|one| one.state != 'Z')) {
        assert!(Instant::now() < deadline, "{pids:?} are still there");
        std::thread::sleep(Duration::from_millis(5));
    }
}
