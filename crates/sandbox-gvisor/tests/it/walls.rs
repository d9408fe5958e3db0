//! What a guest sees, and what stands around it.

use bailiwick_sandbox::{Available, Backend, Demand};
use bailiwick_testkit::{requires, tests};
use bailiwick_types::{Tier, WallStatus};

use crate::place::{Place, is_possible, sh, shell, wait};

tests!(
    every_demand_is_held_and_was_looked_at,
    the_hosts_kernel_and_files_are_not_seen,
    the_kernel_of_a_sandbox_is_nobody_on_the_host,
    nobody_inside_can_become_somebody_else,
    who_ends_the_first_process_ends_the_sandbox_and_nothing_else,
);

fn every_demand_is_held_and_was_looked_at() {
    requires!("gvisor", is_possible());
    let place = Place::new();
    wait(async {
        let probe = place.backend.probe().await;
        assert_eq!(probe.availability, Available::Yes);
        for demand in Demand::ALL {
            let part =
                probe.enforces.iter().find(|part| part.demand == demand.name()).expect("each has a part");
            assert_eq!(part.status, WallStatus::Enforced, "{part:?}");
        }
        assert!(probe.found.iter().any(|one| one.contains("runsc version")), "{:?}", probe.found);
        assert!(probe.found.iter().any(|one| one == "platform systrap"), "{:?}", probe.found);
        let sandbox = place.sandbox().await;
        assert_eq!((place.backend.tier(), place.backend.priority()), (Tier::UserKernel, 60));
        assert!(sandbox.warnings().is_empty(), "{:?}", sandbox.warnings());
        assert_eq!(sandbox.receipt().walls.len(), Demand::ALL.len());
    });
}

fn the_hosts_kernel_and_files_are_not_seen() {
    requires!("gvisor", is_possible());
    let place = Place::new();
    let secret = place.path().join("a-secret-of-the-hosts");
    std::fs::write(&secret, "secret").expect("a file");
    wait(async {
        let sandbox = place.sandbox().await;
        let host = rustix::system::uname();
        let seen = sh(sandbox.as_ref(), "uname -r; hostname").await;
        assert!(!seen.contains(&*host.release().to_string_lossy()), "{seen}");
        assert!(seen.ends_with("\nsandbox\n"), "{seen}");
        let told = sh(sandbox.as_ref(), "cat /proc/version; uname -a; dmesg 2>&1 | head -3").await;
        assert!(!told.contains(&*host.release().to_string_lossy()), "{told}");
        let hidden = [
            secret.display().to_string(),
            "/etc/shadow".into(),
            "/root".into(),
            "/home".into(),
            "/proc/1/root/etc/shadow".into(),
        ];
        for one in hidden {
            let result = sandbox.exec(shell(&format!("cat {one} || ls {one}"))).await.expect("it runs");
            assert_ne!(result.exit.status(), 0, "{one} is seen");
        }
        let numbers = sh(sandbox.as_ref(), "ls /proc | grep -c '^[0-9]'").await;
        assert!(numbers.trim().parse::<u32>().expect("a number") < 8, "{numbers}");
        let devices = sh(sandbox.as_ref(), "ls /dev").await;
        assert!(
            !devices.contains("vda") && !devices.contains("kvm") && !devices.contains("mem"),
            "{devices}"
        );
    });
}

fn the_kernel_of_a_sandbox_is_nobody_on_the_host() {
    requires!("gvisor", is_possible());
    let place = Place::new();
    wait(async {
        let _sandbox = place.sandbox().await;
        let mut seen = 0;
        for pid in place.processes() {
            let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            if !line.starts_with(b"runsc-sandbox") {
                continue;
            }
            seen += 1;
            let status = std::fs::read_to_string(format!("/proc/{pid}/status")).expect("its status");
            let line =
                |key: &str| status.lines().find(|line| line.starts_with(key)).unwrap_or_default().to_owned();
            assert_eq!(line("Uid:"), "Uid:\t65534\t65534\t65534\t65534");
            assert_eq!(line("CapEff:"), "CapEff:\t0000000000000000");
            assert_eq!(
                (line("NoNewPrivs:"), line("Seccomp:")),
                ("NoNewPrivs:\t1".to_owned(), "Seccomp:\t2".to_owned())
            );
        }
        assert_eq!(seen, 1);
    });
}

fn nobody_inside_can_become_somebody_else() {
    requires!("gvisor", is_possible());
    let place = Place::new();
    wait(async {
        let sandbox = place.sandbox().await;
        for text in [
            "mount -t tmpfs none /work",
            "mount --bind /usr /work",
            "umount /work",
            "unshare -U true",
            "chown 0 /work",
            "perl -e '$> = 0; $< = 0; exit($> == 0 ? 0 : 1)'",
        ] {
            let result = sandbox.exec(shell(text)).await.expect("it runs");
            assert_ne!(result.exit.status(), 0, "{text}");
        }
        let status = sh(sandbox.as_ref(), "cat /proc/self/status").await;
        for line in ["CapPrm:\t0000000000000000", "CapEff:\t0000000000000000", "CapInh:\t0000000000000000"] {
            assert!(status.contains(line), "{line}: {status}");
        }
        assert_eq!(sh(sandbox.as_ref(), "echo on").await, "on\n");
    });
}

fn who_ends_the_first_process_ends_the_sandbox_and_nothing_else() {
    requires!("gvisor", is_possible());
    let place = Place::with(|options| options.patience = std::time::Duration::from_secs(5));
    wait(async {
        let other = place.sandbox().await;
        // gVisor's kernel does not shield the first process from those who are the same user.
        for signal in ["KILL", "STOP"] {
            let sandbox = place.sandbox().await;
            let command = shell(&format!("kill -{signal} 1; sleep 100"))
                .with_timeout(std::time::Duration::from_secs(3));
            let ended = sandbox.exec(command.expect("a deadline")).await;
            assert!(ended.as_ref().map_or(true, |ended| ended.timed_out), "{signal}: {ended:?}");
            assert!(sandbox.exec(shell("true")).await.is_err(), "{signal}");
        }
        assert_eq!(sh(other.as_ref(), "echo on").await, "on\n");
    });
}
