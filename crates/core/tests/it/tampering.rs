//! The file of the store, changed behind our back: what was changed does not run, and says so.

use bailiwick_core::{Action, Reasons, Reply};
use bailiwick_types::ErrorCode;
use serde_json::json;

use crate::stage::{ADD, House, Place, block_on, refused, sql, yaml};

bailiwick_testkit::tests!(
    a_tool_edited_in_the_store_does_not_run,
    an_edited_record_is_named_by_the_proof,
    a_revoked_tool_comes_back_by_its_document,
    an_older_row_that_is_put_back_does_not_run,
    what_is_known_of_a_tool_holds_only_until_somebody_changes_it,
);

async fn offered(place: &Place) -> House {
    let house = place.open().await;
    house.offer(&yaml("add", ADD)).await;
    house
}

/// Where the text of a document lies.
pub(crate) fn columns(place: &Place) -> Vec<(String, String)> {
    let connection = rusqlite::Connection::open(place.database()).expect("the store");
    let mut tables = connection
        .prepare("SELECT m.name, p.name FROM sqlite_master m JOIN pragma_table_info(m.name) p WHERE m.type = 'table' AND m.name LIKE 'tool%'")
        .expect("a query");
    let rows = tables.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).expect("rows");
    rows.map(|row| row.expect("a row")).collect()
}

fn a_tool_edited_in_the_store_does_not_run() {
    block_on(async {
        // Every column of every table of tools that holds text, changed one at a time in a store of its own.
        let place = Place::new();
        let house = offered(&place).await;
        house.close().await;
        let mut tried = 0;
        for (table, column) in columns(&place) {
            if column == "id" {
                continue;
            }
            let place = Place::new();
            let house = offered(&place).await;
            // The owner runs while it happens: nothing may be remembered from before.
            let statement = match column.as_str() {
                "version" | "created_ms" | "updated_ms" => {
                    format!("UPDATE {table} SET {column} = {column} + 1")
                }
                "name" => format!("UPDATE {table} SET {column} = 'sub'"),
                "document" => format!("UPDATE {table} SET {column} = replace({column}, 'a + b', 'a - b')"),
                "state" => {
                    house.act(Action::ToolUnpublish { tool: "add".to_owned() }).await.expect("unpublished");
                    format!("UPDATE {table} SET {column} = 'PUBLISHED'")
                }
                // A hash or a seal.
                "digest" | "seal" | "summary_seal" | "text_seal" => {
                    format!("UPDATE {table} SET {column} = zeroblob(32)")
                }
                _ => format!("UPDATE {table} SET {column} = coalesce({column}, '') || ' '"),
            };
            assert_eq!(sql(&place, &statement), 1, "{statement}");
            let name = if column == "name" { "sub" } else { "add" };
            let (code, message) = refused(house.call(name, json!({"a": 1, "b": 2})).await);
            assert_eq!(code, ErrorCode::Revoked, "{table}.{column}: {message}");
            assert_eq!(house.state(name).await, "REVOKED", "{table}.{column}");
            let revoked = house.tail(3).await;
            assert!(revoked.iter().any(|record| record["action"] == "tool.revoke"), "{table}.{column}");
            tried += 1;
        }
        assert!(tried >= 8, "only {tried} columns were found");
    });
}

fn an_edited_record_is_named_by_the_proof() {
    block_on(async {
        for (statement, first_bad) in [
            ("UPDATE audit SET body = replace(body, 'tool.import', 'tool.impart') WHERE seq = 2", 2),
            ("DELETE FROM audit WHERE seq = 3", 3),
        ] {
            let place = Place::new();
            let house = offered(&place).await;
            house.call("add", json!({"a": 1, "b": 2})).await.expect("a report");
            house.close().await;
            assert_eq!(sql(&place, statement), 1);
            let house = place.open().await;
            let verified = house.verify().await;
            assert!(!verified.ok, "{statement}");
            assert_eq!(verified.first_bad, Some(first_bad), "{}", verified.says);
        }
    });
}

fn a_revoked_tool_comes_back_by_its_document() {
    block_on(async {
        let place = Place::new();
        let house = offered(&place).await;
        let (table, column) =
            columns(&place).into_iter().find(|(_, column)| column == "document").expect("a column");
        sql(&place, &format!("UPDATE {table} SET {column} = replace({column}, 'a + b', 'a - b')"));
        assert_eq!(refused(house.call("add", json!({"a": 1, "b": 2})).await).0, ErrorCode::Revoked);
        // Neither a test nor a publication brings it back.
        assert!(!house.test("add").await.passed);
        house.publish("add", Reasons::default()).await.expect_err("revoked");
        let imported = house.import(&[yaml("add", ADD)]).await.expect("imported").remove(0);
        assert_eq!(imported.state, "DRAFT");
        house.test("add").await;
        house.publish("add", Reasons::default()).await.expect("published");
        assert_eq!(house.call("add", json!({"a": 1, "b": 2})).await.expect("a report").value(), &json!(3));
        let Ok(Reply::Tools(tools)) = house.act(Action::ToolList { after: None, limit: 10 }).await else {
            panic!("no list")
        };
        assert_eq!(tools[0].state, "PUBLISHED");
    });
}

