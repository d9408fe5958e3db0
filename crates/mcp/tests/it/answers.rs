//! What counts as a yes of a client: one thing.

use serde_json::{Value, json};

use crate::client::{Way, failed, text};
use crate::questions::{asked, yes};
use crate::stage::{Stage, block_on};
use crate::tools::WRITES;

bailiwick_testkit::tests!(
    an_explicit_yes_runs_it_once,
    everything_else_is_a_no,
    an_error_instead_of_an_answer_is_a_no,
    an_answer_to_another_question_is_none,
);

/// A server whose only approver is the client.
async fn stage() -> Stage {
    let stage = Stage::with(&[WRITES]).await;
    stage.revoke("anna").await;
    stage
}

fn an_explicit_yes_runs_it_once() {
    block_on(async {
        for way in Way::ALL {
            let stage = stage().await;
            let mut client = stage.client(way).await;
            let put = asked(&mut client, "writes", json!({"n": 7})).await;
            stage.ran(0).await;
            let ran = put.result(&mut client, yes()).await;
            assert_eq!((text(&ran).as_str(), &ran["isError"]), ("7", &json!(false)), "{way:?}: {ran:#}");
            stage.ran(1).await;
            // More of the same.
            let more = json!({"action": "accept", "content": {"approve": true, "and": "more"}});
            let put = asked(&mut client, "writes", json!({"n": 8})).await;
            assert_eq!(text(&put.result(&mut client, more).await), "8", "{way:?}");
            stage.ran(2).await;
        }
    });
}

/// What is no yes.
fn others() -> Vec<Value> {
    let accept = |content: Value| json!({"action": "accept", "content": content});
    vec![
        json!({"action": "accept"}),
        accept(json!({})),
        accept(Value::Null),
        accept(json!([true])),
        accept(json!({"approve": false})),
        accept(json!({"approve": "true"})),
        accept(json!({"approve": 1})),
        accept(json!({"approve": null})),
        accept(json!({"approve": [true]})),
        accept(json!({"Approve": true})),
        accept(json!({"approve ": true})),
        json!({"action": "decline"}),
        json!({"action": "decline", "content": {"approve": true}}),
        json!({"action": "cancel", "content": {"approve": true}}),
        json!({"action": "ACCEPT", "content": {"approve": true}}),
        json!({"action": "yes", "content": {"approve": true}}),
        json!({"content": {"approve": true}}),
        json!({"approve": true}),
        json!({}),
    ]
}

fn everything_else_is_a_no() {
    block_on(async {
        for way in Way::ALL {
            let stage = stage().await;
            let mut client = stage.client(way).await;
            for answer in others() {
                let put = asked(&mut client, "writes", json!({"n": 7})).await;
                let result = put.result(&mut client, answer.clone()).await;
                let code = failed(&result);
                let is_no = ["APPROVAL_DECLINED", "APPROVAL_UNAVAILABLE"].contains(&code.as_str());
                assert!(is_no, "{way:?} {answer}: {result:#}");
                assert!(text(&result).contains("did not run"), "{way:?} {answer}: {result:#}");
            }
            if way.is_new() {
                for answer in [json!(true), json!("accept"), json!([yes()]), Value::Null] {
                    let put = asked(&mut client, "writes", json!({"n": 7})).await;
                    let result = put.result(&mut client, answer.clone()).await;
                    assert_eq!(failed(&result), "APPROVAL_DECLINED", "{way:?} {answer}");
                }
            }
            stage.ran(0).await;
        }
    });
}

fn an_error_instead_of_an_answer_is_a_no() {
    block_on(async {
        for way in Way::OLD {
            let stage = stage().await;
            let mut client = stage.client(way).await;
            let call = client.call("writes", json!({"n": 7})).await;
            let request = client.method("elicitation/create").await;
            client.fail(&request["id"]).await;
            assert_eq!(failed(&client.result(call).await), "APPROVAL_UNAVAILABLE", "{way:?}");
            stage.ran(0).await;
        }
    });
}

fn an_answer_to_another_question_is_none() {
    block_on(async {
        for way in Way::OLD {
            let stage = stage().await;
            let mut client = stage.client(way).await;
            let call = client.call("writes", json!({"n": 7})).await;
            let request = client.method("elicitation/create").await;
            let number = request["id"].as_i64().expect("a number");
            for wrong in [json!(number + 1), json!(format!("x{number}")), json!(-1)] {
                client.respond(&wrong, yes()).await;
            }
            // Whatever came of those is over once this is answered.
            client.names().await;
            stage.ran(0).await;
            client.respond(&request["id"], json!({"action": "decline"})).await;
            assert_eq!(failed(&client.result(call).await), "APPROVAL_DECLINED", "{way:?}");
            client.respond(&request["id"], yes()).await;
            client.names().await;
            stage.ran(0).await;
        }
    });
}
