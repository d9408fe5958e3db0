//! A process that has no descriptors left: a clear error for the calls that need one, and calls again as soon as there
//! are some.

use std::fs::File;

use bailiwick::types::ErrorCode;
use bailiwick::{Call, RunError, Runtime};
use rustix::process::{Resource, Rlimit, setrlimit};
use serde_json::json;

use crate::alone::in_a_process_of_its_own;
use crate::processes;
use crate::stage::{PATIENCE, block_on, few, gives, with_timers};

bailiwick_testkit::tests!(
    more_calls_than_descriptors_end_clearly_and_later_ones_work,
    without_a_descriptor_left_calls_fail_clearly_and_work_again_afterwards,
    without_descriptors_no_runtime_is_built_and_the_error_says_why,
    calls_that_have_their_cell_go_on_when_descriptors_run_out,
);

/// Codes that a caller who asked for too much can make sense of.
const CLEAR: &[ErrorCode] = &[ErrorCode::Busy, ErrorCode::Unavailable, ErrorCode::Crashed];

fn bound_descriptors(more: u64) {
    let open = processes::descriptors(std::process::id()).len() as u64;
    let most = Some(open + more);
    setrlimit(Resource::Nofile, Rlimit { current: most, maximum: most }).expect("a bound");
}

fn more_calls_than_descriptors_end_clearly_and_later_ones_work() {
    in_a_process_of_its_own("descriptors_bounded");
}

fn without_a_descriptor_left_calls_fail_clearly_and_work_again_afterwards() {
    in_a_process_of_its_own("descriptors_taken");
}

fn without_descriptors_no_runtime_is_built_and_the_error_says_why() {
    in_a_process_of_its_own("descriptors_absent");
}

fn calls_that_have_their_cell_go_on_when_descriptors_run_out() {
    in_a_process_of_its_own("descriptors_run_out");
}

/// Takes every descriptor there is.
fn take_all() -> Vec<File> {
    let mut taken = Vec::new();
    while let Ok(file) = File::open("/dev/null") {
        taken.push(file);
    }
    taken
}

async fn ends_clearly(runtime: &Runtime, call: Call) -> bool {
    let ended = tokio::time::timeout(PATIENCE, runtime.run(call)).await.expect("it ends");
    match ended.as_ref().map_err(RunError::code) {
        Ok(report) => {
            let code = report.failure().map(|failure| failure.code);
            assert!(code.is_none_or(|code| CLEAR.contains(&code)), "{report:?}");
            report.is_ok()
        }
        Err(code) => {
            assert!(CLEAR.contains(&code), "{ended:?}");
            false
        }
    }
}

/// Runs in a process of its own.
pub(crate) fn bounded_role() {
    block_on(async {
        let runtime = few().parked(2).build().await.expect("cells");
        bound_descriptors(24);
        let source = "await new Promise(done => setTimeout(done, 300)); return 1";
        let calls: Vec<_> = (0..40)
            .map(|_| {
                let (runtime, call) = (runtime.clone(), Call::body(source).policy(with_timers("wall: 20s")));
                tokio::spawn(async move { ends_clearly(&runtime, call).await })
            })
            .collect();
        let mut served = 0;
        for call in calls {
            served += usize::from(call.await.expect("it ends clearly"));
        }
        crate::output::line(format_args!("{served} of 40 calls were served with 24 descriptors"));
        for _ in 0..5 {
            gives(&runtime, Call::body("return 1"), json!(1)).await;
        }
    });
}

/// Runs in a process of its own.
pub(crate) fn taken_role() {
    block_on(async {
        let runtime = few().parked(2).build().await.expect("cells");
        gives(&runtime, Call::body("return 1"), json!(1)).await;
        bound_descriptors(20);
        for _ in 0..3 {
            let taken = take_all();
            // Those that are parked already can be served, and what they had is free again for the next.
            let mut served = 0;
            for _ in 0..6 {
                served += usize::from(ends_clearly(&runtime, Call::body("return 1")).await);
            }
            crate::output::line(format_args!("{served} of 6 calls were served without a descriptor left"));
            drop(taken);
            gives(&runtime, Call::body("return 1"), json!(1)).await;
            gives(&runtime, Call::body("return 2"), json!(2)).await;
        }
    });
}

/// Runs in a process of its own.
pub(crate) fn absent_role() {
    block_on(async {
        bound_descriptors(8);
        let taken = take_all();
        let error = few().build().await.expect_err("there is nothing to build it with");
        assert!(CLEAR.contains(&error.code()), "{error:?}");
        assert!(
            error.to_string().contains("Too many open files") || error.to_string().contains("os error 24"),
            "{error}"
        );
        drop(taken);
        assert!(processes::nurseries().is_empty(), "{:?}", processes::nurseries());
    });
}

/// Runs in a process of its own.
pub(crate) fn run_out_role() {
    block_on(async {
        let runtime = few().parked(2).build().await.expect("cells");
        let source =
            "console.log('there'); await new Promise(done => setTimeout(done, 1200)); return 'went on'";
        let call = Call::body(source).policy(with_timers("wall: 20s"));
        let (send, mut there) = tokio::sync::mpsc::unbounded_channel();
        let running = tokio::spawn({
            let runtime = runtime.clone();
            async move { runtime.run_with(call, move |_| send.send(()).expect("somebody listens")).await }
        });
        there.recv().await.expect("the line that says that it runs");
        bound_descriptors(4);
        let taken = take_all();
        let others: Vec<_> = (0..8)
            .map(|_| {
                let (runtime, call) =
                    (runtime.clone(), Call::body("for (let i = 0; i < 1e5; i++); return 1"));
                tokio::spawn(async move { ends_clearly(&runtime, call).await })
            })
            .collect();
        for call in others {
            call.await.expect("it ends clearly");
        }
        drop(taken);
        let report = running.await.expect("no panic").expect("a report");
        assert_eq!(report.value(), &json!("went on"), "{:?}", report.failure());
    });
}
