//! What is put comes back, in order, and only for whom it is.

use std::os::unix::fs::PermissionsExt;

use bailiwick_audit::{Link, Record, Verdict};
use bailiwick_types::{CallId, CorrelationId, ToolId};

use super::stage::{Stage, append, entry, on, options, put, tool, tool_count, verify};
use crate::{Durability, Query, Store, StoreError, WriteError};

#[test]
fn what_was_put_comes_back_also_after_a_restart() {
    let stage = Stage::new();
    on(async {
        let store = stage.open();
        put(&store, tool(2)).await.unwrap();
        put(&store, tool(1)).await.unwrap();
        append(&store, 0..20).await;
        store.write(Durability::Machine, |tx| tx.set_meta("preset", "starter")).await.unwrap();
        store.close().await.unwrap();
        let store = stage.open();
        let found = store
            .read(|view| {
                assert_eq!(view.tool(tool(1).id)?, Some(tool(1)));
                assert_eq!(view.tool_named("tool-00002")?, Some(tool(2)));
                assert_eq!(view.tool_named("TOOL-00002")?, None);
                assert_eq!(view.meta("preset")?.as_deref(), Some("starter"));
                assert_eq!(view.meta("other")?, None);
                view.tools(None, 10)
            })
            .await
            .unwrap();
        let names: Vec<_> = found.iter().map(|tool| tool.name.as_str()).collect();
        assert_eq!(names, ["tool-00001", "tool-00002"]);
        assert!(found.iter().all(|tool| tool.is_ours));
        assert_eq!(verify(&store).await, Verdict::Proven { to: 20, unsigned: 0, from: 1, removed: 0 });
        append(&store, 20..23).await;
        assert_eq!(verify(&store).await, Verdict::Proven { to: 20, unsigned: 3, from: 1, removed: 0 });
    });
}

#[test]
fn a_list_goes_on_after_a_name() {
    let stage = Stage::new();
    on(async {
        let store = stage.open();
        for number in 0..7 {
            put(&store, tool(number)).await.unwrap();
        }
        let (first, second, count) = store
            .read(|view| {
                let first = view.tools(None, 4)?;
                let second = view.tools(first.last().map(|tool| tool.name.as_str()), 4)?;
                Ok((first.len(), second.len(), view.tool_count()?))
            })
            .await
            .unwrap();
        assert_eq!((first, second, count), (4, 3, 7));
        let removed = store.write(Durability::Process, |tx| tx.remove_tool(tool(3).id)).await;
        assert_eq!(removed, Ok(true));
        let removed = store.write(Durability::Process, |tx| tx.remove_tool(tool(3).id)).await;
        assert_eq!(removed, Ok(false));
        assert_eq!(store.read(|view| view.tool(tool(3).id)).await.unwrap(), None);
    });
}

#[test]
fn a_name_is_had_by_one_tool_only_and_a_rename_keeps_the_id() {
    let stage = Stage::new();
    on(async {
        let store = stage.open();
        put(&store, tool(1)).await.unwrap();
        let mut second = tool(2);
        second.name = tool(1).name;
        let taken = StoreError::NameTaken { name: tool(1).name };
        assert_eq!(put(&store, second.clone()).await, Err(WriteError::Job(taken)));
        second.name = "TOOL-00001".to_owned();
        put(&store, second.clone()).await.unwrap();
        second.name = "other".to_owned();
        second.version = 2;
        put(&store, second.clone()).await.unwrap();
        let read = store.read(move |view| Ok((view.tool(tool(2).id)?, view.tool_count()?))).await.unwrap();
        assert_eq!(read, (Some(second), 2));
    });
}

