//! Sessions of the older era: each is its opener's alone, and there are only so many.

use axum::body::Body;
use axum::extract::Request;
use bailiwick_core::{Admitted, Dialogue};
use serde_json::{Value, json};
use tower::ServiceExt as _;

use crate::client::{Client, OLD, Way, get, post, read, text};
use crate::questions::{asked, yes};
use crate::stage::{Stage, block_on, keyless};
use crate::tools::{ADD, GREET, WRITES};

bailiwick_testkit::tests!(
    a_session_is_its_openers_alone,
    nobody_answers_in_the_session_of_another,
    nobody_ends_the_session_of_another,
    a_session_that_is_unknown_is_not_found,
    a_session_that_was_closed_is_gone,
    the_oldest_session_of_a_caller_goes_and_others_stay,
    however_many_come_there_is_room_for_one_more_caller,
    a_second_hello_changes_nothing_of_the_era,
);

fn list(id: u64) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/list", "params": {}})
}

/// Opens a session, and gives its id.
async fn open(stage: &Stage, who: Admitted) -> Result<String, u16> {
    let hello = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": OLD,
        "capabilities": {}, "clientInfo": {"name": "a-test", "version": "1"}}});
    let response = stage.send(who, post(None, OLD, &hello)).await;
    match response.headers().get("mcp-session-id") {
        Some(id) => Ok(id.to_str().expect("a text").to_owned()),
        None => Err(response.status().as_u16()),
    }
}

async fn status(stage: &Stage, who: Admitted, request: Request<Body>) -> u16 {
    stage.send(who, request).await.status().as_u16()
}

fn end(session: &str) -> Request<Body> {
    let request = Request::delete("/mcp").header("host", "127.0.0.1").header("mcp-session-id", session);
    request.body(Body::empty()).expect("a request")
}

fn a_session_is_its_openers_alone() {
    block_on(async {
        let stage = Stage::with(&[ADD]).await;
        let id = open(&stage, stage.agent()).await.expect("a session");
        for who in [stage.other(), keyless(), stage.anna()] {
            assert_eq!(status(&stage, who.clone(), post(Some(&id), OLD, &list(1))).await, 404);
            assert_eq!(status(&stage, who.clone(), get(Some(&id), OLD)).await, 404);
            let notice =
                json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}});
            assert_eq!(status(&stage, who, post(Some(&id), OLD, &notice)).await, 404);
        }
        let (told, body) = read(stage.send(stage.agent(), post(Some(&id), OLD, &list(1))).await).await;
        assert_eq!(told, 200);
        assert!(body.contains("\"add\""), "{body}");
    });
}

fn nobody_answers_in_the_session_of_another() {
    block_on(async {
        let stage = Stage::with(&[WRITES]).await;
        let mut client = stage.client(Way::Session).await;
        let put = asked(&mut client, "writes", json!({"n": 7})).await;
        for who in [stage.other(), keyless(), stage.anna()] {
            for id in 0..4 {
                let answer = json!({"jsonrpc": "2.0", "id": id, "result": yes()});
                assert_eq!(
                    status(&stage, who.clone(), post(Some(&client.session()), OLD, &answer)).await,
                    404
                );
            }
        }
        stage.ran(0).await;
        assert_eq!(text(&put.result(&mut client, yes()).await), "7");
        stage.ran(1).await;
    });
}

fn nobody_ends_the_session_of_another() {
    block_on(async {
        let stage = Stage::with(&[ADD]).await;
        let mut client = stage.client(Way::Session).await;
        for who in [stage.other(), keyless(), stage.anna()] {
            assert_eq!(status(&stage, who, end(&client.session())).await, 404);
        }
        assert_eq!(client.names().await, ["add"]);
    });
}

