//! The program that makes sandboxes: not there, or pulled away.

use std::time::{Duration, Instant};

use bailiwick_sandbox::{Available, Backend, SandboxError};
use bailiwick_testkit::{requires, tests};

use crate::place::{Place, is_possible, sh, spec, wait};

tests!(
    without_the_program_it_is_said_what_is_missing,
    a_program_that_is_none_is_told_and_not_waited_for,
    a_program_that_is_pulled_away_is_told_and_leaves_nothing,
);

fn without_the_program_it_is_said_what_is_missing() {
    let place = Place::with(|options| options.program = "/no/such/runsc".into());
    wait(async {
        let probe = place.backend.probe().await;
        let Available::No { reason, fix } = probe.availability else { panic!("there is none") };
        assert!(reason.contains("/no/such/runsc cannot be started"), "{reason}");
        assert!(fix.is_some_and(|fix| fix.contains("sandbox.gvisor.program")));
        let refused = place.create(spec()).await.err();
        assert!(matches!(refused, Some(SandboxError::Unavailable { .. })), "{refused:?}");
    });
}

fn a_program_that_is_none_is_told_and_not_waited_for() {
    let place = Place::with(|options| options.program = "/bin/false".into());
    let began = Instant::now();
    wait(async {
        let probe = place.backend.probe().await;
        assert!(matches!(probe.availability, Available::No { .. }), "{probe:?}");
    });
    assert!(began.elapsed() < Duration::from_secs(20));
}

fn a_program_that_is_pulled_away_is_told_and_leaves_nothing() {
    requires!("gvisor", is_possible());
    let folder = Place::new();
    let program = folder.path().join("runsc");
    let found = ["/usr/local/bin/runsc", "/usr/bin/runsc"]
        .into_iter()
        .find(|one| std::path::Path::new(one).is_file());
    std::fs::copy(found.expect("runsc"), &program).expect("a copy");
    let place = Place::with(|options| options.program = program.clone());
    wait(async {
        let sandbox = place.sandbox().await;
        let other = place.sandbox().await;
        other.hibernate().await.expect("asleep");
        std::fs::rename(&program, folder.path().join("elsewhere")).expect("moved");
        // What runs goes on.
        assert_eq!(sh(sandbox.as_ref(), "echo on").await, "on\n");
        for refused in [sandbox.hibernate().await.err(), sandbox.snapshot().await.err().map(|error| error)] {
            let refused = refused.expect("it cannot be kept").to_string();
            assert!(refused.contains("cannot be started"), "{refused}");
        }
        assert_eq!(sh(sandbox.as_ref(), "echo still on").await, "still on\n");
        let refused =
            other.exec(crate::place::shell("true")).await.err().expect("it cannot be woken").to_string();
        assert!(refused.contains("cannot be started"), "{refused}");
        let refused = place.create(spec()).await.err().expect("none can be made").to_string();
        assert!(refused.contains("cannot be started"), "{refused}");
        // It comes back, and so does what was kept.
        std::fs::rename(folder.path().join("elsewhere"), &program).expect("moved back");
        assert_eq!(sh(other.as_ref(), "echo woken").await, "woken\n");
        std::fs::remove_file(&program).expect("removed");
        sandbox.terminate().await.expect("ended");
        other.terminate().await.expect("ended");
        assert_eq!(place.processes(), Vec::<i32>::new());
    });
}
