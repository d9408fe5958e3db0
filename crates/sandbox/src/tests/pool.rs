//! The pool: who gets what, in which order, and what becomes of what comes back.

use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::Poll;
use std::time::Duration;

use bailiwick_types::{ErrorCode, Tier};
use bytes::Bytes;

use super::fake::{Fake, Making, Resetting, World};
use crate::pool::Counts;
use crate::{Limits, Mount, Network, Pool, PoolOptions, Sandbox, SandboxPath, SandboxSpec};

const OPTIONS: PoolOptions = PoolOptions { max: 2, min_idle: 0, borrow_timeout: Duration::from_secs(5) };

fn pool(options: PoolOptions) -> (Pool, Arc<World>) {
    let backend = Fake::new("fake", Tier::Process, 1);
    let world = backend.world.clone();
    (Pool::new(Arc::new(backend), SandboxSpec::default(), options).unwrap(), world)
}

/// Lets everything happen that can without time going by.
async fn settle() {
    for _ in 0..64 {
        tokio::task::yield_now().await;
    }
}

/// Begins something and leaves it when it has to wait.
async fn begin<T>(doing: &mut (impl Future<Output = T> + Unpin)) -> Option<T> {
    poll_fn(|context| {
        Poll::Ready(match std::pin::Pin::new(&mut *doing).poll(context) {
            Poll::Ready(done) => Some(done),
            Poll::Pending => None,
        })
    })
    .await
}

fn place() -> SandboxPath {
    SandboxPath::new("/work/left").unwrap()
}

async fn mark(sandbox: &dyn Sandbox) {
    sandbox.write_file(&place(), Bytes::from_static(b"mine"), false).await.unwrap();
}

async fn is_marked(sandbox: &dyn Sandbox) -> bool {
    sandbox.read_file(&place(), 10).await.is_ok()
}

#[tokio::test(start_paused = true)]
async fn what_comes_back_proven_is_lent_again_without_a_trace() {
    let (pool, world) = pool(OPTIONS);
    let lease = pool.borrow().await.unwrap();
    let id = lease.id();
    mark(&*lease).await;
    assert!(is_marked(&*lease).await);
    lease.give_back().await;
    let lease = pool.borrow().await.unwrap();
    assert_eq!(lease.id(), id, "the same one");
    assert!(!is_marked(&*lease).await, "and nothing of the first lease in it");
    assert_eq!(world.made.load(Ordering::SeqCst), 1);
    assert_eq!(pool.counts(), Counts { created: 1, leased: 2, reset: 1, ..Counts::default() });
}

