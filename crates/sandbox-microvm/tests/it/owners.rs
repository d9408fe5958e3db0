//! Owners that are killed: their machines die with them, and what else they leave is found by the next.

use std::process::ExitCode;

use bailiwick_sandbox_microvm::MicrovmBackend;
use bailiwick_testkit::{requires, tests};
use bailiwick_testkit_sandbox::{Owner, cgroups_of};

use crate::place::{Place, is_possible, machines_of, options, sh, spec, wait};

tests!(an_owner_that_is_killed_leaves_nothing_to_the_next);

/// Becomes an owner that only waits to be killed, if this program was started as one.
pub(crate) fn become_one() -> Option<ExitCode> {
    let state = Owner::told()?.next().expect("a folder");
    let backend = MicrovmBackend::new(options(state.into()));
    wait(async {
        use bailiwick_sandbox::Backend as _;
        let sandbox = backend.create(spec()).await.expect("a sandbox");
        sh(sandbox.as_ref(), "setsid sleep 1000 >/dev/null 2>&1 & echo on").await;
        sandbox.snapshot().await.expect("kept");
        Owner::stay("").await;
    });
    Some(ExitCode::SUCCESS)
}

fn an_owner_that_is_killed_leaves_nothing_to_the_next() {
    requires!("qemu", is_possible());
    let place = Place::new();
    let state = place.path().join("of-the-owner");
    let (mut owner, _) = Owner::start(Owner::again().arg(&state));
    let [qemu] = machines_of(owner.id())[..] else { panic!("one machine") };
    let number = rustix::process::Pid::from_raw(qemu).expect("a number");
    let handle = rustix::process::pidfd_open(number, rustix::process::PidfdFlags::empty()).expect("a handle");
    owner.kill();
    // It dies with its owner: nobody has to come for that.
    let mut waited = [rustix::event::PollFd::new(&handle, rustix::event::PollFlags::IN)];
    let most = rustix::event::Timespec { tv_sec: 20, tv_nsec: 0 };
    assert_eq!(rustix::event::poll(&mut waited, Some(&most)).expect("waited"), 1, "it lives on");
    // The next owner removes the rest: cgroups, and the memory of its snapshot.
    let next = MicrovmBackend::new(options(state.clone()));
    assert_eq!(std::fs::read_dir(state.join("microvm")).expect("a folder").count(), 0);
    let of_the_owner = format!("bailiwick-sandbox-{}-", owner.id());
    assert_eq!(cgroups_of(&of_the_owner), Vec::<std::path::PathBuf>::new());
    drop(next);
}
