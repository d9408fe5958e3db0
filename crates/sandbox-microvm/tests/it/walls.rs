//! What a guest sees of its machine, and what stands around that.

use bailiwick_sandbox::Sandbox;
use bailiwick_testkit::{requires, tests};

use crate::place::{Place, is_possible, machines, sh, shell, wait};

tests!(a_machine_has_no_privilege_on_the_host_and_shows_nothing_of_how_it_is_made);

fn a_machine_has_no_privilege_on_the_host_and_shows_nothing_of_how_it_is_made() {
    requires!("qemu", is_possible());
    let place = Place::new();
    wait(async {
        let sandbox = place.sandbox().await;
        let privilege = sandbox.receipt().walls.iter().find(|part| part.demand == "privilege").expect("told");
        assert!(privilege.mechanism.contains("emulation"), "{privilege:?}");
        unseen(sandbox.as_ref()).await;
        unprivileged(sandbox.as_ref()).await;
        let [qemu] = machines()[..] else { panic!("{:?}", machines()) };
        let status = std::fs::read_to_string(format!("/proc/{qemu}/status")).expect("its status");
        let line =
            |key: &str| status.lines().find(|line| line.starts_with(key)).unwrap_or_default().to_owned();
        assert_eq!(line("Uid:"), "Uid:\t64925\t64925\t64925\t64925");
        assert_eq!(line("CapEff:"), "CapEff:\t0000000000000000");
        assert_eq!(
            (line("NoNewPrivs:"), line("Seccomp:")),
            ("NoNewPrivs:\t1".to_owned(), "Seccomp:\t2".to_owned())
        );
        let seen = format!("/proc/{qemu}/root{}", place.path().display());
        assert!(std::fs::metadata(&seen).is_err(), "QEMU sees {seen}");
        let network = std::fs::read_to_string(format!("/proc/{qemu}/net/dev")).expect("its network");
        assert_eq!(network.lines().skip(2).count(), 1, "{network}");
    });
}

async fn unseen(sandbox: &dyn Sandbox) {
    for one in ["/served", "/modules", "/dev/vport0p1"] {
        let result = sandbox.exec(shell(&format!("cat {one} || ls {one}"))).await.expect("it runs");
        assert_ne!(result.exit.status(), 0, "{one} is seen");
    }
    let devices = sh(sandbox, "ls -x -w 500 /dev").await;
    let devices: Vec<&str> = devices.split_whitespace().collect();
    let known = [
        "fd", "full", "null", "ptmx", "pts", "random", "shm", "stderr", "stdin", "stdout", "tty", "urandom",
        "zero",
    ];
    assert_eq!(devices, known);
}

async fn unprivileged(sandbox: &dyn Sandbox) {
    let kill = "kill -KILL 1; kill -0 1 2>/dev/null && exit 1; true | false";
    assert_ne!(sandbox.exec(shell(kill)).await.expect("it runs").exit.status(), 0);
    let status = sh(sandbox, "cat /proc/self/status").await;
    assert!(status.contains("CapBnd:\t0000000000000000"), "{status}");
    assert_eq!(sh(sandbox, "echo on").await, "on\n");
}
