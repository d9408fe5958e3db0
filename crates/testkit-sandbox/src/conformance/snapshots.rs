//! Snapshots and forks: what begins with them, and that it is apart.

use bailiwick_sandbox::{Limit, SandboxError, SandboxSpec};

use super::mounts::mount;
use super::{Claims, Place, Snapshots, Subject, checks};
use crate::{count, counts_on, sh, wait};

checks!(
    a_snapshot_begins_three_others_and_is_forgotten,
    a_fork_goes_on_beside_its_origin,
    a_snapshot_is_asked_for_with_its_own_spec if keeps_what_runs,
);

fn keeps_what_runs(claims: &Claims) -> bool {
    claims.snapshots == Snapshots::Running
}

/// Random bytes of the kernel's.
const RANDOM: &str = "head -c 16 /dev/urandom | od -An -tx1";
/// What is in a sandbox that a snapshot is made of, and how it is seen in others.
const MAKE: &str = "mkdir -p a/b; echo deep > a/b/c; ln -s a/b/c link; chmod 750 a; echo shm > /dev/shm/s; echo before > /tmp/mark";
const LOOK: &str = "cat link /dev/shm/s /tmp/mark; stat -c %a a";
const SEEN: &str = "deep\nshm\nbefore\n750\n";

fn a_snapshot_begins_three_others_and_is_forgotten(subject: &dyn Subject) {
    let place = Place::new(subject);
    let runs = keeps_what_runs(&subject.claims());
    wait(async {
        let sandbox = place.sandbox().await;
        if runs {
            count(sandbox.as_ref()).await;
        }
        sh(sandbox.as_ref(), MAKE).await;
        sh(sandbox.as_ref(), RANDOM).await;
        let snapshot = sandbox.snapshot().await.expect("kept");
        assert!(snapshot.bytes > 0);
        sh(sandbox.as_ref(), "echo after > /tmp/mark; rm -r a").await;
        let begins = SandboxSpec { snapshot: Some(snapshot.clone()), ..place.spec() };
        let mut others = Vec::new();
        let mut random = vec![sh(sandbox.as_ref(), RANDOM).await];
        for number in 0..3 {
            let other = place.create(begins.clone()).await.expect("another");
            assert_eq!(sh(other.as_ref(), LOOK).await, SEEN, "{number}");
            random.push(sh(other.as_ref(), RANDOM).await);
            if runs {
                counts_on(other.as_ref()).await;
            }
            // The time is the host's, not that of the snapshot.
            let told: u64 = sh(other.as_ref(), "date +%s").await.trim().parse().expect("a number");
            let epoch = std::time::SystemTime::UNIX_EPOCH;
            let now = std::time::SystemTime::now().duration_since(epoch).expect("a time").as_secs();
            assert!(now.abs_diff(told) < 30, "{told}, and it is {now}");
            sh(other.as_ref(), &format!("echo {number} > /tmp/mark")).await;
            others.push(other);
        }
        for (number, other) in others.iter().enumerate() {
            let told = sh(other.as_ref(), "cat /tmp/mark").await;
            assert_eq!(told, format!("{number}\n"), "none sees another's");
        }
        random.sort();
        random.dedup();
        assert_eq!(random.len(), 4, "random numbers that others have, too: {random:?}");
        place.backend.forget(&snapshot).await.expect("forgotten");
        let again = place.backend.forget(&snapshot).await.err();
        let gone = place.create(begins).await.err();
        for error in [again, gone] {
            assert!(matches!(error, Some(SandboxError::NoSnapshot(_))), "{error:?}");
        }
        if runs {
            counts_on(sandbox.as_ref()).await;
        }
        assert_eq!(sh(sandbox.as_ref(), "cat /tmp/mark").await, "after\n");
    });
}

fn a_fork_goes_on_beside_its_origin(subject: &dyn Subject) {
    let place = Place::new(subject);
    let runs = keeps_what_runs(&subject.claims());
    wait(async {
        let sandbox = place.sandbox().await;
        if runs {
            count(sandbox.as_ref()).await;
        }
        sh(sandbox.as_ref(), MAKE).await;
        let fork = sandbox.fork().await.expect("a fork");
        assert_ne!(sandbox.id(), fork.id());
        assert_eq!(sh(fork.as_ref(), LOOK).await, SEEN);
        if runs {
            counts_on(sandbox.as_ref()).await;
            counts_on(fork.as_ref()).await;
        }
        sh(fork.as_ref(), "echo of the fork > /tmp/mark").await;
        assert_eq!(sh(sandbox.as_ref(), LOOK).await, SEEN);
        sandbox.terminate().await.expect("ended");
        assert_eq!(sh(fork.as_ref(), "cat /tmp/mark").await, "of the fork\n");
    });
}

fn a_snapshot_is_asked_for_with_its_own_spec(subject: &dyn Subject) {
    let place = Place::new(subject);
    let [one, two] = ["one", "two"].map(|name| {
        let folder = place.path().join(name);
        std::fs::create_dir(&folder).expect("a directory");
        folder
    });
    let mounted = |from| SandboxSpec { mounts: vec![mount(from, "/mounted", false)], ..place.spec() };
    wait(async {
        // A directory is what was mounted, and not only where.
        let sandbox = place.create(mounted(&one)).await.expect("a sandbox");
        let snapshot = Some(sandbox.snapshot().await.expect("kept"));
        let same = SandboxSpec { snapshot: snapshot.clone(), ..mounted(&one) };
        place.create(same.clone()).await.expect("it goes on").terminate().await.expect("ended");
        let mut smaller = same;
        smaller.limits = smaller.limits.with(Limit::Disk, 48 << 20).expect("a limit");
        let other = SandboxSpec { snapshot, ..mounted(&two) };
        for (spec, why) in [(other, "another mounts"), (smaller, "another limit on disk")] {
            let refused = place.create(spec).await.expect_err(why).to_string();
            assert!(refused.contains(why), "{refused}");
        }
    });
}
