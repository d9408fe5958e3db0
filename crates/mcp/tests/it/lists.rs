//! What a client is told that there is.

use bailiwick_core::{Action, Document, Reasons, Which};
use bailiwick_mcp::Native;
use serde_json::{Value, json};

use crate::client::{Client, Way};
use crate::stage::{Setup, Stage, block_on};
use crate::tools::{ADD, FETCHES, GREET, WRITES};

bailiwick_testkit::tests!(
    tools_come_by_name_with_schemas_hints_and_risk,
    what_a_tool_gives_is_told_where_the_era_has_a_place_for_it,
    a_list_says_how_long_it_is_fresh_in_the_newer_era_only,
    a_long_list_comes_in_pages_that_leave_nothing_out,
    a_cursor_that_is_none_of_ours_is_refused,
    tools_of_our_own_are_there_only_when_switched_on,
    a_name_of_ours_is_not_to_be_had,
    whoever_may_not_call_is_told_so_and_not_of_a_fault_of_ours,
);

async fn listed(client: &mut Client, cursor: Option<&str>) -> Value {
    let params = cursor.map_or_else(|| json!({}), |cursor| json!({"cursor": cursor}));
    let id = client.send("tools/list", params).await;
    client.result(id).await
}

fn tools_come_by_name_with_schemas_hints_and_risk() {
    block_on(async {
        let stage = Stage::with(&[WRITES, GREET, FETCHES, ADD]).await;
        for way in Way::ALL {
            let mut client = stage.client(way).await;
            let list = listed(&mut client, None).await;
            let tools = list["tools"].as_array().expect("tools");
            let names: Vec<&str> = tools.iter().filter_map(|tool| tool["name"].as_str()).collect();
            assert_eq!(names, ["add", "fetches", "greet", "writes"], "{way:?}");
            assert!(list.get("nextCursor").is_none(), "{list:#}");
            let add = &tools[0];
            assert_eq!(add["title"], "Add");
            assert_eq!(add["inputSchema"]["type"], "object");
            assert_eq!(add["inputSchema"]["required"], json!(["a", "b"]));
            let hints = json!({"title": "Add", "readOnlyHint": true, "destructiveHint": false,
                "idempotentHint": true, "openWorldHint": false});
            assert_eq!(add["annotations"], hints, "{way:?}");
            assert_eq!(add["_meta"]["bailiwick/risk"], "L0");
            let (fetches, writes) = (&tools[1], &tools[3]);
            assert_eq!(fetches["annotations"]["openWorldHint"], true, "{fetches:#}");
            assert_eq!(fetches["_meta"]["bailiwick/risk"], "L3");
            assert_eq!(writes["annotations"]["readOnlyHint"], false, "{writes:#}");
        }
    });
}

fn what_a_tool_gives_is_told_where_the_era_has_a_place_for_it() {
    block_on(async {
        let stage = Stage::with(&[ADD, GREET]).await;
        for way in Way::ALL {
            let list = listed(&mut stage.client(way).await, None).await;
            let [add, greet] = [&list["tools"][0], &list["tools"][1]];
            assert_eq!(add.get("outputSchema").is_some(), way.is_new(), "{way:?}: {add:#}");
            assert_eq!(greet["outputSchema"]["type"], "object", "{way:?}: {greet:#}");
        }
    });
}

fn a_list_says_how_long_it_is_fresh_in_the_newer_era_only() {
    block_on(async {
        let stage = Stage::with(&[ADD]).await;
        for way in Way::ALL {
            let list = listed(&mut stage.client(way).await, None).await;
            assert_eq!(list["ttlMs"].as_u64().is_some(), way.is_new(), "{way:?}: {list:#}");
            let scope = if way.is_new() { json!("private") } else { Value::Null };
            assert_eq!(list["cacheScope"], scope, "{way:?}: {list:#}");
        }
    });
}

