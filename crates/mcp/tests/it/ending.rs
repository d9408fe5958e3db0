//! Calls that end before they are done, and what becomes of a call when its client goes.

use serde_json::json;

use crate::client::{Client, Way, failed, text};
use crate::questions::{asked, yes};
use crate::stage::{Stage, block_on, soon};
use crate::tools::{ADD, WAIT, WRITES};

bailiwick_testkit::tests!(
    a_call_that_is_cancelled_kills_its_cell,
    a_stream_that_is_dropped_kills_its_cell,
    a_session_that_is_closed_kills_what_runs_in_it,
    a_client_that_hangs_up_still_gets_what_is_nearly_done,
    a_client_that_hangs_up_leaves_nothing_running,
    a_server_that_ends_says_no_to_what_waits,
    a_server_that_closes_leaves_no_call_behind,
    the_end_of_one_pipe_is_nobody_elses,
);

/// That the one call that ran was cancelled.
async fn was_cancelled(stage: &Stage) {
    let outcome = stage.record("outcome", 1).await;
    assert_eq!(outcome["outcome"]["code"], "CANCELLED", "{outcome:#}");
}

/// A call that takes long, and runs.
async fn running(stage: &Stage, client: &mut Client) -> u64 {
    let id = client.call("wait", json!({"ms": 20_000})).await;
    stage.record("intent", 1).await;
    id
}

fn a_call_that_is_cancelled_kills_its_cell() {
    block_on(async {
        for way in [Way::Session, Way::OldPipe, Way::NewPipe] {
            let stage = Stage::with(&[WAIT, ADD]).await;
            let mut client = stage.client(way).await;
            let id = running(&stage, &mut client).await;
            client.notify("notifications/cancelled", json!({"requestId": id, "reason": "enough"})).await;
            was_cancelled(&stage).await;
            // The connection is as good as before.
            let sum = client.called("add", json!({"a": 1, "b": 1})).await;
            assert_eq!(text(&sum), "2", "{way:?}");
        }
    });
}

fn a_stream_that_is_dropped_kills_its_cell() {
    block_on(async {
        // Before anything was heard, and after.
        for is_heard in [false, true] {
            let stage = Stage::with(&[WAIT]).await;
            let mut client = stage.client(Way::Alone).await;
            let id = if is_heard {
                let meta = json!({"io.modelcontextprotocol/logLevel": "debug"});
                let params = json!({"name": "wait", "arguments": {"ms": 20_000}, "_meta": meta});
                let id = client.send("tools/call", params).await;
                client.method("notifications/message").await;
                id
            } else {
                running(&stage, &mut client).await
            };
            client.drop_stream(id);
            was_cancelled(&stage).await;
        }
    });
}

fn a_session_that_is_closed_kills_what_runs_in_it() {
    block_on(async {
        let stage = Stage::with(&[WAIT]).await;
        let mut client = stage.client(Way::Session).await;
        running(&stage, &mut client).await;
        let request = axum::extract::Request::delete("/mcp")
            .header("host", "127.0.0.1")
            .header("mcp-session-id", client.session());
        let request = request.body(axum::body::Body::empty()).expect("a request");
        assert_eq!(stage.send(stage.agent(), request).await.status(), 202);
        was_cancelled(&stage).await;
    });
}

fn a_client_that_hangs_up_still_gets_what_is_nearly_done() {
    block_on(async {
        for way in [Way::OldPipe, Way::NewPipe] {
            let stage = Stage::with(&[ADD]).await;
            let mut client = stage.client(way).await;
            let ids = [
                client.call("add", json!({"a": 1, "b": 1})).await,
                client.call("add", json!({"a": 2, "b": 2})).await,
            ];
            client.hang_up().await;
            let mut sums = Vec::new();
            for _ in ids {
                sums.push(text(&client.until(|message| message["result"].is_object()).await["result"]));
            }
            sums.sort();
            assert_eq!(sums, ["2", "4"], "{way:?}");
            client.served().await.expect("served");
        }
    });
}

fn a_client_that_hangs_up_leaves_nothing_running() {
    block_on(async {
        let stage = Stage::with(&[WAIT]).await;
        let mut client = stage.client(Way::OldPipe).await;
        running(&stage, &mut client).await;
        client.hang_up().await;
        client.served().await.expect("served");
        was_cancelled(&stage).await;
    });
}

fn a_server_that_ends_says_no_to_what_waits() {
    block_on(async {
        for way in Way::ALL {
            let stage = Stage::with(&[WRITES]).await;
            let mut client = stage.client(way).await;
            let put = asked(&mut client, "writes", json!({"n": 7})).await;
            stage.core.end_questions();
            let ended = if way.is_new() {
                put.result(&mut client, yes()).await
            } else {
                client.result(put.call).await
            };
            assert_eq!(failed(&ended), "APPROVAL_UNAVAILABLE", "{way:?}");
            stage.ran(0).await;
        }
    });
}

fn a_server_that_closes_leaves_no_call_behind() {
    block_on(async {
        let mut stage = Stage::with(&[WRITES, WAIT]).await;
        let mut client = stage.client(Way::Alone).await;
        asked(&mut client, "writes", json!({"n": 7})).await;
        let mut session = stage.client(Way::Session).await;
        running(&stage, &mut session).await;
        // Its connections are gone, and in that era the call goes on all the same.
        drop(session);
        soon(stage.mcp.close()).await;
        assert_eq!(stage.settled().await.answer, "withdrawn", "nothing waits any more");
        was_cancelled(&stage).await;
        // Nothing of the server holds the data folder: whoever opened it closes it.
        let (desk, _folder) = stage.into_desk();
        let desk = std::sync::Arc::into_inner(desk).expect("nobody else holds it");
        soon(desk.close()).await.expect("closed");
    });
}

fn the_end_of_one_pipe_is_nobody_elses() {
    block_on(async {
        let stage = Stage::with(&[ADD]).await;
        let mut client = stage.client(Way::OldPipe).await;
        client.hang_up().await;
        client.served().await.expect("served");
        assert!(!client.ending.is_cancelled(), "what ends all pipes is not ended by one");
    });
}
