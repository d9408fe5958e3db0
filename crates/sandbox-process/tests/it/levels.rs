//! Machines that allow less: what is left is told, and what is demanded and not held is refused.

use bailiwick_sandbox::{Backend as _, Demand, SandboxError};
use bailiwick_sandbox_process::Most;
use bailiwick_testkit::{requires, tests};
use bailiwick_testkit_sandbox::processes_with;
use bailiwick_types::{ErrorCode, WallStatus};

use crate::place::{Place, is_root, path, sh, shell, spec, wait, words};

tests!(
    without_user_namespaces_root_still_builds_all_walls,
    without_namespaces_what_is_left_is_told_and_refused,
    without_namespaces_files_and_network_still_hold,
    without_namespaces_paths_mean_the_same,
    without_namespaces_nothing_is_left_behind,
);

fn status(parts: &[bailiwick_types::Wallpart], demand: Demand) -> WallStatus {
    parts.iter().find(|part| part.demand == demand.name()).expect("a part").status
}

fn without_user_namespaces_root_still_builds_all_walls() {
    requires!("root", is_root());
    let place = Place::at_most(Most::NoUserNamespace);
    wait(async {
        let sandbox = place.sandbox().await;
        for wall in
            [Demand::Network, Demand::Files, Demand::Privilege, Demand::Kill, Demand::Uid, Demand::Processes]
        {
            assert_eq!(status(&sandbox.receipt().walls, wall), WallStatus::Enforced, "{wall:?}");
        }
        let user = sh(sandbox.as_ref(), "id -u").await;
        assert_ne!(user.trim(), "0");
        let own = sh(sandbox.as_ref(), "readlink /proc/self/ns/user").await;
        let outside = std::fs::read_link("/proc/self/ns/user").expect("a namespace");
        assert_eq!(own.trim(), outside.display().to_string(), "this is the level that was asked for");
    });
}

fn without_namespaces_what_is_left_is_told_and_refused() {
    let place = Place::at_most(Most::NoNamespaces);
    wait(async {
        let error = place.create(spec()).await.expect_err("it is refused");
        assert_eq!(error.code(), ErrorCode::Unenforceable, "{error}");
        let SandboxError::Unenforceable { unheld, .. } = &error else { panic!("{error}") };
        assert!(unheld.iter().any(|one| one.contains("kill")), "{unheld:?}");
        let left = std::fs::read_dir(place.path().join("state/scratch")).expect("a folder").count();
        assert_eq!(left, 0, "nothing is left behind");
        let probe = place.backend.probe().await;
        assert_eq!(status(&probe.enforces, Demand::Kill), WallStatus::Partial);
        assert_eq!(status(&probe.enforces, Demand::Disk), WallStatus::Absent);
    });
}

/// A place without namespaces whose operator takes what is left.
fn lenient() -> Place {
    Place::with(|options| {
        options.most = Most::NoNamespaces;
        options.accept = vec![Demand::Kill];
    })
}

fn without_namespaces_files_and_network_still_hold() {
    let place = lenient();
    wait(async {
        let sandbox = place.sandbox().await;
        let secret = place.path().join("secret");
        std::fs::write(&secret, "no").expect("a file");
        for text in [
            format!("cat {}", secret.display()),
            "cat /etc/shadow".to_owned(),
            "ls /root /home /proc".to_owned(),
            format!("echo x > {}/other", place.path().display()),
            "echo x > /tmp/bailiwick-other".to_owned(),
        ] {
            let result = sandbox.exec(shell(&text)).await.expect("an end");
            assert_ne!(result.exit.status(), 0, "{text}");
        }
        let socket = "import socket\nfor f in (socket.AF_INET,socket.AF_INET6,socket.AF_UNIX):\n try: socket.socket(f); print('open')\n except PermissionError: print('closed')";
        let result = sandbox.exec(words(&["/usr/bin/python3", "-c", socket])).await.expect("it runs");
        assert_eq!(String::from_utf8_lossy(&result.stdout.bytes), "closed\nclosed\nclosed\n", "{result:?}");
        assert!(!sandbox.warnings().is_empty(), "limits that nothing holds are told");
    });
}

fn without_namespaces_paths_mean_the_same() {
    let place = lenient();
    wait(async {
        let sandbox = place.sandbox().await;
        sandbox.write_file(&path("/work/note"), "hello".into(), false).await.expect("written");
        assert_eq!(sh(sandbox.as_ref(), "cat note; echo there > $TMPDIR/x").await, "hello");
        assert_eq!(sandbox.read_file(&path("/tmp/x"), 100).await.expect("read"), "there\n");
    });
}

fn without_namespaces_nothing_is_left_behind() {
    let place = lenient();
    let mark = crate::endings::mark(&place);
    wait(async {
        let sandbox = place.sandbox().await;
        sh(sandbox.as_ref(), &format!("setsid sleep {mark} >/dev/null 2>&1 & echo on")).await;
        sandbox.terminate().await.expect("ended");
        assert_eq!(processes_with(&mark), Vec::<i32>::new());
        let left = std::fs::read_dir(place.path().join("state/scratch")).expect("a folder").count();
        assert_eq!(left, 0);
    });
}
