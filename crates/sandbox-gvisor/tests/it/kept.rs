//! Sandboxes that are kept as they are, with what runs in them.

use bailiwick_sandbox::{Backend, Limit, Mount, Sandbox, SandboxError, SandboxSpec};
use bailiwick_testkit::{requires, tests};

use crate::place::{Place, is_possible, path, sh, shell, spec, wait};

tests!(
    a_snapshot_goes_on_three_times_with_what_ran_in_it,
    a_fork_goes_on_beside_its_origin,
    a_sandbox_that_sleeps_has_no_memory_and_wakes_by_itself,
    a_command_that_speaks_is_heard_on_after_sleep,
    a_snapshot_is_asked_for_with_its_own_spec,
);

/// Starts something that counts, and goes on when the command that started it has ended.
async fn count(sandbox: &dyn Sandbox) {
    let counting = "setsid sh -c 'n=0; while :; do n=$((n+1)); echo $n > /work/next; mv /work/next /work/count; sleep 0.02; done' \
                    >/dev/null 2>&1 & while [ ! -e /work/count ]; do sleep 0.02; done; echo on";
    sh(sandbox, counting).await;
}

async fn counted(sandbox: &dyn Sandbox) -> u64 {
    sh(sandbox, "cat /work/count").await.trim().parse().expect("a number")
}

/// Waits until the count is beyond a number.
async fn counts_beyond(sandbox: &dyn Sandbox, number: u64) {
    let beyond = format!("while [ $(cat /work/count) -le {number} ]; do sleep 0.02; done");
    sh(sandbox, &beyond).await;
}

fn a_snapshot_goes_on_three_times_with_what_ran_in_it() {
    requires!("gvisor", is_possible());
    let place = Place::new();
    wait(async {
        let sandbox = place.sandbox().await;
        count(sandbox.as_ref()).await;
        sh(sandbox.as_ref(), "echo before > /tmp/mark").await;
        let snapshot = sandbox.snapshot().await.expect("kept");
        assert!(snapshot.bytes > 0);
        let at = counted(sandbox.as_ref()).await;
        sh(sandbox.as_ref(), "echo after > /tmp/mark").await;
        counts_beyond(sandbox.as_ref(), at + 5).await;
        let mut forks = Vec::new();
        for _ in 0..3 {
            let spec = SandboxSpec { snapshot: Some(snapshot.clone()), ..spec() };
            forks.push(place.create(spec).await.expect("it goes on"));
        }
        for (number, fork) in forks.iter().enumerate() {
            assert_eq!(sh(fork.as_ref(), "cat /tmp/mark").await, "before\n");
            let at = counted(fork.as_ref()).await;
            counts_beyond(fork.as_ref(), at).await;
            sh(fork.as_ref(), &format!("echo {number} > /tmp/mark")).await;
        }
        for (number, fork) in forks.iter().enumerate() {
            assert_eq!(sh(fork.as_ref(), "cat /tmp/mark").await, format!("{number}\n"));
        }
        assert_eq!(sh(sandbox.as_ref(), "cat /tmp/mark").await, "after\n");
        place.backend.forget(&snapshot).await.expect("forgotten");
        let gone = place.create(SandboxSpec { snapshot: Some(snapshot), ..spec() }).await.err();
        assert!(matches!(gone, Some(SandboxError::NoSnapshot(_))), "{gone:?}");
    });
}

fn a_fork_goes_on_beside_its_origin() {
    requires!("gvisor", is_possible());
    let place = Place::new();
    wait(async {
        let sandbox = place.sandbox().await;
        count(sandbox.as_ref()).await;
        let fork = sandbox.fork().await.expect("a fork");
        for one in [sandbox.as_ref(), fork.as_ref()] {
            let at = counted(one).await;
            counts_beyond(one, at).await;
        }
        sandbox.terminate().await.expect("ended");
        assert_eq!(sh(fork.as_ref(), "echo on").await, "on\n");
    });
}

