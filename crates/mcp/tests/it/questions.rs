//! Who is asked, who answers first, and what else may happen between a question and its answer.

use bailiwick_mcp::Native;
use bailiwick_types::{ErrorCode, RiskLevel};
use serde_json::{Value, json};

use crate::client::{Client, Way, failed, text};
use crate::sessions::by_token;
use crate::stage::{Setup, Stage, block_on, keyless};
use crate::tools::{ADD, NOTES, WRITES};

bailiwick_testkit::tests!(
    a_person_is_shown_what_would_run_for_whom,
    nobody_paints_in_a_dialogue,
    an_agent_without_the_right_never_answers_its_own_question,
    a_state_of_a_caller_with_the_right_counts_for_nobody_else,
    above_the_operators_level_the_client_is_not_asked,
    a_client_that_shows_no_forms_is_not_asked,
    what_no_dialogue_shows_whole_is_not_asked_there,
    a_yes_in_the_queue_is_first_and_the_client_changes_nothing,
    a_no_in_the_queue_is_first_and_the_client_changes_nothing,
    the_client_is_first_and_the_queue_is_too_late,
    a_question_that_is_settled_elsewhere_is_taken_back,
    a_tool_that_changes_before_the_yes_does_not_run,
    a_caller_whose_key_is_revoked_before_the_yes_runs_nothing,
    no_answer_in_time_is_a_no,
    a_client_that_goes_away_takes_its_question_with_it,
    a_question_in_the_middle_of_a_call_is_put_too,
    code_given_directly_asks_where_the_operator_wants_it,
    whoever_waits_hears_so_if_they_asked_to,
);

/// A question that a client was put.
pub(crate) struct Put {
    pub(crate) call: u64,
    tool: String,
    arguments: Value,
    /// The id of the request, in the older era.
    request: Value,
    /// What the client carries, in the newer one.
    pub(crate) state: String,
    /// The form.
    pub(crate) form: Value,
}

/// What a yes is.
pub(crate) fn yes() -> Value {
    json!({"action": "accept", "content": {"approve": true}})
}

/// Calls a tool, and waits until the client is asked.
pub(crate) async fn asked(client: &mut Client, tool: &str, arguments: Value) -> Put {
    let call = client.call(tool, arguments.clone()).await;
    asked_of(client, call, tool, arguments).await
}

/// Waits until the client is asked about a call.
pub(crate) async fn asked_of(client: &mut Client, call: u64, tool: &str, arguments: Value) -> Put {
    let tool = tool.to_owned();
    if client.way.is_new() {
        let result = client.result(call).await;
        assert_eq!(result["resultType"], "input_required", "{result:#}");
        let request = &result["inputRequests"]["approval"];
        assert_eq!(request["method"], "elicitation/create", "{result:#}");
        let state = result["requestState"].as_str().expect("a state").to_owned();
        return Put { call, tool, arguments, request: Value::Null, state, form: request["params"].clone() };
    }
    let request = client.method("elicitation/create").await;
    let (form, request) = (request["params"].clone(), request["id"].clone());
    Put { call, tool, arguments, request, state: String::new(), form }
}

impl Put {
    /// What a client of the newer era sends to answer.
    pub(crate) fn retry(&self, answer: &Value) -> Value {
        json!({"name": self.tool, "arguments": self.arguments, "requestState": self.state,
            "inputResponses": {"approval": answer}})
    }

    /// Answers, and gives the id of the request whose result tells what became of it.
    pub(crate) async fn answer(&self, client: &mut Client, answer: Value) -> u64 {
        if client.way.is_new() {
            return client.send("tools/call", self.retry(&answer)).await;
        }
        client.respond(&self.request, answer).await;
        self.call
    }

    /// Answers, and gives the result.
    pub(crate) async fn result(&self, client: &mut Client, answer: Value) -> Value {
        let id = self.answer(client, answer).await;
        client.result(id).await
    }
}

/// Whether a client was asked anything so far.
fn was_asked(client: &mut Client) -> bool {
    std::iter::from_fn(|| client.now()).any(|message| {
        message["method"] == "elicitation/create" || message["result"]["resultType"] == "input_required"
    })
}

