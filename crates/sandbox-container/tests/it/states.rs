//! Sleeping, copies and leases.

use std::sync::Arc;
use std::time::Duration;

use bailiwick_sandbox::{Backend, Pool, PoolOptions};
use bailiwick_testkit::tests;
use bytes::Bytes;

use crate::engines::{Engine, ask, with_each};
use crate::place::{Place, path, sh, shell, spec, wait};

tests!(
    one_that_sleeps_stands_still_and_wakes_when_it_is_used,
    a_snapshot_begins_three_others_and_is_forgotten,
    a_lease_sees_nothing_of_the_one_before,
    what_is_closed_is_gone,
);

fn one_that_sleeps_stands_still_and_wakes_when_it_is_used() {
    with_each(|engine| {
        let place = Place::new(engine);
        wait(async {
            let sandbox = place.sandbox().await;
            sh(sandbox.as_ref(), "(while :; do echo x >> /work/ticks; sleep 0.02; done) >/dev/null 2>&1 &")
                .await;
            sandbox.hibernate().await.expect("asleep");
            let id = sandbox.id();
            let filter = format!("label=bailiwick.sandbox={id}");
            let state = || ask(engine, &["ps", "-a", "--filter", &filter, "--format", "{{.Status}}"]);
            assert!(state().to_lowercase().contains("paused"), "{}", state());
            assert!(sandbox.usage().await.expect("counted").wall_ms > 0.0);
            assert!(state().to_lowercase().contains("paused"), "it is not woken to be counted");
            let ticks = sandbox.read_file(&path("/work/ticks"), 1 << 20).await.expect("it wakes");
            assert!(!ticks.is_empty());
            assert!(!state().to_lowercase().contains("paused"), "{}", state());
            // One that sleeps can be ended.
            sandbox.hibernate().await.expect("asleep");
            sandbox.terminate().await.expect("an end");
            assert_eq!(state(), "");
        });
    });
}

fn a_snapshot_begins_three_others_and_is_forgotten() {
    with_each(|engine| {
        let place = Place::new(engine);
        wait(async {
            let sandbox = place.sandbox().await;
            sh(
                sandbox.as_ref(),
                "mkdir -p a/b; echo deep > a/b/c; ln -s a/b/c link; echo shm > /dev/shm/s; chmod 750 a",
            )
            .await;
            let snapshot = sandbox.snapshot().await.expect("a snapshot");
            sh(sandbox.as_ref(), "rm -r a").await;
            let begins = bailiwick_sandbox::SandboxSpec { snapshot: Some(snapshot.clone()), ..spec() };
            let mut others = Vec::new();
            for number in 0..3 {
                let other = place.create(begins.clone()).await.expect("another");
                let found = sh(other.as_ref(), "cat link /dev/shm/s; stat -c %a a").await;
                assert_eq!(found, "deep\nshm\n750\n", "{number}");
                other
                    .write_file(&path("/work/own"), Bytes::from(number.to_string()), false)
                    .await
                    .expect("written");
                others.push(other);
            }
            for (number, other) in others.iter().enumerate() {
                assert_eq!(sh(other.as_ref(), "cat own").await, number.to_string(), "none sees another's");
                other.terminate().await.expect("an end");
            }
            place.backend.forget(&snapshot).await.expect("forgotten");
            place.create(begins).await.expect_err("it is forgotten");
            sandbox.terminate().await.expect("an end");
        });
    });
}

/// What one lease leaves, and a look whether the next one finds it.
const LEFTOVERS: &[(&str, &str, &str)] = &[
    (
        "files",
        "echo secret > /work/a; echo secret > /tmp/b; echo s > /dev/shm/c; echo s > /var/tmp/d",
        "ls -A /work /tmp /dev/shm /var/tmp | grep -v : | grep .",
    ),
    (
        "processes",
        "setsid sh -c 'trap \"\" TERM HUP; sleep 1000' >/dev/null 2>&1 & echo on",
        "ls -d /proc/[0-9]* | while read p; do grep -q 'sle[e]p' $p/cmdline 2>/dev/null && echo $p; done | grep .",
    ),
    (
        "System V memory",
        "ipcmk -M 4096 >/dev/null; ipcmk -Q >/dev/null; ipcmk -S 1 >/dev/null",
        "tail -qn +2 /proc/sysvipc/shm /proc/sysvipc/msg /proc/sysvipc/sem | grep .",
    ),
];

fn a_lease_sees_nothing_of_the_one_before() {
    with_each(|engine| {
        let place = Place::new(engine);
        wait(async {
            let backend: Arc<dyn Backend> = place.backend.clone();
            let options = PoolOptions { max: 1, min_idle: 1, borrow_timeout: Duration::from_mins(1) };
            let pool = Pool::new(backend, spec(), options).expect("a pool");
            let mut ids = std::collections::BTreeSet::new();
            for (what, leave, look) in LEFTOVERS {
                let lease = pool.borrow().await.expect("a lease");
                ids.insert(lease.id().to_string());
                lease.exec(shell(leave)).await.expect("it runs");
                let seen = lease.exec(shell(look)).await.expect("it runs");
                assert_eq!(seen.exit.status(), 0, "{what}: the look finds it while it is there: {seen:?}");
                lease.give_back().await;
                let lease = pool.borrow().await.expect("a lease");
                ids.insert(lease.id().to_string());
                let seen = lease.exec(shell(look)).await.expect("it runs");
                assert_ne!(seen.exit.status(), 0, "{what}: {}", String::from_utf8_lossy(&seen.stdout.bytes));
                lease.give_back().await;
            }
            // Docker's is proven clean each time, and none has to be replaced. Podman's folders are not the sandbox's own to put back.
            if matches!(engine, Engine::Docker(_)) {
                assert_eq!(ids.len(), 1, "{:?}", pool.counts());
            }
            pool.close().await;
        });
    });
}

fn what_is_closed_is_gone() {
    with_each(|engine| {
        let place = Place::new(engine);
        wait(async {
            let sandboxes = [place.sandbox().await, place.sandbox().await];
            place.backend.close().await;
            for sandbox in &sandboxes {
                let filter = format!("label=bailiwick.sandbox={}", sandbox.id());
                assert_eq!(ask(engine, &["ps", "-aq", "--filter", &filter]), "");
                sandbox.exec(shell("true")).await.expect_err("it is gone");
            }
            let lent = place.folder.path().join("state/lent");
            assert_eq!(std::fs::read_dir(lent).expect("a folder").count(), 0, "what they were lent is gone");
        });
    });
}