#[test]
fn a_job_may_go_on_after_a_name_was_taken() {
    let stage = Stage::new();
    on(async {
        let store = stage.open();
        put(&store, tool(1)).await.unwrap();
        let stamp = store
            .write(Durability::Process, |tx| {
                let mut other = tool(2);
                other.name = tool(1).name;
                assert!(matches!(tx.put_tool(&other), Err(StoreError::NameTaken { .. })));
                tx.append(&entry(1))
            })
            .await
            .unwrap();
        assert_eq!(stamp.seq, 1);
        assert_eq!(store.read(tool_count).await, Ok(1));
    });
}

#[track_caller]
fn check_query(store: &Store, query: Query, expected: &[u64]) {
    let found = on(store.read(move |view| view.records(&query))).unwrap();
    assert_eq!(found.iter().map(|record| record.seq).collect::<Vec<_>>(), expected);
}

#[test]
fn records_are_found_by_what_they_are_about() {
    let stage = Stage::new();
    let store = stage.open();
    on(append(&store, 1..13));
    let all = Query { limit: 100, ..Query::default() };
    let correlation = Some(CorrelationId::parse("c-1").unwrap());
    check_query(&store, Query { from_seq: Some(11), ..all.clone() }, &[11, 12]);
    check_query(&store, Query { from_seq: Some(2), newest_first: true, ..all.clone() }, &[2, 1]);
    check_query(&store, Query { limit: 2, newest_first: true, ..all.clone() }, &[12, 11]);
    check_query(&store, Query { correlation: correlation.clone(), ..all.clone() }, &[1, 4, 7, 10]);
    let call_id = Some(CallId::from_parts(5, &[7; 10]));
    check_query(&store, Query { call_id, ..all.clone() }, &[5]);
    check_query(&store, Query { call_id, correlation: correlation.clone(), ..all.clone() }, &[]);
    let tool = Some(ToolId::from_parts(1, &[3; 10]));
    check_query(&store, Query { tool, from_seq: Some(6), limit: 2, ..all.clone() }, &[7, 9]);
    check_query(&store, Query { correlation, tool, ..all }, &[1, 7]);
}

#[test]
fn a_record_reads_back_as_the_entry_that_was_put() {
    let stage = Stage::new();
    on(async {
        let store = stage.open();
        let stamp = store.write(Durability::Machine, |tx| tx.append(&entry(4))).await.unwrap();
        let (found, link) = store
            .read(|view| Ok((view.records(&Query { limit: 1, ..Query::default() })?, view.last_link()?)))
            .await
            .unwrap();
        let record = Record::parse(&found[0].body, found[0].hash).unwrap();
        assert_eq!(record.entry, entry(4));
        assert_eq!((record.seq, record.hash), (stamp.seq, stamp.hash));
        assert_eq!(record.time, bailiwick_audit::rfc3339(stamp.time_ms));
        assert_eq!(link, Link { seq: stamp.seq, hash: stamp.hash });
    });
}

#[test]
fn nobody_else_can_read_what_is_kept() {
    let stage = Stage::new();
    let store = stage.open();
    on(append(&store, 0..9));
    let mode = |name: &str| std::fs::metadata(stage.path(name)).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(""), 0o700);
    for name in ["store.db", "store.db-wal", "store.db-shm", "audit.key", "audit.heads"] {
        assert_eq!(mode(name), 0o600, "{name}");
    }
}

#[test]
fn a_closed_store_refuses_to_write_and_can_be_opened_again() {
    let stage = Stage::new();
    on(async {
        let store = stage.open();
        append(&store, 0..3).await;
        store.close().await.unwrap();
        store.close().await.unwrap();
        let refused = store.write(Durability::Process, |tx| tx.append(&entry(1))).await;
        assert_eq!(refused, Err(WriteError::Store(StoreError::Closed)));
        append(&stage.open(), 3..5).await;
    });
}

#[test]
fn a_second_owner_is_refused() {
    let stage = Stage::new();
    let first = stage.open();
    let second = Store::open(&stage.folder, options());
    assert!(matches!(second, Err(StoreError::InUse { .. })), "{second:?}");
    on(append(&first, 0..3));
    drop(first);
    on(append(&stage.open(), 3..6));
}
