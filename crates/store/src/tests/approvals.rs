//! Rows about what people said yes to: kept, found, sealed, and gone with their tool.

use bailiwick_types::{ApprovalId, ToolId};

use super::stage::{Stage, on, put, tool};
use crate::{Durability, RememberedRow, Store, StoreError};

fn row(number: u64, tool: ToolId) -> RememberedRow {
    RememberedRow {
        id: ApprovalId::from_parts(number, &[2; 10]),
        tool,
        until_ms: 1000 * number,
        used: 0,
        body: format!("{{\"n\":{number}}}"),
        is_ours: true,
    }
}

async fn keep(store: &Store, row: RememberedRow) {
    store.write(Durability::Process, move |tx| tx.put_remembered(&row)).await.unwrap();
}

async fn keep_last(store: &Store, tool: ToolId, body: &'static str) {
    store.write(Durability::Process, move |tx| tx.put_last_yes(tool, body)).await.unwrap();
}

fn numbers(rows: &[RememberedRow]) -> Vec<u64> {
    rows.iter().map(|row| row.until_ms / 1000).collect()
}

#[test]
fn remembered_answers_are_found_by_id_by_tool_and_all() {
    let stage = Stage::new();
    let (one, two) = (tool(1).id, tool(2).id);
    on(async {
        let store = stage.open();
        for (number, tool) in [(1, one), (3, two), (2, one)] {
            keep(&store, row(number, tool)).await;
        }
        store.close().await.unwrap();
        let store = stage.open();
        let (by_id, of_one, all, few, count) = store
            .read(move |view| {
                Ok((
                    view.remembered(row(3, two).id)?,
                    view.remembered_of(one, 10)?,
                    view.all_remembered(10)?,
                    view.all_remembered(2)?,
                    view.remembered_count(1000)?,
                ))
            })
            .await
            .unwrap();
        assert_eq!(by_id, Some(row(3, two)));
        assert_eq!(numbers(&of_one), [2, 1], "the newest first");
        assert_eq!(numbers(&all), [3, 2, 1]);
        assert_eq!(numbers(&few), [3, 2]);
        assert_eq!(count, 2, "what ends now does not hold any more");
    });
}

#[test]
fn what_ended_or_is_forgotten_is_gone() {
    let stage = Stage::new();
    let one = tool(1).id;
    on(async {
        let store = stage.open();
        for number in 1..=3 {
            keep(&store, row(number, one)).await;
        }
        let write = store.write(Durability::Process, move |tx| -> Result<(bool, bool), StoreError> {
            tx.remove_ended_remembered(1000)?;
            let id = row(2, one).id;
            Ok((tx.remove_remembered(id)?, tx.remove_remembered(id)?))
        });
        assert_eq!(write.await.unwrap(), (true, false));
        let left = store.read(|view| view.all_remembered(10)).await.unwrap();
        assert_eq!(numbers(&left), [3]);
        keep(&store, RememberedRow { used: 5, ..row(3, one) }).await;
        let left = store.read(|view| view.all_remembered(10)).await.unwrap();
        assert_eq!(left, [RememberedRow { used: 5, ..row(3, one) }]);
    });
}

#[test]
fn an_edited_row_says_that_it_is_not_ours() {
    for (edit, is_ours) in [
        ("UPDATE remembered SET used = used", true),
        ("UPDATE remembered SET used = 1", false),
        ("UPDATE remembered SET until_ms = until_ms + 1", false),
        ("UPDATE remembered SET until_ms = -1", false),
        ("UPDATE remembered SET body = ''", false),
        ("UPDATE remembered SET seal = x''", false),
        ("UPDATE remembered SET seal = (SELECT seal FROM last_yes)", false),
        ("UPDATE remembered SET tool_id = (SELECT max(id) FROM tools)", false),
        ("UPDATE remembered SET id = '018bcfe5-6800-7000-8000-000000000000'", false),
    ] {
        let stage = Stage::new();
        on(async {
            let store = stage.open();
            put(&store, tool(2)).await.unwrap();
            keep(&store, row(1, tool(1).id)).await;
            keep_last(&store, tool(1).id, "{}").await;
            store.close().await.unwrap();
        });
        stage.edit(edit);
        let rows = on(stage.open().read(|view| view.all_remembered(10))).unwrap();
        assert_eq!(rows.iter().map(|row| row.is_ours).collect::<Vec<_>>(), [is_ours], "{edit}");
    }
    // One without an id of ours is not even given.
    let stage = Stage::new();
    on(keep(&stage.open(), row(1, tool(1).id)));
    stage.edit("UPDATE remembered SET id = 'x'");
    assert_eq!(on(stage.open().read(|view| view.all_remembered(10))).unwrap(), []);
}

#[test]
fn the_last_yes_of_each_tool_is_kept_and_sealed() {
    let stage = Stage::new();
    let (one, two) = (tool(1).id, tool(2).id);
    on(async {
        let store = stage.open();
        keep_last(&store, one, "first").await;
        keep_last(&store, one, "second").await;
        keep_last(&store, two, "other").await;
        store.close().await.unwrap();
    });
    let last = |tool: ToolId| {
        on(stage.open().read(move |view| view.last_yes(tool))).unwrap().map(|row| (row.body, row.is_ours))
    };
    assert_eq!(last(one), Some(("second".to_owned(), true)));
    assert_eq!(last(two), Some(("other".to_owned(), true)));
    assert_eq!(last(tool(3).id), None);
    stage.edit("UPDATE last_yes SET body = 'first' WHERE body = 'second'");
    assert_eq!(last(one), Some(("first".to_owned(), false)));
}

#[test]
fn what_was_said_to_calls_of_a_tool_goes_with_it() {
    let stage = Stage::new();
    let (one, two) = (tool(1).id, tool(2).id);
    on(async {
        let store = stage.open();
        for (number, tool_id) in [(1, one), (2, two)] {
            put(&store, tool(number)).await.unwrap();
            keep(&store, row(number, tool_id)).await;
            keep_last(&store, tool_id, "yes").await;
        }
        store.write(Durability::Process, move |tx| tx.remove_tool(one)).await.unwrap();
        let left = store.read(move |view| {
            Ok((view.all_remembered(10)?, view.last_yes(one)?.is_some(), view.last_yes(two)?.is_some()))
        });
        let (rows, has_one, has_two) = left.await.unwrap();
        assert_eq!(numbers(&rows), [2]);
        assert!(!has_one && has_two);
    });
}
