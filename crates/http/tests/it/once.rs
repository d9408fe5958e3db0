//! `idempotency-key`: a request that is sent twice is done once.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use axum::extract::Request;
use axum::http::StatusCode;
use bailiwick_core::{Action, Change, Imported, Refusal, Reply};
use bailiwick_types::{ErrorCode, Outcome, Scopes};
use serde_json::json as object;
use tokio::sync::{Notify, Semaphore};

use crate::replies;
use crate::stage::{Answer, Stage, block_on, json, principal, with};

bailiwick_testkit::tests!(
    the_same_request_is_done_once_and_answered_alike,
    another_body_is_a_conflict,
    another_caller_or_place_is_another_request,
    what_is_being_done_is_a_conflict_with_retry_after,
    what_was_refused_may_be_tried_again,
    a_key_that_was_made_is_not_told_twice,
    what_writes_goes_on_when_its_sender_is_gone,
    what_runs_ends_with_its_sender,
    a_key_of_the_wrong_form_is_refused,
    a_stream_takes_no_key,
);

fn create(name: &str, key: &str) -> Request {
    let request = json("POST", "/v1/tools", &object!({"document": {"name": name}}));
    with(request, "idempotency-key", key)
}

/// Somebody who counts how often they take a tool in.
async fn counting() -> (Stage, Arc<AtomicU64>) {
    let count = Arc::new(AtomicU64::new(0));
    let counted = count.clone();
    let stage = Stage::script(move |_, _| {
        let version = counted.fetch_add(1, Ordering::SeqCst) + 1;
        let imported = Imported { version, ..replies::imported(Change::Added) };
        Box::pin(std::future::ready(Ok(Reply::Imported(vec![imported]))))
    });
    (stage.await, count)
}

fn the_same_request_is_done_once_and_answered_alike() {
    block_on(async {
        let (stage, count) = counting().await;
        let first = stage.ask(create("a", "k1")).await;
        let second = stage.ask(with(create("a", "k1"), "x-correlation-id", "second")).await;
        assert_eq!(count.load(Ordering::SeqCst), 1);
        assert_eq!((first.status, &first.text), (StatusCode::CREATED, &second.text));
        assert_eq!((second.status, second.header("etag")), (StatusCode::CREATED, first.header("etag")));
        assert_eq!(second.header("idempotency-replayed"), "true");
        assert_eq!(second.header("x-correlation-id"), "second");
        assert!(!first.headers.contains_key("idempotency-replayed"));
        stage.ask(create("a", "k2")).await;
        assert_eq!(count.load(Ordering::SeqCst), 2);
    });
}

fn another_body_is_a_conflict() {
    block_on(async {
        let (stage, count) = counting().await;
        stage.ask(create("a", "k")).await;
        let answer = stage.ask(create("b", "k")).await;
        assert_eq!((answer.status, count.load(Ordering::SeqCst)), (StatusCode::CONFLICT, 1));
        assert_eq!(answer.json()["code"], "CONFLICT");
    });
}

fn another_caller_or_place_is_another_request() {
    block_on(async {
        let (stage, count) = counting().await;
        stage.ask(create("a", "k")).await;
        let mut other = principal(Scopes::ALL);
        other.actor.key = Some("other".to_owned());
        assert_eq!(stage.send_as(other, create("a", "k")).await.status(), StatusCode::CREATED);
        let documents = object!({"documents": [{"name": "a.js", "text": "1"}]});
        let elsewhere = with(json("POST", "/v1/tools/import", &documents), "idempotency-key", "k");
        assert_eq!(stage.ask(elsewhere).await.status, StatusCode::OK);
        assert_eq!(count.load(Ordering::SeqCst), 3);
    });
}

/// Somebody who begins, tells so, and waits.
async fn waiting(reply: Reply) -> (Arc<Stage>, Arc<Notify>, Arc<Semaphore>) {
    let (begun, go_on) = (Arc::new(Notify::new()), Arc::new(Semaphore::new(0)));
    let (tells, waits) = (begun.clone(), go_on.clone());
    let stage = Stage::script(move |_, _| {
        let (tells, waits, reply) = (tells.clone(), waits.clone(), reply.clone());
        Box::pin(async move {
            tells.notify_one();
            waits.acquire().await.expect("open").forget();
            Ok(reply)
        })
    });
    (Arc::new(stage.await), begun, go_on)
}

fn imported() -> Reply {
    Reply::Imported(vec![replies::imported(Change::Added)])
}

