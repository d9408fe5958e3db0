//! What a guest sees, and what stands around it.

use bailiwick_sandbox::Backend as _;
use bailiwick_testkit::{requires, tests};

use crate::place::{Place, is_possible, sh, shell, wait};

tests!(
    a_probe_names_the_program_and_its_platform,
    the_kernel_of_a_sandbox_is_nobody_on_the_host,
    who_ends_the_first_process_ends_the_sandbox_and_nothing_else,
);

fn a_probe_names_the_program_and_its_platform() {
    requires!("gvisor", is_possible());
    let place = Place::new();
    wait(async {
        let found = place.backend.probe().await.found;
        assert!(found.iter().any(|one| one.contains("runsc version")), "{found:?}");
        assert!(found.iter().any(|one| one == "platform systrap"), "{found:?}");
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
