//! Sandboxes over HTTP: which action a request becomes, what a command says while it runs, and what ends it.

mod rows;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use axum::body::Body;
use axum::extract::Request;
use axum::http::StatusCode;
use bailiwick_core::sandboxes::{FileWish, InputBytes, Stream};
use bailiwick_core::{Action, Chunk, Origin, Refusal, Reply};
use bailiwick_types::{ErrorCode, SandboxId, Scopes};
use http_body_util::BodyExt as _;
use serde_json::{Value, json as object};
use tokio::sync::{Notify, mpsc};

use crate::operations::Row;
use crate::replies::{self, ID};
use crate::schema::{holds, is_a};
use crate::stage::{Answer, Stage, block_on, get, json, principal, text, with};
use crate::streams::{Alarm, next};
use rows::{bytes, caused, exec, kept, path, said, wish, written};

pub(crate) use rows::rows;

bailiwick_testkit::tests!(
    what_is_wrong_with_a_wish_is_told_with_its_place,
    a_file_goes_in_and_out_as_it_is,
    a_file_that_is_too_large_is_a_413,
    what_a_sandbox_holds_is_never_a_page_of_ours,
    sandboxes_come_in_pages,
    whoever_asks_over_http_asks_over_a_wire,
    a_command_tells_what_it_says_and_then_its_result,
    whoever_goes_away_ends_the_command,
    a_slow_reader_makes_the_command_wait,
    a_sandbox_is_made_once_however_often_it_is_asked_for,
    a_result_reads_back_as_it_was,
);

/// Longer than anything here counts; only a test that hangs ever waits for it.
const PATIENCE: Duration = Duration::from_secs(30);

/// Sends what does not fit: nobody behind the desk hears of it, and its problem says this.
async fn check(request: Request, status: u16, says: &str) {
    let stage = Stage::replying(Ok(Reply::Done)).await;
    let shown = format!("{} {}", request.method(), request.uri());
    let answer = stage.ask(request).await;
    assert_eq!(answer.status.as_u16(), status, "{shown}: {}", answer.text);
    assert_eq!(stage.asked(), Vec::new(), "{shown}");
    let problem = answer.json();
    is_a("Problem", &problem);
    assert!(problem["detail"].as_str().is_some_and(|detail| detail.contains(says)), "{shown}: {problem:#}");
    if says.contains("unknown field") {
        assert_eq!(problem["faults"][0]["line"], 1, "{shown}");
    }
}