#[tokio::test(start_paused = true)]
async fn what_is_not_proven_pristine_is_ended_and_replaced() {
    for resetting in [Resetting::Unproven, Resetting::Fails, Resetting::Panics, Resetting::Hangs] {
        let (pool, world) = pool(OPTIONS);
        world.will_reset([resetting]);
        let lease = pool.borrow().await.unwrap();
        let id = lease.id();
        mark(&*lease).await;
        lease.give_back().await;
        assert_eq!(world.alive(), 0, "{resetting:?}: it is ended");
        let lease = pool.borrow().await.unwrap();
        assert_ne!(lease.id(), id, "{resetting:?}");
        assert!(!is_marked(&*lease).await, "{resetting:?}");
        let counts = Counts { created: 2, leased: 2, replaced: 1, ..Counts::default() };
        assert_eq!(pool.counts(), counts, "{resetting:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn nobody_gets_one_that_is_still_being_reset() {
    let (pool, world) = pool(PoolOptions { max: 1, ..OPTIONS });
    world.may_reset.forget_permits(usize::MAX);
    drop(pool.borrow().await.unwrap());
    let mut next = Box::pin(pool.borrow());
    assert!(begin(&mut next).await.is_none());
    settle().await;
    assert!(begin(&mut next).await.is_none(), "the reset has not come to its end");
    world.may_reset.add_permits(1);
    assert!(!is_marked(&*next.await.unwrap()).await);
}

#[tokio::test(start_paused = true)]
async fn an_evicted_one_is_not_lent_again() {
    let (pool, world) = pool(OPTIONS);
    let lease = pool.borrow().await.unwrap();
    let id = lease.id();
    lease.evict().await;
    assert_eq!((world.alive(), pool.size()), (0, 0));
    assert_ne!(pool.borrow().await.unwrap().id(), id);
    let counts = pool.counts();
    assert_eq!((counts.evicted, counts.reset, counts.replaced), (1, 0, 0));
}

#[tokio::test(start_paused = true)]
async fn one_that_died_while_it_was_idle_is_not_lent() {
    let (pool, world) = pool(OPTIONS);
    let lease = pool.borrow().await.unwrap();
    let id = lease.id();
    lease.give_back().await;
    assert_eq!(pool.idle(), 1);
    world.perish();
    let lease = pool.borrow().await.unwrap();
    assert_ne!(lease.id(), id);
    assert_eq!((world.alive(), pool.size(), pool.counts().replaced), (1, 1, 1));
}

#[tokio::test(start_paused = true)]
async fn one_that_died_while_it_was_lent_is_not_lent_again() {
    let (pool, world) = pool(OPTIONS);
    let lease = pool.borrow().await.unwrap();
    let id = lease.id();
    lease.terminate().await.unwrap();
    lease.give_back().await;
    assert_eq!(pool.idle(), 0);
    assert_ne!(pool.borrow().await.unwrap().id(), id);
    assert_eq!(world.alive(), 1);
    assert_eq!(pool.counts().replaced, 1);
}

#[tokio::test(start_paused = true)]
async fn a_full_pool_makes_whoever_waited_too_long_an_extra_one() {
    let (pool, world) = pool(PoolOptions { max: 1, ..OPTIONS });
    let first = pool.borrow().await.unwrap();
    let begun = tokio::time::Instant::now();
    let extra = pool.borrow().await.unwrap();
    assert_eq!(begun.elapsed(), OPTIONS.borrow_timeout, "by the clock of the test, which only this moves");
    assert!(extra.is_extra() && !first.is_extra());
    assert_ne!(extra.id(), first.id());
    assert_eq!((pool.size(), world.alive()), (1, 2));
    extra.give_back().await;
    assert_eq!(world.alive(), 1, "an extra one ends when it comes back");
    let counts = pool.counts();
    assert_eq!((counts.extra, counts.created, counts.reset, counts.replaced), (1, 2, 0, 0));
}

#[tokio::test(start_paused = true)]
async fn those_who_wait_are_served_in_their_order() {
    let (pool, _world) = pool(PoolOptions { max: 1, ..OPTIONS });
    let first = pool.borrow().await.unwrap();
    let mut second = Box::pin(pool.borrow());
    let mut third = Box::pin(pool.borrow());
    assert!(begin(&mut second).await.is_none() && begin(&mut third).await.is_none());
    first.give_back().await;
    // Who comes now finds nothing idle: it went to the second.
    let mut fourth = Box::pin(pool.borrow());
    assert!(begin(&mut fourth).await.is_none());
    assert!(begin(&mut third).await.is_none());
    let second = second.await.unwrap();
    second.give_back().await;
    assert!(begin(&mut fourth).await.is_none());
    third.await.unwrap().give_back().await;
    fourth.await.unwrap();
    assert_eq!(pool.counts().created, 1);
}

#[tokio::test(start_paused = true)]
async fn whoever_stops_waiting_loses_nobody_a_sandbox() {
    let (pool, world) = pool(PoolOptions { max: 1, ..OPTIONS });
    world.may_make.forget_permits(usize::MAX);
    // Left before it is made.
    let mut left = Box::pin(pool.borrow());
    assert!(begin(&mut left).await.is_none());
    settle().await;
    drop(left);
    world.may_make.add_permits(1);
    settle().await;
    assert_eq!((pool.idle(), pool.size()), (1, 1), "what was begun for somebody is there for the next");
    // Left after it was handed over, and before that was seen.
    let lease = pool.borrow().await.unwrap();
    let mut left = Box::pin(pool.borrow());
    assert!(begin(&mut left).await.is_none());
    lease.give_back().await;
    assert_eq!(pool.idle(), 0, "it is on its way to who waits");
    drop(left);
    assert_eq!((pool.idle(), world.alive()), (1, 1));
    // Left with another one waiting behind.
    let lease = pool.borrow().await.unwrap();
    let mut left = Box::pin(pool.borrow());
    let mut behind = Box::pin(pool.borrow());
    assert!(begin(&mut left).await.is_none() && begin(&mut behind).await.is_none());
    lease.give_back().await;
    drop(left);
    assert!(begin(&mut behind).await.is_some());
    assert_eq!(pool.counts().created, 1);
}

#[tokio::test(start_paused = true)]
async fn as_many_as_asked_for_are_kept_ready() {
    let (pool, world) = pool(PoolOptions { max: 3, min_idle: 2, ..OPTIONS });
    settle().await;
    assert_eq!((pool.idle(), pool.size()), (2, 2));
    let first = pool.borrow().await.unwrap();
    let second = pool.borrow().await.unwrap();
    let third = pool.borrow().await.unwrap();
    settle().await;
    assert_eq!((pool.idle(), pool.size(), world.alive()), (0, 3, 3), "and never more than there may be");
    first.evict().await;
    settle().await;
    assert_eq!((pool.idle(), pool.size()), (1, 3), "one that is gone makes room for one that is ready");
    drop((second, third));
    settle().await;
    assert_eq!((pool.idle(), pool.size()), (3, 3));
}

#[tokio::test(start_paused = true)]
async fn a_backend_that_fails_is_not_asked_again_and_again() {
    let backend = Fake::new("fake", Tier::Process, 1);
    let world = backend.world.clone();
    world.will_make([Making::Fails; 12]);
    let options = PoolOptions { min_idle: 1, ..OPTIONS };
    let pool = Pool::new(Arc::new(backend), SandboxSpec::default(), options).unwrap();
    settle().await;
    assert_eq!(world.asked.load(Ordering::SeqCst), 1, "not again before a rest");
    tokio::time::sleep(Duration::from_secs(10)).await;
    let asked = world.asked.load(Ordering::SeqCst);
    assert!((3..=8).contains(&asked), "the rests grow: {asked}");
    tokio::time::sleep(Duration::from_mins(10)).await;
    assert_eq!((pool.idle(), pool.counts().failed), (1, 12), "it is well again, and so is the pool");
}

#[tokio::test(start_paused = true)]
async fn who_waits_for_one_that_cannot_be_made_hears_why() {
    for (making, code) in [(Making::Fails, ErrorCode::Busy), (Making::Panics, ErrorCode::Internal)] {
        let (pool, world) = pool(OPTIONS);
        world.will_make([making]);
        assert_eq!(pool.borrow().await.unwrap_err().code(), code);
        assert_eq!((pool.size(), pool.counts().failed), (0, 1));
        assert!(pool.borrow().await.is_ok(), "the next one is made");
    }
}

#[tokio::test(start_paused = true)]
async fn closing_waits_for_what_is_lent_and_ends_all() {
    let (pool, world) = pool(PoolOptions { max: 1, min_idle: 0, ..OPTIONS });
    let lease = pool.borrow().await.unwrap();
    let extra = pool.borrow().await.unwrap();
    let mut waiting = Box::pin(pool.borrow());
    assert!(begin(&mut waiting).await.is_none());
    let mut closing = Box::pin(pool.close());
    assert!(begin(&mut closing).await.is_none());
    assert_eq!(waiting.await.unwrap_err().code(), ErrorCode::Busy, "nobody waits for a closed pool");
    assert_eq!(pool.borrow().await.unwrap_err().code(), ErrorCode::Busy);
    settle().await;
    assert!(begin(&mut closing).await.is_none(), "two are lent");
    assert_eq!(world.alive(), 2, "and work until they come back");
    drop(lease);
    settle().await;
    assert!(begin(&mut closing).await.is_none(), "one is lent");
    drop(extra);
    closing.await;
    assert_eq!((world.alive(), pool.size()), (0, 0));
    pool.close().await;
}

#[tokio::test(start_paused = true)]
async fn one_that_is_made_after_the_end_is_ended() {
    let (pool, world) = pool(PoolOptions { min_idle: 1, ..OPTIONS });
    world.may_make.forget_permits(usize::MAX);
    settle().await;
    let mut closing = Box::pin(pool.close());
    assert!(begin(&mut closing).await.is_none());
    world.may_make.add_permits(1);
    closing.await;
    assert_eq!(world.alive(), 0);
}

#[tokio::test(start_paused = true)]
async fn dropping_a_pool_leaves_nothing_alive_once_leases_are_back() {
    let (pool, world) = pool(PoolOptions { max: 3, min_idle: 2, ..OPTIONS });
    settle().await;
    let lease = pool.borrow().await.unwrap();
    drop(pool);
    settle().await;
    assert_eq!(world.alive(), 1);
    assert!(lease.is_alive());
    drop(lease);
    settle().await;
    assert_eq!(world.alive(), 0);
}

#[tokio::test(start_paused = true)]
async fn many_at_once_never_share_one_and_never_exceed_the_bound() {
    let (pool, world) = pool(PoolOptions { max: 4, min_idle: 1, borrow_timeout: Duration::from_hours(1) });
    let pool = Arc::new(pool);
    let users: Vec<_> = (0..64)
        .map(|_| {
            let (pool, world) = (pool.clone(), world.clone());
            tokio::spawn(async move {
                let lease = pool.borrow().await.unwrap();
                assert!(!is_marked(&*lease).await, "somebody else's");
                mark(&*lease).await;
                tokio::task::yield_now().await;
                assert!(world.alive() <= 4);
            })
        })
        .collect();
    for user in users {
        user.await.unwrap();
    }
    assert_eq!((pool.counts().leased, pool.counts().extra), (64, 0));
    pool.close().await;
    assert_eq!(world.alive(), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn nothing_is_lost_or_shared_when_everything_happens_at_once() {
    let (pool, world) = pool(PoolOptions { max: 4, min_idle: 2, borrow_timeout: Duration::from_hours(1) });
    let pool = Arc::new(pool);
    world.will_reset([Resetting::Unproven, Resetting::Fails, Resetting::Panics].into_iter().cycle().take(60));
    let users: Vec<_> = (0..16)
        .map(|user| {
            let (pool, world) = (pool.clone(), world.clone());
            tokio::spawn(async move {
                for turn in 0..25 {
                    // Some leave before they are served.
                    if (user + turn) % 5 == 0 {
                        drop(begin(&mut Box::pin(pool.borrow())).await);
                        continue;
                    }
                    let lease = pool.borrow().await.unwrap();
                    assert!(!is_marked(&*lease).await, "somebody else's");
                    mark(&*lease).await;
                    tokio::task::yield_now().await;
                    assert!(world.alive() <= 4, "more than there may be");
                    if (user + turn) % 7 == 0 {
                        lease.evict().await;
                    }
                }
            })
        })
        .collect();
    for user in users {
        user.await.unwrap();
    }
    pool.close().await;
    assert_eq!((world.alive(), pool.size(), pool.idle(), pool.counts().extra), (0, 0, 0, 0));
}

#[tokio::test(start_paused = true)]
async fn what_no_reset_reaches_is_not_pooled() {
    let spec = || SandboxSpec::new(Limits::default());
    let mount = |text: &str| text.parse::<Mount>().unwrap().open_by_name().unwrap();
    let table = [
        (SandboxSpec { mounts: vec![mount("/usr:/work:rw")], ..spec() }, OPTIONS, false),
        (SandboxSpec { mounts: vec![mount("/usr:/work:ro")], ..spec() }, OPTIONS, true),
        (SandboxSpec { network: Network::Host, ..spec() }, OPTIONS, false),
        (SandboxSpec { expose: vec![0], ..spec() }, OPTIONS, false),
        (spec(), PoolOptions { max: 0, ..OPTIONS }, false),
        (spec(), PoolOptions { min_idle: 3, ..OPTIONS }, false),
        (spec(), OPTIONS, true),
    ];
    for (spec, options, is_fine) in table {
        let backend = Arc::new(Fake::new("fake", Tier::Process, 1));
        assert_eq!(Pool::new(backend, spec.clone(), options).is_ok(), is_fine, "{spec:?} {options:?}");
    }
}
