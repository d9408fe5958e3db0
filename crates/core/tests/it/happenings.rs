//! What whoever watches is told, and what not.

use std::sync::Arc;

use bailiwick_core::{
    Action, Actor, Caller, Event, Happening, KeyMade, KeyWish, Listener, Refusal, Reply, ToolChange,
};
use bailiwick_types::{ErrorCode, Scope, Scopes};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::JoinHandle;

use crate::stage::{ADD, House, Place, block_on, yaml};

/// Passes on what it hears.
struct Ear(UnboundedSender<Happening>);

impl Listener for Ear {
    fn hear(&self, event: Event) {
        if let Event::Happened(happening) = event {
            // A test may have heard enough.
            let _ = self.0.send(*happening);
        }
    }
}

/// Somebody who watches.
struct Watcher {
    heard: UnboundedReceiver<Happening>,
    task: JoinHandle<Result<Reply, Refusal>>,
}

async fn watch(house: &House, scopes: Scopes, key: Option<&KeyMade>) -> Watcher {
    let (sender, heard) = unbounded_channel();
    let actor = Actor { key: None, client: "test".to_owned() };
    let caller = Caller {
        listener: Arc::new(Ear(sender)),
        key: key.map(|made| made.line.id),
        ..Caller::covering(actor, scopes)
    };
    let (core, before) = (house.core.clone(), house.core.watchers());
    let task = tokio::spawn(async move { core.perform(caller, Action::Watch).await });
    while house.core.watchers() == before && !task.is_finished() {
        tokio::task::yield_now().await;
    }
    Watcher { heard, task }
}

impl Watcher {
    async fn next(&mut self) -> Happening {
        self.heard.recv().await.expect("it still watches")
    }

    async fn next_tool(&mut self) -> ToolChange {
        loop {
            if let Happening::Tool(change) = self.next().await {
                return change;
            }
        }
    }
}

async fn key(house: &House, name: &str, scopes: Scopes) -> KeyMade {
    let wish = KeyWish {
        name: name.to_owned(),
        scopes,
        expires_in_s: Some(60),
        per_second: None,
        at_once: None,
        dialogue: false,
    };
    match house.act(Action::KeyCreate(wish)).await {
        Ok(Reply::KeyMade(made)) => *made,
        other => panic!("{other:?}"),
    }
}

fn every_change_of_a_tool_is_told() {
    block_on(async {
        let place = Place::new();
        let house = place.open().await;
        let mut watcher = watch(&house, Scopes::of([Scope::Author]), None).await;
        let document = yaml("add", ADD);
        house.import(std::slice::from_ref(&document)).await.expect("imported");
        house.test("add").await;
        house.publish("add", bailiwick_core::Reasons::default()).await.expect("published");
        house.act(Action::ToolUnpublish { tool: "add".to_owned() }).await.expect("unpublished");
        house.offer(&document).await;
        house.act(Action::ToolRemove { tool: "add".to_owned() }).await.expect("removed");
        let expected = [
            ("tool.import", false, false),
            ("tool.test", false, false),
            ("tool.publish", false, true),
            ("tool.unpublish", true, false),
            ("tool.publish", false, true),
            ("tool.remove", true, false),
        ];
        for (action, was, is) in expected {
            let change = watcher.next_tool().await;
            assert_eq!(
                (change.action.as_str(), change.was_published, change.is_published),
                (action, was, is)
            );
            assert_eq!(change.name, "add");
            assert_eq!(change.tool.is_some(), action != "tool.remove");
        }
        house.close().await;
        assert_eq!(watcher.task.await.expect("no panic"), Ok(Reply::Done));
    });
}

fn a_tool_that_was_edited_in_the_store_is_told_to_be_gone() {
    let place = Place::new();
    block_on(async {
        let house = place.open().await;
        house.offer(&yaml("add", ADD)).await;
        let mut watcher = watch(&house, Scopes::of([Scope::Call]), None).await;
        crate::stage::sql(&place, "UPDATE tools SET title = 'Harmless'");
        house.call("add", serde_json::json!({"a": 1, "b": 2})).await.expect_err("it does not run");
        let change = watcher.next_tool().await;
        assert_eq!((change.action.as_str(), change.is_published), ("tool.revoke", false));
        assert!(change.was_published);
        house.close().await;
    });
}

