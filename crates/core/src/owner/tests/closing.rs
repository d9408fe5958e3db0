//! Whoever goes: what runs for them is dropped or finished, and an owner ends in the right order.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use bailiwick_types::ErrorCode;

use super::{Boxed, Opens, Ownership, Performs, Stage, alone, call, list, refused, remove};
use crate::{Desk, Refusal, Reply};

/// Begins an action at a desk, in a task.
async fn begun(
    stage: &Stage,
    desk: Desk,
    action: crate::Action,
) -> tokio::task::JoinHandle<Result<Reply, Refusal>> {
    let begins = stage.book.happens(&format!("begin {}", action.name()));
    let task = tokio::spawn(async move { desk.perform(alone(), action).await });
    begins.await;
    task
}

#[tokio::test]
async fn a_call_ends_with_the_client_that_wanted_it() {
    let stage = Stage::new();
    let owner = stage.desk().await;
    let client = stage.desk().await;
    let call = begun(&stage, client, call("wait")).await;
    call.abort();
    stage.book.happens("dropped").await;
    owner.perform(alone(), list()).await.unwrap();
    owner.close().await.unwrap();
}

#[tokio::test]
async fn a_call_that_nobody_waits_for_ends_though_its_client_stays() {
    let stage = Stage::new();
    let owner = stage.desk().await;
    let client = stage.desk().await;
    for desk in [&client, &owner] {
        let performing = desk.perform(alone(), call("wait"));
        tokio::select! {
            reply = performing => panic!("{reply:?}"),
            () = stage.book.happens("begin tool.call") => {}
        }
        stage.book.happens("dropped").await;
        desk.perform(alone(), list()).await.unwrap();
    }
}

#[tokio::test]
async fn a_write_that_began_is_finished_though_its_client_is_gone() {
    for at_owner in [false, true] {
        let stage = Stage::new();
        let owner = stage.desk().await;
        let client = stage.desk().await;
        let desk = if at_owner { &owner } else { &client };
        tokio::select! {
            reply = desk.perform(alone(), remove()) => panic!("{reply:?}"),
            () = stage.book.happens("begin tool.remove") => {}
        }
        drop(client);
        let closing = tokio::spawn(async move { owner.close().await });
        // It waits for the write.
        assert!(stage.folder().lock().unwrap().is_none());
        stage.go_on();
        closing.await.unwrap().unwrap();
        let book = stage.book.entries();
        assert_eq!(book[book.len() - 2..], ["end tool.remove", "close"], "at the owner: {at_owner}");
    }
}

#[tokio::test]
async fn an_owner_that_closes_finishes_what_it_took_and_takes_nothing_more() {
    let stage = Stage::new();
    let owner = stage.desk().await;
    let other = stage.beside();
    let (client, late) = (stage.desk().await, other.desk().await);
    let call = begun(&stage, client, call("wait")).await;
    let closing = tokio::spawn(async move { owner.close().await });
    // Not taken any more: it is asked of the next owner, which is the one who asks.
    let asked = async {
        let reply = late.perform(alone(), list()).await;
        assert!(late.is_owner());
        reply
    };
    let goes_on = async {
        while stage.data.join("owner.sock").exists() {
            stage.go_on();
            tokio::task::yield_now().await;
        }
    };
    let (reply, ()) = tokio::join!(asked, goes_on);
    reply.unwrap();
    assert_eq!(call.await.unwrap(), Ok(Reply::Done), "what was taken came to its end");
    closing.await.unwrap().unwrap();
    assert_eq!(stage.book.entries(), ["open", "begin tool.call", "end tool.call", "close"]);
    assert_eq!(other.book.entries(), ["open", "begin tool.list"]);
}

#[tokio::test]
async fn a_desk_that_is_dropped_gives_the_folder_back_when_its_last_write_is_done() {
    let stage = Stage::new();
    let owner = stage.desk().await;
    tokio::select! {
        reply = owner.perform(alone(), remove()) => panic!("{reply:?}"),
        () = stage.book.happens("begin tool.remove") => {}
    }
    drop(owner);
    for _ in 0..20 {
        tokio::task::yield_now().await;
        assert!(stage.folder().lock().unwrap().is_none(), "somebody still writes");
    }
    assert!(!stage.data.join("owner.sock").exists());
    stage.go_on();
    let next = stage.beside().desk().await;
    assert!(next.is_owner());
    assert_eq!(stage.book.entries().last().unwrap(), "end tool.remove");
}

#[tokio::test(start_paused = true)]
async fn a_client_that_does_not_read_keeps_no_owner_from_closing() {
    let stage = Stage::new();
    let owner = stage.desk().await;
    let mut raw = super::hostile::Raw::connect(&stage).await;
    raw.ask(1, super::call_with("talk", serde_json::json!({"lines": 2000, "length": 1000}))).await;
    stage.book.happens("talked").await;
    raw.ask(2, list()).await;
    let closed = tokio::time::timeout(Duration::from_secs(15), owner.close()).await;
    closed.expect("in time").unwrap();
    assert_eq!(
        stage.book.count("begin tool.list"),
        0,
        "that it was taken could not be told, so it did not begin"
    );
}

/// Cannot open, for one reason or another.
struct Fails(Stage, &'static str);

impl Opens for Fails {
    fn data(&self) -> &Path {
        &self.0.data
    }

    fn open(self: Box<Self>, _ownership: Ownership) -> Boxed<Result<Arc<dyn Performs>, Refusal>> {
        Box::pin(async move {
            assert!(self.1 != "panic", "on purpose");
            Err(Refusal::new(ErrorCode::Unsupported, self.1))
        })
    }
}

#[tokio::test]
async fn a_folder_that_could_not_be_opened_is_free_again() {
    for (why, code, says) in [
        ("a later version wrote it", ErrorCode::Unsupported, "a later version"),
        ("panic", ErrorCode::Internal, "a fault of this program"),
    ] {
        let stage = Stage::new();
        let refusal = Desk::open(Fails(stage.clone(), why)).await.expect_err("it fails");
        refused(Err(refusal), code, says);
        assert!(stage.desk().await.is_owner());
    }
}

#[tokio::test]
async fn a_client_that_cannot_own_stays_a_client() {
    let stage = Stage::new();
    let first = stage.desk().await;
    let client = Desk::open(Fails(stage.clone(), "not here")).await.unwrap();
    client.perform(alone(), list()).await.unwrap();
    first.close().await.unwrap();
    for _ in 0..2 {
        refused(client.perform(alone(), list()).await, ErrorCode::Unsupported, "not here");
    }
    let _second = stage.desk().await;
    client.perform(alone(), list()).await.unwrap();
}