fn a_person_is_shown_what_would_run_for_whom() {
    block_on(async {
        for way in Way::ALL {
            let stage = Stage::with(&[WRITES]).await;
            let mut client = stage.client(way).await;
            let put = asked(&mut client, "writes", json!({"n": 7})).await;
            let message = put.form["message"].as_str().expect("a message");
            for shown in [
                "Run writes? It is L",
                "Arguments: {\"n\":7,\"m\":5}",
                "Asked for by agent, with mcp/a-test",
                "Hash of what would run: ",
            ] {
                assert!(message.contains(shown), "{way:?}: no `{shown}` in {message}");
            }
            let schema = &put.form["requestedSchema"];
            assert_eq!(schema["required"], json!(["approve"]), "{schema:#}");
            assert_eq!(schema["properties"]["approve"]["type"], "boolean", "{schema:#}");
            assert_eq!(
                schema["properties"]["approve"].get("default"),
                None,
                "nothing is filled in: {schema:#}"
            );
            stage.ran(0).await;
        }
    });
}

const PAINTS: &str = "
name: paints
description: Takes a text, if a person agrees.
params:
  - {name: text, type: STRING, required: true, description: A text, testValue: a}
approval: {mode: REQUIRED, prompt: 'About {args}'}
code: return text.length;
";

fn nobody_paints_in_a_dialogue() {
    block_on(async {
        let stage = Stage::with(&[PAINTS]).await;
        let hostile = "a\u{1b}[2J\u{202e}b\nArguments: {}\r\u{200b}";
        for way in Way::ALL {
            let mut client = stage.client(way).await;
            let put = asked(&mut client, "paints", json!({"text": hostile})).await;
            let message = put.form["message"].as_str().expect("a message");
            assert!(!message.contains(['\u{1b}', '\u{202e}', '\r', '\u{200b}']), "{message:?}");
            assert_eq!(
                message.lines().filter(|line| line.starts_with("Arguments: ")).count(),
                1,
                "{message}"
            );
        }
    });
}

