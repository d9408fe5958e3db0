//! Everything at once: calls that are dropped at any moment, nurseries that die again and again, processes that stand
//! still. Whatever happens, every call ends, and afterwards all is as before.

use std::time::{Duration, Instant};

use bailiwick::types::ErrorCode;
use bailiwick::{Call, RunError, Tenant};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use crate::alone::in_a_process_of_its_own;
use crate::processes;
use crate::stage::{PATIENCE, block_on, comes_true, fails, few, gives, limited, with_timers};

bailiwick_testkit::tests!(
    calls_dropped_at_any_moment_leave_their_turns_and_cells_free,
    nurseries_that_die_again_and_again_lose_no_call_without_a_word,
    a_cell_that_is_stopped_is_killed_at_its_deadline,
    a_nursery_that_is_stopped_makes_calls_wait_and_not_hang,
);

fn calls_dropped_at_any_moment_leave_their_turns_and_cells_free() {
    in_a_process_of_its_own("dropped_calls");
}

fn nurseries_that_die_again_and_again_lose_no_call_without_a_word() {
    in_a_process_of_its_own("nurseries_killed");
}

fn a_cell_that_is_stopped_is_killed_at_its_deadline() {
    in_a_process_of_its_own("cell_stopped");
}

fn a_nursery_that_is_stopped_makes_calls_wait_and_not_hang() {
    in_a_process_of_its_own("nursery_stopped");
}

fn signal(pid: u32, signal: Signal) {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw).expect("a pid");
    // One that is gone cannot be signalled, and need not be.
    let _gone = kill_process(pid, signal);
}

/// Runs in a process of its own.
pub(crate) fn dropped_calls_role() {
    block_on(async {
        let tenant = Tenant::default();
        let runtime = few().parked(2).at_once(4, 1000).build().await.expect("cells");
        for round in 0..300_u64 {
            let call = if round % 3 == 0 { Call::body("for (;;) {}") } else { Call::body("return 1") };
            let running = runtime.run(call);
            // Each is given a little more time than the one before: every moment of a call has its turn.
            let time = Duration::from_micros(round * 10);
            let _dropped_or_done = tokio::time::timeout(time, running).await;
        }
        assert!(comes_true(|| runtime.count(&tenant).1 == 0).await, "{:?}", runtime.count(&tenant));
        let only_parked = || processes::cells().len() == runtime.count(&tenant).0;
        assert!(comes_true(only_parked).await, "{:?} {:?}", processes::cells(), runtime.count(&tenant));
        // All four turns are there: four calls that wait are out at the same time.
        let waits = || {
            let call = Call::body("await new Promise(done => setTimeout(done, 20000))");
            let (runtime, call) = (runtime.clone(), call.policy(with_timers("wall: 30s")));
            tokio::spawn(async move { runtime.run(call).await })
        };
        let four = [waits(), waits(), waits(), waits()];
        assert!(comes_true(|| runtime.count(&tenant).1 == 4).await, "{:?}", runtime.count(&tenant));
        four.iter().for_each(tokio::task::JoinHandle::abort);
        for call in four {
            assert!(call.await.is_err());
        }
        gives(&runtime, Call::body("return 1"), json!(1)).await;
        assert_eq!(processes::nurseries().len(), 1);
    });
}

