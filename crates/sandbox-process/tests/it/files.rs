//! Files of a sandbox from outside, snapshots of them, and sandboxes that begin with one.

use bailiwick_sandbox::SandboxError;
use bailiwick_testkit::tests;
use bailiwick_types::ErrorCode;
use bytes::Bytes;

use crate::place::{Place, path, sh, spec, wait};

tests!(
    what_a_link_leads_to_is_inside,
    a_file_that_is_too_long_or_not_there_is_told,
    a_fork_has_the_files_and_is_apart,
    snapshots_end_with_their_owner,
);

fn what_a_link_leads_to_is_inside() {
    let place = Place::new();
    wait(async {
        let sandbox = place.sandbox().await;
        sh(sandbox.as_ref(), "ln -s /etc/hostname link; ln -s / root").await;
        let read = sandbox.read_file(&path("/work/link"), 100).await.expect("read");
        assert_eq!(read, "sandbox\n", "the sandbox's own, not the host's");
        let secret = place.path().join("secret");
        std::fs::write(&secret, "no").expect("a file");
        let through = format!("/work/root{}", secret.display());
        let error = sandbox.read_file(&path(&through), 100).await.expect_err("it is not there");
        assert_eq!(error.code(), ErrorCode::NotFound, "{error}");
    });
}

fn a_file_that_is_too_long_or_not_there_is_told() {
    let place = Place::new();
    wait(async {
        let mut spec = spec();
        spec.limits.disk.value = 1 << 20;
        let sandbox = place.create(spec).await.expect("a sandbox");
        sandbox.write_file(&path("/work/a"), Bytes::from(vec![1; 1000]), false).await.expect("written");
        let code = |error: SandboxError| error.code();
        let long = sandbox.read_file(&path("/work/a"), 999).await.map_err(code);
        assert_eq!(long.err(), Some(ErrorCode::OutputLimit));
        let none = sandbox.read_file(&path("/work/b"), 999).await.map_err(code);
        assert_eq!(none.err(), Some(ErrorCode::NotFound));
        let full = sandbox.write_file(&path("/work/c"), Bytes::from(vec![1; 2_000_000]), false).await;
        assert_eq!(full.map_err(code).err(), Some(ErrorCode::DiskLimit));
        assert_eq!(sh(sandbox.as_ref(), "ls -A").await, "a\n", "nothing half-written is left");
        let denied = sandbox.write_file(&path("/usr/c"), Bytes::new(), false).await.map_err(code);
        assert_eq!(denied.err(), Some(ErrorCode::FsFailed));
    });
}

/// How many snapshots are kept.
fn kept(place: &Place) -> usize {
    let Ok(owners) = std::fs::read_dir(place.path().join("state/snapshots")) else { return 0 };
    let count = |owner: std::fs::DirEntry| std::fs::read_dir(owner.path()).map_or(0, Iterator::count);
    owners.filter_map(Result::ok).map(count).sum()
}

fn snapshots_end_with_their_owner() {
    let mut place = Place::new();
    wait(async {
        let sandbox = place.sandbox().await;
        sandbox.snapshot().await.expect("a snapshot");
        assert_eq!(kept(&place), 1);
    });
    let state = place.path().join("state");
    // One of an owner that was killed: no process has such a number.
    let left = state.join("snapshots/bailiwick-sandbox-4194305-1-0");
    std::fs::create_dir(&left).expect("a folder");
    place.backend = std::sync::Arc::new(bailiwick_sandbox_process::ProcessBackend::new(
        bailiwick_sandbox_process::Options::new(state),
    ));
    assert_eq!(kept(&place), 0);
    assert!(!left.exists());
}

fn a_fork_has_the_files_and_is_apart() {
    let place = Place::new();
    wait(async {
        let first = place.sandbox().await;
        sh(first.as_ref(), "echo one > a").await;
        let second = first.fork().await.expect("a fork");
        assert_ne!(first.id(), second.id());
        sh(second.as_ref(), "echo two > a").await;
        assert_eq!(sh(first.as_ref(), "cat a").await, "one\n");
        assert_eq!(sh(second.as_ref(), "cat a").await, "two\n");
        assert_eq!(kept(&place), 0, "a fork keeps no snapshot");
    });
}