fn what_is_wrong_with_a_wish_is_told_with_its_place() {
    block_on(async {
        let at = |uri: &str, body: Value| json("POST", uri, &body);
        check(at("/v1/sandboxes", object!({"imag": "x"})), 400, "unknown field `imag`").await;
        check(at("/v1/sandboxes", object!({"limits": {"ram": "1"}})), 400, "unknown field `ram`").await;
        let mount = object!({"mounts": [{"from": "/srv", "to": "/a", "readonly": true}]});
        check(at("/v1/sandboxes", mount), 400, "unknown field `readonly`").await;
        let upwards = object!({"mounts": [{"from": "/srv", "to": "/a/../b"}]});
        check(at("/v1/sandboxes", upwards), 400, "..").await;
        check(at("/v1/sandboxes", object!({"tier": "NONE"})), 400, "unknown variant").await;
        check(at("/v1/exec", object!({"argv": ["id"], "terminal": {}})), 400, "unknown field `terminal`")
            .await;
        check(at("/v1/exec", object!({"argv": ["id"], "sandbox": {"x": 1}})), 400, "unknown field `x`").await;
        let place = "/v1/sandboxes/one/exec";
        check(at(place, object!({"argv": "id"})), 400, "expected a sequence").await;
        check(at(place, object!({"argv": ["id"], "sandbox": {}})), 400, "unknown field `sandbox`").await;
        check(at(place, object!({"argv": ["id"], "stdinBase64": "?"})), 400, "not base64").await;
        let both = object!({"argv": ["id"], "stdin": "a", "stdinBase64": "Yg=="});
        check(at(place, both), 400, "both `stdin` and `stdinBase64`").await;
        check(text("POST", place, "text/plain", "id"), 415, "of a kind").await;
        check(get("/v1/sandboxes/one/files"), 400, "missing field `path`").await;
        check(get("/v1/sandboxes/one/files?path=a"), 400, "`path`").await;
        check(get("/v1/sandboxes/one/files?path=/a/../../etc"), 400, "`path`").await;
        check(get("/v1/sandboxes/one/files?path=/a%00b"), 400, "`path`").await;
        check(at("/v1/sandboxes/one/commit", object!({"path": "a"})), 400, "unknown field `path`").await;
        check(at("/v1/sandboxes/one/commit", object!({"at": "work"})), 400, "`work`").await;
        check(at("/v1/sandboxes/one/discard", object!({"linksOut": true})), 400, "unknown field `linksOut`")
            .await;
        check(at("/v1/sandboxes/one/ports", object!({"port": 65_536})), 400, "65536").await;
        check(at("/v1/sandboxes/one/ports", object!({"port": 80, "host": 80})), 400, "unknown field `host`")
            .await;
        check(get("/v1/sandboxes/one/diff?paths=a"), 400, "`paths`: there is no such parameter").await;
        check(get("/v1/sandboxes/one/diff?at=/a&at=/b"), 400, "`at`: it is there twice").await;
        check(get("/v1/sandboxes/one/diff?at=a"), 400, "`at`").await;
        check(get("/v1/sandboxes/one/diff?patchBytes=-1"), 400, "`patchBytes`: it is no number").await;
        check(get("/v1/sandboxes?limit=0"), 400, "`limit`").await;
        check(get("/v1/sandboxes?after=%21"), 400, "`after`").await;
    });
}

fn a_file_goes_in_and_out_as_it_is() {
    block_on(async {
        let strange: Vec<u8> = (0..=255).collect();
        let reply = Reply::FileBytes(InputBytes::new(strange.clone()));
        let stage = Stage::replying(Ok(reply)).await;
        let response = stage.send(get("/v1/sandboxes/one/files?path=/work/a%20%C3%A9.bin")).await;
        let out = response.into_body().collect().await.expect("a body").to_bytes();
        assert_eq!(out, strange);
        let wish = FileWish::Read { path: path("/work/a é.bin") };
        assert_eq!(stage.asked(), [Action::SandboxFiles { sandbox: "one".to_owned(), wish }]);

        let stage = Stage::replying(Ok(Reply::Done)).await;
        // Without a word about its kind, or with any: it is bytes.
        let request = Request::builder().method("PUT").uri("/v1/sandboxes/one/files?path=/work/a");
        let request = request.header("content-type", "application/json").body(Body::from(strange.clone()));
        assert_eq!(stage.ask(request.expect("a request")).await.status, StatusCode::NO_CONTENT);
        let wish =
            FileWish::Write { path: path("/work/a"), bytes: InputBytes::new(strange), executable: false };
        assert_eq!(stage.asked(), [Action::SandboxFiles { sandbox: "one".to_owned(), wish }]);
    });
}

fn a_file_that_is_too_large_is_a_413() {
    block_on(async {
        // The stage counts bodies of 64 KiB.
        let uri = "/v1/sandboxes/one/files?path=/work/a";
        check(bytes("PUT", uri, vec![b'x'; (64 << 10) + 1]), 413, "larger").await;
        let body = object!({"argv": ["cat"], "stdin": "x".repeat(64 << 10)});
        check(json("POST", "/v1/exec", &body), 413, "larger").await;
    });
}

fn what_a_sandbox_holds_is_never_a_page_of_ours() {
    block_on(async {
        let page = Reply::FileBytes(InputBytes::new("<script>alert(1)</script>"));
        let stage = Stage::replying(Ok(page)).await;
        let answer = stage.ask(get("/v1/sandboxes/one/files?path=/work/index.html")).await;
        assert_eq!(answer.header("content-type"), "application/octet-stream");
        assert_eq!(answer.header("content-disposition"), "attachment");
    });
}