fn what_is_being_done_is_a_conflict_with_retry_after() {
    block_on(async {
        let (stage, begun, go_on) = waiting(imported()).await;
        let asking = stage.clone();
        let first = tokio::spawn(async move { asking.ask(create("a", "k")).await });
        begun.notified().await;
        let second = stage.ask(create("a", "k")).await;
        assert_eq!((second.status, second.header("retry-after")), (StatusCode::CONFLICT, "1"));
        go_on.add_permits(1);
        assert_eq!(first.await.expect("an answer").status, StatusCode::CREATED);
        assert_eq!(stage.ask(create("a", "k")).await.header("idempotency-replayed"), "true");
    });
}

fn what_was_refused_may_be_tried_again() {
    block_on(async {
        let tried = AtomicU64::new(0);
        let stage = Stage::script(move |_, _| {
            let reply = match tried.fetch_add(1, Ordering::SeqCst) {
                0 => Err(Refusal::new(ErrorCode::Busy, "not now")),
                _ => Ok(imported()),
            };
            Box::pin(std::future::ready(reply))
        })
        .await;
        assert_eq!(stage.ask(create("a", "k")).await.status, StatusCode::SERVICE_UNAVAILABLE);
        assert_eq!(stage.ask(create("a", "k")).await.status, StatusCode::CREATED);
    });
}

fn a_key_that_was_made_is_not_told_twice() {
    block_on(async {
        let stage = Stage::replying(Ok(Reply::KeyMade(Box::new(replies::key_made())))).await;
        let wish = || {
            let request = json("POST", "/v1/keys", &object!({"name": "bot", "scopes": ["call"]}));
            with(request, "idempotency-key", "k")
        };
        let first = stage.ask(wish()).await;
        assert_eq!((first.status, &first.json()["key"]), (StatusCode::CREATED, &object!("bwk_sesame")));
        assert_eq!(first.header("cache-control"), "no-store");
        let second = stage.ask(wish()).await;
        assert_eq!(second.status, StatusCode::CONFLICT);
        assert!(second.text.contains(replies::ID) && !second.text.contains("sesame"), "{}", second.text);
        assert_eq!(stage.asked().len(), 1);
    });
}

fn what_writes_goes_on_when_its_sender_is_gone() {
    block_on(async {
        let (stage, begun, go_on) = waiting(imported()).await;
        let asking = stage.clone();
        let first = tokio::spawn(async move { asking.ask(create("a", "k")).await });
        begun.notified().await;
        first.abort();
        assert!(first.await.is_err());
        go_on.add_permits(1);
        // Until it is done a copy is told to wait.
        let answer = loop {
            let answer = stage.ask(create("a", "k")).await;
            if answer.status != StatusCode::CONFLICT {
                break answer;
            }
            tokio::task::yield_now().await;
        };
        assert_eq!(answer.header("idempotency-replayed"), "true");
        assert_eq!(stage.asked().len(), 1);
    });
}

fn what_runs_ends_with_its_sender() {
    block_on(async {
        let report = replies::report(Outcome::Returned(object!(3)));
        let (stage, begun, go_on) = waiting(Reply::Called(Box::new(report))).await;
        let run = || {
            let request = json("POST", "/v1/execute", &object!({"tool": "add"}));
            with(with(request, "idempotency-key", "k"), "x-correlation-id", "c")
        };
        let asking = stage.clone();
        let first = tokio::spawn(async move { asking.ask(run()).await });
        begun.notified().await;
        first.abort();
        assert!(first.await.is_err());
        // One for the first as well, which may be at it still when it is ended.
        go_on.add_permits(2);
        let second = stage.ask(run()).await;
        assert_eq!((second.status, stage.asked().len()), (StatusCode::OK, 2));
        assert!(!second.headers.contains_key("idempotency-replayed"));
        let third = Answer::of(stage.send(run()).await).await;
        assert_eq!((third.text, stage.asked().len()), (second.text, 2));
        assert!(matches!(stage.asked().last(), Some(Action::ToolCall { .. })));
    });
}

fn a_key_of_the_wrong_form_is_refused() {
    block_on(async {
        let (stage, count) = counting().await;
        for wrong in ["", "a b", &"x".repeat(129)] {
            let answer = stage.ask(create("a", wrong)).await;
            assert_eq!(
                (answer.status, count.load(Ordering::SeqCst)),
                (StatusCode::BAD_REQUEST, 0),
                "{wrong}"
            );
        }
        let twice = with(create("a", "k"), "idempotency-key", "l");
        assert_eq!(stage.ask(twice).await.status, StatusCode::BAD_REQUEST);
    });
}

fn a_stream_takes_no_key() {
    block_on(async {
        let (stage, _) = counting().await;
        let request = json("POST", "/v1/execute?stream", &object!({"tool": "add"}));
        let answer = stage.ask(with(request, "idempotency-key", "k")).await;
        assert_eq!((answer.status, stage.asked().len()), (StatusCode::BAD_REQUEST, 0));
    });
}