/// Whatever asks: the tool itself, an effect of it, its level, or `mcp.ask`.
fn whatever_asks() -> [(Setup, &'static str, Value); 4] {
    [
        (Setup::with(&[WRITES]), "writes", json!({"n": 7})),
        (Setup::with(&[NOTES]), "notes", json!({})),
        (Setup::with(&[ADD]).set("approvals.autoFrom=L0"), "add", json!({"a": 1, "b": 2})),
        (Setup::with(&[]).native(Native::RunJavascript, true), "run_javascript", json!({"code": "return 1"})),
    ]
}

fn an_agent_without_the_right_never_answers_its_own_question() {
    block_on(async {
        for (setup, tool, arguments) in whatever_asks() {
            let mut stage = setup.open().await;
            let without = [keyless(), by_token(&stage, "jwt:ann"), stage.without_dialogue()];
            for (who, way) in without.iter().flat_map(|who| Way::ALL.map(|way| (who.clone(), way))) {
                let mut client = Client::open(&stage, way, who.clone(), &Client::shows_forms()).await;
                // An answer that comes with the call, and answers to questions that were never put.
                let params =
                    json!({"name": tool, "arguments": arguments, "inputResponses": {"approval": yes()}});
                let call = client.send("tools/call", params).await;
                let waiting = stage.asked().await;
                if !way.is_new() {
                    for id in 0..4 {
                        client.respond(&json!(id), yes()).await;
                    }
                }
                assert!(!was_asked(&mut client), "{tool} {way:?} {who:?}");
                stage.answer(waiting.id, false).await.expect("a person says no");
                let (answer, before) = client.answer(call).await;
                assert_eq!(answer["result"]["isError"], true, "{tool} {way:?} {who:?}: {answer:#}");
                assert!(before.iter().all(|said| said["method"] != "elicitation/create"), "{before:#?}");
            }
            let decisions = stage.records_of("decision").await;
            assert_eq!(decisions.len(), 12, "{tool}");
            let by_anna = |decision: &Value| {
                decision["approval"]["by"] == "anna" && decision["approval"]["answer"] == "no"
            };
            assert!(decisions.iter().all(by_anna), "{tool}: {decisions:#?}");
        }
    });
}

fn a_state_of_a_caller_with_the_right_counts_for_nobody_else() {
    block_on(async {
        let stage = Stage::with(&[WRITES]).await;
        let mut agent = stage.client(Way::Alone).await;
        let put = asked(&mut agent, "writes", json!({"n": 7})).await;
        for who in [keyless(), by_token(&stage, "jwt:ann"), stage.without_dialogue()] {
            let mut client = Client::open(&stage, Way::Alone, who.clone(), &Client::shows_forms()).await;
            let id = client.send("tools/call", put.retry(&yes())).await;
            let (answer, _) = client.answer(id).await;
            assert_eq!(answer["error"]["code"], -32602, "{who:?}: {answer:#}");
        }
        stage.ran(0).await;
        assert_eq!(text(&put.result(&mut agent, yes()).await), "7");
        stage.ran(1).await;
    });
}

fn above_the_operators_level_the_client_is_not_asked() {
    block_on(async {
        let mut stage = Setup::with(&[WRITES]).elicitation(RiskLevel::L0).open().await;
        for (at, way) in Way::ALL.into_iter().enumerate() {
            let mut client = stage.client(way).await;
            let call = client.call("writes", json!({"n": 7})).await;
            let waiting = stage.asked().await;
            assert!(!was_asked(&mut client), "{way:?}");
            stage.answer(waiting.id, true).await.expect("answered");
            let (answer, before) = client.answer(call).await;
            assert_eq!(text(&answer["result"]), "7", "{way:?}: {answer:#}");
            assert!(before.iter().all(|message| message["method"] != "elicitation/create"), "{before:#?}");
            stage.ran(at + 1).await;
        }
    });
}

fn a_client_that_shows_no_forms_is_not_asked() {
    block_on(async {
        let mut stage = Stage::with(&[WRITES]).await;
        for way in Way::ALL {
            for capabilities in [json!({}), json!({"elicitation": {"url": {}}}), json!({"sampling": {}})] {
                let mut client = Client::open(&stage, way, stage.agent(), &capabilities).await;
                let call = client.call("writes", json!({"n": 7})).await;
                let waiting = stage.asked().await;
                assert!(!was_asked(&mut client), "{way:?}");
                stage.answer(waiting.id, false).await.expect("answered");
                assert_eq!(failed(&client.result(call).await), "APPROVAL_DECLINED", "{way:?} {capabilities}");
            }
        }
        // With nobody else there, nobody is waited for.
        stage.revoke("anna").await;
        for way in Way::ALL {
            let called = stage.plain(way).await.called("writes", json!({"n": 7})).await;
            assert_eq!(failed(&called), "APPROVAL_UNAVAILABLE", "{way:?}");
            assert!(text(&called).contains("do not try again"), "{called:#}");
        }
        stage.ran(0).await;
    });
}

fn what_no_dialogue_shows_whole_is_not_asked_there() {
    block_on(async {
        let mut stage = Stage::with(&[PAINTS]).await;
        for way in Way::ALL {
            let mut client = stage.client(way).await;
            let call = client.call("paints", json!({"text": "x".repeat(4000)})).await;
            let waiting = stage.asked().await;
            assert!(!was_asked(&mut client), "{way:?}");
            stage.answer(waiting.id, true).await.expect("answered");
            assert_eq!(text(&client.result(call).await), "4000", "{way:?}");
        }
    });
}

fn a_yes_in_the_queue_is_first_and_the_client_changes_nothing() {
    block_on(async {
        for way in Way::ALL {
            let mut stage = Stage::with(&[WRITES]).await;
            let mut client = stage.client(way).await;
            let put = asked(&mut client, "writes", json!({"n": 7})).await;
            let waiting = stage.asked().await;
            stage.answer(waiting.id, true).await.expect("answered");
            stage.record("outcome", 1).await;
            let no = json!({"action": "decline"});
            assert_eq!(text(&put.result(&mut client, no).await), "7", "{way:?}");
            stage.ran(1).await;
            let decisions = stage.records_of("decision").await;
            assert_eq!(decisions.len(), 1, "{decisions:#?}");
            assert_eq!(decisions[0]["approval"]["by"], "anna");
        }
    });
}

fn a_no_in_the_queue_is_first_and_the_client_changes_nothing() {
    block_on(async {
        for way in Way::ALL {
            let mut stage = Stage::with(&[WRITES]).await;
            let mut client = stage.client(way).await;
            let put = asked(&mut client, "writes", json!({"n": 7})).await;
            let waiting = stage.asked().await;
            stage.answer(waiting.id, false).await.expect("answered");
            stage.record("outcome", 1).await;
            assert_eq!(failed(&put.result(&mut client, yes()).await), "APPROVAL_DECLINED", "{way:?}");
            stage.ran(0).await;
        }
    });
}

fn the_client_is_first_and_the_queue_is_too_late() {
    block_on(async {
        for way in Way::ALL {
            let mut stage = Stage::with(&[WRITES]).await;
            let mut client = stage.client(way).await;
            let put = asked(&mut client, "writes", json!({"n": 7})).await;
            let waiting = stage.asked().await;
            assert_eq!(text(&put.result(&mut client, yes()).await), "7", "{way:?}");
            assert_eq!(stage.settled().await.by.as_deref(), Some("dialogue:mcp/a-test"));
            for answer in [true, false] {
                let late = stage.answer(waiting.id, answer).await.expect_err("too late");
                assert_eq!(late.code, ErrorCode::Conflict);
            }
            stage.ran(1).await;
            let decision = stage.records_of("decision").await.pop().expect("a decision");
            assert_eq!(decision["approval"]["by"], "dialogue:mcp/a-test");
        }
    });
}

fn a_question_that_is_settled_elsewhere_is_taken_back() {
    block_on(async {
        for way in Way::OLD {
            let mut stage = Stage::with(&[WRITES]).await;
            let mut client = stage.client(way).await;
            let put = asked(&mut client, "writes", json!({"n": 7})).await;
            let waiting = stage.asked().await;
            stage.answer(waiting.id, true).await.expect("answered");
            let cancelled = client.method("notifications/cancelled").await;
            assert_eq!(cancelled["params"]["requestId"], put.request, "{way:?}");
        }
    });
}

fn a_tool_that_changes_before_the_yes_does_not_run() {
    block_on(async {
        for way in Way::ALL {
            let stage = Stage::with(&[WRITES]).await;
            let mut client = stage.client(way).await;
            let put = asked(&mut client, "writes", json!({"n": 7})).await;
            stage.offer(&WRITES.replace("return n;", "return n + 1;")).await;
            let refused = put.result(&mut client, yes()).await;
            assert_eq!(failed(&refused), "CONFLICT", "{way:?}: {refused:#}");
            stage.ran(0).await;
        }
    });
}

fn a_caller_whose_key_is_revoked_before_the_yes_runs_nothing() {
    block_on(async {
        for way in Way::ALL {
            let stage = Stage::with(&[WRITES]).await;
            let mut client = stage.client(way).await;
            let put = asked(&mut client, "writes", json!({"n": 7})).await;
            stage.revoke("agent").await;
            let refused = put.result(&mut client, yes()).await;
            assert!(
                ["UNAUTHORIZED", "FORBIDDEN"].contains(&failed(&refused).as_str()),
                "{way:?}: {refused:#}"
            );
            stage.ran(0).await;
        }
    });
}

fn no_answer_in_time_is_a_no() {
    block_on(async {
        for way in Way::ALL {
            let stage = Setup::with(&[WRITES]).set("approvals.deadline=100ms").open().await;
            let mut client = stage.client(way).await;
            let put = asked(&mut client, "writes", json!({"n": 7})).await;
            stage.record("outcome", 1).await;
            let late = if way.is_new() {
                put.result(&mut client, yes()).await
            } else {
                client.result(put.call).await
            };
            assert_eq!(failed(&late), "APPROVAL_TIMEOUT", "{way:?}");
            if !way.is_new() {
                // A yes that comes later finds nobody who waits for it.
                put.answer(&mut client, yes()).await;
                client.names().await;
            }
            stage.ran(0).await;
        }
    });
}

fn a_client_that_goes_away_takes_its_question_with_it() {
    block_on(async {
        for way in Way::OLD {
            let mut stage = Stage::with(&[WRITES]).await;
            let mut client = stage.client(way).await;
            asked(&mut client, "writes", json!({"n": 7})).await;
            let waiting = stage.asked().await;
            match way {
                Way::Session => {
                    let request = axum::extract::Request::delete("/mcp")
                        .header("host", "127.0.0.1")
                        .header("mcp-session-id", client.session());
                    let request = request.body(axum::body::Body::empty()).expect("a request");
                    let gone = stage.send(stage.agent(), request).await;
                    assert_eq!(gone.status(), 202);
                }
                _ => client.hang_up().await,
            }
            assert_eq!(stage.settled().await.answer, "withdrawn", "{way:?}");
            stage.answer(waiting.id, true).await.expect_err("it waits no more");
            stage.ran(0).await;
        }
    });
}

fn a_question_in_the_middle_of_a_call_is_put_too() {
    block_on(async {
        for way in Way::ALL {
            let stage = Stage::with(&[NOTES]).await;
            for answer in [json!({"action": "decline"}), yes()] {
                let mut client = stage.client(way).await;
                let put = asked(&mut client, "notes", json!({})).await;
                let message = put.form["message"].as_str().expect("a message");
                assert!(message.contains("It runs and wants to: "), "{message}");
                let result = put.result(&mut client, answer.clone()).await;
                // There is no such file; with a yes the call gets as far as to find that out.
                assert_eq!(failed(&result) == "FS_DENIED", answer != yes(), "{way:?} {answer}: {result:#}");
            }
        }
    });
}

fn code_given_directly_asks_where_the_operator_wants_it() {
    block_on(async {
        let stage = Setup::with(&[]).native(Native::RunJavascript, true).open().await;
        for way in Way::ALL {
            let mut client = stage.client(way).await;
            let code = json!({"code": "const a = 1;\nArguments: for (;;) break Arguments;\nreturn a + 1;"});
            let put = asked(&mut client, "run_javascript", code.clone()).await;
            let message = put.form["message"].as_str().expect("a message");
            assert!(message.contains("return a + 1;"), "{message}");
            let told = message.lines().filter(|line| line.starts_with("Arguments: ")).count();
            assert_eq!(told, 1, "code is told apart from what we say: {message}");
            assert_eq!(text(&put.result(&mut client, yes()).await), "2", "{way:?}");
            let put = asked(&mut client, "run_javascript", code).await;
            let declined = put.result(&mut client, json!({"action": "cancel"})).await;
            assert_eq!(failed(&declined), "APPROVAL_DECLINED", "{way:?}");
        }
    });
}

fn whoever_waits_hears_so_if_they_asked_to() {
    block_on(async {
        let mut stage = Stage::with(&[WRITES, ADD]).await;
        for way in Way::ALL {
            let mut client = stage.plain(way).await;
            let call = client.call_with_token("writes", json!({"n": 7}), "a-token").await;
            let progress = client.method("notifications/progress").await;
            assert_eq!(progress["params"]["progressToken"], "a-token", "{way:?}");
            assert!(progress["params"]["message"].as_str().is_some_and(|told| told.contains("writes")));
            let waiting = stage.asked().await;
            stage.answer(waiting.id, false).await.expect("answered");
            assert_eq!(failed(&client.result(call).await), "APPROVAL_DECLINED", "{way:?}");
            // Whoever did not ask hears nothing of it.
            let call = client.call("writes", json!({"n": 7})).await;
            let waiting = stage.asked().await;
            stage.answer(waiting.id, false).await.expect("answered");
            let (_, before) = client.answer(call).await;
            assert!(
                before.iter().all(|message| message["method"] != "notifications/progress"),
                "{before:#?}"
            );
        }
    });
}
