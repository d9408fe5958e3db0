//! What a command sees and cannot do, and what is told about the walls around it. The hostile programs are in `specs/commands`.

use bailiwick_sandbox::{Available, Demand};
use bailiwick_testkit::requires;
use bailiwick_types::WallStatus;

use super::{Kernel, Place, Subject, checks};
use crate::{is_root, sh, shell, wait};

checks!(
    every_demand_is_held_and_was_looked_at,
    the_host_is_not_seen,
    nothing_is_written_but_what_is_its_own,
    nobody_inside_can_become_somebody_else,
);

fn every_demand_is_held_and_was_looked_at(subject: &dyn Subject) {
    requires!("root", is_root());
    let (place, claims) = (Place::new(subject), subject.claims());
    wait(async {
        let probe = place.backend.probe().await;
        assert_eq!(probe.availability, Available::Yes);
        let sandbox = place.sandbox().await;
        assert_eq!((place.backend.tier(), place.backend.priority()), (claims.tier, claims.priority));
        assert_eq!(sandbox.receipt().tier, claims.tier);
        assert!(!sandbox.receipt().insecure);
        assert_eq!(sandbox.warnings(), Vec::<String>::new());
        let walls = &sandbox.receipt().walls;
        assert_eq!(walls.len(), Demand::ALL.len(), "{walls:?}");
        for (demand, parts) in Demand::ALL.iter().flat_map(|one| [(one, &probe.enforces), (one, walls)]) {
            let part = parts.iter().find(|part| part.demand == demand.name()).expect("each has a part");
            assert!(part.status == WallStatus::Enforced && !part.mechanism.is_empty(), "{part:?}");
        }
    });
}

fn the_host_is_not_seen(subject: &dyn Subject) {
    let place = Place::new(subject);
    let secret = place.path().join("a-secret-of-the-hosts");
    std::fs::write(&secret, "secret").expect("a file");
    wait(async {
        let sandbox = place.sandbox().await;
        let secret = secret.display().to_string();
        for one in [
            secret.as_str(),
            "/etc/shadow",
            "/root",
            "/home",
            "/proc/1/root/etc/shadow",
            "/var/run/docker.sock",
            "/dev/kmsg",
            "/dev/mem",
            "/dev/kvm",
            "/dev/vda",
        ] {
            let look = format!("timeout 5 cat {one} 2>/dev/null || ls -A {one} 2>/dev/null; true");
            assert_eq!(sh(sandbox.as_ref(), &look).await, "", "{one} is seen");
        }
        // A kernel of its own may have its own file systems.
        let devices = sh(sandbox.as_ref(), "find /dev -type b -o -name fuse").await;
        let is_own = subject.claims().kernel == Kernel::Own;
        assert!(devices.is_empty() || is_own && devices == "/dev/fuse\n", "{devices}");
        let numbers = sh(sandbox.as_ref(), "ls /proc | grep -c '^[0-9]'").await;
        assert!(numbers.trim().parse::<u32>().expect("a number") < 8, "{numbers}");
        let host = rustix::system::uname().release().to_string_lossy().into_owned();
        let told = sh(sandbox.as_ref(), "uname -a; cat /proc/version; dmesg 2>&1 | head -3").await;
        assert!(!is_own || !told.contains(&host), "{told}");
    });
}

fn nothing_is_written_but_what_is_its_own(subject: &dyn Subject) {
    let place = Place::new(subject);
    wait(async {
        let sandbox = place.sandbox().await;
        let tries = "for d in / /usr /usr/bin /etc /bin /lib /var /dev /proc /proc/sys/kernel /sys /sys/fs/cgroup /run /.agent /.bailiwick-agent; \
                     do (echo x > $d/mine) 2>/dev/null && echo $d; done; \
                     for f in /etc/passwd /etc/resolv.conf /usr/bin/env /.bailiwick-agent /proc/sys/kernel/core_pattern /proc/sysrq-trigger; \
                     do (echo x >> $f) 2>/dev/null && echo $f; done; true";
        assert_eq!(sh(sandbox.as_ref(), tries).await, "");
        let own = "for d in /work /tmp /var/tmp /dev/shm; do echo x > $d/mine && cat $d/mine; done; \
                   cd /tmp && ln -s /usr l && (echo x > l/mine) 2>/dev/null && echo written; true";
        assert_eq!(sh(sandbox.as_ref(), own).await, "x\nx\nx\nx\n");
    });
}

fn nobody_inside_can_become_somebody_else(subject: &dyn Subject) {
    let place = Place::new(subject);
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
        for set in ["CapInh", "CapPrm", "CapEff"] {
            assert!(status.contains(&format!("{set}:\t0000000000000000")), "{set}: {status}");
        }
        let user = subject.claims().user;
        assert!(status.contains(&format!("Uid:\t{user}\t{user}\t{user}\t{user}")), "{status}");
        assert_eq!(sh(sandbox.as_ref(), "echo on").await, "on\n");
    });
}
