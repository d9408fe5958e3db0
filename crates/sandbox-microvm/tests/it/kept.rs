//! Machines that are kept as they are, with what runs in them.

use std::time::Duration;

use bailiwick_sandbox::{Backend, Limit, Sandbox, SandboxError, SandboxSpec};
use bailiwick_testkit::{requires, tests};

use crate::place::{Place, is_possible, machines, sh, shell, spec, wait};

tests!(
    a_snapshot_goes_on_three_times_with_what_ran_in_it,
    a_machine_that_sleeps_has_no_memory_and_wakes_by_itself,
    whoever_stops_waiting_leaves_a_machine_that_works,
);

/// Starts something that counts, and goes on when the command that started it has ended.
async fn count(sandbox: &dyn Sandbox) {
    let counting = "setsid sh -c 'n=0; while :; do n=$((n+1)); echo $n > /work/next; mv /work/next /work/count; sleep 0.1; done' \
                    >/dev/null 2>&1 & while [ ! -e /work/count ]; do sleep 0.1; done; echo on";
    sh(sandbox, counting).await;
}

async fn counted(sandbox: &dyn Sandbox) -> u64 {
    sh(sandbox, "cat /work/count").await.trim().parse().expect("a number")
}

/// Waits until the count is beyond a number.
async fn counts_beyond(sandbox: &dyn Sandbox, number: u64) {
    let beyond = format!("while [ $(cat /work/count) -le {number} ]; do sleep 0.1; done");
    sh(sandbox, &beyond).await;
}

/// Random bytes of the machine's kernel.
const RANDOM: &str = "head -c 16 /dev/urandom | od -An -tx1";

fn a_snapshot_goes_on_three_times_with_what_ran_in_it() {
    requires!("qemu", is_possible());
    let place = Place::new();
    wait(async {
        let sandbox = place.sandbox().await;
        count(sandbox.as_ref()).await;
        sh(sandbox.as_ref(), "echo before > /tmp/mark").await;
        sh(sandbox.as_ref(), RANDOM).await;
        let snapshot = sandbox.snapshot().await.expect("kept");
        assert!(snapshot.bytes > 0);
        let at = counted(sandbox.as_ref()).await;
        sh(sandbox.as_ref(), "echo after > /tmp/mark").await;
        counts_beyond(sandbox.as_ref(), at).await;
        let mut forks = Vec::new();
        let mut random = vec![sh(sandbox.as_ref(), RANDOM).await];
        for number in 0..3 {
            let spec = SandboxSpec { snapshot: Some(snapshot.clone()), ..spec() };
            let fork = place.create(spec).await.expect("it goes on");
            assert_eq!(sh(fork.as_ref(), "cat /tmp/mark").await, "before\n");
            random.push(sh(fork.as_ref(), RANDOM).await);
            let at = counted(fork.as_ref()).await;
            counts_beyond(fork.as_ref(), at).await;
            sh(fork.as_ref(), &format!("echo {number} > /tmp/mark")).await;
            forks.push(fork);
        }
        for (number, fork) in forks.iter().enumerate() {
            assert_eq!(sh(fork.as_ref(), "cat /tmp/mark").await, format!("{number}\n"));
            // The time is the host's, not that of the snapshot.
            let told: u64 = sh(fork.as_ref(), "date +%s").await.trim().parse().expect("a number");
            let now = bailiwick_sys::clock::realtime().as_secs();
            assert!(now.abs_diff(told) < 30, "{told}, and it is {now}");
        }
        random.sort();
        random.dedup();
        assert_eq!(random.len(), 4, "random numbers that others have, too: {random:?}");
        assert_eq!(sh(sandbox.as_ref(), "cat /tmp/mark").await, "after\n");
        let mut other = SandboxSpec { snapshot: Some(snapshot.clone()), ..spec() };
        other.limits = other.limits.with(Limit::Disk, 48 << 20).expect("a limit");
        let refused = place.create(other).await.map(drop).expect_err("refused").to_string();
        assert!(refused.contains("another limit on disk"), "{refused}");
        place.backend.forget(&snapshot).await.expect("forgotten");
        let gone = place.create(SandboxSpec { snapshot: Some(snapshot), ..spec() }).await.err();
        assert!(matches!(gone, Some(SandboxError::NoSnapshot(_))), "{gone:?}");
    });
}

