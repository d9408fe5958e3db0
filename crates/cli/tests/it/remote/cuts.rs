//! Connections that are cut at each point, and servers that are gone: a clear error, nothing twice, nothing left behind.
#![expect(clippy::expect_used, reason = "a fixture that cannot be made ends its test")]

use std::time::{Duration, Instant};

use bailiwick_sandbox::{Available, Backend as _, Sandbox, SandboxError, SandboxSpec};
use bailiwick_testkit::requires;
use bailiwick_types::ErrorCode;

use super::cutter::{Cutter, Point};
use super::{Serving, There, block_on, has_sandboxes, made, out, ran, shell};

/// How long an error may take where nothing is there any more.
const SOON: Duration = Duration::from_secs(30);

/// Runs a command whose connection is cut; gives how often it ran.
async fn cut(sandbox: &dyn Sandbox, cutter: &Cutter, point: Point) -> usize {
    let before = cutter.connections();
    cutter.cuts(point);
    let begun = Instant::now();
    let error = sandbox.exec(shell("echo x >> /work/log; echo said; sleep 60")).await.expect_err("it is cut");
    assert!(begun.elapsed() < SOON, "{point:?}: {:?}", begun.elapsed());
    assert_eq!(error.code(), ErrorCode::Unavailable, "{point:?}: {error}");
    assert_eq!(cutter.connections(), before + 1, "{point:?}: nothing is sent again");
    let log = ran(sandbox, "cat /work/log; rm -f /work/log").await;
    out(&log).lines().count()
}

#[test]
fn a_command_whose_connection_is_cut_is_never_sent_again() {
    requires!("sandboxes", has_sandboxes());
    let there = There::start();
    block_on(async {
        let mut cutter = Cutter::new(there.address()).await;
        cutter.open();
        let backend = there.backend_at(&cutter.address(), Duration::from_secs(5));
        let sandbox = made(&backend).await;
        for point in [Point::AtOnce, Point::BeforeAnswer, Point::InAnswer, Point::AfterAnswer] {
            assert_eq!(cut(sandbox.as_ref(), &cutter, point).await, 0, "{point:?}: it was not begun");
        }
        let times = cut(sandbox.as_ref(), &cutter, Point::AfterStart).await;
        assert!(times <= 1, "it ran {times} times");
        assert_eq!(cut(sandbox.as_ref(), &cutter, Point::AfterOutput).await, 1, "it ran once");
        sandbox.terminate().await.expect("it ends");
    });
    there.is_empty();
    there.serving.end();
}

#[test]
fn a_sandbox_whose_answer_is_lost_is_not_left_there() {
    requires!("sandboxes", has_sandboxes());
    let there = There::start();
    block_on(async {
        let mut cutter = Cutter::new(there.address()).await;
        cutter.open();
        let backend = there.backend_at(&cutter.address(), Duration::from_secs(5));
        for point in [Point::AtOnce, Point::BeforeAnswer, Point::InAnswer] {
            assert_eq!(backend.probe().await.availability, Available::Yes);
            let before = there.made();
            cutter.cuts(point);
            let error = backend.create(SandboxSpec::default()).await.expect_err("it is cut");
            assert_eq!(error.code(), ErrorCode::Unavailable, "{point:?}: {error}");
            backend.close().await;
            there.is_empty();
            let records = there.made() - before;
            // An intent and an outcome: one sandbox, or none.
            assert!(records <= 2, "{point:?}: {records}");
        }
        drop(made(&backend).await);
        backend.close().await;
    });
    there.is_empty();
    there.serving.end();
}

#[test]
fn a_connection_that_is_refused_is_tried_again_and_runs_once() {
    requires!("sandboxes", has_sandboxes());
    let there = There::start();
    block_on(async {
        let mut cutter = Cutter::new(there.address()).await;
        let address = cutter.address();
        let (patient, hasty) =
            (there.backend_at(&address, Duration::from_mins(1)), there.backend_at(&address, Duration::ZERO));
        // A backend that looked before, by another way to the same server.
        cutter.closed();
        let error = hasty.create(SandboxSpec::default()).await.expect_err("nobody is there");
        let SandboxError::Unavailable { reason, fix, .. } = error else { panic!("{error}") };
        assert!(reason.contains("cannot be reached"), "{reason}");
        assert!(fix.is_some());
        let making = patient.probe();
        tokio::pin!(making);
        let early = tokio::time::timeout(Duration::from_millis(500), &mut making).await;
        assert!(early.is_err(), "nobody is there, and it is still tried: {early:?}");
        cutter.opened_again().await;
        assert_eq!(making.await.availability, Available::Yes);
        let sandbox = made(&patient).await;
        ran(sandbox.as_ref(), "echo x >> log").await;
        assert_eq!(out(&ran(sandbox.as_ref(), "cat log").await), "x\n");
        sandbox.terminate().await.expect("it ends");
        assert_eq!(there.made(), 4, "the look and one sandbox, each with its intent and its outcome");
    });
    there.is_empty();
    there.serving.end();
}

#[test]
fn a_server_that_is_killed_is_a_clear_error_and_the_next_one_works() {
    requires!("sandboxes", has_sandboxes());
    let there = There::start();
    let There { program, serving, key } = there;
    let address = serving.address().to_owned();
    let port = address.rsplit(':').next().expect("a port").to_owned();
    let there = There { program, serving, key };
    block_on(async {
        let backend = there.backend_at(&address, Duration::from_secs(20));
        let sandbox = made(&backend).await;
        let running = sandbox.spawn(shell("echo begun; sleep 60")).await.expect("it runs");
        let mut output = running.output;
        assert_eq!(&output.recv().await.expect("output").bytes[..], b"begun\n");
        let There { program, serving, key } = there;
        serving.killed();
        let begun = Instant::now();
        let error = running.ended.await.expect("told").expect_err("it was killed");
        assert!(begun.elapsed() < SOON);
        assert_eq!(error.code(), ErrorCode::Unavailable, "{error}");
        let listen = format!("127.0.0.1:{port}");
        let serving = Serving::start_at(&program, &listen, &[]);
        let there = There { program, serving, key };
        // What it kept went with it.
        let error = sandbox.exec(shell("true")).await.expect_err("it is gone");
        assert_eq!(error.code(), ErrorCode::NotFound, "{error}");
        assert!(!sandbox.is_alive());
        sandbox.terminate().await.expect("there is nothing to end");
        let next = made(&backend).await;
        assert_eq!(out(&ran(next.as_ref(), "echo again").await), "again\n");
        next.terminate().await.expect("it ends");
        there.is_empty();
        there.serving.end();
    });
}
