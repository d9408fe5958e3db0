//! Sandboxes that sleep, stop, and wake.

use std::time::Duration;

use bailiwick_testkit::tests;

use crate::place::{Place, sh, shell, wait};

tests!(
    a_sandbox_that_sleeps_does_nothing_until_it_is_used,
    stopping_ends_what_runs_and_keeps_the_files,
    usage_is_counted,
);

fn a_sandbox_that_sleeps_does_nothing_until_it_is_used() {
    let place = Place::new();
    wait(async {
        let sandbox = place.sandbox().await;
        let count = "i=0; while :; do i=$((i+1)); echo $i > /tmp/n; sleep 0.01; done";
        sh(sandbox.as_ref(), &format!("({count}) >/dev/null 2>&1 & echo on")).await;
        sandbox.hibernate().await.expect("asleep");
        sandbox.hibernate().await.expect("asleep still");
        // Nothing is looked at from inside while it sleeps: usage does not wake it.
        let before = sandbox.usage().await.expect("usage");
        std::thread::sleep(Duration::from_millis(100));
        let after = sandbox.usage().await.expect("usage");
        assert!(
            (after.cpu_ms - before.cpu_ms).abs() < f64::EPSILON,
            "it used {} ms while it slept",
            after.cpu_ms - before.cpu_ms
        );
        let at_first = sh(sandbox.as_ref(), "cat /tmp/n").await;
        let later =
            sh(sandbox.as_ref(), "n=$(cat /tmp/n); while [ $n = $(cat /tmp/n) ]; do :; done; echo on").await;
        assert_eq!(later, "on\n", "it goes on after {at_first}");
    });
}

fn stopping_ends_what_runs_and_keeps_the_files() {
    let place = Place::new();
    wait(async {
        let sandbox = place.sandbox().await;
        sh(sandbox.as_ref(), "echo kept > note; (trap '' TERM; while :; do sleep 1; done) >/dev/null 2>&1 & (sleep 1000) >/dev/null 2>&1 & echo on").await;
        sandbox.stop(Duration::from_millis(50)).await.expect("stopped");
        assert_eq!(sandbox.usage().await.expect("usage").processes, 0);
        assert_eq!(sh(sandbox.as_ref(), "cat note").await, "kept\n");
    });
}

fn usage_is_counted() {
    let place = Place::new();
    wait(async {
        let sandbox = place.sandbox().await;
        let burn = "i=0; while [ $i -lt 50000 ]; do i=$((i+1)); done";
        let result = sandbox.exec(shell(burn)).await.expect("it runs");
        assert!(result.usage.cpu_ms > 0.0 && result.usage.wall_ms > 0.0, "{:?}", result.usage);
        assert!(result.usage.memory_peak > 0 && result.usage.processes >= 1, "{:?}", result.usage);
        let all = sandbox.usage().await.expect("usage");
        assert!(all.wall_ms >= result.usage.wall_ms);
    });
}