/// Runs in a process of its own.
pub(crate) fn nurseries_killed_role() {
    block_on(async {
        let tenant = Tenant::default();
        let runtime = few().parked(4).at_once(8, 1000).patience(PATIENCE).build().await.expect("cells");
        let workers: Vec<_> = (0..8)
            .map(|_| {
                let runtime = runtime.clone();
                tokio::spawn(async move {
                    let (mut served, mut crashed) = (0, 0);
                    for number in 0..40 {
                        let call =
                            Call::body("for (let i = 0; i < 1e4; i++); return n").argument("n", number);
                        let ended = tokio::time::timeout(PATIENCE, runtime.run(call)).await.expect("it ends");
                        match ended.as_ref().map_err(RunError::code) {
                            Ok(report) if report.is_ok() => served += 1,
                            Ok(report) => {
                                let code = report.failure().map(|failure| failure.code);
                                assert_eq!(code, Some(ErrorCode::Crashed), "{report:?}");
                                crashed += 1;
                            }
                            // Three nurseries in a row died before the call had a cell.
                            Err(code) => {
                                assert!(
                                    matches!(code, ErrorCode::Unavailable | ErrorCode::Busy),
                                    "{ended:?}"
                                );
                                crashed += 1;
                            }
                        }
                    }
                    (served, crashed)
                })
            })
            .collect();
        while !workers.iter().all(tokio::task::JoinHandle::is_finished) {
            runtime.kill_nursery(&tenant);
            tokio::time::sleep(Duration::from_millis(60)).await;
        }
        let (mut served, mut crashed) = (0, 0);
        for worker in workers {
            let (one, other) = worker.await.expect("every call ended");
            served += one;
            crashed += other;
        }
        crate::output::line(format_args!("{served} calls were served and {crashed} were told of a crash"));
        assert_eq!(served + crashed, 320);
        // The last kill may be a moment ago; from the second call on nothing of it is left.
        let _may_crash = runtime.run(Call::body("return 1")).await;
        gives(&runtime, Call::body("return 1"), json!(1)).await;
        assert!(comes_true(|| processes::nurseries().len() == 1).await, "{:?}", processes::nurseries());
    });
}

/// Runs in a process of its own.
pub(crate) fn cell_stopped_role() {
    block_on(async {
        let tenant = Tenant::default();
        let runtime = few().build().await.expect("cells");
        let policy = limited("wall: 1s, cpu: 20s, steps: 10000000000");
        let running = tokio::spawn({
            let (runtime, call) = (runtime.clone(), Call::body("for (;;) {}").policy(policy));
            async move { fails(&runtime, call, ErrorCode::Timeout).await }
        });
        assert!(comes_true(|| runtime.count(&tenant).1 == 1).await);
        let stopped = processes::cells();
        for cell in &stopped {
            signal(cell.pid, Signal::STOP);
        }
        let began = Instant::now();
        tokio::time::timeout(PATIENCE, running).await.expect("it ends").expect("a timeout");
        assert!(began.elapsed() < Duration::from_secs(4), "{:?}", began.elapsed());
        // The one that ran is gone; the one that is parked goes on when it may.
        for cell in &stopped {
            signal(cell.pid, Signal::CONT);
        }
        gives(&runtime, Call::body("return 1"), json!(1)).await;
        assert!(comes_true(|| processes::cells().len() == runtime.count(&tenant).0).await);
    });
}

/// Runs in a process of its own.
pub(crate) fn nursery_stopped_role() {
    block_on(async {
        let runtime = few().patience(Duration::from_millis(200)).build().await.expect("cells");
        let nursery = processes::nurseries()[0].pid;
        signal(nursery, Signal::STOP);
        let mut busy = 0;
        for _ in 0..4 {
            // What was parked before can be served.
            match tokio::time::timeout(PATIENCE, runtime.run(Call::body("return 1"))).await.expect("it ends")
            {
                Ok(report) => assert!(report.is_ok(), "{:?}", report.failure()),
                Err(error) => {
                    assert_eq!(error.code(), ErrorCode::Busy);
                    busy += 1;
                }
            }
        }
        assert!(busy >= 1, "cells came from a nursery that stands still");
        signal(nursery, Signal::CONT);
        let served = async { while runtime.run(Call::body("return 1")).await.is_err() {} };
        tokio::time::timeout(PATIENCE, served).await.expect("it serves again");
        assert_eq!(processes::nurseries().iter().map(|one| one.pid).collect::<Vec<_>>(), [nursery]);
        signal(nursery, Signal::STOP);
        drop(runtime);
        assert!(comes_true(|| processes::nurseries().is_empty()).await, "a stopped nursery is not killed");
    });
}
