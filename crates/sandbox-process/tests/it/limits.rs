//! Limits: each ends what goes beyond it, and is told apart from the others.

use std::time::Duration;

use bailiwick_sandbox::Exit;
use bailiwick_testkit::tests;
use bailiwick_types::ErrorCode;

use crate::place::{Place, sh, shell, spec, wait, words};

tests!(
    a_deadline_ends_whatever_is_done_about_it,
    its_own_files_are_bounded_in_bytes_and_in_number,
    processes_are_bounded,
    what_is_wrong_with_a_spec_is_told_before_anything_is_made,
);

fn a_deadline_ends_whatever_is_done_about_it() {
    let place = Place::new();
    wait(async {
        let mut spec = spec();
        spec.limits.timeout.value = Duration::from_millis(300);
        let sandbox = place.create(spec).await.expect("a sandbox");
        for text in [
            "sleep 1000",
            "while :; do :; done",
            "trap '' TERM INT HUP; while :; do sleep 1; done",
            "sleep 1000 & sleep 1000",
            "setsid sleep 1000 & wait",
        ] {
            let result = sandbox.exec(shell(text)).await.expect("an end");
            assert!(result.timed_out && !result.oom, "{text}");
            assert_eq!(result.exit_status(), 124, "{text}");
        }
        assert_eq!(sh(sandbox.as_ref(), "echo alive").await, "alive\n");
    });
}

fn its_own_files_are_bounded_in_bytes_and_in_number() {
    let place = Place::new();
    wait(async {
        let mut spec = spec();
        spec.limits.disk.value = 4 << 20;
        let sandbox = place.create(spec).await.expect("a sandbox");
        let full = sandbox.exec(shell("head -c 8000000 /dev/zero > /tmp/a")).await.expect("an end");
        assert_ne!(full.exit, Exit::Code(0));
        assert!(String::from_utf8_lossy(&full.stderr.bytes).contains("No space left"), "{full:?}");
        // One bound for all of its folders.
        let other = sandbox.exec(shell("head -c 100000 /dev/zero > /dev/shm/b")).await.expect("an end");
        assert_ne!(other.exit, Exit::Code(0));
        sh(sandbox.as_ref(), "rm /tmp/a /dev/shm/b").await;
        let files = "i=0; while [ $i -lt 3000 ]; do : > f$i || exit 9; i=$((i+1)); done";
        let many = sandbox.exec(shell(files)).await.expect("an end");
        assert_ne!(many.exit, Exit::Code(0), "{many:?}");
    });
}

fn processes_are_bounded() {
    let place = Place::new();
    wait(async {
        let mut spec = spec();
        spec.limits.processes.value = 10;
        let sandbox = place.create(spec).await.expect("a sandbox");
        let text = "import os,time\nn=0\ntry:\n while n<100:\n  if os.fork()==0: time.sleep(60)\n  n+=1\nexcept OSError as e: print(n, e.errno, flush=True)\ntime.sleep(60)";
        let mut running = sandbox.spawn(words(&["/usr/bin/python3", "-c", text])).await.expect("it begins");
        let said = running.output.recv().await.expect("it says how many");
        assert_eq!(String::from_utf8_lossy(&said.bytes), "9 11\n", "itself and nine more");
        let error = sandbox.exec(words(&["true"])).await.expect_err("there is no room");
        assert_eq!(error.code(), ErrorCode::Busy, "{error}");
    });
}

fn what_is_wrong_with_a_spec_is_told_before_anything_is_made() {
    let place = Place::new();
    wait(async {
        let mut zero = spec();
        zero.limits.timeout.value = Duration::ZERO;
        let mut nameless = spec();
        nameless.env.insert("A=B".to_owned(), "c".to_owned());
        let mut nul = spec();
        nul.env.insert("A".to_owned(), "b\0c".to_owned());
        for spec in [zero, nameless, nul] {
            let error = place.create(spec).await.expect_err("it is refused");
            assert_eq!(error.code(), ErrorCode::InvalidInput, "{error}");
        }
        assert!(!place.path().join("state").exists(), "nothing was made");
    });
}