fn sandboxes_come_in_pages() {
    block_on(async {
        let line = |number: u32| {
            let mut line = replies::sandbox_line();
            let id = ID.replace("000000000001", &format!("00000000000{number}"));
            line.id = SandboxId::parse(&id).expect("an id");
            line.created_at = format!("2026-11-16T07:00:0{}.000Z", number / 2);
            line
        };
        let all: Vec<_> = (0..5).map(line).collect();
        let stage = Stage::replying(Ok(Reply::Sandboxes(all.clone()))).await;
        let (mut seen, mut after) = (Vec::new(), String::new());
        loop {
            let answer = stage.ask(get(&format!("/v1/sandboxes?limit=2{after}"))).await;
            holds("GET /v1/sandboxes", &answer);
            let page = answer.json();
            let ids = page["sandboxes"].as_array().expect("a list").clone();
            assert!(ids.len() <= 2);
            seen.extend(ids.into_iter().map(|one| one["id"].as_str().expect("an id").to_owned()));
            let Some(next) = page["next"].as_str() else { break };
            after = format!("&after={next}");
        }
        assert_eq!(seen, all.iter().map(|one| one.id.to_string()).collect::<Vec<_>>());
    });
}

fn whoever_asks_over_http_asks_over_a_wire() {
    block_on(async {
        let stage = Stage::script(|caller, _| {
            assert_eq!(caller.origin, Origin::Wire);
            Box::pin(std::future::ready(Err(Refusal::new(ErrorCode::FsDenied, "not listed"))))
        })
        .await;
        for Row { operation, request, .. } in rows() {
            let answer = stage.ask(request()).await;
            assert!(matches!(answer.status.as_u16(), 200 | 403), "{operation}: {}", answer.text);
        }
    });
}

fn chunk(stream: Stream, bytes: impl Into<bytes::Bytes>) -> Chunk {
    Chunk { stream, bytes: bytes.into() }
}

fn streamed() -> Request {
    json("POST", "/v1/exec?stream", &object!({"argv": ["id"]}))
}

fn a_command_tells_what_it_says_and_then_its_result() {
    block_on(async {
        let stage = Stage::script(|caller, _| {
            Box::pin(async move {
                let said = "é".as_bytes();
                caller.talk.output(chunk(Stream::Stdout, "one\n")).await;
                caller.talk.output(chunk(Stream::Stderr, vec![0xff, 0x00])).await;
                caller.talk.output(chunk(Stream::Stdout, said[..1].to_vec())).await;
                caller.talk.output(chunk(Stream::Stdout, said[1..].to_vec())).await;
                assert_eq!((caller.talk.input().await, caller.talk.urgent().await), (None, None));
                Ok(Reply::Executed(Box::new(replies::executed())))
            })
        })
        .await;
        let request = json("POST", "/v1/sandboxes/one/exec?stream", &object!({"argv": ["id"]}));
        let mut response = stage.send(caused(request)).await;
        let mut told = Vec::new();
        while let Some(event) = next(&mut response).await {
            told.push(event);
        }
        let names: Vec<&str> = told.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["output", "output", "output", "result"]);
        assert_eq!(told[0].1, object!({"stream": "stdout", "text": "one\n"}));
        assert_eq!(told[1].1, object!({"stream": "stderr", "base64": "/wA="}));
        assert_eq!(told[2].1, object!({"stream": "stdout", "text": "é"}));
        told[..3].iter().for_each(|(_, output)| is_a("Output", output));
        is_a("ExecResult", &told[3].1);
        assert_eq!(told[3].1["exitCode"], 3);
        assert_eq!(stage.asked(), [exec(kept(), said(&["id"], false))]);

        let refusing = Stage::replying(Err(Refusal::new(ErrorCode::Unenforceable, "no wall"))).await;
        let mut response = refusing.send(streamed()).await;
        let (name, problem) = next(&mut response).await.expect("an event");
        assert_eq!((name.as_str(), &problem["code"]), ("error", &object!("UNENFORCEABLE")));
    });
}

