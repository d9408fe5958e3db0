//! Processes that are killed from outside, and calls that nobody waits for any more.

use std::time::{Duration, Instant};

use bailiwick::types::ErrorCode;
use bailiwick::{Call, Runtime, Tenant};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use crate::alone::in_a_process_of_its_own;
use crate::processes;
use crate::stage::{PATIENCE, block_on, comes_true, failure, few, gives, with_timers};

bailiwick_testkit::tests!(
    a_nursery_killed_under_64_calls_ends_them_all_clearly_and_the_next_calls_work,
    parked_cells_that_are_killed_are_not_handed_out,
    a_call_that_meets_a_cell_just_killed_ends_clearly,
    a_running_cell_that_is_killed_ends_its_call_clearly,
    a_call_that_is_dropped_takes_its_cell_with_it,
);

fn a_nursery_killed_under_64_calls_ends_them_all_clearly_and_the_next_calls_work() {
    in_a_process_of_its_own("nursery_killed");
}

fn parked_cells_that_are_killed_are_not_handed_out() {
    in_a_process_of_its_own("parked_cells_killed");
}

fn a_call_that_meets_a_cell_just_killed_ends_clearly() {
    in_a_process_of_its_own("cells_just_killed");
}

fn a_running_cell_that_is_killed_ends_its_call_clearly() {
    in_a_process_of_its_own("running_cell_killed");
}

fn a_call_that_is_dropped_takes_its_cell_with_it() {
    in_a_process_of_its_own("dropped_call");
}

/// A call that does not end by itself within the time of any test: it waits.
fn waits() -> Call {
    Call::body("await new Promise(done => setTimeout(done, 25000))").policy(with_timers("wall: 30s"))
}

/// A call that does not end by itself within the time of any test: it works.
fn works() -> Call {
    Call::body("for (;;) {}").policy(with_timers("wall: 30s, cpu: 30s, steps: 10000000000"))
}

fn kill(pid: u32) {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw).expect("a pid");
    // One that is gone is as good as killed.
    let _gone = kill_process(pid, Signal::KILL);
}

/// Runs in a process of its own.
pub(crate) fn nursery_role() {
    block_on(async {
        let tenant = Tenant::default();
        let runtime = few().parked(8).at_once(64, 8).build().await.expect("cells");
        for round in 0..3 {
            let old = processes::nurseries();
            let calls: Vec<_> = (0..64)
                .map(|number| {
                    let (runtime, call) = (runtime.clone(), if number < 4 { works() } else { waits() });
                    tokio::spawn(async move { runtime.run(call).await })
                })
                .collect();
            assert!(comes_true(|| runtime.count(&tenant).1 == 64).await, "{:?}", runtime.count(&tenant));
            let killed = Instant::now();
            runtime.kill_nursery(&tenant);
            for call in calls {
                let report = tokio::time::timeout(PATIENCE, call).await.expect("it ends").expect("no panic");
                let report = report.expect("a report");
                let failure = failure(&report);
                assert_eq!(failure.code, ErrorCode::Crashed, "{failure:?}");
                assert!(failure.message.contains("nursery") && failure.hint.is_some(), "{failure:?}");
            }
            let ended = killed.elapsed();
            gives(&runtime, Call::body("return 'again'"), json!("again")).await;
            let served = killed.elapsed();
            crate::output::line(format_args!(
                "round {round}: 64 calls ended after {ended:?}, the next was served after {served:?}"
            ));
            assert!(served < Duration::from_secs(2), "the next call was served after {served:?}");
            let gone = || old.iter().all(|one| processes::one(one.pid).is_none());
            assert!(comes_true(gone).await, "{old:?} is still there");
            assert_eq!(processes::nurseries().len(), 1);
        }
    });
}

