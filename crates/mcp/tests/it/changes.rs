//! A client that is connected learns of every change of what it can call.

use bailiwick_core::{Action, Document};
use serde_json::json;

use crate::client::{Client, NEW, OLD, Way, get, post, text};
use crate::stage::{Stage, block_on, soon};
use crate::tools::{ADD, GREET};

bailiwick_testkit::tests!(
    a_tool_that_is_published_can_be_called_without_connecting_again,
    a_tool_that_is_edited_disappears_at_once,
    a_tool_that_is_taken_back_disappears,
    whoever_did_not_ask_hears_of_nothing,
    a_subscription_ends_with_the_key,
    a_subscription_ends_when_the_server_does,
    a_stream_of_a_session_ends_when_the_server_does,
    whoever_reads_nothing_is_in_nobodys_way,
);

/// Waits until the client was told that the list changed.
async fn told(client: &mut Client) {
    client.method("notifications/tools/list_changed").await;
}

fn a_tool_that_is_published_can_be_called_without_connecting_again() {
    block_on(async {
        for way in Way::ALL {
            let stage = Stage::with(&[ADD]).await;
            let mut client = stage.client(way).await;
            let id = client.listen().await;
            assert_eq!(client.names().await, ["add"]);
            stage.offer(GREET).await;
            let message = client.method("notifications/tools/list_changed").await;
            if way.is_new() {
                let of = &message["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"];
                assert_eq!(*of, json!(id), "{message:#}");
            }
            assert_eq!(client.names().await, ["add", "greet"], "{way:?}");
            let greeting = client.called("greet", json!({"who": "you"})).await;
            assert_eq!(greeting["structuredContent"]["hello"], "you", "{way:?}");
        }
    });
}

fn a_tool_that_is_edited_disappears_at_once() {
    block_on(async {
        for way in Way::ALL {
            let stage = Stage::with(&[ADD]).await;
            let mut client = stage.client(way).await;
            client.listen().await;
            assert_eq!(text(&client.called("add", json!({"a": 1, "b": 1})).await), "2");
            let edited = Document { name: "add.yaml".to_owned(), text: ADD.replace("a + b", "a - b") };
            let import = Action::ToolImport { documents: vec![edited], approval_off: false };
            stage.act(import).await.expect("taken in");
            told(&mut client).await;
            assert!(client.names().await.is_empty(), "{way:?}");
            let id = client.call("add", json!({"a": 1, "b": 1})).await;
            let (answer, _) = client.answer(id).await;
            let refused = answer["error"]["code"] == -32602 || answer["result"]["isError"] == true;
            assert!(refused, "{way:?}: {answer:#}");
        }
    });
}

fn a_tool_that_is_taken_back_disappears() {
    block_on(async {
        for way in Way::ALL {
            for removed in [false, true] {
                let stage = Stage::with(&[ADD, GREET]).await;
                let mut client = stage.client(way).await;
                client.listen().await;
                client.names().await;
                let tool = "add".to_owned();
                let action =
                    if removed { Action::ToolRemove { tool } } else { Action::ToolUnpublish { tool } };
                stage.act(action).await.expect("done");
                told(&mut client).await;
                assert_eq!(client.names().await, ["greet"], "{way:?}");
            }
        }
    });
}

fn whoever_did_not_ask_hears_of_nothing() {
    block_on(async {
        for way in Way::NEW {
            let stage = Stage::with(&[ADD]).await;
            let mut client = stage.client(way).await;
            client.names().await;
            let none = client.send("subscriptions/listen", json!({"notifications": {}})).await;
            client.method("notifications/subscriptions/acknowledged").await;
            stage.offer(GREET).await;
            let id = client.call("add", json!({"a": 1, "b": 1})).await;
            let (_, before) = client.answer(id).await;
            assert!(before.is_empty(), "{way:?} {none}: {before:#?}");
        }
    });
}

fn a_subscription_ends_with_the_key() {
    block_on(async {
        for way in Way::NEW {
            let stage = Stage::with(&[ADD]).await;
            let mut client = stage.client(way).await;
            let id = client.listen().await;
            stage.revoke("agent").await;
            client.answer(id).await;
        }
    });
}

fn a_subscription_ends_when_the_server_does() {
    block_on(async {
        for way in Way::NEW {
            let stage = Stage::with(&[ADD]).await;
            let mut client = stage.client(way).await;
            let id = client.listen().await;
            stage.closing.cancel();
            let result = client.result(id).await;
            assert_eq!(result["resultType"], "complete", "{result:#}");
        }
    });
}

fn a_stream_of_a_session_ends_when_the_server_does() {
    block_on(async {
        let stage = Stage::with(&[ADD]).await;
        let mut client = stage.client(Way::Session).await;
        client.names().await;
        stage.closing.cancel();
        soon(client.streams_end()).await;
    });
}

fn whoever_reads_nothing_is_in_nobodys_way() {
    block_on(async {
        let stage = Stage::with(&[ADD]).await;
        // Streams that are open, and that nobody reads.
        let session = stage.client(Way::Session).await;
        let id = session.session();
        drop(session);
        let held = stage.send(stage.agent(), get(Some(&id), OLD)).await;
        assert_eq!(held.status(), 200);
        let about = stage.client(Way::Alone).await.about();
        let listen = json!({"jsonrpc": "2.0", "id": 1, "method": "subscriptions/listen",
            "params": {"notifications": {"toolsListChanged": true}, "_meta": about}});
        let also_held = stage.send(stage.agent(), post(None, NEW, &listen)).await;
        assert_eq!(also_held.status(), 200);
        // More changes than such a stream takes in.
        let mut client = stage.client(Way::OldPipe).await;
        for _ in 0..20 {
            stage.act(Action::ToolUnpublish { tool: "add".to_owned() }).await.expect("done");
            stage.offer(ADD).await;
            told(&mut client).await;
        }
        assert_eq!(text(&client.called("add", json!({"a": 1, "b": 1})).await), "2");
        soon(stage.mcp.close()).await;
        drop((held, also_held));
    });
}
