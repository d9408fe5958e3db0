//! The same as an ordinary user: this program again, as nobody, by `runsc --rootless`.

use std::process::Command;

use bailiwick_sandbox::{Available, Backend, Demand, SandboxError};
use bailiwick_testkit::{requires, tests};
use bailiwick_types::WallStatus;

use crate::place::{Place, is_possible, is_root, sh, spec, wait};

tests!(
    an_ordinary_user_has_such_sandboxes_and_is_told_what_does_not_hold,
    without_root_a_sandbox_is_refused_by_the_name_of_what_does_not_hold,
    without_root_a_sandbox_works_where_the_operator_accepts_that,
);

/// Tests that mean something only for an ordinary user.
const TOO: [&str; 2] = [
    "ordinary::without_root_a_sandbox_is_refused_by_the_name_of_what_does_not_hold",
    "ordinary::without_root_a_sandbox_works_where_the_operator_accepts_that",
];

fn an_ordinary_user_has_such_sandboxes_and_is_told_what_does_not_hold() {
    use std::os::unix::fs::PermissionsExt as _;
    requires!("gvisor", is_possible());
    requires!("setpriv", Command::new("setpriv").arg("--version").output().is_ok());
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o777)).expect("permissions");
    let program = folder.path().join("it");
    std::fs::copy("/proc/self/exe", &program).expect("a copy");
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).expect("permissions");
    for name in TOO {
        let output = Command::new("setpriv")
            .args(["--reuid=65534", "--regid=65534", "--clear-groups"])
            .arg(&program)
            .args(["--exact", name, "--nocapture"])
            .env("TMPDIR", folder.path())
            .env("HOME", folder.path())
            .env("BAILIWICK_REQUIRE", "an ordinary user")
            .current_dir(folder.path())
            .output()
            .expect("it runs");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{name}: {text}\n{}", String::from_utf8_lossy(&output.stderr));
        assert!(text.contains("1 passed"), "{name}: {text}");
    }
}

fn without_root_a_sandbox_is_refused_by_the_name_of_what_does_not_hold() {
    requires!("an ordinary user", !is_root());
    let place = Place::new();
    wait(async {
        let probe = place.backend.probe().await;
        assert_eq!(probe.availability, Available::Yes);
        assert!(probe.found.iter().any(|one| one.starts_with("rootless: no snapshots")), "{:?}", probe.found);
        let part = |demand: Demand| {
            probe.enforces.iter().find(|part| part.demand == demand.name()).expect("each has a part")
        };
        for demand in [Demand::Network, Demand::Files, Demand::Kill, Demand::Disk, Demand::Processes] {
            assert_eq!(part(demand).status, WallStatus::Enforced, "{:?}", part(demand));
        }
        // Its kernel is this user on the host, and keeps capabilities within its user namespace.
        for (demand, unseen) in [
            (Demand::Privilege, "a kernel without capabilities"),
            (Demand::Uid, "another user than this program on the host"),
        ] {
            assert_eq!(part(demand).status, WallStatus::Partial, "{:?}", part(demand));
            assert!(part(demand).mechanism.contains(unseen), "{:?}", part(demand));
        }
        let refused = place.create(spec()).await.err();
        let Some(SandboxError::Unenforceable { unheld, .. }) = refused else { panic!("{refused:?}") };
        assert!(unheld.iter().any(|one| one.starts_with("privilege")), "{unheld:?}");
        assert_eq!(place.processes(), Vec::<i32>::new());
    });
}

fn without_root_a_sandbox_works_where_the_operator_accepts_that() {
    requires!("an ordinary user", !is_root());
    let place = Place::with(|options| options.accept = vec![Demand::Privilege]);
    wait(async {
        let sandbox = place.create(spec()).await.expect("a sandbox");
        let status = |demand: Demand| {
            let walls = &sandbox.receipt().walls;
            walls.iter().find(|part| part.demand == demand.name()).expect("each has a part").status
        };
        assert_eq!(status(Demand::Privilege), WallStatus::Partial);
        // What no cgroup holds is told once each, and never claimed.
        for demand in [Demand::Memory, Demand::Cpu] {
            let is_told = sandbox.warnings().iter().any(|line| line.contains(demand.name()));
            assert_eq!(status(demand) == WallStatus::Enforced, !is_told, "{:?}", sandbox.warnings());
        }
        assert_eq!(
            sh(sandbox.as_ref(), "echo one > /work/a; cat /work/a; ls /root 2>&1 | wc -l").await,
            "one\n1\n"
        );
        // What cannot go on is not kept: nothing of it is lost by asking.
        for refused in [sandbox.snapshot().await.err(), sandbox.fork().await.err()] {
            assert!(matches!(refused, Some(SandboxError::Unsupported { .. })), "{refused:?}");
        }
        sandbox.hibernate().await.expect("it stands still");
        assert_eq!(sh(sandbox.as_ref(), "cat /work/a").await, "one\n");
        sandbox.terminate().await.expect("ended");
        assert_eq!(place.processes(), Vec::<i32>::new());
        assert_eq!(place.boxes(), Vec::<String>::new());
    });
}
