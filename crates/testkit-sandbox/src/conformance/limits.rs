//! Limits: seen to hold, and told.

use std::time::Instant;

use bailiwick_sandbox::{Exit, Limit};
use bailiwick_testkit::requires;
use bytes::Bytes;

use super::{Kernel, OutOfMemory, Place, Subject, checks};
use crate::{is_root, path, said, sh, shell, wait, words};

checks!(
    memory_beyond_the_limit_is_refused_and_told,
    all_directories_of_its_own_share_one_bound_on_disk,
    // A kernel of its own has file systems of a least size.
    a_disk_of_nothing_holds_no_file if |claims| claims.kernel == Kernel::Host,
    processes_beyond_the_limit_do_not_start,
    a_sandbox_gets_its_share_of_the_processors_and_no_more,
);

fn memory_beyond_the_limit_is_refused_and_told(subject: &dyn Subject) {
    requires!("root", is_root());
    let place = Place::new(subject);
    wait(async {
        let sandbox = place.limited(&[(Limit::Memory, "64MiB"), (Limit::Disk, "8MiB")]).await;
        sh(sandbox.as_ref(), "perl -e '$x = \"x\" x (24 << 20); print length $x'").await;
        let ends = subject.claims().out_of_memory;
        // A machine that has less than it is asked for refuses that, instead of ending anything.
        let much = if ends == OutOfMemory::EndsTheSandbox { 600 } else { 90 };
        let eats = format!("$x = 'x' x ({much} << 20); print length $x");
        let result = sandbox.exec(words(&["/usr/bin/perl", "-e", &eats])).await.expect("it is told");
        assert!(result.oom && !result.timed_out && result.exit == Exit::Signal(9), "{result:?}");
        if ends == OutOfMemory::EndsTheSandbox {
            assert!(!sandbox.is_alive());
            return;
        }
        assert!(result.usage.memory_peak > 32 << 20, "{:?}", result.usage);
        // The sandbox goes on, and the next command has nothing to do with it.
        let next = sandbox.exec(shell("exit 3")).await.expect("it runs");
        assert_eq!((next.exit, next.oom), (Exit::Code(3), false));
    });
}

fn all_directories_of_its_own_share_one_bound_on_disk(subject: &dyn Subject) {
    let place = Place::new(subject);
    wait(async {
        let sandbox = place.limited(&[(Limit::Disk, "12MiB")]).await;
        let fill = "for d in /work /tmp /var/tmp /dev/shm; do head -c 20000000 /dev/zero > $d/x 2>/dev/null; done; \
                    cat /work/x /tmp/x /var/tmp/x /dev/shm/x | wc -c";
        let bytes: u64 = sh(sandbox.as_ref(), fill).await.trim().parse().expect("a number");
        assert!((6 << 20..=12 << 20).contains(&bytes), "{bytes}");
    });
}

fn a_disk_of_nothing_holds_no_file(subject: &dyn Subject) {
    let place = Place::new(subject);
    wait(async {
        let sandbox = place.limited(&[(Limit::Disk, "0")]).await;
        let result = sandbox.exec(shell("echo x > /work/a || echo x > /tmp/b")).await.expect("an end");
        assert_ne!(result.exit.status(), 0);
        let refused = sandbox.write_file(&path("/tmp/x"), Bytes::from_static(b"x"), false).await;
        refused.expect_err("there is no room for a file");
    });
}

fn processes_beyond_the_limit_do_not_start(subject: &dyn Subject) {
    let place = Place::new(subject);
    let forks = "import os,time\nn=0\ntry:\n  while n<100:\n    if os.fork()==0: time.sleep(60); os._exit(0)\n    n+=1\nexcept OSError: pass\nprint(n)";
    wait(async {
        let (sandbox, other) = (
            place.limited(&[(Limit::Processes, "10")]).await,
            place.limited(&[(Limit::Processes, "10")]).await,
        );
        let forked = sandbox.exec(shell(&format!("python3 -c '{forks}'; true"))).await.expect("an end");
        let started: u32 = said(&forked).trim().parse().expect("a number");
        // The shell and the program itself count too.
        assert!((7..=9).contains(&started), "{started}");
        // They live on in the first; the second has room.
        assert!(sandbox.is_alive());
        assert_eq!(sh(other.as_ref(), "true & true & wait; echo room").await, "room\n");
    });
}

fn a_sandbox_gets_its_share_of_the_processors_and_no_more(subject: &dyn Subject) {
    requires!("root", is_root());
    let place = Place::new(subject);
    wait(async {
        let sandbox = place.limited(&[(Limit::Cpu, "0.4")]).await;
        let before = sandbox.usage().await.expect("counted");
        let began = Instant::now();
        let burn =
            "timeout 2 sh -c 'while :; do :; done' & timeout 2 sh -c 'while :; do :; done'; wait; true";
        sh(sandbox.as_ref(), burn).await;
        let wall = began.elapsed().as_secs_f64() * 1000.0;
        let used = sandbox.usage().await.expect("counted").cpu_ms - before.cpu_ms;
        assert!(used < wall * 0.55, "{used} ms of {wall} ms");
    });
}
