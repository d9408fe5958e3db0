//! Jobs in one transaction: each is kept or undone by itself, and nobody is answered too early.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bailiwick_audit::Verdict;

use super::stage::{Stage, append, entry, last_link, on, options, put, tool, tool_count, verify};
use crate::sync::Disk;
use crate::{Durability, Query, Store, StoreError, WriteError};

/// A disk that counts how often it was waited for, and says so.
struct Counting {
    count: Arc<AtomicUsize>,
    fails: Arc<AtomicBool>,
    told: Sender<usize>,
}

impl Disk for Counting {
    fn sync(&mut self) -> std::io::Result<()> {
        if self.fails.load(Ordering::SeqCst) {
            return Err(std::io::Error::other("broken"));
        }
        let count = self.count.fetch_add(1, Ordering::SeqCst) + 1;
        // Nobody may be listening.
        let _ = self.told.send(count);
        Ok(())
    }
}

struct Counted {
    store: Store,
    count: Arc<AtomicUsize>,
    fails: Arc<AtomicBool>,
    told: Receiver<usize>,
}

fn counted(stage: &Stage) -> Counted {
    let (count, fails) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
    let (tell, told) = channel();
    let disk = Counting { count: Arc::clone(&count), fails: Arc::clone(&fails), told: tell };
    let store = Store::open_with(&stage.folder, options(), |_| Ok(Box::new(disk))).unwrap();
    Counted { store, count, fails, told }
}

#[test]
fn who_asks_for_the_machine_is_answered_after_the_disk() {
    let stage = Stage::new();
    let Counted { store, count, .. } = counted(&stage);
    on(async {
        for expected in 1..6 {
            store.write(Durability::Machine, |tx| tx.append(&entry(1))).await.unwrap();
            assert_eq!(count.load(Ordering::SeqCst), expected);
        }
    });
}

#[test]
fn what_is_safe_from_the_process_reaches_the_disk_soon_by_itself() {
    let stage = Stage::new();
    let Counted { store, told, .. } = counted(&stage);
    on(append(&store, 0..1));
    // The promise is 50 ms; what is waited for here is the event, with room for a busy machine.
    assert_eq!(told.recv_timeout(Duration::from_secs(30)), Ok(1));
    on(store.read(tool_count)).unwrap();
    // Nothing was written since, so there is nothing to bring.
    on(store.close()).unwrap();
    assert_eq!(told.try_iter().count(), 1, "the head that closing signs");
}

#[test]
fn closing_brings_everything_to_the_disk() {
    let stage = Stage::new();
    let Counted { store, count, .. } = counted(&stage);
    on(async {
        append(&store, 0..1).await;
        store.close().await.unwrap();
    });
    assert!(count.load(Ordering::SeqCst) >= 1);
    assert_eq!(stage.number("SELECT max(seq) FROM heads"), 1);
}

#[test]
fn a_job_that_keeps_nothing_needs_no_disk() {
    let stage = Stage::new();
    let Counted { store, count, .. } = counted(&stage);
    on(async {
        let said_no = store.write(Durability::Machine, |_| Err::<(), _>("no")).await;
        assert_eq!(said_no, Err(WriteError::Job("no")));
        store.close().await.unwrap();
    });
    assert_eq!(count.load(Ordering::SeqCst), 0);
}

#[test]
fn after_the_disk_has_failed_nothing_is_acknowledged() {
    let stage = Stage::new();
    let Counted { store, fails, .. } = counted(&stage);
    on(async {
        // On the disk, so that nothing is due when it fails.
        store.write(Durability::Machine, |tx| tx.append(&entry(0))).await.unwrap();
        fails.store(true, Ordering::SeqCst);
        let failed = store.write(Durability::Machine, |tx| tx.append(&entry(1))).await;
        assert!(matches!(failed, Err(WriteError::Store(StoreError::Disk { .. }))), "{failed:?}");
        fails.store(false, Ordering::SeqCst);
        let after = store.write(Durability::Process, |tx| tx.append(&entry(2))).await;
        assert!(matches!(after, Err(WriteError::Store(StoreError::Failed(_)))), "{after:?}");
        assert!(store.troubles().last.unwrap().contains("broken"));
    });
}

/// Holds the writer in a job until it is let go, so that what comes meanwhile goes into one transaction.
fn hold(store: &Store) -> (Sender<()>, tokio::task::JoinHandle<Result<(), WriteError<StoreError>>>) {
    let (go, wait) = channel::<()>();
    let store = store.clone();
    let held = tokio::spawn(async move {
        store
            .write(Durability::Process, move |_| {
                wait.recv().unwrap();
                Ok(())
            })
            .await
    });
    (go, held)
}

