//! What ends a sandbox at a server: its handle, its backend, its time to live.

use std::time::{Duration, Instant};

use bailiwick_sandbox::{Backend as _, SandboxSpec};
use bailiwick_testkit::requires;

use super::{PATIENCE, There, block_on, has_sandboxes, made, shell};

#[test]
fn dropping_a_sandbox_ends_it_there_and_what_runs_in_it() {
    requires!("sandboxes", has_sandboxes());
    let there = There::start();
    block_on(async {
        let backend = there.backend();
        let sandbox = made(&backend).await;
        let running = sandbox.spawn(shell("echo begun; sleep 60")).await.expect("it runs");
        let mut output = running.output;
        assert_eq!(&output.recv().await.expect("output").bytes[..], b"begun\n");
        assert_eq!(there.kept().len(), 1);
        drop(sandbox);
        let ended = running.ended.await.expect("told");
        assert!(
            ended.is_err() || ended.is_ok_and(|ended| ended.exit.status() != 0),
            "it did not run to its end"
        );
        there.is_empty();
    });
    there.serving.end();
}

#[test]
fn closing_the_backend_ends_everything_and_waits_for_that() {
    requires!("sandboxes", has_sandboxes());
    let there = There::start();
    block_on(async {
        let backend = there.backend();
        let (one, other) = (made(&backend).await, made(&backend).await);
        drop(one);
        backend.close().await;
        assert!(there.kept().is_empty(), "it waited: {:#?}", there.kept());
        assert!(!other.is_alive());
    });
    there.serving.end();
}

#[test]
fn what_a_crashed_client_left_ends_with_its_time_to_live() {
    requires!("sandboxes", has_sandboxes());
    let there = There::start();
    block_on(async {
        let backend = there.backend();
        let mut spec = SandboxSpec::default();
        spec.ttl.idle = Duration::from_secs(3);
        spec.labels.insert("job".to_owned(), "42".to_owned());
        let sandbox = backend.create(spec).await.expect("a sandbox");
        let kept = there.kept();
        assert_eq!(kept.len(), 1);
        assert_eq!(kept[0]["name"], sandbox.id().to_string(), "it goes by our id there");
        // As if this process were gone: nobody ends it.
        std::mem::forget(sandbox);
        let begun = Instant::now();
        there.is_empty();
        assert!(begun.elapsed() < PATIENCE);
    });
    there.serving.end();
}
