//! What is too old or too much goes, and the rest is still proven.

use bailiwick_audit::{ExportReader, Kind, Record, Verdict, Why};
use std::sync::{Arc, Mutex};

use super::stage::{Stage, append, on, verify};
use crate::{Query, Retained, Retention, StoreError};

/// The time of the record with this number, by the clock of these tests.
fn time_of(seq: u64) -> u64 {
    1_700_000_000_000 + (seq - 1) * 1000
}

#[track_caller]
fn check(retention: Retention, now_ms: u64, removed: u64) {
    let stage = Stage::new();
    on(async {
        let store = stage.open();
        append(&store, 0..40).await;
        let retained = store.retain(retention, now_ms).await.unwrap();
        assert_eq!(retained, Retained { removed, to: removed });
        let change = u64::from(removed > 0);
        let proven = Verdict::Proven { to: 40, unsigned: change, from: removed + 1, removed };
        assert_eq!(verify(&store).await, proven);
        // Nothing is left that could go.
        assert_eq!(store.retain(retention, now_ms).await.unwrap().removed, 0);
        append(&store, 0..10).await;
        store.close().await.unwrap();
        let store = stage.open();
        let to = 50 + change;
        assert_eq!(verify(&store).await, Verdict::Proven { to, unsigned: 0, from: removed + 1, removed });
    });
}

#[test]
fn only_what_a_head_speaks_for_is_removed() {
    let none = Retention::default();
    check(none, u64::MAX, 0);
    check(Retention { max_records: Some(33), ..none }, 0, 0);
    check(Retention { max_records: Some(32), ..none }, 0, 8);
    check(Retention { max_records: Some(20), ..none }, 0, 16);
    check(Retention { max_age_ms: Some(0), ..none }, time_of(9), 8);
    check(Retention { max_age_ms: Some(1000), ..none }, time_of(18), 16);
    check(Retention { max_age_ms: Some(1000), ..none }, time_of(17), 8);
    check(Retention { max_bytes: Some(1 << 20), ..none }, 0, 0);
    check(Retention { max_age_ms: Some(0), max_records: Some(20), max_bytes: None }, time_of(9), 16);
}

#[test]
fn by_size_the_newest_stay() {
    let stage = Stage::new();
    on(async {
        let store = stage.open();
        append(&store, 0..40).await;
        let bytes: u64 = store
            .read(|view| view.records(&Query { from_seq: Some(17), limit: 100, ..Query::default() }))
            .await
            .unwrap()
            .iter()
            .map(|record| record.body.len() as u64)
            .sum();
        let most = |bytes| Retention { max_bytes: Some(bytes), ..Retention::default() };
        assert_eq!(store.retain(most(bytes), 0).await.unwrap(), Retained { removed: 16, to: 16 });
    });
}

#[test]
fn all_of_it_may_go_but_the_word_about_it() {
    let stage = Stage::new();
    on(async {
        let store = stage.open();
        append(&store, 0..16).await;
        let all = Retention { max_records: Some(0), ..Retention::default() };
        assert_eq!(store.retain(all, 0).await.unwrap(), Retained { removed: 16, to: 16 });
        let proven = Verdict::Proven { to: 16, unsigned: 1, from: 17, removed: 16 };
        assert_eq!(verify(&store).await, proven);
        store.close().await.unwrap();
        append(&stage.open(), 0..1).await;
    });
}

#[test]
fn what_was_removed_is_on_the_record() {
    let stage = Stage::new();
    on(async {
        let store = stage.open();
        append(&store, 0..20).await;
        let retention = Retention { max_records: Some(10), ..Retention::default() };
        store.retain(retention, 0).await.unwrap();
        let query = Query { limit: 1, newest_first: true, ..Query::default() };
        let last = store.read(move |view| view.records(&query)).await.unwrap();
        let record = Record::parse(&last[0].body, last[0].hash).unwrap();
        assert_eq!((record.entry.kind, record.entry.action.as_str()), (Kind::Change, "audit.retain"));
        let outcome = record.entry.outcome.unwrap();
        assert_eq!((&outcome["from"], &outcome["to"]), (&1.into(), &8.into()));
    });
}

#[test]
fn cutting_further_than_was_signed_is_found() {
    let stage = Stage::new();
    on(async {
        let store = stage.open();
        append(&store, 0..40).await;
        store.retain(Retention { max_records: Some(30), ..Retention::default() }, 0).await.unwrap();
        store.close().await.unwrap();
    });
    stage.edit("DELETE FROM audit WHERE seq <= 16; DELETE FROM heads WHERE seq < 16");
    let verdict = on(verify(&stage.open()));
    assert_eq!(verdict, Verdict::Broken { first_bad: 9, why: Why::Missing, proven_to: 0 });
}

#[test]
fn retention_gives_no_good_beginning_to_a_bad_chain() {
    let stage = Stage::new();
    on(async {
        let store = stage.open();
        append(&store, 0..40).await;
        store.close().await.unwrap();
        stage.edit("UPDATE audit SET hash = zeroblob(32) WHERE seq = 16");
        let store = stage.open();
        let retention = Retention { max_records: Some(20), ..Retention::default() };
        assert_eq!(store.retain(retention, 0).await, Err(StoreError::NotProvable { seq: 16 }));
        assert_eq!(
            store.read(|view| view.records(&Query { limit: 1, ..Query::default() })).await.unwrap()[0].seq,
            1
        );
    });
}

#[test]
fn an_export_is_proven_without_the_store() {
    let stage = Stage::new();
    let store = stage.open();
    let export = || {
        let text = Arc::new(Mutex::new(String::new()));
        let into = Arc::clone(&text);
        on(store.export(move |line| {
            into.lock().unwrap().extend([line, "\n"]);
            true
        }))
        .unwrap();
        let text = text.lock().unwrap().clone();
        ExportReader::new(text.as_bytes(), store.public_key()).verify().unwrap()
    };
    on(append(&store, 0..20));
    assert_eq!(export(), Verdict::Proven { to: 16, unsigned: 4, from: 1, removed: 0 });
    on(store.retain(Retention { max_records: Some(10), ..Retention::default() }, 0)).unwrap();
    assert_eq!(export(), Verdict::Proven { to: 16, unsigned: 5, from: 9, removed: 8 });
    assert_eq!(export(), on(verify(&store)));
}