fn whoever_goes_away_ends_the_command() {
    block_on(async {
        let (tell, mut gone) = mpsc::unbounded_channel();
        let begun = Arc::new(Notify::new());
        let tells = begun.clone();
        let stage = Stage::script(move |caller, _| {
            let (alarm, tells) = (Alarm(tell.clone()), tells.clone());
            Box::pin(async move {
                let _alarm = alarm;
                caller.talk.output(chunk(Stream::Stdout, "one")).await;
                tells.notify_one();
                std::future::pending().await
            })
        })
        .await;
        let mut response = stage.send(streamed()).await;
        assert_eq!(next(&mut response).await.expect("an event").0, "output");
        drop(response);
        tokio::time::timeout(PATIENCE, gone.recv()).await.expect("it ends").expect("told");
        begun.notified().await;
        // The same where the answer comes at once.
        let asked = json("POST", "/v1/sandboxes/one/exec", &object!({"argv": ["sleep", "60"]}));
        let mut waits = Box::pin(stage.send(asked));
        tokio::select! {
            _ = &mut waits => panic!("it never ends"),
            () = begun.notified() => {}
        }
        drop(waits);
        tokio::time::timeout(PATIENCE, gone.recv()).await.expect("it ends").expect("told");
    });
}

fn a_slow_reader_makes_the_command_wait() {
    const CHUNK: usize = 256 << 10;
    const CHUNKS: usize = 64;
    block_on(async {
        let taken = Arc::new(AtomicUsize::new(0));
        let counts = taken.clone();
        let stage = Stage::script(move |caller, _| {
            let counts = counts.clone();
            Box::pin(async move {
                for _ in 0..CHUNKS {
                    caller.talk.output(chunk(Stream::Stdout, vec![b'x'; CHUNK])).await;
                    counts.fetch_add(1, Ordering::SeqCst);
                }
                Ok(Reply::Executed(Box::new(replies::executed())))
            })
        })
        .await;
        let mut response = stage.send(streamed()).await;
        let mut heard = 0;
        while let Some((name, output)) = next(&mut response).await {
            if name == "result" {
                break;
            }
            heard += output["text"].as_str().expect("text").len();
            // What was taken and not read is within the room there is: eight pieces, one on its way, one chunk begun.
            let ahead = (taken.load(Ordering::SeqCst) * CHUNK).saturating_sub(heard);
            assert!(ahead <= CHUNK + 10 * (32 << 10), "{ahead}");
        }
        assert_eq!(heard, CHUNK * CHUNKS);
    });
}

fn a_sandbox_is_made_once_however_often_it_is_asked_for() {
    block_on(async {
        let stage = Stage::replying(Ok(Reply::Sandbox(Box::new(replies::sandbox_view())))).await;
        let request = || with(json("POST", "/v1/sandboxes", &object!({})), "idempotency-key", "k");
        let (first, second) = (stage.ask(request()).await, stage.ask(request()).await);
        assert_eq!((first.status, second.status), (StatusCode::CREATED, StatusCode::CREATED));
        assert_eq!(first.json(), second.json());
        assert_eq!(second.header("idempotency-replayed"), "true");
        assert_eq!(first.header("location"), format!("/v1/sandboxes/{ID}"));
        assert_eq!(stage.asked().len(), 1);
        // Somebody else's key is another one.
        let mut other = principal(Scopes::ALL);
        other.actor.key = Some("other".to_owned());
        let third = Answer::of(stage.send_as(other, request()).await).await;
        assert_eq!((third.status, stage.asked().len()), (StatusCode::CREATED, 2));
    });
}

fn a_result_reads_back_as_it_was() {
    let executed = replies::executed();
    let told = serde_json::to_value(bailiwick_api::Executed::from(executed.clone())).expect("JSON");
    is_a("ExecResult", &told);
    let back: bailiwick_api::Executed = serde_json::from_value(told).expect("a result");
    assert_eq!(bailiwick_core::sandboxes::Executed::from(back), executed);
    let wish = bailiwick_api::SandboxWish::from(wish());
    assert_eq!(serde_json::to_value(&wish).expect("JSON"), written());
}