/// The memory of a place's processes, in kilobytes: their own, and what they share as theirs.
fn memory(place: &Place) -> u64 {
    let of = |pid: i32| {
        let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
        let line =
            status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or_default().trim().to_owned();
        line.trim_end_matches("kB").trim().parse::<u64>().unwrap_or(0)
    };
    place.processes().into_iter().map(of).sum()
}

fn a_sandbox_that_sleeps_has_no_memory_and_wakes_by_itself() {
    requires!("gvisor", is_possible());
    let place = Place::new();
    wait(async {
        let sandbox = place.sandbox().await;
        sh(
            sandbox.as_ref(),
            "setsid perl -e '$x = \"x\" x (64 << 20); sleep 1000' >/dev/null 2>&1 & echo on",
        )
        .await;
        count(sandbox.as_ref()).await;
        let before = memory(&place);
        assert!(before > 64 << 10, "{before} kB");
        sandbox.hibernate().await.expect("asleep");
        let after = memory(&place);
        assert!(after * 50 < before, "{before} kB, then {after} kB");
        sandbox.hibernate().await.expect("still asleep");
        assert!(sandbox.is_alive());
        // The next use wakes it, and what ran goes on.
        let at = counted(sandbox.as_ref()).await;
        counts_beyond(sandbox.as_ref(), at).await;
        assert!(memory(&place) > before / 2);
        sandbox.hibernate().await.expect("asleep again");
        sandbox.resume().await.expect("awake");
        assert_eq!(sh(sandbox.as_ref(), "echo on").await, "on\n");
        sandbox.hibernate().await.expect("asleep a third time");
        sandbox.terminate().await.expect("ended in its sleep");
        assert_eq!(place.processes(), Vec::<i32>::new());
    });
}

fn a_command_that_speaks_is_heard_on_after_sleep() {
    requires!("gvisor", is_possible());
    let place = Place::new();
    wait(async {
        let sandbox = place.sandbox().await;
        // Much more than is under way at once, so that it stands within a message when it is kept.
        let text = "i=0; while [ $i -lt 40000 ]; do echo \"line $i of what it says\"; i=$((i+1)); done";
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
        assert_eq!(heard.lines().count(), 40_000);
        assert!(
            heard.lines().enumerate().all(|(number, line)| line == format!("line {number} of what it says"))
        );
    });
}

fn a_snapshot_is_asked_for_with_its_own_spec() {
    requires!("gvisor", is_possible());
    let place = Place::new();
    wait(async {
        let sandbox = place.sandbox().await;
        let snapshot = Some(sandbox.snapshot().await.expect("kept"));
        let mut other = SandboxSpec { snapshot, ..spec() };
        // A folder is what was mounted, and not only where.
        let mounted = |from: &str| {
            let mount = Mount { from: from.into(), to: path("/mounted"), writable: false };
            SandboxSpec { mounts: vec![mount.open_by_name().expect("it is held")], ..spec() }
        };
        let [one, two] = ["one", "two"].map(|name| {
            let folder = place.path().join(name);
            std::fs::create_dir(&folder).expect("a folder");
            folder.to_str().expect("a path").to_owned()
        });
        let with = place.create(mounted(&one)).await.expect("a sandbox");
        let kept = Some(with.snapshot().await.expect("kept"));
        let same = SandboxSpec { snapshot: kept.clone(), ..mounted(&one) };
        place.create(same).await.expect("it goes on").terminate().await.expect("ended");
        let refused = place.create(SandboxSpec { snapshot: kept, ..mounted(&two) }).await;
        let refused = refused.expect_err("another folder").to_string();
        assert!(refused.contains("another mounts"), "{refused}");
        other.limits = other.limits.with(Limit::Disk, 128 << 20).expect("a limit");
        let refused = place.create(other).await.expect_err("refused").to_string();
        assert!(refused.contains("another limit on disk"), "{refused}");
    });
}
