//! What machines are made with: not there, broken, or killed.

use std::io::Write as _;
use std::time::{Duration, Instant};

use bailiwick_sandbox::{Available, Backend, Backends, SandboxError};
use bailiwick_sandbox_microvm::Emulation;
use bailiwick_testkit::{requires, tests};
use bailiwick_types::Tier;

use crate::place::{Place, is_possible, machines, sh, shell, spec, wait};

tests!(
    without_its_parts_it_is_said_what_is_missing,
    a_kvm_on_which_nothing_starts_is_told_in_time_and_remembered,
    asking_for_a_machine_where_kvm_does_not_work_fails_in_time_and_then_at_once,
    a_machine_that_is_killed_is_told_and_leaves_nothing_and_the_next_one_works,
);

fn without_its_parts_it_is_said_what_is_missing() {
    #[track_caller]
    fn check(place: &Place, why: &str, key: &str) {
        wait(async {
            let probe = place.backend.probe().await;
            let Available::No { reason, fix } = probe.availability else { panic!("there is none") };
            assert!(reason.contains(why), "{reason}");
            let claims = probe.found.iter().any(|found| found.contains("/no/such"));
            assert!(!claims, "nothing is found of what is not there: {:?}", probe.found);
            assert!(fix.is_some_and(|fix| fix.contains(key)));
            let refused = place.create(spec()).await.err();
            assert!(matches!(refused, Some(SandboxError::Unavailable { .. })), "{refused:?}");
        });
    }
    check(
        &Place::with(|options| options.program = "/no/such/qemu".into()),
        "no program /no/such/qemu",
        "sandbox.microvm.program",
    );
    requires!("qemu", is_possible());
    check(
        &Place::with(|options| options.kernel = "/no/such/kernel".into()),
        "no kernel for machines",
        "sandbox.microvm.kernel",
    );
    check(
        &Place::with(|options| options.program = "/bin/false".into()),
        "QEMU made no machine that stands",
        "sandbox.microvm.kernel",
    );
}

/// Where KVM works this test sees that; elsewhere, that it is said in time, and at once the next time.
fn a_kvm_on_which_nothing_starts_is_told_in_time_and_remembered() {
    requires!("qemu", is_possible());
    let place = Place::with(|options| options.emulation = Emulation::Never);
    let began = Instant::now();
    let probe = wait(async { place.backend.probe().await });
    assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
    let Available::No { reason, fix } = probe.availability else { return };
    let _nobody_reads = writeln!(std::io::stderr(), "{reason}");
    assert!(reason.contains("kvm") || reason.contains("KVM"), "{reason}");
    assert!(fix.is_some_and(|fix| fix.contains("sandbox.microvm.emulation")));
    let began = Instant::now();
    let refused = wait(async { place.create(spec()).await.err() });
    assert!(matches!(refused, Some(SandboxError::Unavailable { .. })), "{refused:?}");
    // Another process of the same operator does not wait for it either.
    let state = place.path().join("state");
    let other = Place::with(|options| (options.emulation, options.state) = (Emulation::Never, state));
    let probe = wait(async { other.backend.probe().await });
    assert!(matches!(probe.availability, Available::No { .. }), "{probe:?}");
    assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
    assert_eq!(machines(), Vec::<i32>::new());
}

/// Where KVM works this test sees that the backend is picked.
fn asking_for_a_machine_where_kvm_does_not_work_fails_in_time_and_then_at_once() {
    requires!("qemu", is_possible());
    let place = Place::with(|options| options.emulation = Emulation::Never);
    let backends = Backends::new([place.backend.clone() as std::sync::Arc<dyn Backend>]);
    for within in [Duration::from_secs(10), Duration::from_secs(2)] {
        let began = Instant::now();
        let picked = wait(backends.select(Tier::MicroVm, None, &spec()));
        let took = began.elapsed();
        let _nobody_reads = writeln!(std::io::stderr(), "{took:?}: {picked:?}");
        let Err(SandboxError::NoneFits(none)) = picked else {
            assert_eq!(picked.expect("KVM works").id(), "microvm");
            return;
        };
        assert!(took < within, "{took:?}");
        assert_eq!(none.floor, Tier::MicroVm);
        let why = none.to_string();
        assert!(why.contains("microvm (") && (why.contains("kvm") || why.contains("KVM")), "{why}");
        assert!(none.hint().contains("sandbox.microvm.emulation"), "{}", none.hint());
    }
    assert_eq!(machines(), Vec::<i32>::new());
}

fn a_machine_that_is_killed_is_told_and_leaves_nothing_and_the_next_one_works() {
    requires!("qemu", is_possible());
    let place = Place::new();
    wait(async {
        let sandbox = place.sandbox().await;
        let mut running = sandbox.spawn(shell("echo on; sleep 1000")).await.expect("it runs");
        assert!(running.output.recv().await.is_some());
        let [qemu] = machines()[..] else { panic!("{:?}", machines()) };
        let qemu = rustix::process::Pid::from_raw(qemu).expect("a number");
        rustix::process::kill_process(qemu, rustix::process::Signal::KILL).expect("killed");
        let ended = running.ended.await.expect("told");
        let why = ended.map(drop).expect_err("it did not end by itself").to_string();
        assert!(why.contains("its first process has ended"), "{why}");
        assert!(sandbox.exec(shell("true")).await.is_err() && !sandbox.is_alive());
        sandbox.terminate().await.expect("ended");
        assert_eq!(machines(), Vec::<i32>::new());
        assert_eq!(sh(place.sandbox().await.as_ref(), "echo on").await, "on\n");
    });
}
