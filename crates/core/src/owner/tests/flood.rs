//! More than an owner takes at once: what is beyond is told so, and what is within goes on.

use std::sync::Arc;
use std::time::Duration;

use bailiwick_types::ErrorCode;
use serde_json::json;

use super::hostile::Raw;
use super::{Stage, alone, call, call_with, list, refused};
use crate::owner::connection::MOST_ACTIONS;
use crate::owner::message::FromOwner;
use crate::owner::serve::MOST_CLIENTS;

#[tokio::test]
async fn clients_beyond_the_bound_are_told_that_there_is_no_room() {
    let stage = Stage::new();
    let owner = stage.desk().await;
    let mut clients = Vec::new();
    for _ in 0..MOST_CLIENTS {
        clients.push(Raw::greeted(&stage).await);
    }
    let mut beyond = Raw::greeted(&stage).await;
    let Some(FromOwner::Bye { refusal }) = beyond.hear().await else { panic!("no farewell") };
    refused(Err(refusal), ErrorCode::Busy, "64 clients use the data folder");
    let desk = stage.desk().await;
    refused(desk.perform(alone(), list()).await, ErrorCode::Busy, "64 clients");
    // One goes, and once the owner has seen that there is room again.
    clients.pop();
    loop {
        match desk.perform(alone(), list()).await {
            Ok(_) => break,
            Err(refusal) => assert_eq!(refusal.code, ErrorCode::Busy),
        }
        tokio::task::yield_now().await;
    }
    owner.close().await.unwrap();
}

#[tokio::test]
async fn actions_beyond_the_bound_are_refused_and_not_begun() {
    let stage = Stage::new();
    let _owner = stage.desk().await;
    let client = Arc::new(stage.desk().await);
    let mut calls = tokio::task::JoinSet::new();
    for _ in 0..MOST_ACTIONS {
        let client = client.clone();
        calls.spawn(async move { client.perform(alone(), call("wait")).await });
    }
    while stage.book.count("begin tool.call") < MOST_ACTIONS {
        tokio::task::yield_now().await;
    }
    let says = "16 actions of this client are being performed";
    refused(client.perform(alone(), call("wait")).await, ErrorCode::Busy, says);
    assert_eq!(stage.book.count("begin tool.call"), MOST_ACTIONS);
    stage.desk().await.perform(alone(), list()).await.expect("another client has room of its own");
    for _ in 0..MOST_ACTIONS {
        stage.go_on();
    }
    while let Some(ended) = calls.join_next().await {
        ended.unwrap().unwrap();
    }
    client.perform(alone(), list()).await.unwrap();
}

#[tokio::test]
async fn a_client_that_does_not_read_costs_the_owner_a_bounded_amount() {
    let stage = Stage::new();
    let _owner = stage.desk().await;
    let client = stage.desk().await;
    let mut raw = Raw::connect(&stage).await;
    // 10 MB of events, of which 4 MB may wait.
    raw.ask(1, call_with("talk", json!({"lines": 100, "length": 100_000}))).await;
    stage.book.happens("talked").await;
    client.perform(alone(), list()).await.unwrap();
    let mut heard = 0;
    raw.frames.next::<serde_json::Value>().await.unwrap().expect("a greeting");
    assert_eq!(raw.hear().await, Some(FromOwner::Taken { id: 1 }));
    loop {
        match raw.hear().await {
            Some(FromOwner::Event { .. }) => heard += 1,
            Some(FromOwner::Done { .. }) => break,
            other => panic!("{other:?}"),
        }
    }
    assert!((20..60).contains(&heard), "{heard} events were kept");
}

#[tokio::test]
async fn refusals_wait_for_whoever_does_not_read_them() {
    let stage = Stage::new();
    let _owner = stage.desk().await;
    let mut raw = Raw::connect(&stage).await;
    // It stops taking asks when nobody reads; so the socket fills, and the client is the one who waits.
    let mut id = 0;
    while tokio::time::timeout(Duration::from_secs(1), raw.ask(id + 1, call("wait"))).await.is_ok() {
        id += 1;
        assert!(id < 100_000, "the owner takes asks without end");
    }
    assert_eq!(stage.book.count("begin tool.call"), MOST_ACTIONS);
    drop(raw);
    stage.book.happens("dropped").await;
}