/// Runs in a process of its own.
pub(crate) fn parked_role() {
    block_on(async {
        let tenant = Tenant::default();
        let runtime = few().parked(4).build().await.expect("cells");
        for _ in 0..5 {
            assert!(comes_true(|| runtime.count(&tenant).0 >= 2).await, "{:?}", runtime.count(&tenant));
            let parked = processes::cells();
            for cell in &parked {
                kill(cell.pid);
            }
            let heard = || {
                // Those that were being born when the others were counted.
                for late in processes::cells() {
                    kill(late.pid);
                }
                runtime.count(&tenant).0 == 0 && parked.iter().all(|cell| processes::one(cell.pid).is_none())
            };
            assert!(comes_true(heard).await, "{parked:?} {:?}", runtime.count(&tenant));
            gives(&runtime, Call::body("return 1"), json!(1)).await;
        }
    });
}

/// Runs in a process of its own.
pub(crate) fn just_killed_role() {
    block_on(async {
        let tenant = Tenant::default();
        let runtime = few().parked(4).build().await.expect("cells");
        let mut failed = 0;
        for _ in 0..20 {
            assert!(comes_true(|| runtime.count(&tenant).0 >= 1).await, "{:?}", runtime.count(&tenant));
            for cell in processes::cells() {
                kill(cell.pid);
            }
            let ended =
                tokio::time::timeout(PATIENCE, runtime.run(Call::body("return 1"))).await.expect("it ends");
            let report = ended.expect("a report");
            if let Some(failure) = report.failure() {
                assert!(matches!(failure.code, ErrorCode::Crashed | ErrorCode::MemoryLimit), "{failure:?}");
                failed += 1;
            }
            gives_in_the_end(&runtime).await;
        }
        crate::output::line(format_args!("{failed} of 20 calls met a dead cell"));
    });
}

/// What was killed may be noticed a moment later; then calls work.
async fn gives_in_the_end(runtime: &Runtime) {
    let deadline = Instant::now() + PATIENCE;
    while !runtime.run(Call::body("return 1")).await.expect("a report").is_ok() {
        assert!(Instant::now() < deadline, "calls do not work again");
    }
}

/// Runs in a process of its own.
pub(crate) fn running_role() {
    block_on(async {
        let tenant = Tenant::default();
        let runtime = few().build().await.expect("cells");
        for call in [works(), waits(), works()] {
            let running = tokio::spawn({
                let runtime = runtime.clone();
                async move { runtime.run(call).await }
            });
            assert!(comes_true(|| runtime.count(&tenant).1 == 1).await, "{:?}", runtime.count(&tenant));
            for cell in processes::cells() {
                kill(cell.pid);
            }
            let report = tokio::time::timeout(PATIENCE, running).await.expect("it ends").expect("no panic");
            let report = report.expect("a report");
            let failure = failure(&report);
            // From outside, a kill by somebody and one by the kernel out of memory look the same.
            assert!(matches!(failure.code, ErrorCode::Crashed | ErrorCode::MemoryLimit), "{failure:?}");
            assert!(failure.hint.is_some(), "{failure:?}");
            assert!(comes_true(|| runtime.count(&tenant) == (0, 0)).await || runtime.count(&tenant).1 == 0);
            gives(&runtime, Call::body("return 1"), json!(1)).await;
        }
    });
}

/// Runs in a process of its own.
pub(crate) fn dropped_call_role() {
    block_on(async {
        let tenant = Tenant::default();
        let runtime = few().parked(2).build().await.expect("cells");
        for call in [works(), waits(), works(), waits()] {
            let running = tokio::spawn({
                let runtime = runtime.clone();
                async move { runtime.run(call).await }
            });
            assert!(comes_true(|| runtime.count(&tenant).1 == 1).await, "{:?}", runtime.count(&tenant));
            running.abort();
            assert!(running.await.expect_err("it was dropped").is_cancelled());
            assert!(comes_true(|| runtime.count(&tenant).1 == 0).await, "{:?}", runtime.count(&tenant));
            let only_parked = || processes::cells().len() == runtime.count(&tenant).0;
            assert!(comes_true(only_parked).await, "{:?} {:?}", processes::cells(), runtime.count(&tenant));
            gives(&runtime, Call::body("return 1"), json!(1)).await;
        }
    });
}
