//! Limits: what is held is held by the kernel, and what ended a command is told.

use bailiwick_sandbox::{Limit, SandboxSpec};
use bailiwick_testkit::tests;
use bailiwick_types::WallStatus;

use crate::engines::{ask, with_each};
use crate::place::{Place, path, said, sh, shell, spec, wait, words};

tests!(
    memory_is_held_and_its_end_is_told,
    processes_are_counted_for_one_sandbox_alone,
    files_are_no_more_than_the_disk,
    every_limit_is_in_the_receipt,
);

fn limited(limit: Limit, amount: &str) -> SandboxSpec {
    SandboxSpec { limits: spec().limits.with(limit, amount).expect("a limit"), ..spec() }
}

const EATS: &str = "b=[]\nfor i in range(2000): b.append(bytearray(1<<20))";

fn memory_is_held_and_its_end_is_told() {
    with_each(|engine| {
        let place = Place::new(engine);
        wait(async {
            let spec = limited(Limit::Memory, "64MiB");
            let limits = spec.limits.with(Limit::Disk, "16MiB").expect("a limit");
            let sandbox = place.create(SandboxSpec { limits, ..spec }).await.expect("a sandbox");
            let result = sandbox.exec(words(&["python3", "-c", EATS])).await.expect("an end");
            assert!(result.oom, "{result:?}");
            assert!(result.usage.memory_peak > 60 << 20, "{:?}", result.usage);
            // The sandbox lives on, and the next command has nothing to do with it.
            let result = sandbox.exec(shell("echo still here")).await.expect("an end");
            assert_eq!((said(&result).as_str(), result.oom), ("still here\n", false));
            sandbox.terminate().await.expect("an end");
        });
    });
}

fn processes_are_counted_for_one_sandbox_alone() {
    with_each(|engine| {
        let place = Place::new(engine);
        wait(async {
            let sandbox = place.create(limited(Limit::Processes, "12")).await.expect("a sandbox");
            let other = place.create(limited(Limit::Processes, "12")).await.expect("a sandbox");
            let forks = "import os,time\nn=0\ntry:\n  while n<100:\n    if os.fork()==0: time.sleep(20); os._exit(0)\n    n+=1\nexcept OSError: pass\nprint(n)";
            let forked = sandbox.exec(words(&["python3", "-c", forks])).await.expect("an end");
            assert_eq!(said(&forked).trim(), "11");
            // They live on in the first; the second has room.
            assert_eq!(sh(other.as_ref(), "true & true & wait; echo room").await, "room\n");
            sandbox.terminate().await.expect("an end");
            other.terminate().await.expect("an end");
        });
    });
}

fn files_are_no_more_than_the_disk() {
    with_each(|engine| {
        let place = Place::new(engine);
        wait(async {
            let sandbox = place.create(limited(Limit::Disk, "12MiB")).await.expect("a sandbox");
            let fill = "for d in /work /tmp /var/tmp /dev/shm; do head -c 100000000 /dev/zero > $d/f 2>/dev/null; done; cat /work/f /tmp/f /var/tmp/f /dev/shm/f | wc -c";
            let written: u64 = sh(sandbox.as_ref(), fill).await.trim().parse().expect("a number");
            assert!((6 << 20..=12 << 20).contains(&written), "{written}");
            sandbox.terminate().await.expect("an end");
            let none = place.create(limited(Limit::Disk, "0")).await.expect("a sandbox");
            let refused = none.write_file(&path("/tmp/x"), bytes::Bytes::from_static(b"x"), false).await;
            refused.expect_err("there is no room for a file");
            none.terminate().await.expect("an end");
        });
    });
}

fn every_limit_is_in_the_receipt() {
    with_each(|engine| {
        let place = Place::new(engine);
        wait(async {
            let sandbox = place.sandbox().await;
            for wall in &sandbox.receipt().walls {
                assert_eq!(wall.status, WallStatus::Enforced, "{wall:?}");
            }
            assert_eq!(sandbox.receipt().walls.len(), 10, "{:?}", sandbox.receipt());
            // The engine says the same to whoever asks it.
            let id = sandbox.id();
            let container = ask(engine, &["ps", "-q", "--filter", &format!("label=bailiwick.sandbox={id}")]);
            let form = "{{.HostConfig.Memory}} {{.HostConfig.PidsLimit}} {{.HostConfig.NetworkMode}} {{.HostConfig.Privileged}}";
            let told = ask(engine, &["inspect", "--format", form, &container]);
            let memory = (256 << 20) + (4 << 20);
            assert_eq!(told, format!("{memory} 65 none false"));
            sandbox.terminate().await.expect("an end");
        });
    });
}
