//! Whoever listens hears of every record that is kept, in order, and of no other.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use super::stage::{Stage, entry, on, options};
use crate::{Durability, Hears, Options, Query, Store, StoreError, StoredRecord};

#[derive(Default)]
struct Ear {
    is_open: AtomicBool,
    panics: AtomicBool,
    heard: Mutex<Vec<StoredRecord>>,
}

impl Hears for Ear {
    fn is_listening(&self) -> bool {
        self.is_open.load(Ordering::Relaxed)
    }

    fn hear(&self, records: Vec<StoredRecord>) {
        assert!(!self.panics.load(Ordering::Relaxed), "an ear that is out of order");
        self.heard.lock().unwrap().extend(records);
    }
}

fn listened(stage: &Stage) -> (Store, Arc<Ear>) {
    let ear = Arc::new(Ear::default());
    ear.is_open.store(true, Ordering::Relaxed);
    let hears: Arc<dyn Hears> = ear.clone();
    (stage.open_with(Options { hears: Some(hears), ..options() }), ear)
}

fn kept(store: &Store) -> Vec<StoredRecord> {
    on(store.read(|view| view.records(&Query { limit: 1000, ..Query::default() }))).unwrap()
}

#[test]
fn records_are_heard_in_order_and_before_their_writers_are_answered() {
    let stage = Stage::new();
    let (store, ear) = listened(&stage);
    for number in 0..20 {
        on(store.write(Durability::Process, move |tx| tx.append(&entry(number)))).unwrap();
        assert_eq!(ear.heard.lock().unwrap().len() as u64, number + 1);
    }
    assert_eq!(*ear.heard.lock().unwrap(), kept(&store));
}

#[test]
fn what_is_undone_is_not_heard() {
    let stage = Stage::new();
    let (store, ear) = listened(&stage);
    on(async {
        let fine = store.write(Durability::Process, |tx| tx.append(&entry(1)));
        let undone = store.write(Durability::Process, |tx| -> Result<(), StoreError> {
            tx.append(&entry(2))?;
            Err(StoreError::Closed)
        });
        let also_fine = store.write(Durability::Process, |tx| tx.append(&entry(3)));
        let (fine, undone, also_fine) = tokio::join!(fine, undone, also_fine);
        assert!(fine.is_ok() && undone.is_err() && also_fine.is_ok());
    });
    let heard = ear.heard.lock().unwrap().clone();
    assert_eq!((heard.len(), heard), (2, kept(&store)));
}

#[test]
fn who_does_not_listen_or_is_out_of_order_keeps_nothing_from_being_written() {
    let stage = Stage::new();
    let (store, ear) = listened(&stage);
    ear.is_open.store(false, Ordering::Relaxed);
    on(store.write(Durability::Process, |tx| tx.append(&entry(1)))).unwrap();
    assert!(ear.heard.lock().unwrap().is_empty());
    ear.is_open.store(true, Ordering::Relaxed);
    ear.panics.store(true, Ordering::Relaxed);
    on(store.write(Durability::Process, |tx| tx.append(&entry(2)))).unwrap();
    assert!(store.troubles().last.is_some());
    assert_eq!(kept(&store).len(), 2);
}
