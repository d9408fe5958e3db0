//! Limits: seen to hold, and told.

use std::time::Instant;

use bailiwick_sandbox::{Exit, Limit, Sandbox};
use bailiwick_testkit::{requires, tests};

use crate::place::{Place, is_possible, sh, shell, spec, wait, words};

tests!(memory_disk_processes_and_processors_are_held_to_their_limits,);

fn memory_disk_processes_and_processors_are_held_to_their_limits() {
    requires!("qemu", is_possible());
    let place = Place::new();
    let mut spec = spec();
    spec.limits = spec
        .limits
        .with(Limit::Memory, 64 << 20)
        .and_then(|limits| limits.with(Limit::Disk, 8 << 20))
        .and_then(|limits| limits.with(Limit::Processes, 10))
        .and_then(|limits| limits.with(Limit::Cpu, 0.5))
        .expect("limits");
    wait(async {
        let sandbox = place.create(spec).await.expect("a sandbox");
        sh(sandbox.as_ref(), "perl -e '$x = \"x\" x (24 << 20); print length $x'").await;
        let result =
            sandbox.exec(words(&["/usr/bin/perl", "-e", "$x = 'x' x (90 << 20); print length $x"])).await;
        let result = result.expect("it is told");
        assert!(result.oom && result.exit == Exit::Signal(9), "{result:?}");
        // Its own kernel ended the command, and the sandbox goes on.
        let next = sandbox.exec(shell("exit 3")).await.expect("it runs");
        assert_eq!((next.exit, next.oom), (Exit::Code(3), false));
        disk(sandbox.as_ref()).await;
        let count = "$n = 0; while ($n < 40) { $p = fork; last if !defined $p; if (!$p) { sleep 60; exit } $n++ } print $n; \
                     kill 9, -1";
        let result = sandbox.exec(shell(&format!("perl -e '$| = 1; {count}'"))).await.expect("it runs");
        let started: u32 = String::from_utf8_lossy(&result.stdout.bytes).trim().parse().expect("a number");
        assert!((5..=9).contains(&started), "{started}");
        let before = sandbox.usage().await.expect("counted");
        let began = Instant::now();
        sh(
            sandbox.as_ref(),
            "timeout 3 sh -c 'while :; do :; done' & timeout 3 sh -c 'while :; do :; done'; wait; true",
        )
        .await;
        let wall = began.elapsed().as_secs_f64() * 1000.0;
        let used = sandbox.usage().await.expect("counted").cpu_ms - before.cpu_ms;
        assert!(used < wall * 0.65, "{used} ms of {wall} ms");
    });
}

async fn disk(sandbox: &dyn Sandbox) {
    let fill = "for f in /work /tmp /var/tmp /dev/shm; do head -c 6000000 /dev/zero > $f/x 2>/dev/null; done; \
                cat /work/x /tmp/x /var/tmp/x /dev/shm/x | wc -c; rm /work/x /tmp/x /var/tmp/x /dev/shm/x";
    let bytes: u64 = sh(sandbox, fill).await.trim().parse().expect("a number");
    assert!((6_000_000..=8 << 20).contains(&bytes), "{bytes}");
    // Nothing else can be written to.
    for place in ["/", "/etc", "/usr", "/dev", "/proc"] {
        let result = sandbox.exec(shell(&format!("echo x > {place}/x"))).await.expect("it runs");
        assert_ne!(result.exit.status(), 0, "{place}");
    }
}
