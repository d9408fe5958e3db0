//! What a guest sees, and what stands around it.

use bailiwick_sandbox::{Backend, Demand, Sandbox};
use bailiwick_testkit::{requires, tests};
use bailiwick_types::{Tier, WallStatus};

use crate::place::{Place, is_possible, machines, sh, shell, wait};

tests!(a_machine_holds_every_demand_and_shows_nothing_of_the_host,);

fn a_machine_holds_every_demand_and_shows_nothing_of_the_host() {
    requires!("qemu", is_possible());
    let place = Place::new();
    let secret = place.path().join("a-secret-of-the-hosts");
    std::fs::write(&secret, "secret").expect("a file");
    wait(async {
        let sandbox = place.sandbox().await;
        assert_eq!((place.backend.tier(), place.backend.priority()), (Tier::MicroVm, 100));
        assert!(sandbox.warnings().is_empty(), "{:?}", sandbox.warnings());
        for demand in Demand::ALL {
            let walls = &sandbox.receipt().walls;
            let part = walls.iter().find(|part| part.demand == demand.name()).expect("each has a part");
            assert_eq!(part.status, WallStatus::Enforced, "{part:?}");
        }
        let privilege = sandbox.receipt().walls.iter().find(|part| part.demand == "privilege").expect("told");
        assert!(privilege.mechanism.contains("emulation"), "{privilege:?}");
        unseen(sandbox.as_ref(), &secret.display().to_string()).await;
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

async fn unseen(sandbox: &dyn Sandbox, secret: &str) {
    let host = rustix::system::uname();
    let told = sh(sandbox, "uname -r; cat /proc/version; hostname").await;
    assert!(!told.contains(&*host.release().to_string_lossy()) && told.ends_with("\nsandbox\n"), "{told}");
    for one in [
        secret,
        "/etc/shadow",
        "/root",
        "/home",
        "/proc/1/root/etc/shadow",
        "/served",
        "/modules",
        "/dev/vport0p1",
    ] {
        let result = sandbox.exec(shell(&format!("cat {one} || ls {one}"))).await.expect("it runs");
        assert_ne!(result.exit.status(), 0, "{one} is seen");
    }
    let numbers = sh(sandbox, "ls /proc | grep -c '^[0-9]'").await;
    assert!(numbers.trim().parse::<u32>().expect("a number") < 8, "{numbers}");
    let devices = sh(sandbox, "ls -x -w 500 /dev").await;
    let devices: Vec<&str> = devices.split_whitespace().collect();
    let known = [
        "fd", "full", "null", "ptmx", "pts", "random", "shm", "stderr", "stdin", "stdout", "tty", "urandom",
        "zero",
    ];
    assert_eq!(devices, known);
}

async fn unprivileged(sandbox: &dyn Sandbox) {
    for text in [
        "mount -t tmpfs none /work",
        "umount /work",
        "unshare -U true",
        "chown 0 /work",
        "perl -e '$> = 0; $< = 0; exit($> == 0 ? 0 : 1)'",
        "kill -KILL 1; kill -0 1 2>/dev/null && exit 1; true | false",
    ] {
        let result = sandbox.exec(shell(text)).await.expect("it runs");
        assert_ne!(result.exit.status(), 0, "{text}");
    }
    let status = sh(sandbox, "cat /proc/self/status").await;
    for line in ["CapPrm:\t0000000000000000", "CapEff:\t0000000000000000", "CapBnd:\t0000000000000000"] {
        assert!(status.contains(line), "{line}: {status}");
    }
    assert_eq!(sh(sandbox, "echo on").await, "on\n");
}
