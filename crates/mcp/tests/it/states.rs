//! What a client of the newer era carries between a question and its answer: it counts for one call of one caller, once.

use serde_json::{Value, json};

use crate::client::{Client, Way, failed, text};
use crate::questions::{Put, asked, asked_of, yes};
use crate::stage::{Stage, block_on, keyless};
use crate::tools::{ADD, WRITES};

bailiwick_testkit::tests!(
    a_state_that_was_changed_counts_for_nothing,
    a_state_of_another_server_counts_for_nothing,
    a_state_counts_once,
    of_two_at_once_exactly_one_counts,
    a_state_is_its_callers_alone,
    a_state_is_for_its_tool_and_its_arguments,
    the_order_of_arguments_is_no_difference,
    without_an_answer_it_is_asked_again,
    with_more_answers_than_questions_the_others_are_left_alone,
    one_caller_has_only_so_many_calls_waiting,
    a_state_is_not_changed_by_what_the_client_calls_itself,
);

/// That a retry is refused by the protocol.
async fn refused(client: &mut Client, retry: Value) {
    let id = client.send("tools/call", retry.clone()).await;
    let (code, message) = client.error(id).await;
    assert_eq!(code, -32602, "{retry}: {message}");
    assert!(message.contains("Nothing ran"), "{message}");
}

/// With another state.
fn with_state(put: &Put, state: &str) -> Value {
    let mut retry = put.retry(&yes());
    retry["requestState"] = json!(state);
    retry
}

fn a_state_that_was_changed_counts_for_nothing() {
    block_on(async {
        let stage = Stage::with(&[WRITES]).await;
        for way in Way::NEW {
            let mut client = stage.client(way).await;
            let put = asked(&mut client, "writes", json!({"n": 7})).await;
            let carried = &put.state;
            assert!(carried.is_ascii(), "{carried}");
            for at in (0..carried.len()).step_by(3).chain([carried.len() - 1]) {
                let mut bytes = carried.clone().into_bytes();
                // Another character of those that it is written in.
                bytes[at] = if bytes[at] == b'A' { b'B' } else { b'A' };
                let changed = String::from_utf8(bytes).expect("a text");
                refused(&mut client, with_state(&put, &changed)).await;
            }
            for cut in [0, 1, carried.len() / 2, carried.len() - 1] {
                refused(&mut client, with_state(&put, &carried[..cut])).await;
            }
            for wrong in [
                format!("{carried}A"),
                format!(" {carried}"),
                format!("{carried}{carried}"),
                "x".repeat(100_000),
            ] {
                refused(&mut client, with_state(&put, &wrong)).await;
            }
            stage.ran(0).await;
        }
        // The true one still counts.
        let mut client = stage.client(Way::Alone).await;
        let put = asked(&mut client, "writes", json!({"n": 7})).await;
        assert_eq!(text(&put.result(&mut client, yes()).await), "7");
        stage.ran(1).await;
    });
}

fn a_state_of_another_server_counts_for_nothing() {
    block_on(async {
        let mut stage = Stage::with(&[WRITES]).await;
        let mut client = stage.client(Way::Alone).await;
        let put = asked(&mut client, "writes", json!({"n": 7})).await;
        stage.next_server();
        let mut client = stage.client(Way::Alone).await;
        refused(&mut client, put.retry(&yes())).await;
        stage.ran(0).await;
    });
}

fn a_state_counts_once() {
    block_on(async {
        let stage = Stage::with(&[WRITES]).await;
        for (at, way) in Way::NEW.into_iter().enumerate() {
            let mut client = stage.client(way).await;
            let put = asked(&mut client, "writes", json!({"n": 7})).await;
            assert_eq!(text(&put.result(&mut client, yes()).await), "7");
            for _ in 0..3 {
                refused(&mut client, put.retry(&yes())).await;
            }
            // After a no it does not count any more, either.
            let put = asked(&mut client, "writes", json!({"n": 7})).await;
            put.result(&mut client, json!({"action": "decline"})).await;
            refused(&mut client, put.retry(&yes())).await;
            stage.ran(at + 1).await;
        }
    });
}

fn of_two_at_once_exactly_one_counts() {
    block_on(async {
        let stage = Stage::with(&[WRITES]).await;
        let mut runs = 0;
        for way in Way::NEW {
            for _ in 0..5 {
                let mut client = stage.client(way).await;
                let put = asked(&mut client, "writes", json!({"n": 7})).await;
                let mut ids = Vec::new();
                for _ in 0..4 {
                    ids.push(client.send("tools/call", put.retry(&yes())).await);
                }
                let mut ran = 0;
                for _ in &ids {
                    let answer = client.until(|message| ids.iter().any(|id| message["id"] == *id)).await;
                    if answer["error"].is_null() {
                        assert_eq!(text(&answer["result"]), "7", "{answer:#}");
                        ran += 1;
                    } else {
                        assert_eq!(answer["error"]["code"], -32602, "{answer:#}");
                    }
                }
                assert_eq!(ran, 1, "{way:?}");
                runs += 1;
                stage.ran(runs).await;
            }
        }
    });
}

fn a_state_is_its_callers_alone() {
    block_on(async {
        let stage = Stage::with(&[WRITES]).await;
        let mut agent = stage.client(Way::Alone).await;
        let put = asked(&mut agent, "writes", json!({"n": 7})).await;
        for who in [stage.other(), keyless(), stage.anna()] {
            for way in Way::NEW {
                let mut client = Client::open(&stage, way, who.clone(), &Client::shows_forms()).await;
                refused(&mut client, put.retry(&yes())).await;
            }
        }
        // And the other way round.
        let mut other = Client::open(&stage, Way::Alone, stage.other(), &Client::shows_forms()).await;
        let theirs = asked(&mut other, "writes", json!({"n": 7})).await;
        refused(&mut agent, theirs.retry(&yes())).await;
        stage.ran(0).await;
        assert_eq!(text(&put.result(&mut agent, yes()).await), "7");
        assert_eq!(text(&theirs.result(&mut other, yes()).await), "7");
        stage.ran(2).await;
    });
}

