//! Leases: nothing of one is there in the next.

use std::time::Duration;

use bailiwick_sandbox::{Pool, PoolOptions};

use super::{Kernel, Leases, Place, Subject, checks};
use crate::{shell, wait};

// A sandbox with a kernel of its own is replaced whole, which `cli/tests/leases` sees for every backend.
checks!(a_lease_sees_nothing_of_the_one_before if |claims| claims.kernel == Kernel::Host);

/// What one lease leaves, and a look whether the next one finds it.
const LEFTOVERS: &[(&str, &str, &str)] = &[
    (
        "files",
        "echo secret > /work/a; echo secret > /tmp/b; echo s > /dev/shm/c; echo s > /var/tmp/d",
        "ls -A /work /tmp /dev/shm /var/tmp | grep -v : | grep .",
    ),
    (
        "closed directories",
        "mkdir -p /work/x/y; touch /work/x/y/z; chmod 000 /work/x/y /work/x",
        "ls -A /work | grep .",
    ),
    ("hidden names", "touch /work/.hidden '/work/..more' /work/-rf", "ls -A /work | grep ."),
    (
        "processes",
        "setsid sh -c 'trap \"\" TERM HUP; touch /work/on; sleep 1000' >/dev/null 2>&1 & while [ ! -e /work/on ]; do :; done",
        "ls -d /proc/[0-9]* | grep -v -e '/1$' -e \"/$$\" | while read p; do grep -q 'sle[e]p' $p/cmdline 2>/dev/null && echo $p; done | grep .",
    ),
    (
        "abstract sockets",
        "/usr/bin/python3 -c 'import socket,os,time\ns=socket.socket(socket.AF_UNIX); s.bind(\"\\0left\"); s.listen()\nif os.fork()==0: os.setsid(); time.sleep(1000)' >/dev/null 2>&1",
        "grep left /proc/net/unix",
    ),
    (
        "System V memory",
        "ipcmk -M 4096 >/dev/null; ipcmk -Q >/dev/null; ipcmk -S 1 >/dev/null",
        "ipcs -a | grep 0x",
    ),
    ("links", "ln -s /etc/passwd /work/link; mkfifo /tmp/fifo", "ls -A /work /tmp | grep -v : | grep ."),
];

fn a_lease_sees_nothing_of_the_one_before(subject: &dyn Subject) {
    let place = Place::new(subject);
    wait(async {
        let options = PoolOptions { max: 1, min_idle: 1, borrow_timeout: Duration::from_mins(1) };
        let pool = Pool::new(place.backend.clone(), place.spec(), options).expect("a pool");
        for (what, leave, look) in LEFTOVERS {
            let lease = pool.borrow().await.expect("a lease");
            let left = lease.exec(shell(leave)).await.expect("it runs");
            assert_eq!(left.exit.status(), 0, "{what}: {left:?}");
            let seen = lease.exec(shell(look)).await.expect("it runs");
            assert_eq!(seen.exit.status(), 0, "{what}: the look finds it while it is there: {seen:?}");
            lease.give_back().await;
            let lease = pool.borrow().await.expect("a lease");
            let seen = lease.exec(shell(look)).await.expect("it runs");
            assert_ne!(seen.exit.status(), 0, "{what}: {}", String::from_utf8_lossy(&seen.stdout.bytes));
            lease.give_back().await;
        }
        let counts = pool.counts();
        match subject.claims().leases {
            Leases::PutBack => assert!(counts.reset > 0 && counts.replaced == 0, "{counts:?}"),
            Leases::Replaced => assert!(counts.replaced > 0, "{counts:?}"),
        }
        pool.close().await;
    });
}