#[test]
fn a_job_that_fails_or_panics_is_undone_alone() {
    let stage = Stage::new();
    on(async {
        let store = stage.open();
        let (go, held) = hold(&store);
        tokio::task::yield_now().await;
        let mut jobs = tokio::task::JoinSet::new();
        for number in 0..30_u64 {
            let store = store.clone();
            jobs.spawn(async move {
                let written = store
                    .write(Durability::Process, move |tx| {
                        tx.append(&entry(number)).map_err(|error| error.to_string())?;
                        tx.put_tool(&tool(number)).map_err(|error| error.to_string())?;
                        match number % 3 {
                            0 => Ok(number),
                            1 => Err("no".to_owned()),
                            _ => panic!("a job that panics"),
                        }
                    })
                    .await;
                match number % 3 {
                    0 => assert_eq!(written, Ok(number)),
                    1 => assert_eq!(written, Err(WriteError::Job("no".to_owned()))),
                    _ => assert_eq!(written, Err(WriteError::Panicked)),
                }
            });
        }
        go.send(()).unwrap();
        held.await.unwrap().unwrap();
        while let Some(job) = jobs.join_next().await {
            job.unwrap();
        }
        let (tools, records) = store
            .read(|view| Ok((view.tool_count()?, view.records(&Query { limit: 100, ..Query::default() })?)))
            .await
            .unwrap();
        assert_eq!((tools, records.len()), (10, 10));
        assert_eq!(verify(&store).await, Verdict::Proven { to: 8, unsigned: 2, from: 1, removed: 0 });
    });
}

#[test]
fn jobs_that_wait_share_one_way_to_the_disk() {
    let stage = Stage::new();
    let Counted { store, count, .. } = counted(&stage);
    on(async {
        let (go, held) = hold(&store);
        let mut jobs = tokio::task::JoinSet::new();
        for number in 0..30 {
            let store = store.clone();
            jobs.spawn(
                async move { store.write(Durability::Machine, move |tx| tx.append(&entry(number))).await },
            );
        }
        // In this runtime of one thread, all of them are in the queue when this goes on.
        tokio::task::yield_now().await;
        let before = count.load(Ordering::SeqCst);
        go.send(()).unwrap();
        held.await.unwrap().unwrap();
        assert!(jobs.join_all().await.iter().all(Result::is_ok));
        // One for the job that held the others up, when it took long, and one for all of them.
        assert!(count.load(Ordering::SeqCst) - before <= 2);
    });
}

#[test]
fn a_thousand_at_once_keep_the_order_of_the_chain() {
    let stage = Stage::new();
    on(async {
        let store = stage.open();
        let mut jobs = tokio::task::JoinSet::new();
        for number in 0..1000 {
            let store = store.clone();
            jobs.spawn(async move {
                store.write(Durability::Process, move |tx| tx.append(&entry(number))).await.unwrap().seq
            });
        }
        let mut seen: Vec<u64> = jobs.join_all().await;
        seen.sort_unstable();
        assert!(seen.iter().copied().eq(1..=1000));
        assert_eq!(verify(&store).await, Verdict::Proven { to: 1000, unsigned: 0, from: 1, removed: 0 });
    });
}

#[test]
fn a_job_that_nobody_waits_for_any_more_is_done_all_the_same() {
    let stage = Stage::new();
    on(async {
        let store = stage.open();
        let (go, held) = hold(&store);
        tokio::task::yield_now().await;
        let forgotten = store.clone();
        let dropped = tokio::spawn(async move {
            forgotten.write(Durability::Process, |tx| tx.append(&entry(1))).await.unwrap();
        });
        tokio::task::yield_now().await;
        dropped.abort();
        assert!(dropped.await.unwrap_err().is_cancelled());
        go.send(()).unwrap();
        held.await.unwrap().unwrap();
        put(&store, tool(1)).await.unwrap();
        assert_eq!(store.read(last_link).await.unwrap().seq, 1);
    });
}

#[test]
fn a_read_waits_for_no_writer_and_sees_nothing_half_done() {
    let stage = Stage::new();
    on(async {
        let store = stage.open();
        append(&store, 0..3).await;
        let (go, wait) = channel::<()>();
        let (inside, is_inside) = channel::<()>();
        let writing = store.clone();
        let held = tokio::spawn(async move {
            writing
                .write(Durability::Process, move |tx| {
                    tx.append(&entry(9))?;
                    inside.send(()).unwrap();
                    wait.recv().unwrap();
                    Ok::<_, StoreError>(())
                })
                .await
        });
        tokio::task::spawn_blocking(move || is_inside.recv().unwrap()).await.unwrap();
        assert_eq!(store.read(last_link).await.unwrap().seq, 3);
        go.send(()).unwrap();
        held.await.unwrap().unwrap();
        assert_eq!(store.read(last_link).await.unwrap().seq, 4);
    });
}

#[test]
fn a_read_that_panics_harms_no_other() {
    let stage = Stage::new();
    on(async {
        let store = stage.open();
        for _ in 0..10 {
            let read = store.read(|_| -> Result<(), StoreError> { panic!("a read that panics") }).await;
            assert_eq!(read, Err(StoreError::Panicked));
        }
        assert_eq!(store.read(tool_count).await, Ok(0));
    });
}

#[test]
fn a_job_sees_what_it_did_itself() {
    let stage = Stage::new();
    let store = stage.open();
    let seen = Arc::new(Mutex::new(None));
    let inside = Arc::clone(&seen);
    on(store.write(Durability::Process, move |tx| {
        tx.put_tool(&tool(1))?;
        let stamp = tx.append(&entry(1))?;
        *inside.lock().unwrap() = Some((tx.tool(tool(1).id)?, tx.last_link()?.hash == stamp.hash));
        Ok::<_, StoreError>(())
    }))
    .unwrap();
    assert_eq!(*seen.lock().unwrap(), Some((Some(tool(1)), true)));
}
