//! Limits: seen to hold, and told.

use std::time::Instant;

use bailiwick_sandbox::{Exit, Limit, SandboxSpec};
use bailiwick_testkit::{requires, tests};

use crate::place::{Place, is_possible, sh, shell, spec, wait};

tests!(
    memory_beyond_the_limit_is_refused_and_told,
    a_sandbox_near_its_limit_is_kept_and_is_held_to_the_same_limit_afterwards,
    all_folders_of_its_own_share_one_bound_on_disk,
    processes_beyond_the_limit_do_not_start,
    a_sandbox_gets_its_share_of_the_processors_and_no_more,
    what_its_kernel_lets_nobody_set_inside_is_bounded_from_the_beginning,
);

fn memory_beyond_the_limit_is_refused_and_told() {
    requires!("gvisor", is_possible());
    let place = Place::new();
    let mut spec = spec();
    spec.limits = spec
        .limits
        .with(Limit::Memory, 64 << 20)
        .and_then(|limits| limits.with(Limit::Disk, 16 << 20))
        .expect("limits");
    wait(async {
        let sandbox = place.create(spec).await.expect("a sandbox");
        sh(sandbox.as_ref(), "perl -e '$x = \"x\" x (24 << 20); print length $x'").await;
        let result = sandbox.exec(shell("perl -e '$x = \"x\" x (600 << 20); print length $x'")).await;
        let result = result.expect("it is told");
        assert!(result.oom && result.exit == Exit::Signal(9), "{result:?}");
        // It was the sandbox's own kernel that the host's had to end.
        assert!(!sandbox.is_alive());
    });
}

fn a_sandbox_near_its_limit_is_kept_and_is_held_to_the_same_limit_afterwards() {
    requires!("gvisor", is_possible());
    let place = Place::new();
    let mut spec = spec();
    spec.limits = spec.limits.with(Limit::Memory, 64 << 20).expect("a limit");
    wait(async {
        let sandbox = place.create(spec.clone()).await.expect("a sandbox");
        let holds = "python3 -c 'import time; x = bytearray(b\"x\") * (44 << 20); open(\"/work/held\", \"w\"); time.sleep(1000)' \
                     >/dev/null 2>&1 & while [ ! -e /work/held ]; do sleep 0.1; done; echo held";
        assert_eq!(sh(sandbox.as_ref(), holds).await, "held\n");
        let snapshot = sandbox.snapshot().await.expect("kept while it runs");
        sandbox.hibernate().await.expect("asleep");
        assert_eq!(sh(sandbox.as_ref(), "ls /work").await, "held\n");
        let again =
            place.create(SandboxSpec { snapshot: Some(snapshot), ..spec }).await.expect("another one");
        for one in [sandbox, again] {
            let more = shell("python3 -c 'print(len(bytearray(b\"x\") * (27 << 20)))'");
            let result = one.exec(more).await.expect("an end");
            assert!(result.oom, "44 and 27 MiB of 64: {result:?}");
        }
    });
}

fn all_folders_of_its_own_share_one_bound_on_disk() {
    requires!("gvisor", is_possible());
    let place = Place::new();
    let mut spec = spec();
    spec.limits = spec.limits.with(Limit::Disk, 8 << 20).expect("a limit");
    wait(async {
        let sandbox = place.create(spec).await.expect("a sandbox");
        let fill = "for f in /work /tmp /var/tmp /dev/shm; do head -c 6000000 /dev/zero > $f/x 2>/dev/null; done; \
                    cat /work/x /tmp/x /var/tmp/x /dev/shm/x | wc -c";
        let bytes: u64 = sh(sandbox.as_ref(), fill).await.trim().parse().expect("a number");
        assert!((6_000_000..=8 << 20).contains(&bytes), "{bytes}");
        // Nothing else can be written to.
        for place in ["/", "/etc", "/usr", "/dev", "/sys", "/.agent"] {
            let text = format!("echo x > {place}/x");
            let result = sandbox.exec(shell(&text)).await.expect("it runs");
            assert_ne!(result.exit.status(), 0, "{place}");
        }
    });
}

fn processes_beyond_the_limit_do_not_start() {
    requires!("gvisor", is_possible());
    let place = Place::new();
    let mut spec = spec();
    spec.limits = spec.limits.with(Limit::Processes, 10).expect("a limit");
    wait(async {
        let sandbox = place.create(spec).await.expect("a sandbox");
        let count = "$n = 0; while ($n < 40) { $p = fork; last if !defined $p; if (!$p) { sleep 60; exit } $n++ } print $n; \
                     kill 9, -1";
        let result = sandbox.exec(shell(&format!("perl -e '$| = 1; {count}'"))).await.expect("it runs");
        let started: u32 = String::from_utf8_lossy(&result.stdout.bytes).trim().parse().expect("a number");
        assert!((5..=9).contains(&started), "{started}");
        assert!(sandbox.is_alive());
    });
}

fn a_sandbox_gets_its_share_of_the_processors_and_no_more() {
    requires!("gvisor", is_possible());
    let place = Place::new();
    let mut spec = spec();
    spec.limits = spec.limits.with(Limit::Cpu, 0.2).expect("a limit");
    wait(async {
        let sandbox = place.create(spec).await.expect("a sandbox");
        let before = sandbox.usage().await.expect("counted");
        let began = Instant::now();
        sh(
            sandbox.as_ref(),
            "timeout 2 sh -c 'while :; do :; done' & timeout 2 sh -c 'while :; do :; done'; wait; true",
        )
        .await;
        let wall = began.elapsed().as_secs_f64() * 1000.0;
        let used = sandbox.usage().await.expect("counted").cpu_ms - before.cpu_ms;
        assert!(used < wall * 0.35, "{used} ms of {wall} ms");
    });
}

fn what_its_kernel_lets_nobody_set_inside_is_bounded_from_the_beginning() {
    requires!("gvisor", is_possible());
    let place = Place::new();
    wait(async {
        let sandbox = place.sandbox().await;
        // Queues of messages, priorities in real time, signals that wait.
        let script =
            "python3 -c 'import resource; print([resource.getrlimit(kind) for kind in (12, 14, 11)])'";
        assert_eq!(sh(sandbox.as_ref(), script).await, "[(0, 0), (0, 0), (4096, 4096)]\n");
    });
}
