//! Leases: nothing of one is there in the next.

use std::sync::Arc;
use std::time::Duration;

use bailiwick_sandbox::{Backend, Pool, PoolOptions};
use bailiwick_testkit::tests;

use crate::place::{Place, sh, spec, wait, words};

tests!(what_cannot_be_proven_clean_is_replaced);

fn options() -> PoolOptions {
    PoolOptions { max: 1, min_idle: 1, borrow_timeout: Duration::from_secs(20) }
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
