//! A row that somebody edited in the file is given, and says that it is not ours.

use super::stage::{Stage, on, put, tool};
use crate::{Durability, StoreError};

/// What a full read and a list say of a tool after an edit.
#[track_caller]
fn check_edit(sql: &str, full_is_ours: bool, listed_is_ours: bool) {
    let stage = Stage::new();
    on(async {
        let store = stage.open();
        put(&store, tool(1)).await.unwrap();
        put(&store, tool(2)).await.unwrap();
        store.close().await.unwrap();
    });
    stage.edit(sql);
    let store = stage.open();
    let (full, listed, other) = on(store.read(|view| {
        let listed = view.tools(None, 10)?;
        let one = listed.into_iter().find(|listed| listed.id == tool(1).id);
        Ok((view.tool(tool(1).id)?, one, view.tool(tool(2).id)?))
    }))
    .unwrap();
    assert_eq!(full.map(|row| row.is_ours), Some(full_is_ours), "{sql}");
    assert_eq!(listed.map(|row| row.is_ours), Some(listed_is_ours), "{sql}");
    assert_eq!(other.map(|row| row.is_ours), Some(true), "{sql}");
}

#[test]
fn an_edited_row_is_not_ours() {
    let one = "WHERE name = 'tool-00001'";
    for column in [
        "state = 'PUBLISHED'",
        "title = 'Harmless'",
        "title = ''",
        "version = 7",
        "version = -1",
        "created_ms = 1",
        "updated_ms = 1",
        "standing = NULL",
        "standing = '{}'",
        "digest = x'00'",
        "seal = x''",
        "seal = (SELECT seal FROM tools WHERE name = 'tool-00002')",
        "name = 'another'",
    ] {
        check_edit(&format!("UPDATE tools SET {column} {one}"), false, false);
    }
    check_edit("UPDATE tools SET version = version", true, true);
}

#[test]
fn edited_texts_are_seen_by_who_reads_them() {
    let one = "WHERE id = (SELECT id FROM tools WHERE name = 'tool-00001')";
    for column in
        ["document = 'x'", "covered = 'x'", "texts = ''", "pass = ''", "notes = NULL", "notes = 'x'"]
    {
        check_edit(&format!("UPDATE tool_texts SET {column} {one}"), false, true);
    }
    check_edit(&format!("DELETE FROM tool_texts {one}"), false, true);
    // A text moved from one column to the next.
    check_edit(&format!("UPDATE tool_texts SET covered = texts, texts = covered {one}"), false, true);
    // With a hash to match, the seal does not fit, and the list sees it too.
    check_edit(
        &format!(
            "UPDATE tool_texts SET document = 'x' {one};
             UPDATE tools SET digest = randomblob(32) WHERE name = 'tool-00001'"
        ),
        false,
        false,
    );
}

#[test]
fn the_texts_of_another_tool_are_not_ours() {
    check_edit(
        "UPDATE tool_texts SET document = 'name: tool-00002' WHERE id = (SELECT id FROM tools WHERE name = 'tool-00001')",
        false,
        true,
    );
}

#[test]
fn a_row_of_another_store_is_not_ours() {
    let (stage, other) = (Stage::new(), Stage::new());
    for stage in [&stage, &other] {
        on(async {
            let store = stage.open();
            put(&store, tool(1)).await.unwrap();
            store.close().await.unwrap();
        });
    }
    let theirs = other.path("store.db");
    stage.edit(&format!(
        "ATTACH '{}' AS theirs; DELETE FROM tool_texts; DELETE FROM tools;
         INSERT INTO tools SELECT * FROM theirs.tools; INSERT INTO tool_texts SELECT * FROM theirs.tool_texts;",
        theirs.display()
    ));
    let row = on(stage.open().read(|view| view.tool(tool(1).id))).unwrap();
    assert_eq!(row.map(|row| row.is_ours), Some(false));
}

#[test]
fn putting_a_row_again_makes_it_ours() {
    let stage = Stage::new();
    on(async {
        let store = stage.open();
        put(&store, tool(1)).await.unwrap();
        store.close().await.unwrap();
        stage.edit("UPDATE tools SET state = 'PUBLISHED'");
        let store = stage.open();
        put(&store, tool(1)).await.unwrap();
        assert_eq!(store.read(|view| view.tool(tool(1).id)).await, Ok(Some(tool(1))));
    });
}

#[test]
fn an_edited_setting_is_not_given() {
    let stage = Stage::new();
    on(async {
        let store = stage.open();
        store.write(Durability::Process, |tx| tx.set_meta("preset", "none")).await.unwrap();
        store.write(Durability::Process, |tx| tx.set_meta("other", "everything")).await.unwrap();
        store.close().await.unwrap();
        stage.edit("UPDATE meta SET value = 'everything' WHERE key = 'preset'");
        let edited = Err(StoreError::Edited { key: "preset".to_owned() });
        let store = stage.open();
        assert_eq!(store.read(|view| view.meta("preset")).await, edited);
        store.close().await.unwrap();
        stage.edit("DELETE FROM meta WHERE key = 'preset'; UPDATE meta SET key = 'preset'");
        assert_eq!(stage.open().read(|view| view.meta("preset")).await, edited);
    });
}

#[test]
fn a_number_that_does_not_fit_is_refused() {
    let stage = Stage::new();
    let mut large = tool(1);
    large.version = u64::MAX;
    assert!(on(put(&stage.open(), large)).is_err());
}

#[test]
fn a_statement_is_prepared_once_for_all_reads() {
    let stage = Stage::new();
    let store = stage.open();
    for number in 1..4 {
        on(put(&store, tool(number))).unwrap();
    }
    let prepared = |numbers: &[u64]| {
        for number in numbers {
            let name = tool(*number).name;
            on(store.read(move |view| view.tool_named(&name))).unwrap().unwrap();
        }
        let again = on(store.read(|view| {
            let statement = view.connection.prepare_cached(&crate::tools::select_one("name")).unwrap();
            Ok(statement.get_status(rusqlite::StatementStatus::RePrepare))
        }));
        again.unwrap()
    };
    assert_eq!((prepared(&[1]), prepared(&[1, 2, 3]), prepared(&[3, 3])), (0, 0, 0));
}
