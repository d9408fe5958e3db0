//! More calls than may run: each waits its turn or is told to come back, and none is lost. Nurseries that are replaced
//! while calls go on.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use bailiwick::types::ErrorCode;
use bailiwick::{Call, CallError, RunError, Runtime, Tenant};
use serde_json::json;

use crate::alone::in_a_process_of_its_own;
use crate::processes;
use crate::stage::{PATIENCE, block_on, block_on_one_thread, comes_true, few, gives, with_timers};

bailiwick_testkit::tests!(
    calls_beyond_the_bounds_are_told_to_come_back_and_none_is_lost,
    a_call_whose_turn_does_not_come_is_told_to_come_back,
    a_burst_of_calls_is_served_to_the_last,
    a_nursery_is_replaced_while_calls_go_on,
    a_host_that_is_slow_to_listen_keeps_its_nursery,
);

fn waits(milliseconds: u64) -> Call {
    let source = "await new Promise(done => setTimeout(done, ms)); return 'waited'";
    Call::body(source).argument("ms", milliseconds).policy(with_timers("wall: 20s"))
}

fn spawn(
    runtime: &Runtime,
    call: Call,
) -> tokio::task::JoinHandle<Result<bailiwick::types::CallReport, RunError>> {
    let runtime = runtime.clone();
    tokio::spawn(async move { runtime.run(call).await })
}

fn calls_beyond_the_bounds_are_told_to_come_back_and_none_is_lost() {
    block_on(async {
        let runtime =
            few().parked(2).at_once(2, 2).patience(Duration::from_secs(20)).build().await.expect("cells");
        let out = || runtime.count(&Tenant::default()).1;
        let running = [spawn(&runtime, waits(700)), spawn(&runtime, waits(700))];
        assert!(comes_true(|| out() == 2).await, "{}", out());
        let late: Vec<_> = (0..12).map(|_| spawn(&runtime, waits(1))).collect();
        let (mut served, mut busy) = (0, 0);
        for call in running.into_iter().chain(late) {
            match tokio::time::timeout(PATIENCE, call).await.expect("it ends").expect("no panic") {
                Ok(report) => {
                    assert_eq!(report.value(), &json!("waited"), "{:?}", report.failure());
                    served += 1;
                }
                Err(error) => {
                    assert_eq!(error.code(), ErrorCode::Busy);
                    let RunError::Call(CallError::Busy(told)) = error else { panic!("{error:?}") };
                    assert!((10..=30_000).contains(&told.retry_after.as_millis()), "{told:?}");
                    assert!(told.to_string().contains("try again in"), "{told}");
                    busy += 1;
                }
            }
        }
        assert_eq!((served, busy), (4, 10));
        for _ in 0..5 {
            gives(&runtime, Call::body("return 1"), json!(1)).await;
        }
        assert!(comes_true(|| out() == 0).await, "{}", out());
    });
}

fn a_call_whose_turn_does_not_come_is_told_to_come_back() {
    block_on(async {
        let runtime = few().at_once(1, 10).patience(Duration::from_millis(30)).build().await.expect("cells");
        let long = spawn(&runtime, waits(15_000));
        assert!(comes_true(|| runtime.count(&Tenant::default()).1 == 1).await);
        let began = Instant::now();
        let error = runtime.run(waits(1)).await.expect_err("it is busy");
        assert_eq!(error.code(), ErrorCode::Busy);
        assert!(began.elapsed() < Duration::from_secs(4), "{:?}", began.elapsed());
        long.abort();
        // The turn of a call that was dropped is free again.
        assert!(long.await.is_err());
        gives(&runtime, Call::body("return 1"), json!(1)).await;
    });
}

fn a_burst_of_calls_is_served_to_the_last() {
    block_on(async {
        let runtime = few().parked(4).at_once(16, 1000).patience(PATIENCE).build().await.expect("cells");
        let calls: Vec<_> =
            (0..200).map(|n| spawn(&runtime, Call::body("return n").argument("n", n))).collect();
        for (number, call) in calls.into_iter().enumerate() {
            let report = call.await.expect("no panic").expect("a report");
            assert_eq!(report.value(), &json!(number), "{:?}", report.failure());
        }
    });
}

fn a_nursery_is_replaced_while_calls_go_on() {
    in_a_process_of_its_own("renewal");
}

/// Runs in a process of its own.
pub(crate) fn renewal_role() {
    block_on(async {
        let runtime = few().parked(2).renew_after(5, Duration::from_mins(10)).build().await.expect("cells");
        let mut seen: BTreeSet<u32> = processes::nurseries().iter().map(|one| one.pid).collect();
        let long = spawn(&runtime, waits(1500));
        assert!(comes_true(|| runtime.count(&Tenant::default()).1 == 1).await);
        for number in 0..60 {
            let pair = [0, 1].map(|add| spawn(&runtime, Call::body("return n").argument("n", number + add)));
            for (add, call) in (0..).zip(pair) {
                let report = call.await.expect("no panic").expect("a report");
                assert_eq!(report.value(), &json!(number + add), "{:?}", report.failure());
            }
            seen.extend(processes::nurseries().iter().map(|one| one.pid));
        }
        assert!(seen.len() > 2, "120 calls were served by the nurseries {seen:?}");
        // A call of the first nursery ended in peace, long after its nursery was replaced.
        let report = long.await.expect("no panic").expect("a report");
        assert_eq!(report.value(), &json!("waited"), "{:?}", report.failure());
        let one_left = || processes::nurseries().len() == 1;
        assert!(comes_true(one_left).await, "{:?}", processes::nurseries());
        crate::output::line(format_args!("{} nurseries served 121 calls", seen.len()));
    });
}

fn a_host_that_is_slow_to_listen_keeps_its_nursery() {
    in_a_process_of_its_own("slow_host");
}

/// Runs in a process of its own.
pub(crate) fn slow_host_role() {
    block_on_one_thread(async {
        let runtime = few().parked(100).build().await.expect("cells");
        let nursery = processes::nurseries();
        // The one thread that could listen is kept busy until all cells are forked, or no more are.
        let deadline = Instant::now() + Duration::from_secs(2);
        while processes::cells().len() < 100 && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(5));
        }
        let forked = processes::cells().len();
        crate::output::line(format_args!("{forked} cells were forked while nobody listened"));
        let calls: Vec<_> =
            (0..20).map(|n| spawn(&runtime, Call::body("return n").argument("n", n))).collect();
        for (number, call) in calls.into_iter().enumerate() {
            let report = call.await.expect("no panic").expect("a report");
            assert_eq!(report.value(), &json!(number), "{:?}", report.failure());
        }
        let now = processes::nurseries();
        assert_eq!(
            now.first().map(|one| one.pid),
            nursery.first().map(|one| one.pid),
            "the nursery was lost after {forked} cells"
        );
        assert!(comes_true(|| runtime.count(&Tenant::default()).0 >= 50).await);
    });
}