fn whoever_only_calls_is_told_of_published_tools_alone() {
    block_on(async {
        let place = Place::new();
        let house = place.open().await;
        let mut watcher = watch(&house, Scopes::of([Scope::Call]), None).await;
        let made = key(&house, "other", Scopes::ALL).await;
        house.import(&[yaml("add", ADD)]).await.expect("imported");
        house.test("add").await;
        house.act(Action::KeyRevoke { key: made.line.name }).await.expect("revoked");
        house.publish("add", bailiwick_core::Reasons::default()).await.expect("published");
        match watcher.next().await {
            Happening::Tool(change) => assert_eq!(change.action, "tool.publish"),
            other => panic!("{other:?}"),
        }
        house.close().await;
        assert_eq!(watcher.task.await.expect("no panic"), Ok(Reply::Done));
        assert!(watcher.heard.recv().await.is_none(), "nothing else was told");
    });
}

fn records_are_told_in_order_and_as_they_are_kept() {
    block_on(async {
        let place = Place::new();
        let house = place.open().await;
        let mut watcher = watch(&house, Scopes::of([Scope::Operate]), None).await;
        house.offer(&yaml("add", ADD)).await;
        house.call("add", serde_json::json!({"a": 1, "b": 2})).await.expect("called");
        let kept = house.tail(100).await;
        let mut told = Vec::new();
        while told.len() < kept.len() {
            if let Happening::Record(record) = watcher.next().await {
                told.push(record);
            }
        }
        assert_eq!(told, kept);
        house.close().await;
    });
}

fn watching_ends_with_the_key_it_was_begun_by() {
    block_on(async {
        let place = Place::new();
        let house = place.open().await;
        let (mine, other) = (key(&house, "mine", Scopes::ALL).await, key(&house, "other", Scopes::ALL).await);
        let watcher = watch(&house, Scopes::of([Scope::Call]), Some(&mine)).await;
        let mut stays = watch(&house, Scopes::of([Scope::Operate]), Some(&other)).await;
        house.act(Action::KeyRevoke { key: "mine".to_owned() }).await.expect("revoked");
        let ended = watcher.task.await.expect("no panic").expect_err("it ends");
        assert_eq!(ended.code, ErrorCode::Unauthorized);
        loop {
            if let Happening::KeyGone(line) = stays.next().await {
                assert_eq!(line.name, "mine");
                break;
            }
        }
        // By its time, too.
        house.core.put_clock_ahead(std::time::Duration::from_secs(61));
        let ended = stays.task.await.expect("no panic").expect_err("it ends");
        assert_eq!(ended.code, ErrorCode::Unauthorized);
        // And it does not begin with one that is gone.
        let late = watch(&house, Scopes::of([Scope::Call]), Some(&mine)).await;
        let ended = late.task.await.expect("no panic").expect_err("it ends");
        assert_eq!(ended.code, ErrorCode::Unauthorized);
        house.close().await;
    });
}

fn whoever_watches_and_may_approve_counts_as_somebody() {
    block_on(async {
        let place = Place::new();
        let house = place.open().await;
        let caller = watch(&house, Scopes::of([Scope::Call]), None).await;
        assert!(!house.core.somebody_may_approve());
        let approver = watch(&house, Scopes::of([Scope::Approve]), None).await;
        while !house.core.somebody_may_approve() {
            tokio::task::yield_now().await;
        }
        approver.task.abort();
        while house.core.somebody_may_approve() {
            tokio::task::yield_now().await;
        }
        drop(caller);
        house.close().await;
    });
}

bailiwick_testkit::tests! {
    every_change_of_a_tool_is_told,
    a_tool_that_was_edited_in_the_store_is_told_to_be_gone,
    whoever_only_calls_is_told_of_published_tools_alone,
    records_are_told_in_order_and_as_they_are_kept,
    watching_ends_with_the_key_it_was_begun_by,
    whoever_watches_and_may_approve_counts_as_somebody,
}