fn a_long_list_comes_in_pages_that_leave_nothing_out() {
    block_on(async {
        let stage = Setup::with(&[]).native(Native::DescribeRuntime, false).open().await;
        let name = |n: usize| format!("tool_{n:03}");
        let document = |n: usize| Document {
            name: format!("{n}.yaml"),
            text: format!("name: {}\ndescription: Gives the number {n}.\ncode: return {n};\n", name(n)),
        };
        let documents = (0..260).map(document).collect();
        stage.act(Action::ToolImport { documents, approval_off: false }).await.expect("taken in");
        stage.act(Action::ToolTest { which: Which::All, live: false }).await.expect("tested");
        for n in 0..260 {
            let reasons = Reasons { justification: None, despite_scan: None };
            stage.act(Action::ToolPublish { tool: name(n), reasons }).await.expect("published");
        }
        for way in [Way::Alone, Way::OldPipe] {
            let mut client = stage.client(way).await;
            let mut names = Vec::new();
            let mut cursor: Option<String> = None;
            loop {
                let page = listed(&mut client, cursor.as_deref()).await;
                let tools = page["tools"].as_array().expect("tools").clone();
                assert!(!tools.is_empty() && tools.len() <= 250, "{}", tools.len());
                names.extend(tools.iter().filter_map(|tool| tool["name"].as_str().map(str::to_owned)));
                cursor = page["nextCursor"].as_str().map(str::to_owned);
                if cursor.is_none() {
                    break;
                }
            }
            let mut wanted = vec!["describe_runtime".to_owned()];
            wanted.extend((0..260).map(name));
            assert_eq!(names, wanted, "{way:?}");
        }
    });
}

fn a_cursor_that_is_none_of_ours_is_refused() {
    block_on(async {
        let stage = Stage::with(&[ADD]).await;
        for way in Way::ALL {
            let mut client = stage.client(way).await;
            for cursor in ["!", "a b", "_-8", "====="] {
                let id = client.send("tools/list", json!({"cursor": cursor})).await;
                let (code, message) = client.error(id).await;
                assert_eq!(code, -32602, "{way:?} {cursor}: {message}");
            }
            assert_eq!(client.names().await, ["add"]);
        }
    });
}

fn tools_of_our_own_are_there_only_when_switched_on() {
    block_on(async {
        let stage = Stage::with(&[ADD]).await;
        let mut client = stage.client(Way::Alone).await;
        assert_eq!(client.names().await, ["add"]);
        for tool in ["run_javascript", "describe_runtime"] {
            let id = client.call(tool, json!({"code": "return 1"})).await;
            assert_eq!(client.error(id).await.0, -32602, "{tool}");
        }
        let stage = Setup::with(&[ADD]).native(Native::RunJavascript, false).open().await;
        for way in Way::ALL {
            let mut client = stage.client(way).await;
            assert_eq!(client.names().await, ["add", "run_javascript"]);
            let ran =
                client.called("run_javascript", json!({"code": "return {n: a + 1}", "arguments": {"a": 4}}));
            assert_eq!(ran.await["structuredContent"], json!({"n": 5}), "{way:?}");
            let id = client.call("describe_runtime", json!({})).await;
            assert_eq!(client.error(id).await.0, -32602);
        }
    });
}

fn a_name_of_ours_is_not_to_be_had() {
    block_on(async {
        let stage = Setup::with(&[]).native(Native::DescribeRuntime, false).open().await;
        let taken = ADD.replace("name: add", "name: describe_runtime");
        let document = Document { name: "tool.yaml".to_owned(), text: taken };
        let reasons = Reasons { justification: Some("why not".to_owned()), despite_scan: None };
        let publish = Action::ToolPublishDocument { document, reasons, approval_off: false };
        stage.act(publish).await.expect_err("refused");
        let mut client = stage.client(Way::Alone).await;
        let told = client.called("describe_runtime", json!({})).await;
        assert!(told["structuredContent"]["globals"].is_array(), "{told:#}");
        for arguments in [json!({"code": 1}), json!({"x": "y"})] {
            let refused = client.called("describe_runtime", arguments).await;
            assert_eq!(crate::client::failed(&refused), "INVALID_INPUT");
        }
    });
}

fn whoever_may_not_call_is_told_so_and_not_of_a_fault_of_ours() {
    block_on(async {
        let stage = Stage::with(&[ADD]).await;
        for way in Way::ALL {
            let mut client = Client::open(&stage, way, stage.anna(), &json!({})).await;
            let id = client.send("tools/list", json!({})).await;
            let (code, message) = client.error(id).await;
            assert_eq!(code, -32600, "{way:?}: {message}");
            let called = client.called("add", json!({"a": 1, "b": 2})).await;
            assert_eq!(crate::client::failed(&called), "FORBIDDEN", "{way:?}");
        }
        stage.ran(0).await;
    });
}
