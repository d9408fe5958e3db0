//! The program that makes sandboxes: not there, or pulled away.

use std::time::{Duration, Instant};

use bailiwick_sandbox::{Available, Backend, Mount, SandboxError};
use bailiwick_testkit::{requires, tests};

use crate::place::{Place, cgroups_of, is_possible, is_root, path, processes_with, sh, shell, spec, wait};

tests!(
    without_the_program_it_is_said_what_is_missing,
    a_program_that_is_none_is_told_and_not_waited_for,
    a_program_that_is_pulled_away_is_told_and_leaves_nothing,
    a_process_of_gvisor_that_is_killed_in_mid_exec_is_told_and_leaves_nothing,
    the_program_sees_the_end_of_its_sandbox_and_has_nothing_to_forget_afterwards,
    a_program_that_outlives_its_sandbox_is_ended,
    a_mount_that_becomes_another_while_it_starts_is_never_the_other,
    a_sandbox_that_nobody_waits_for_any_more_leaves_nothing_though_its_program_hangs,
);

fn without_the_program_it_is_said_what_is_missing() {
    let place = Place::with(|options| options.program = "/no/such/runsc".into());
    wait(async {
        let probe = place.backend.probe().await;
        let Available::No { reason, fix } = probe.availability else { panic!("there is none") };
        assert!(reason.contains("/no/such/runsc cannot be started"), "{reason}");
        assert!(fix.is_some_and(|fix| fix.contains("sandbox.gvisor.program")));
        assert_eq!(probe.found, Vec::<String>::new(), "nothing is found of what is not there");
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
    std::fs::copy(runsc(), &program).expect("a copy");
    let place = Place::with(|options| options.program.clone_from(&program));
    wait(async {
        let sandbox = place.sandbox().await;
        let other = place.sandbox().await;
        other.hibernate().await.expect("asleep");
        std::fs::rename(&program, folder.path().join("elsewhere")).expect("moved");
        // What runs goes on.
        assert_eq!(sh(sandbox.as_ref(), "echo on").await, "on\n");
        for refused in [sandbox.hibernate().await.err(), sandbox.snapshot().await.err()] {
            let refused = refused.expect("it cannot be kept").to_string();
            assert!(refused.contains("cannot be started"), "{refused}");
        }
        assert_eq!(sh(sandbox.as_ref(), "echo still on").await, "still on\n");
        let refused = other.exec(shell("true")).await.expect_err("it cannot be woken").to_string();
        assert!(refused.contains("cannot be started"), "{refused}");
        let refused = place.create(spec()).await.expect_err("none can be made").to_string();
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

/// Where the program is.
fn runsc() -> &'static str {
    let places = ["/usr/local/bin/runsc", "/usr/bin/runsc"];
    places.into_iter().find(|one| std::path::Path::new(one).is_file()).expect("runsc")
}

/// A place with a script in front of the program, which gets its words.
fn behind(script: &str) -> (Place, Place) {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = Place::new();
    let program = folder.path().join("script");
    std::fs::write(&program, script).expect("a script");
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).expect("permissions");
    (Place::with(|options| options.program = program), folder)
}

fn the_program_sees_the_end_of_its_sandbox_and_has_nothing_to_forget_afterwards() {
    requires!("gvisor", is_possible());
    let heard = tempfile::NamedTempFile::new().expect("a file");
    let script = format!("#!/bin/sh\necho \"$*\" >> {}\nexec {} \"$@\"\n", heard.path().display(), runsc());
    let (place, _folder) = behind(&script);
    wait(async {
        let sandbox = place.sandbox().await;
        assert_eq!(sh(sandbox.as_ref(), "echo on").await, "on\n");
        sandbox.terminate().await.expect("ended");
        assert_eq!(place.processes(), Vec::<i32>::new());
    });
    // One that is killed beside its kernel would have to be asked to forget it, and waits until somebody has buried the dead.
    let heard = std::fs::read_to_string(heard.path()).expect("what it was told");
    let verbs: Vec<&str> = heard
        .lines()
        .filter_map(|line| line.split(' ').find(|word| ["run", "delete"].contains(word)))
        .collect();
    assert_eq!(verbs, ["run"], "{heard}");
}

fn a_program_that_outlives_its_sandbox_is_ended() {
    requires!("gvisor", is_possible());
    // The shell stays, and so does what it starts when its sandbox is gone.
    let (place, _folder) = behind(&format!("#!/bin/sh\n{} \"$@\"\nexec sleep 1000\n", runsc()));
    wait(async {
        let sandbox = place.sandbox().await;
        assert_eq!(sh(sandbox.as_ref(), "echo on").await, "on\n");
        let boxed = place.boxes();
        assert_eq!(boxed.len(), 1, "{boxed:?}");
        sandbox.terminate().await.expect("ended");
        assert_eq!(place.boxes(), Vec::<String>::new());
        assert_eq!(boxed.iter().flat_map(|one| cgroups_of(one)).count(), 0);
        assert_eq!(place.processes(), Vec::<i32>::new());
    });
}

fn a_mount_that_becomes_another_while_it_starts_is_never_the_other() {
    requires!("gvisor", is_possible());
    let folder = tempfile::tempdir().expect("a folder");
    let from = folder.path().canonicalize().expect("a path").join("mounted");
    std::fs::create_dir(&from).expect("a folder");
    std::fs::write(from.join("file"), "checked").expect("a file");
    // Somebody is between the look at it and the program that mounts it by a name.
    let at = from.display();
    let script = format!("#!/bin/sh\n/bin/mv {at} {at}.before\n/bin/mkdir {at}\nexec {} \"$@\"\n", runsc());
    let (place, _folder) = behind(&script);
    wait(async {
        let mut spec = spec();
        let mount = Mount { from, to: path("/srv/x"), writable: false };
        spec.mounts = vec![mount.open_by_name().expect("it is held")];
        match place.create(spec).await {
            // By a name of its own.
            Ok(sandbox) => {
                assert_eq!(sh(sandbox.as_ref(), "cat /srv/x/file").await, "checked");
                sandbox.terminate().await.expect("ended");
            }
            Err(SandboxError::Mount { why, .. }) => assert!(why.contains("not what was checked"), "{why}"),
            Err(error) => panic!("{error:?}"),
        }
        assert_eq!(place.processes(), Vec::<i32>::new());
    });
}

/// How long between two looks at processes, of which nobody tells when they come and go.
const PAUSE: Duration = Duration::from_millis(5);

fn a_sandbox_that_nobody_waits_for_any_more_leaves_nothing_though_its_program_hangs() {
    requires!("root", is_root());
    // What it starts is found by its words, as it is itself.
    let (place, folder) = behind("#!/bin/sh\n/bin/sh -c '/bin/sleep 1000; :' \"$0\" &\nwait\n");
    let script = folder.path().display().to_string();
    wait(async {
        let mut boxed = Vec::new();
        let begun = async {
            // It hangs as soon as its box is there and both are processes.
            while place.boxes().is_empty() || processes_with(&script).len() < 2 {
                tokio::time::sleep(PAUSE).await;
            }
        };
        tokio::select! {
            biased;
            made = place.create(spec()) => panic!("it hangs, and yet: {:?}", made.map(|_| ())),
            () = begun => boxed.extend(place.boxes()),
        }
        assert_eq!(boxed.len(), 1, "{boxed:?}");
        // Whoever waited is gone, and nobody closes the backend: it ends by itself.
        let is_left = || {
            let cgroups: Vec<_> = boxed.iter().flat_map(|one| cgroups_of(one)).collect();
            (place.boxes(), cgroups, processes_with(&script))
        };
        let deadline = Instant::now() + Duration::from_secs(20);
        while is_left() != (Vec::new(), Vec::new(), Vec::new()) {
            assert!(Instant::now() < deadline, "{:?}", is_left());
            tokio::time::sleep(PAUSE).await;
        }
    });
}

/// The processes of a place that call themselves by this name.
fn called(place: &Place, name: &str) -> Vec<i32> {
    let is_called = |pid: &i32| {
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        line.split(|byte| *byte == 0).next().is_some_and(|word| word.ends_with(name.as_bytes()))
    };
    place.processes().into_iter().filter(is_called).collect()
}

fn a_process_of_gvisor_that_is_killed_in_mid_exec_is_told_and_leaves_nothing() {
    requires!("gvisor", is_possible());
    let place = Place::new();
    wait(async {
        let other = place.sandbox().await;
        let others = place.boxes();
        for name in ["runsc-sandbox", "/runsc"] {
            let before = called(&place, name);
            let sandbox = place.sandbox().await;
            let mut running = sandbox.spawn(shell("echo begun; sleep 1000")).await.expect("it runs");
            running.output.recv().await.expect("it speaks");
            let boxed: Vec<String> = place.boxes().into_iter().filter(|one| !others.contains(one)).collect();
            assert_eq!(boxed.len(), 1, "{boxed:?}");
            let mut killed = 0;
            for pid in called(&place, name).into_iter().filter(|pid| !before.contains(pid)) {
                let pid = rustix::process::Pid::from_raw(pid).expect("a number");
                rustix::process::kill_process(pid, rustix::process::Signal::KILL).expect("killed");
                killed += 1;
            }
            assert_eq!(killed, 1, "{name}");
            let told = running.ended.await.expect("told");
            let is_told = match &told {
                Ok(ended) => ended.exit.status() != 0,
                Err(SandboxError::Gone { .. }) => true,
                Err(_) => false,
            };
            assert!(is_told, "{name}: {told:?}");
            let next = sandbox.exec(shell("true")).await;
            assert!(matches!(next, Err(SandboxError::Gone { .. })), "{name}: {next:?}");
            assert!(!sandbox.is_alive());
            sandbox.terminate().await.expect("nothing is left to end");
            assert_eq!(place.boxes(), others, "{name}");
            assert_eq!(boxed.iter().flat_map(|one| cgroups_of(one)).count(), 0, "{name}");
            assert_eq!(called(&place, name), before);
            // The others go on, and there is a next one.
            assert_eq!(sh(other.as_ref(), "echo on").await, "on\n");
            let next = place.sandbox().await;
            assert_eq!(sh(next.as_ref(), "echo next").await, "next\n");
            next.terminate().await.expect("ended");
        }
    });
}