fn a_session_that_is_unknown_is_not_found() {
    block_on(async {
        let stage = Stage::with(&[ADD]).await;
        for wrong in ["x", "00000000-0000-4000-8000-000000000000", &"y".repeat(4000)] {
            assert_eq!(status(&stage, stage.agent(), post(Some(wrong), OLD, &list(1))).await, 404);
            assert_eq!(status(&stage, stage.agent(), get(Some(wrong), OLD)).await, 404);
            assert_eq!(status(&stage, stage.agent(), end(wrong)).await, 404);
        }
        assert_eq!(status(&stage, stage.agent(), post(None, OLD, &list(1))).await, 400);
        assert_eq!(status(&stage, stage.agent(), get(None, OLD)).await, 400);
        // Nobody whom nobody vouches for gets anywhere.
        let response = stage.router.clone().oneshot(post(None, OLD, &list(1))).await.expect("an answer");
        assert_eq!(response.status(), 401);
    });
}

fn a_session_that_was_closed_is_gone() {
    block_on(async {
        let stage = Stage::with(&[ADD]).await;
        let id = open(&stage, stage.agent()).await.expect("a session");
        assert_eq!(status(&stage, stage.agent(), end(&id)).await, 202);
        assert_eq!(status(&stage, stage.agent(), post(Some(&id), OLD, &list(1))).await, 404);
        assert_eq!(status(&stage, stage.agent(), end(&id)).await, 404);
    });
}

fn the_oldest_session_of_a_caller_goes_and_others_stay() {
    block_on(async {
        let stage = Stage::with(&[ADD]).await;
        let of_other = open(&stage, stage.other()).await.expect("a session");
        let first = open(&stage, stage.agent()).await.expect("a session");
        let second = open(&stage, stage.agent()).await.expect("a session");
        for _ in 0..254 {
            open(&stage, stage.agent()).await.expect("a session");
        }
        // The first was used again, so the second is the one that was not used for longest.
        assert_eq!(status(&stage, stage.agent(), post(Some(&first), OLD, &list(1))).await, 200);
        open(&stage, stage.agent()).await.expect("a session");
        assert_eq!(status(&stage, stage.agent(), post(Some(&first), OLD, &list(1))).await, 200);
        assert_eq!(status(&stage, stage.agent(), post(Some(&second), OLD, &list(1))).await, 404);
        assert_eq!(status(&stage, stage.other(), post(Some(&of_other), OLD, &list(1))).await, 200);
    });
}

/// Somebody by a token: as many of them as there are subjects.
pub(crate) fn by_token(stage: &Stage, subject: &str) -> Admitted {
    let mut who = stage.agent();
    who.key = None;
    who.dialogue = Dialogue::Ignored;
    who.actor.key = Some(subject.to_owned());
    who
}

fn however_many_come_there_is_room_for_one_more_caller() {
    block_on(async {
        let stage = Stage::with(&[ADD]).await;
        let mine = open(&stage, stage.agent()).await.expect("a session");
        for greedy in 0..5 {
            for _ in 0..256 {
                open(&stage, by_token(&stage, &format!("greedy-{greedy}"))).await.expect("a session");
            }
        }
        // Those who have many lose some; whoever has one keeps it.
        assert_eq!(status(&stage, stage.agent(), post(Some(&mine), OLD, &list(1))).await, 200);
        let late = open(&stage, stage.other()).await.expect("a session");
        assert_eq!(status(&stage, stage.other(), post(Some(&late), OLD, &list(1))).await, 200);
    });
}

fn a_second_hello_changes_nothing_of_the_era() {
    block_on(async {
        for way in Way::OLD {
            let stage = Stage::with(&[WRITES, GREET]).await;
            let mut client = stage.client(way).await;
            let hello = json!({"protocolVersion": "2026-07-28", "capabilities": Client::shows_forms(),
                "clientInfo": {"name": "a-test", "version": "1"}});
            let id = client.send("initialize", hello).await;
            client.answer(id).await;
            // It is still asked in the way of its era.
            let put = asked(&mut client, "writes", json!({"n": 7})).await;
            assert_eq!(text(&put.result(&mut client, yes()).await), "7", "{way:?}");
        }
    });
}
