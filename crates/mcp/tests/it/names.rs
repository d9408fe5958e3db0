//! What a client calls itself earns it nothing.

use bailiwick_types::RiskLevel;
use serde_json::json;

use crate::client::{Client, NEW, Way, failed, post, read};
use crate::stage::{Setup, Stage, block_on, keyless};
use crate::tools::{ADD, WRITES};

bailiwick_testkit::tests!(
    a_client_that_names_itself_like_us_gets_no_favour,
    a_name_is_told_short_and_in_visible_characters,
    a_client_that_says_too_much_about_itself_is_refused,
    a_client_that_gives_no_name_is_recorded_as_unnamed,
);

const NAMES: [&str; 8] = ["cli", "terminal", "bailiwick", "anna", "mcp/cli", "operator", "http", "test"];

fn a_client_that_names_itself_like_us_gets_no_favour() {
    block_on(async {
        let stage = Setup::with(&[WRITES]).elicitation(RiskLevel::L0).open().await;
        stage.revoke("anna").await;
        for way in Way::ALL {
            for name in NAMES {
                let shows = Client::shows_forms();
                let mut client = Client::named(&stage, way, keyless(), &shows, name).await;
                let called = client.called("writes", json!({"n": 1})).await;
                assert_eq!(failed(&called), "APPROVAL_UNAVAILABLE", "{way:?} {name}: {called:#}");
                let last = stage.records().await.pop().expect("a record");
                assert_eq!(last["actor"], json!({"key": null, "client": format!("mcp/{name}")}), "{way:?}");
            }
        }
        stage.ran(0).await;
    });
}

fn a_name_is_told_short_and_in_visible_characters() {
    block_on(async {
        let stage = Stage::with(&[ADD]).await;
        let long = "n".repeat(12_000);
        let cut = format!("mcp/{}", &long[..48]);
        let names = [
            ("\u{1b}[31mred\u{7}", "mcp/?[31mred?"),
            ("two\nlines", "mcp/two?lines"),
            ("\u{202e}gpj.exe", "mcp/?gpj.exe"),
            ("", "mcp/unnamed"),
            (&long, &cut),
        ];
        for way in Way::ALL {
            for (name, told) in names {
                let mut client = Client::named(&stage, way, stage.agent(), &json!({}), name).await;
                client.called("add", json!({"a": 1, "b": 2})).await;
                let last = stage.records().await.pop().expect("a record");
                assert_eq!(last["actor"], json!({"key": "agent", "client": told}), "{way:?}");
            }
        }
    });
}

fn a_client_that_gives_no_name_is_recorded_as_unnamed() {
    block_on(async {
        let stage = Stage::with(&[ADD]).await;
        let about = json!({"io.modelcontextprotocol/protocolVersion": NEW,
            "io.modelcontextprotocol/clientCapabilities": {}});
        let call = json!({"name": "add", "arguments": {"a": 1, "b": 2}, "_meta": about});
        let message = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call});
        let (status, told) = read(stage.send(stage.agent(), post(None, NEW, &message)).await).await;
        assert_eq!(status, 200, "{told}");
        let unnamed = json!({"key": "agent", "client": "mcp/unnamed"});
        assert_eq!(stage.records().await.pop().expect("a record")["actor"], unnamed, "{told}");
        for way in Way::NEW {
            let mut client = stage.plain(way).await;
            let about = json!({"io.modelcontextprotocol/clientInfo": null});
            let call = json!({"name": "add", "arguments": {"a": 1, "b": 2}, "_meta": about});
            let id = client.send("tools/call", call).await;
            client.answer(id).await;
            let last = stage.records().await.pop().expect("a record");
            assert_eq!(last["actor"], unnamed, "{way:?}: {last:#}");
        }
    });
}

fn a_client_that_says_too_much_about_itself_is_refused() {
    block_on(async {
        let stage = Stage::with(&[ADD]).await;
        let hello = json!({"protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": {"name": "n".repeat(500_000), "version": "1"}});
        let message = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello});
        let response = stage.send(stage.agent(), post(None, "2025-11-25", &message)).await;
        let id = response.headers().get("mcp-session-id").map(|id| id.to_str().expect("a text").to_owned());
        let (_, told) = read(response).await;
        assert!(told.contains("-32602"), "{told}");
        // Nothing of it is kept.
        if let Some(id) = id {
            let list = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list", "params": {}});
            let response = stage.send(stage.agent(), post(Some(&id), "2025-11-25", &list)).await;
            assert_eq!(response.status(), 404);
        }
        // Where each request stands by itself, nothing is kept either: it is only cut.
        let mut client =
            Client::named(&stage, Way::Alone, stage.agent(), &json!({}), &"n".repeat(500_000)).await;
        client.called("add", json!({"a": 1, "b": 2})).await;
        let last = stage.records().await.pop().expect("a record");
        assert!(last["actor"]["client"].as_str().is_some_and(|client| client.len() < 64), "{NEW}: {last}");
    });
}
