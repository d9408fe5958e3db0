//! Leases: nothing of one is there in the next.

use std::sync::Arc;
use std::time::Duration;

use bailiwick_sandbox::{Backend, Pool, PoolOptions};
use bailiwick_testkit::tests;

use crate::place::{Place, sh, shell, spec, wait, words};

tests!(a_lease_sees_nothing_of_the_one_before, what_cannot_be_proven_clean_is_replaced);

fn options() -> PoolOptions {
    PoolOptions { max: 1, min_idle: 1, borrow_timeout: Duration::from_secs(20) }
}

/// What one lease leaves, and a look whether the next one finds it.
const LEFTOVERS: &[(&str, &str, &str)] = &[
    (
        "files",
        "echo secret > /work/a; echo secret > /tmp/b; echo s > /dev/shm/c; echo s > /var/tmp/d",
        "ls -A /work /tmp /dev/shm /var/tmp | grep -v : | grep .",
    ),
    (
        "closed folders",
        "mkdir -p /work/x/y; touch /work/x/y/z; chmod 000 /work/x/y /work/x",
        "ls -A /work | grep .",
    ),
    ("hidden names", "touch /work/.hidden '/work/..more' /work/-rf", "ls -A /work | grep ."),
    (
        "processes",
        "setsid sh -c 'trap \"\" TERM HUP; sleep 1000' >/dev/null 2>&1 & echo on",
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
        "tail -qn +2 /proc/sysvipc/shm /proc/sysvipc/msg /proc/sysvipc/sem | grep .",
    ),
    ("links", "ln -s /etc/passwd /work/link; mkfifo /tmp/fifo", "ls -A /work /tmp | grep -v : | grep ."),
];

fn a_lease_sees_nothing_of_the_one_before() {
    let place = Place::new();
    wait(async {
        let backend: Arc<dyn Backend> = place.backend.clone();
        let pool = Pool::new(backend, spec(), options()).expect("a pool");
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
        assert!(counts.reset > 0, "{counts:?}");
        pool.close().await;
    });
}

fn what_cannot_be_proven_clean_is_replaced() {
    let place = Place::new();
    wait(async {
        let backend: Arc<dyn Backend> = place.backend.clone();
        let pool = Pool::new(backend, spec(), options()).expect("a pool");
        let lease = pool.borrow().await.expect("a lease");
        let first = lease.id();
        // A connection that is being closed outlives its processes for a minute.
        let text = "import socket\ns=socket.create_server(('127.0.0.1',0))\nc=socket.create_connection(s.getsockname())\na,_=s.accept()\nc.close(); a.close(); s.close()";
        let result = lease.exec(words(&["/usr/bin/python3", "-c", text])).await.expect("it runs");
        assert_eq!(result.exit.status(), 0, "{result:?}");
        lease.give_back().await;
        let lease = pool.borrow().await.expect("a lease");
        assert_ne!(lease.id(), first, "{:?}", pool.counts());
        assert_eq!(sh(&*lease, "tail -n +2 /proc/net/tcp").await, "");
        lease.give_back().await;
        pool.close().await;
    });
}
