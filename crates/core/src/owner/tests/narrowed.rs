//! A client that wants to be held to some scopes is, and none gets more than the owner grants.

use std::sync::Arc;
use std::time::Duration;

use bailiwick_types::{ErrorCode, Scope, Scopes};
use serde_json::json;
use tokio::io::AsyncWriteExt as _;

use super::hostile::Raw;
use super::with_core::opening;
use super::{Stage, actor, call, refused};
use crate::owner::message::{FromOwner, GRANTED};
use crate::{Action, Caller, Code, CodeRun, Core, Desk, Document, Reasons, Refusal, Reply};

/// Every set of scopes.
fn every() -> Vec<Scopes> {
    let subset = |bits: usize| {
        Scopes::of(Scope::ALL.iter().enumerate().filter(|(at, _)| bits & (1 << at) != 0).map(|(_, one)| *one))
    };
    (0..1 << Scope::ALL.len()).map(subset).collect()
}

fn within(scopes: &[Scope]) -> Caller {
    Caller::covering(actor("mcp"), Scopes::of(scopes.iter().copied()))
}

#[tokio::test]
async fn an_owner_holds_each_ask_to_the_scopes_it_came_with() {
    let stage = Stage::new();
    let owner = stage.desk().await;
    let client = stage.desk().await;
    for scopes in every() {
        let held = Reply::Records(vec![json!(GRANTED.and(scopes))]);
        for desk in [&client, &owner] {
            let caller = Caller::covering(actor("mcp"), scopes);
            assert_eq!(desk.perform(caller, call("scopes")).await, Ok(held.clone()), "{scopes}");
        }
    }
    // An ask leaves nothing behind for the next one of its connection.
    let mut raw = Raw::greeted(&stage).await;
    for (id, scopes) in [(1, Scopes::NONE), (2, Scopes::ALL), (3, Scopes::of([Scope::Call]))] {
        raw.ask_within(id, scopes, call("scopes")).await;
        assert_eq!(raw.hear().await, Some(FromOwner::Taken { id }));
        let Some(FromOwner::Done { result, .. }) = raw.hear().await else { panic!("no end") };
        assert_eq!(*result, Ok(Reply::Records(vec![json!(scopes)])));
    }
}

#[tokio::test]
async fn no_word_on_the_wire_stands_for_more_than_there_is() {
    let stage = Stage::new();
    let _owner = stage.desk().await;
    let ask = |scopes: &str| {
        let action = serde_json::to_string(&call("scopes")).unwrap();
        format!(r#"{{"ask":{{"id":1,"actorClient":"raw",{scopes}"action":{action}}}}}"#)
    };
    for (scopes, says) in [
        ("", "missing field `scopes`"),
        (r#""scopes":null,"#, "invalid type"),
        (r#""scopes":"*","#, "invalid type"),
        (r#""scopes":15,"#, "invalid type"),
        (r#""scopes":["call","*"],"#, "unknown variant"),
        (r#""scopes":["call","root"],"#, "unknown variant"),
        (r#""scopes":["call"],"scopes":["operate"],"#, "duplicate field"),
    ] {
        let mut raw = Raw::greeted(&stage).await;
        let text = ask(scopes);
        let framed = [&u32::try_from(text.len()).unwrap().to_be_bytes(), text.as_bytes()].concat();
        raw.write.write_all(&framed).await.unwrap();
        let Some(FromOwner::Bye { refusal }) = raw.hear().await else { panic!("{scopes}: no farewell") };
        refused(Err(refusal), ErrorCode::InvalidInput, says);
    }
    assert_eq!(stage.book.count("begin tool.call"), 0);
}

/// What a caller with `call` alone must not get.
fn beyond_call() -> Vec<Action> {
    let document =
        || Document { name: "t.tool.yaml".to_owned(), text: "name: t\ncode: return 1\n".to_owned() };
    let tool = || "t".to_owned();
    let code = Code { text: "return 1".to_owned(), entry: "body".to_owned(), language: "js".to_owned() };
    let run = CodeRun {
        code,
        name: "x".to_owned(),
        arguments: serde_json::Map::new(),
        overrides: Some(json!({"network": "strict"})),
        profile: None,
        limits: None,
        correlation: None,
        always_asks: false,
    };
    vec![
        Action::ToolImport { documents: vec![document()], approval_off: false },
        Action::ToolPublishDocument { document: document(), reasons: Reasons::default(), approval_off: true },
        Action::ToolPublish { tool: tool(), reasons: Reasons::default() },
        Action::ToolRemove { tool: tool() },
        Action::CodeRun(Box::new(run)),
        Action::ApprovalList,
        Action::ApprovalRemembered,
        Action::KeyList,
        Action::SecretList,
        Action::AuditTail { limit: 1 },
    ]
}

#[tokio::test]
async fn a_client_that_only_calls_authors_nothing_and_answers_for_nobody() {
    let stage = Stage::new();
    let owner = Desk::open(opening(&stage)).await.unwrap();
    let client = Desk::open(opening(&stage)).await.unwrap();
    assert!(!client.is_owner());
    for action in beyond_call() {
        let name = action.name();
        refused(client.perform(within(&[Scope::Call]), action).await, ErrorCode::Forbidden, name);
    }
    let offered = Action::ToolOffered { after: None, limit: 10 };
    assert_eq!(client.perform(within(&[Scope::Call]), offered.clone()).await, Ok(Reply::Offered(Vec::new())));
    refused(client.perform(within(&[]), offered).await, ErrorCode::Forbidden, "`call`");
    // The same client may, when it says so: it is the scopes that keep it, not the socket.
    client.perform(within(&[Scope::Approve]), Action::ApprovalList).await.unwrap();
    client.close().await.unwrap();
    owner.close().await.unwrap();
}

/// Watches through a desk until dropped, once the core knows of it.
async fn watching(
    desk: &Arc<Desk>,
    core: &Core,
    caller: Caller,
) -> tokio::task::JoinHandle<Result<Reply, Refusal>> {
    let (desk, before) = (desk.clone(), core.watchers());
    let watches = tokio::spawn(async move { desk.perform(caller, Action::Watch).await });
    until(|| core.watchers() > before).await;
    watches
}

async fn until(holds: impl Fn() -> bool) {
    let waits = async {
        while !holds() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), waits).await.expect("it did not come to hold");
}

#[tokio::test]
async fn a_client_that_only_calls_does_not_count_as_an_approver_who_watches() {
    let stage = Stage::new();
    let owner = Desk::open(opening(&stage)).await.unwrap();
    let client = Arc::new(Desk::open(opening(&stage)).await.unwrap());
    let core = owner.core().unwrap();
    let watches = watching(&client, &core, within(&[Scope::Call])).await;
    assert!(!core.inner.happenings.approver_watches());
    let approves = watching(&client, &core, within(&[Scope::Call, Scope::Approve])).await;
    assert!(core.inner.happenings.approver_watches(), "somebody who may answer does");
    for task in [watches, approves] {
        task.abort();
    }
    until(|| core.watchers() == 0).await;
    assert!(!core.inner.happenings.approver_watches());
}
