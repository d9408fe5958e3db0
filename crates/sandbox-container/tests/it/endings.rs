//! Engines that end or are not there: nothing hangs, and what happened is told.

use std::time::{Duration, Instant};

use bailiwick_sandbox::{Available, Backend as _};
use bailiwick_testkit::tests;
use bailiwick_types::ErrorCode;

use crate::engines::{Engine, Own, ask, comes_to_nothing};
use crate::place::{Place, sh, shell, wait};

tests!(
    an_engine_that_is_killed_ends_what_runs_with_a_reason_and_comes_back,
    where_there_is_no_engine_it_is_told_what_would_help,
    a_socket_of_nobody_is_not_waited_for,
);

fn an_engine_that_is_killed_ends_what_runs_with_a_reason_and_comes_back() {
    let Some(mut own) = Own::docker() else { return };
    let place = Place::at(&own.socket, |_| {});
    wait(async {
        let sandbox = place.sandbox().await;
        assert_eq!(sh(sandbox.as_ref(), "echo on").await, "on\n");
        let began = Instant::now();
        let mut running = sandbox.spawn(shell("echo begun; sleep 1000")).await.expect("it runs");
        let first = running.output.recv().await.expect("its output");
        assert_eq!(&first.bytes[..], b"begun\n");
        own.kill();
        let ended = running.ended.await.expect("it is told");
        let error = ended.expect_err("its engine is gone");
        assert_eq!(error.code(), ErrorCode::NotFound, "{error}");
        assert!(error.to_string().contains("the engine at"), "{error}");
        let error = sandbox.exec(shell("true")).await.expect_err("it is gone");
        assert!(error.to_string().contains("is gone"), "{error}");
        let error = place.create(crate::place::spec()).await.expect_err("there is no engine");
        assert_eq!(error.code(), ErrorCode::Unavailable, "{error}");
        sandbox.terminate().await.expect("nothing hangs");
        assert!(began.elapsed() < Duration::from_mins(1), "{:?}", began.elapsed());
        own.start_again();
        let sandbox = place.sandbox().await;
        assert_eq!(sh(sandbox.as_ref(), "echo again").await, "again\n");
        sandbox.terminate().await.expect("an end");
        place.backend.close().await;
    });
    let engine = Engine::Own(own);
    assert!(comes_to_nothing(&engine), "of the first: {}", ask(&engine, &["ps", "-a"]));
}

#[track_caller]
fn check_absent(place: &Place, reason: &str, fix: &str) {
    let began = Instant::now();
    let probe = wait(place.backend.probe());
    let Available::No { reason: told, fix: Some(told_fix) } = probe.availability else { panic!("{probe:?}") };
    assert!(told.contains(reason), "{told}");
    assert!(told_fix.contains(fix), "{told_fix}");
    assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
}

fn where_there_is_no_engine_it_is_told_what_would_help() {
    let folder = tempfile::tempdir().expect("a folder");
    let place = Place::at(&folder.path().join("none.sock"), |_| {});
    check_absent(&place, "no engine is there", "install Docker or Podman");
}

fn a_socket_of_nobody_is_not_waited_for() {
    let folder = tempfile::tempdir().expect("a folder");
    // Left behind by somebody who is gone.
    let dead = folder.path().join("dead.sock");
    drop(std::os::unix::net::UnixListener::bind(&dead).expect("a socket"));
    check_absent(&Place::at(&dead, |_| {}), "does not answer", "start it");
    // Held by somebody who never answers.
    let silent = folder.path().join("silent.sock");
    let _listener = std::os::unix::net::UnixListener::bind(&silent).expect("a socket");
    check_absent(&Place::at(&silent, |_| {}), "does not answer as an engine", "docker version");
}