/// Copies the rows of tools, seals and all, and puts them back later.
fn an_older_row_that_is_put_back_does_not_run() {
    block_on(async {
        let place = Place::new();
        let house = offered(&place).await;
        for table in ["tools", "tool_texts"] {
            sql(&place, &format!("CREATE TABLE old_{table} AS SELECT * FROM {table}"));
        }
        let edits = [
            ("unpublished", Action::ToolUnpublish { tool: "add".to_owned() }),
            (
                "changed",
                Action::ToolImport {
                    documents: vec![yaml("add", &ADD.replace("a + b", "b + a"))],
                    approval_off: false,
                },
            ),
        ];
        for (what, edit) in edits {
            house.act(edit).await.expect("done");
            for table in ["tools", "tool_texts"] {
                sql(&place, &format!("REPLACE INTO {table} SELECT * FROM old_{table}"));
            }
            let (code, message) = refused(house.call("add", json!({"a": 1, "b": 2})).await);
            assert_eq!(code, ErrorCode::Revoked, "{what}: {message}");
            house.import(&[yaml("add", ADD)]).await.expect("imported");
        }
        // Also where retention took the oldest records, and with them the last word about the tool.
        house.offer(&yaml("add", &ADD.replace("a + b", "b + a"))).await;
        house.close().await;
        let house = place.open().await;
        house.act(Action::AuditRetain { days: None, records: Some(1) }).await.expect("retained");
        assert!(house.call("add", json!({"a": 1, "b": 2})).await.expect("a report").is_ok());
        for table in ["tools", "tool_texts"] {
            sql(&place, &format!("REPLACE INTO {table} SELECT * FROM old_{table}"));
        }
        let (code, message) = refused(house.call("add", json!({"a": 1, "b": 2})).await);
        assert_eq!(code, ErrorCode::Revoked, "{message}");
        // What lies there now is not handed out as its author's.
        let exported = house.act(Action::ToolExport { tools: vec!["add".to_owned()] }).await;
        assert_eq!(refused(exported).0, ErrorCode::Revoked);
    });
}

/// What a call gives after something was done to a tool that had just been called.
async fn after(done: impl AsyncFnOnce(&Place, &House)) -> Result<serde_json::Value, ErrorCode> {
    let place = Place::new();
    let house = offered(&place).await;
    for _ in 0..3 {
        let report = house.call("add", json!({"a": 1, "b": 2})).await.expect("a report");
        assert_eq!(report.value(), &json!(3));
    }
    done(&place, &house).await;
    let called = house.call("add", json!({"a": 1, "b": 2})).await;
    // Whatever it was: what was refused left no intent behind the three that ran.
    let tail = house.tail(1000).await;
    let intents = tail.iter().filter(|record| record["kind"] == "intent").count();
    assert_eq!(intents, if called.is_ok() { 4 } else { 3 });
    called.map(|report| report.value().clone()).map_err(|refusal| refusal.code)
}

fn what_is_known_of_a_tool_holds_only_until_somebody_changes_it() {
    block_on(async {
        let edited = after(async |place, _| {
            sql(place, "UPDATE tool_texts SET document = replace(document, 'a + b', 'a - b')");
        });
        assert_eq!(edited.await, Err(ErrorCode::Revoked));
        let removed = after(async |place, _| {
            sql(place, "DELETE FROM tool_texts");
        });
        assert_eq!(removed.await, Err(ErrorCode::Revoked));
        // Somebody else writes to the file, but to no tool.
        let touched = after(async |place, _| {
            sql(place, "CREATE TABLE other (x)");
        });
        assert_eq!(touched.await, Ok(json!(3)));
        let unpublished = after(async |_, house| {
            house.act(Action::ToolUnpublish { tool: "add".to_owned() }).await.expect("unpublished");
        });
        assert_eq!(unpublished.await, Err(ErrorCode::Conflict));
        let gone = after(async |_, house| {
            house.act(Action::ToolRemove { tool: "add".to_owned() }).await.expect("removed");
        });
        assert_eq!(gone.await, Err(ErrorCode::NotFound));
        let changed = ADD.replace("a + b", "a + b + 10").replace("equals: 3", "equals: 13");
        let replaced = after(async |_, house| {
            house.offer(&yaml("add", &changed)).await;
        });
        assert_eq!(replaced.await, Ok(json!(13)));
        let untouched = after(async |_, _| {});
        assert_eq!(untouched.await, Ok(json!(3)));
    });
}
