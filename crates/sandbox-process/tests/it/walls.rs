//! Walls, as a command meets them. The hostile ones are in `specs/commands`.

use bailiwick_sandbox::{Demand, Network, SandboxError, SandboxSpec};
use bailiwick_testkit::tests;
use bailiwick_types::WallStatus;

use crate::place::{Place, sh, spec, wait, words};

tests!(
    a_receipt_says_what_holds_each_demand,
    a_separate_uid_is_claimed_only_where_the_host_has_one,
    only_loopback_is_there,
    the_hosts_network_is_never_claimed_to_be_walled,
    what_is_not_mounted_is_not_there,
    a_command_is_nobody,
    a_probe_says_what_a_sandbox_says,
    where_its_cgroups_are_is_not_told_inside,
);

fn a_receipt_says_what_holds_each_demand() {
    let place = Place::new();
    wait(async {
        let sandbox = place.sandbox().await;
        let receipt = sandbox.receipt();
        assert!(!receipt.insecure);
        for wall in Demand::ALL.iter().filter(|demand| demand.is_wall()) {
            let part = receipt.walls.iter().find(|part| part.demand == wall.name()).expect("a part");
            assert_eq!(part.status, WallStatus::Enforced, "{part:?}");
            assert!(!part.mechanism.is_empty());
        }
    });
}

/// Run as root and as an ordinary user: the claim follows the user that the host's kernel has for the sandbox.
fn a_separate_uid_is_claimed_only_where_the_host_has_one() {
    let place = Place::new();
    wait(async {
        let sandbox = place.sandbox().await;
        let part = sandbox.receipt().walls.iter().find(|part| part.demand == "uid").expect("a part");
        let own = rustix::process::getuid().as_raw();
        // Inner, outer, count: what the outer one is on the host.
        let map = sh(sandbox.as_ref(), "cat /proc/self/uid_map").await;
        let outside: u32 = map.split_whitespace().nth(1).and_then(|word| word.parse().ok()).expect("a map");
        let expected = if outside == own { WallStatus::Partial } else { WallStatus::Enforced };
        assert_eq!(part.status, expected, "{part:?}, {outside} outside and {own} here");
        assert_eq!(expected == WallStatus::Enforced, own == 0);
        let required = SandboxSpec { separate_uid: true, ..spec() };
        match place.create(required).await {
            Ok(_) => assert_eq!(own, 0),
            Err(SandboxError::Unenforceable { unheld, .. }) => {
                assert_ne!(own, 0);
                assert!(unheld.iter().all(|one| one.starts_with("uid (partial")), "{unheld:?}");
            }
            Err(error) => panic!("{error}"),
        }
    });
}

fn only_loopback_is_there() {
    let place = Place::new();
    wait(async {
        let sandbox = place.sandbox().await;
        let interfaces = sh(sandbox.as_ref(), "tail -n +3 /proc/net/dev | cut -d: -f1").await;
        assert_eq!(interfaces.trim(), "lo");
        let talk = "import socket\ns=socket.create_server(('127.0.0.1',0))\nc=socket.create_connection(s.getsockname())\nprint('talks')";
        let result = sandbox.exec(words(&["/usr/bin/python3", "-c", talk])).await.expect("it runs");
        assert_eq!(String::from_utf8_lossy(&result.stdout.bytes), "talks\n", "{result:?}");
    });
}

fn the_hosts_network_is_never_claimed_to_be_walled() {
    let place = Place::new();
    wait(async {
        let mut spec = spec();
        spec.network = Network::Host;
        let sandbox = place.create(spec).await.expect("a sandbox");
        let inside = sh(sandbox.as_ref(), "readlink /proc/self/ns/net").await;
        let outside = std::fs::read_link("/proc/self/ns/net").expect("a namespace");
        assert_eq!(inside.trim(), outside.display().to_string());
        let part = sandbox.receipt().walls.iter().find(|part| part.demand == "network").expect("a part");
        assert_eq!(part.status, WallStatus::Absent);
    });
}

fn what_is_not_mounted_is_not_there() {
    let place = Place::new();
    wait(async {
        let sandbox = place.sandbox().await;
        let found = sh(sandbox.as_ref(), "ls -A /").await;
        let known = [
            "bin", "dev", "etc", "lib", "lib32", "lib64", "libx32", "proc", "run", "sbin", "tmp", "usr",
            "var", "work",
        ];
        for name in found.lines() {
            assert!(known.contains(&name), "{name} is in the root");
        }
        let secret = place.path().join("secret");
        std::fs::write(&secret, "no").expect("a file");
        let result = sandbox.exec(words(&["cat", secret.to_str().expect("a path")])).await.expect("an end");
        assert_ne!(result.exit.status(), 0);
    });
}

fn a_command_is_nobody() {
    let place = Place::new();
    wait(async {
        let sandbox = place.sandbox().await;
        let status = sh(sandbox.as_ref(), "cat /proc/self/status").await;
        let line = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default();
            line.split_whitespace().collect::<Vec<_>>().join(" ")
        };
        assert_eq!(line("Uid:"), "1000 1000 1000 1000");
        assert_eq!(line("CapEff:"), "0000000000000000");
        assert_eq!(line("CapBnd:"), "0000000000000000");
        assert_eq!(line("NoNewPrivs:"), "1");
        assert_eq!(line("Seccomp:"), "2");
    });
}

fn a_probe_says_what_a_sandbox_says() {
    use bailiwick_sandbox::Backend as _;
    let place = Place::new();
    wait(async {
        let probe = place.backend.probe().await;
        let sandbox = place.sandbox().await;
        let status = |parts: &[bailiwick_types::Wallpart]| {
            parts.iter().map(|part| (part.demand.clone(), part.status)).collect::<Vec<_>>()
        };
        assert_eq!(status(&probe.enforces), status(&sandbox.receipt().walls));
    });
}

fn where_its_cgroups_are_is_not_told_inside() {
    let place = Place::new();
    wait(async {
        let sandbox = place.sandbox().await;
        let told = sh(sandbox.as_ref(), "cat /proc/self/cgroup; cat /proc/1/cgroup").await;
        assert!(!told.contains("bailiwick-sandbox"), "{told}");
    });
}