/// The memory of all machines of this process, in kilobytes.
fn memory() -> u64 {
    let of = |pid: i32| {
        let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
        let line =
            status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or_default().trim().to_owned();
        line.trim_end_matches("kB").trim().parse::<u64>().unwrap_or(0)
    };
    machines().into_iter().map(of).sum()
}

fn a_machine_that_sleeps_has_no_memory_and_wakes_by_itself() {
    requires!("qemu", is_possible());
    let place = Place::new();
    wait(async {
        let sandbox = place.sandbox().await;
        count(sandbox.as_ref()).await;
        let before = memory();
        assert!(before > 64 << 10, "{before} kB");
        sandbox.hibernate().await.expect("asleep");
        assert_eq!(memory(), 0);
        sandbox.hibernate().await.expect("still asleep");
        assert!(sandbox.is_alive());
        // The next use wakes it, and what ran goes on.
        let at = counted(sandbox.as_ref()).await;
        counts_beyond(sandbox.as_ref(), at).await;
        assert!(memory() > before / 4);
        // Much more than is under way at once, so that it stands within a message when it is kept.
        let text = "i=0; while [ $i -lt 20000 ]; do echo \"line $i of what it says\"; i=$((i+1)); done";
        let mut running = sandbox.spawn(shell(text)).await.expect("it runs");
        let mut heard = Vec::new();
        let first = running.output.recv().await.expect("it speaks");
        heard.extend_from_slice(&first.bytes);
        sandbox.hibernate().await.expect("asleep");
        sandbox.resume().await.expect("awake");
        while let Some(chunk) = running.output.recv().await {
            heard.extend_from_slice(&chunk.bytes);
        }
        let ended = running.ended.await.expect("told").expect("it ended");
        assert_eq!(ended.exit.status(), 0);
        let heard = String::from_utf8(heard).expect("text");
        assert!(
            heard.lines().enumerate().all(|(number, line)| line == format!("line {number} of what it says"))
        );
        assert_eq!(heard.lines().count(), 20_000);
        sandbox.hibernate().await.expect("asleep a third time");
        sandbox.terminate().await.expect("ended in its sleep");
        assert_eq!(machines(), Vec::<i32>::new());
    });
}

fn whoever_stops_waiting_leaves_a_machine_that_works() {
    requires!("qemu", is_possible());
    let place = Place::new();
    wait(async {
        let sandbox = place.sandbox().await;
        count(sandbox.as_ref()).await;
        // From before anything was done for it to the middle of its memory being written.
        for milliseconds in [1, 10, 50, 150] {
            let within = Duration::from_millis(milliseconds);
            let hibernated = tokio::time::timeout(within, sandbox.hibernate()).await;
            assert!(milliseconds > 1 || hibernated.is_err(), "{hibernated:?}");
            let at = counted(sandbox.as_ref()).await;
            let kept = tokio::time::timeout(within, sandbox.snapshot()).await;
            assert!(milliseconds > 1 || kept.is_err(), "{kept:?}");
            counts_beyond(sandbox.as_ref(), at).await;
            sandbox.hibernate().await.expect("asleep");
            assert_eq!(memory(), 0);
            // Waking is asked for by whoever uses it.
            let used = tokio::time::timeout(within, sandbox.exec(shell("true"))).await;
            assert!(milliseconds > 1 || used.is_err(), "{used:?}");
            counts_beyond(sandbox.as_ref(), at).await;
            assert_eq!(machines().len(), 1);
        }
    });
}
