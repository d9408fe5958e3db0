//! What goes between an owner and its clients while actions are performed.

use std::pin::Pin;
use std::sync::Arc;

use bailiwick_types::ErrorCode;
use serde_json::{Value, json};

use super::{Book, Stage, actor, alone, call, call_with, list, nobody, refused, remove, tail};
use crate::owner::message::{Nature, visible};
use crate::{Answer, Approver, Caller, Event, Listener, Question, Reply};

/// Hears into a book.
struct Hears(Book);

impl Listener for Hears {
    fn hear(&self, event: Event) {
        match event {
            Event::Log(line) => self.0.write(format!("line {}", line.at)),
            other => self.0.write(format!("{other:?}")),
        }
    }
}

/// Answers as told, or never.
struct Answers(Book, Option<Answer>);

impl Approver for Answers {
    fn ask(&self, question: Question) -> Pin<Box<dyn Future<Output = Answer> + Send + '_>> {
        Box::pin(async move {
            self.0.write(format!("asked for {}", question.actor.client));
            let _alarm = super::Alarm(self.0.clone(), self.1.is_none());
            match self.1.clone() {
                Some(answer) => answer,
                None => std::future::pending().await,
            }
        })
    }
}

#[tokio::test]
async fn an_owner_and_its_clients_get_the_same_replies() {
    let stage = Stage::new();
    let owner = stage.desk().await;
    let client = stage.desk().await;
    assert!(owner.is_owner() && !client.is_owner());
    for action in
        [list(), call("echo"), call("nothing"), call_with("echo", json!({"deep": [[{"a": 1.5e-7}]]}))]
    {
        let here = owner.perform(alone(), action.clone()).await;
        assert_eq!(client.perform(alone(), action).await, here);
    }
    client.close().await.unwrap();
    owner.close().await.unwrap();
}

#[tokio::test]
async fn a_client_is_on_the_record_by_what_it_says_and_by_the_word_of_the_kernel() {
    let stage = Stage::new();
    let owner = stage.desk().await;
    let client = stage.desk().await;
    let us = bailiwick_sys::privileges::identity().0;
    for (says, recorded) in [
        ("cli", "cli".to_owned()),
        ("mcp uid=0", "mcp?uid=0".to_owned()),
        ("", "unnamed".to_owned()),
        ("\u{1b}[31mred\n", "?[31mred?".to_owned()),
        (&"ü".repeat(100), "?".repeat(64)),
    ] {
        let caller = Caller::alone(crate::Actor { key: Some("admin".to_owned()), client: says.to_owned() });
        let reply = client.perform(caller, tail()).await.unwrap();
        assert_eq!(reply, Reply::Records(vec![json!(format!("{recorded} uid={us}"))]));
        assert_eq!(visible(says), recorded);
    }
    let own = owner.perform(Caller::alone(actor("serve me")), tail()).await.unwrap();
    assert_eq!(own, Reply::Records(vec![json!("serve me")]), "the owner's own is as given");
}

#[tokio::test]
async fn events_come_in_order_and_before_the_end() {
    let stage = Stage::new();
    let _owner = stage.desk().await;
    let (client, book) = (stage.desk().await, Book::new());
    let caller = Caller { listener: Arc::new(Hears(book.clone())), ..alone() };
    client.perform(caller, call_with("talk", json!({"lines": 500, "length": 10}))).await.unwrap();
    assert_eq!(book.entries(), (0..500).map(|at| format!("line {at}")).collect::<Vec<_>>());
}

#[tokio::test]
async fn a_question_is_answered_by_the_person_at_the_client() {
    let stage = Stage::new();
    let _owner = stage.desk().await;
    let client = stage.desk().await;
    let us = bailiwick_sys::privileges::identity().0;
    for (answer, comes) in [
        (Answer::Yes { by: "terminal".to_owned() }, "Yes { by: \"terminal\" }"),
        (Answer::No { by: "a b".to_owned() }, "No { by: \"a?b\" }"),
        (nobody(), "Nobody"),
    ] {
        let book = Book::new();
        let approver = Arc::new(Answers(book.clone(), Some(answer)));
        let caller = Caller { approver, ..Caller::alone(actor("me")) };
        let reply = client.perform(caller, call("ask")).await.unwrap();
        assert_eq!(reply, Reply::Records(vec![Value::from(comes)]));
        assert_eq!(book.entries(), [format!("asked for me uid={us}")]);
    }
}

#[tokio::test]
async fn a_question_that_is_withdrawn_is_asked_no_longer() {
    let stage = Stage::new();
    let _owner = stage.desk().await;
    let (client, book) = (stage.desk().await, Book::new());
    let approver = Arc::new(Answers(book.clone(), None));
    let caller = Caller { approver, ..alone() };
    let performing = client.perform(caller, call("ask briefly"));
    let withdrawn = async {
        book.happens("dropped").await;
        stage.go_on();
    };
    let (reply, ()) = tokio::join!(performing, withdrawn);
    assert_eq!(reply, Ok(Reply::Done));
}

#[tokio::test]
async fn a_panic_is_the_end_of_its_action_alone() {
    let stage = Stage::new();
    let owner = stage.desk().await;
    let client = stage.desk().await;
    for desk in [&owner, &client] {
        let waits = desk.perform(alone(), call("wait"));
        let panics = async {
            stage.book.happens("begin tool.call").await;
            refused(
                desk.perform(alone(), call("panic")).await,
                ErrorCode::Internal,
                "a fault of this program",
            );
            stage.go_on();
        };
        assert_eq!(tokio::join!(waits, panics).0, Ok(Reply::Done));
        desk.perform(alone(), list()).await.unwrap();
    }
}

#[tokio::test]
async fn a_reply_that_is_too_long_or_too_deep_is_told_as_such() {
    let stage = Stage::new();
    let _owner = stage.desk().await;
    let client = stage.desk().await;
    let says = "done, but its reply cannot be handed over: it is longer";
    refused(client.perform(alone(), call("huge")).await, ErrorCode::OutputLimit, says);
    let mut deep = json!([]);
    for _ in 0..200 {
        deep = json!([deep]);
    }
    let deep = call_with("echo", json!({ "deep": deep }));
    let says = "cannot be handed to the owner of the data folder: it nests deeper than 127";
    refused(client.perform(alone(), deep).await, ErrorCode::InvalidInput, says);
    let long = call_with("echo", json!({"long": "x".repeat(crate::owner::frame::MOST_BYTES)}));
    refused(client.perform(alone(), long).await, ErrorCode::InvalidInput, "it is longer than");
    client.perform(alone(), list()).await.unwrap();
}

#[test]
fn what_is_dropped_or_repeated_follows_from_the_action() {
    for (action, nature) in [
        (list(), Nature::Reads),
        (tail(), Nature::Reads),
        (call("t"), Nature::Runs),
        (remove(), Nature::Writes),
    ] {
        assert_eq!(Nature::of(&action), nature, "{}", action.name());
    }
}