fn a_state_is_for_its_tool_and_its_arguments() {
    block_on(async {
        let other = WRITES.replace("name: writes", "name: scribbles");
        let stage = Stage::with(&[WRITES, &other, ADD]).await;
        for way in Way::NEW {
            let mut client = stage.client(way).await;
            let put = asked(&mut client, "writes", json!({"n": 7})).await;
            let changed = |key: &str, value: Value| {
                let mut retry = put.retry(&yes());
                retry[key] = value;
                retry
            };
            for name in ["scribbles", "add", "nothing", "Writes"] {
                refused(&mut client, changed("name", json!(name))).await;
            }
            for arguments in
                [json!({"n": 8}), json!({}), json!({"n": "7"}), json!({"n": 7, "m": 5}), json!({"n": [7]})]
            {
                refused(&mut client, changed("arguments", arguments)).await;
            }
            let mut without = put.retry(&yes());
            without.as_object_mut().expect("an object").remove("arguments");
            refused(&mut client, without).await;
        }
        stage.ran(0).await;
    });
}

fn the_order_of_arguments_is_no_difference() {
    block_on(async {
        let stage = Stage::with(&[WRITES]).await;
        let mut client = stage.client(Way::NewPipe).await;
        let put = asked(&mut client, "writes", json!({"n": 7, "m": 1})).await;
        let mut retry = put.retry(&yes());
        retry["arguments"] = json!({"m": 1, "n": 7});
        assert_ne!(retry["arguments"].to_string(), json!({"n": 7, "m": 1}).to_string());
        let id = client.send("tools/call", retry).await;
        assert_eq!(text(&client.result(id).await), "7");
        stage.ran(1).await;
    });
}

fn without_an_answer_it_is_asked_again() {
    block_on(async {
        let stage = Stage::with(&[WRITES]).await;
        for (at, way) in Way::NEW.into_iter().enumerate() {
            let mut client = stage.client(way).await;
            let arguments = json!({"n": 7});
            let mut put = asked(&mut client, "writes", arguments.clone()).await;
            for responses in [None, Some(json!({})), Some(json!({"Approval": yes(), "approve": true}))] {
                let mut retry = put.retry(&yes());
                match responses {
                    Some(responses) => retry["inputResponses"] = responses,
                    None => drop(retry.as_object_mut().expect("an object").remove("inputResponses")),
                }
                let id = client.send("tools/call", retry).await;
                let again = asked_of(&mut client, id, "writes", arguments.clone()).await;
                // The text before is used up.
                refused(&mut client, put.retry(&yes())).await;
                put = again;
                stage.ran(at).await;
            }
            assert_eq!(text(&put.result(&mut client, yes()).await), "7", "{way:?}");
            stage.ran(at + 1).await;
        }
    });
}

fn with_more_answers_than_questions_the_others_are_left_alone() {
    block_on(async {
        let stage = Stage::with(&[WRITES]).await;
        let mut client = stage.client(Way::Alone).await;
        let put = asked(&mut client, "writes", json!({"n": 7})).await;
        let mut retry = put.retry(&json!({"action": "decline"}));
        retry["inputResponses"]["other"] = yes();
        let id = client.send("tools/call", retry).await;
        assert_eq!(failed(&client.result(id).await), "APPROVAL_DECLINED");
        stage.ran(0).await;
        // Answers without a state are answers to nothing.
        let id = client.send(
            "tools/call",
            json!({"name": "writes", "arguments": {"n": 7}, "inputResponses": {"approval": yes()}}),
        );
        let id = id.await;
        let again = asked_of(&mut client, id, "writes", json!({"n": 7})).await;
        stage.ran(0).await;
        assert_eq!(text(&again.result(&mut client, yes()).await), "7");
    });
}

fn one_caller_has_only_so_many_calls_waiting() {
    block_on(async {
        let stage = Stage::with(&[WRITES]).await;
        // Whatever a client calls itself, its calls count together.
        let mut puts = Vec::new();
        for n in 0..32 {
            let mut client =
                Client::named(&stage, Way::Alone, stage.agent(), &Client::shows_forms(), &format!("c{n}"))
                    .await;
            puts.push(asked(&mut client, "writes", json!({"n": 7})).await);
        }
        let mut client =
            Client::named(&stage, Way::Alone, stage.agent(), &Client::shows_forms(), "one-more").await;
        let busy = client.called("writes", json!({"n": 7})).await;
        assert_eq!(failed(&busy), "BUSY");
        // Others have their own.
        let mut other = Client::open(&stage, Way::Alone, stage.other(), &Client::shows_forms()).await;
        asked(&mut other, "writes", json!({"n": 7})).await;
        // And with an answer there is room again.
        let mut first = Client::named(&stage, Way::Alone, stage.agent(), &Client::shows_forms(), "c0").await;
        puts[0].result(&mut first, json!({"action": "decline"})).await;
        asked(&mut client, "writes", json!({"n": 7})).await;
        stage.ran(0).await;
    });
}

fn a_state_is_not_changed_by_what_the_client_calls_itself() {
    block_on(async {
        let stage = Stage::with(&[WRITES]).await;
        let mut client = stage.client(Way::Alone).await;
        let put = asked(&mut client, "writes", json!({"n": 7})).await;
        "a-newer-version".clone_into(&mut client.name);
        assert_eq!(text(&put.result(&mut client, yes()).await), "7");
        stage.ran(1).await;
    });
}
