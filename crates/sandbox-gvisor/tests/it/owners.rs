//! Owners that are killed: what they leave is found by the next and removed.

use std::process::ExitCode;

use bailiwick_sandbox_gvisor::{GvisorBackend, Options};
use bailiwick_testkit::{requires, tests};
use bailiwick_testkit_sandbox::Owner;

use crate::place::{Place, cgroups_of, is_possible, processes_with, sh, spec, wait};

tests!(an_owner_that_is_killed_leaves_nothing_to_the_next);

/// Becomes an owner that only waits to be killed, if this program was started as one.
pub(crate) fn become_one() -> Option<ExitCode> {
    let state = Owner::told()?.next().expect("a folder");
    let backend = GvisorBackend::new(Options::new(state));
    wait(async {
        use bailiwick_sandbox::Backend as _;
        let mut all = Vec::new();
        for number in 0..3 {
            let sandbox = backend.create(spec()).await.expect("a sandbox");
            sh(sandbox.as_ref(), "setsid sleep 1000 >/dev/null 2>&1 & echo on").await;
            if number == 0 {
                sandbox.hibernate().await.expect("asleep");
            }
            if number == 1 {
                sandbox.snapshot().await.expect("kept");
            }
            all.push(sandbox);
        }
        Owner::stay("").await;
    });
    Some(ExitCode::SUCCESS)
}

fn an_owner_that_is_killed_leaves_nothing_to_the_next() {
    requires!("gvisor", is_possible());
    let place = Place::new();
    let state = place.path().join("of-the-owner");
    let (mut owner, _) = Owner::start(Owner::again().arg(&state));
    let text = state.display().to_string();
    let of_the_owner = format!("bailiwick-sandbox-{}-", owner.id());
    assert!(processes_with(&format!("{text}/gvisor")).len() >= 4);
    assert!(!cgroups_of(&of_the_owner).is_empty());
    owner.kill();
    // The next owner: as soon as it stands, nothing is left.
    let next = GvisorBackend::new(Options::new(&state));
    assert_eq!(processes_with(&format!("{text}/gvisor")), Vec::<i32>::new());
    assert_eq!(cgroups_of(&of_the_owner), Vec::<std::path::PathBuf>::new());
    assert_eq!(std::fs::read_dir(state.join("gvisor")).expect("a folder").count(), 0);
    let mounts = std::fs::read_to_string("/proc/self/mounts").expect("mounts");
    assert!(!mounts.contains(&text), "{mounts}");
    drop(next);
}
