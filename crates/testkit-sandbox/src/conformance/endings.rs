//! Endings: whatever becomes of a sandbox, nothing of it is left.

use bailiwick_sandbox::SandboxError;

use super::stage::Traces;
use super::{Place, Subject, checks};
use crate::{cgroups_of, shell, wait};

checks!(
    a_sandbox_that_ended_leaves_nothing_and_says_so,
    a_sandbox_that_is_dropped_leaves_nothing,
    closing_a_backend_ends_all_and_waits_for_it,
);

fn a_sandbox_that_ended_leaves_nothing_and_says_so(subject: &dyn Subject) {
    let place = Place::new(subject);
    wait(async {
        let sandbox = place.sandbox().await;
        place.leave_a_process(sandbox.as_ref()).await;
        assert!(sandbox.is_alive());
        assert_ne!(place.traces(), Traces::default());
        sandbox.terminate().await.expect("ended");
        sandbox.terminate().await.expect("again is fine");
        assert!(!sandbox.is_alive());
        assert_eq!(place.traces(), Traces::default());
        let error = sandbox.exec(shell("true")).await.expect_err("it is gone");
        assert!(matches!(error, SandboxError::Gone { .. }), "{error}");
        let told: String = sandbox.receipt().walls.iter().map(|part| part.mechanism.as_str()).collect();
        for cgroup in cgroups_of("bailiwick-sandbox-") {
            assert!(!told.contains(&cgroup.display().to_string()), "{} is left", cgroup.display());
        }
    });
}

fn a_sandbox_that_is_dropped_leaves_nothing(subject: &dyn Subject) {
    let place = Place::new(subject);
    wait(async {
        let sandbox = place.sandbox().await;
        place.leave_a_process(sandbox.as_ref()).await;
        drop(sandbox);
        // Whoever closes the backend waits for the end.
        place.backend.close().await;
        assert_eq!(place.traces(), Traces::default());
    });
}

fn closing_a_backend_ends_all_and_waits_for_it(subject: &dyn Subject) {
    let place = Place::new(subject);
    wait(async {
        let sandboxes = [place.sandbox().await, place.sandbox().await];
        for sandbox in &sandboxes {
            place.leave_a_process(sandbox.as_ref()).await;
        }
        place.backend.close().await;
        assert_eq!(place.traces(), Traces::default());
        for sandbox in &sandboxes {
            let error = sandbox.exec(shell("true")).await.expect_err("it is gone");
            assert!(matches!(error, SandboxError::Gone { .. }), "{error}");
        }
    });
}
