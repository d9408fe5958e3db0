//! The routes behind the perimeter, with room for two calls: what waits for a person takes none of it.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::http::StatusCode;
use axum::response::Response;
use bailiwick_core::{Action, Event, Reply};
use bailiwick_types::Outcome;
use serde_json::json as object;
use tokio::sync::{Semaphore, mpsc};
use tokio::task::JoinHandle;

use crate::replies;
use crate::stage::{Answer, Door, Stage, bare, block_on, json};
use crate::streams::next;

bailiwick_testkit::tests!(
    calls_that_wait_for_a_person_leave_the_room_to_others,
    streamed_calls_that_wait_for_a_person_leave_the_room_to_others,
    whatever_runs_something_needs_room,
);

/// Longer than anything here takes; only a test that hangs ever waits for it.
const PATIENCE: Duration = Duration::from_secs(30);
/// As many calls as may run at once.
const CALLS: u32 = 2;

/// The routes, with somebody behind them: `asks` waits for a person, `runs` runs on, all else ends at once.
struct Room {
    door: Door,
    begun: mpsc::UnboundedReceiver<()>,
    /// Lets one call that has begun go on.
    go: Arc<Semaphore>,
}

impl Room {
    async fn new() -> Self {
        let (tell, begun) = mpsc::unbounded_channel();
        let go = Arc::new(Semaphore::new(0));
        let goes = Arc::clone(&go);
        let stage = Stage::script(move |caller, action| {
            let (tell, goes) = (tell.clone(), Arc::clone(&goes));
            Box::pin(async move {
                let Action::ToolCall { tool, .. } = action else { panic!("{action:?}") };
                if tool == "asks" {
                    caller.listener.hear(Event::Waiting(Box::new(replies::waiting())));
                }
                if tool == "asks" || tool == "runs" {
                    tell.send(()).expect("somebody waits");
                    goes.acquire().await.expect("never closed").forget();
                }
                Ok(Reply::Called(Box::new(replies::report(Outcome::Returned(object!(3))))))
            })
        })
        .await;
        let bound: SocketAddr = "127.0.0.1:4646".parse().expect("an address");
        Self { door: stage.door(bound, |server| server.calls = CALLS), begun, go }
    }

    async fn call(&self, uri: &str, tool: &str) -> Response {
        self.door.send(json("POST", uri, &object!({"tool": tool}))).await
    }

    /// A call that goes on beside the test, once it has begun.
    async fn beside(&mut self, tool: &'static str) -> JoinHandle<Answer> {
        let door = self.door.clone();
        let call = tokio::spawn(async move {
            Answer::of(door.send(json("POST", "/v1/execute", &object!({"tool": tool}))).await).await
        });
        tokio::time::timeout(PATIENCE, self.begun.recv()).await.expect("it begins").expect("a call");
        call
    }
}

fn calls_that_wait_for_a_person_leave_the_room_to_others() {
    block_on(async {
        let mut room = Room::new().await;
        let mut calls = Vec::new();
        for _ in 0..5 {
            calls.push(room.beside("asks").await);
        }
        assert_eq!(room.call("/v1/execute", "ends").await.status(), StatusCode::OK);
        for _ in 0..CALLS {
            calls.push(room.beside("runs").await);
        }
        let busy = Answer::of(room.call("/v1/execute", "ends").await).await;
        assert_eq!((busy.status, busy.header("retry-after")), (StatusCode::SERVICE_UNAVAILABLE, "1"));
        assert_eq!(busy.json()["code"], "BUSY");
        room.go.add_permits(calls.len());
        for call in calls {
            assert_eq!(call.await.expect("an answer").status, StatusCode::OK);
        }
        assert_eq!(room.call("/v1/execute", "ends").await.status(), StatusCode::OK);
    });
}

fn streamed_calls_that_wait_for_a_person_leave_the_room_to_others() {
    block_on(async {
        let room = Room::new().await;
        let mut streams = Vec::new();
        for _ in 0..5 {
            let mut stream = room.call("/v1/execute?stream", "asks").await;
            assert_eq!(stream.status(), StatusCode::OK);
            assert_eq!(next(&mut stream).await.expect("an event").0, "approval");
            streams.push(stream);
        }
        assert_eq!(room.call("/v1/execute", "ends").await.status(), StatusCode::OK);
        room.go.add_permits(streams.len());
        for mut stream in streams {
            assert_eq!(next(&mut stream).await.expect("an event").0, "result");
        }
    });
}

fn whatever_runs_something_needs_room() {
    block_on(async {
        let mut room = Room::new().await;
        let mut calls = Vec::new();
        for _ in 0..CALLS {
            calls.push(room.beside("runs").await);
        }
        for path in [
            "/v1/execute",
            "/v1/validate",
            "/v1/tools/check",
            "/v1/tools/try",
            "/v1/tools/test",
            "/v1/tools/publish",
            "/v1/tools/add/test",
            "/v1/tools/add/publish",
        ] {
            let answer = Answer::of(room.door.send(bare("POST", path)).await).await;
            assert_eq!(answer.status, StatusCode::SERVICE_UNAVAILABLE, "{path}: {}", answer.text);
            assert_eq!(answer.json()["code"], "BUSY", "{path}");
        }
        // What runs nothing needs none.
        let answer = Answer::of(room.door.send(bare("POST", "/v1/tools/policy")).await).await;
        assert_eq!(answer.status, StatusCode::UNSUPPORTED_MEDIA_TYPE, "{}", answer.text);
        room.go.add_permits(calls.len());
        for call in calls {
            assert_eq!(call.await.expect("an answer").status, StatusCode::OK);
        }
    });
}
