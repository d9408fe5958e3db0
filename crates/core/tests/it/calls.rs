//! Calls of published tools, and what the record says of them.

use std::collections::BTreeSet;
use std::sync::Arc;

use bailiwick_core::{Action, Event, Reasons};
use bailiwick_redact::Secret;
use bailiwick_secrets::{Fallback, SecretName, Secrets};
use bailiwick_types::{CorrelationId, ErrorCode};
use serde_json::{Value, json};

use crate::stage::{ADD, Place, block_on, cli, hearing, refused, yaml};

bailiwick_testkit::tests!(
    a_call_leaves_its_intent_and_its_outcome_on_the_record,
    arguments_that_do_not_fit_take_no_cell,
    defaults_are_filled_in,
    a_result_that_breaks_the_output_schema_is_an_error,
    only_published_tools_are_called,
    a_wrong_name_is_told_with_the_right_one,
    a_secret_stands_in_no_record,
    a_call_that_its_caller_drops_is_recorded_as_cancelled,
    console_lines_are_heard_while_the_call_runs,
    many_calls_at_once_each_have_their_own_records,
    a_failure_of_the_code_is_a_report_and_not_a_refusal,
    a_tool_has_a_workspace_of_its_own_and_calls_may_share_one,
    a_tool_that_emits_reads_its_one_parameter,
);

fn a_call_leaves_its_intent_and_its_outcome_on_the_record() {
    block_on(async {
        let place = Place::new();
        let house = place.open().await;
        house.offer(&yaml("add", ADD)).await;
        let hash = house.show("add").await.hash;
        let action = Action::ToolCall {
            tool: "add".to_owned(),
            arguments: json!({"a": 2, "b": 3}).as_object().cloned().expect("a map"),
            correlation: Some(CorrelationId::parse("order-66").expect("an id")),
            workspace: None,
        };
        let reply = house.act(action).await.expect("a reply");
        let bailiwick_core::Reply::Called(report) = reply else { panic!("{reply:?}") };
        assert_eq!(report.value(), &json!(5));
        let bailiwick_core::Reply::Records(records) =
            house.act(Action::AuditShow { about: "order-66".to_owned() }).await.expect("records")
        else {
            panic!("no records")
        };
        let [intent, outcome] = &records[..] else { panic!("{records:#?}") };
        // The intent holds the arguments, and nothing else does.
        assert_eq!((&intent["arguments"], &outcome["arguments"]), (&json!({"a": 2, "b": 3}), &json!(null)));
        for (record, kind) in [(intent, "intent"), (outcome, "outcome")] {
            assert_eq!(record["kind"], kind);
            assert_eq!(record["action"], "tool.call");
            assert_eq!(record["callId"], json!(report.call_id()));
            assert_eq!(record["tool"]["name"], "add");
            assert_eq!(record["tool"]["hash"], hash);
            assert_eq!(record["risk"]["level"], "L0");
            assert_eq!(record["backend"]["tier"], "PROCESS");
            assert_eq!(record["actor"]["client"], "test");
            assert_eq!(record["policyHash"].as_str().map(str::len), Some(64));
            for key in ["seq", "time", "prev", "hash", "usage", "approval", "outcome", "correlationId"] {
                assert!(record.get(key).is_some(), "{key} is not in {record}");
            }
        }
        assert_eq!(outcome["outcome"]["ok"], true);
        assert_eq!(intent["outcome"], Value::Null);
        assert_eq!(outcome["prev"], intent["hash"]);
        assert!(house.verify().await.ok);
    });
}

fn arguments_that_do_not_fit_take_no_cell() {
    block_on(async {
        let place = Place::new();
        let house = place.open().await;
        house.offer(&yaml("add", ADD)).await;
        for (arguments, wanted) in [
            (json!({"a": 1}), "b"),
            (json!({"a": 1, "b": "two"}), "b"),
            (json!({"a": 1, "b": 2, "c": 3}), "c"),
        ] {
            let (code, message) = refused(house.call("add", arguments).await);
            assert_eq!(code, ErrorCode::InvalidInput);
            assert!(message.contains(wanted), "{message}");
            let last = house.tail(1).await.remove(0);
            assert_eq!(
                (&last["kind"], &last["outcome"]["code"]),
                (&json!("outcome"), &json!("INVALID_INPUT"))
            );
        }
        let intents = house.tail(100).await.iter().filter(|record| record["kind"] == "intent").count();
        assert_eq!(intents, 0);
    });
}

fn defaults_are_filled_in() {
    block_on(async {
        let place = Place::new();
        let house = place.open().await;
        let tool = "
name: greet
description: Greets somebody.
params:
  - {name: who, type: STRING, default: world, description: Whom}
code: return `hello ${who}`
";
        house.offer(&yaml("greet", tool)).await;
        assert_eq!(house.call("greet", json!({})).await.expect("a report").value(), &json!("hello world"));
        assert_eq!(
            house.call("greet", json!({"who": "you"})).await.expect("a report").value(),
            &json!("hello you")
        );
    });
}

fn a_result_that_breaks_the_output_schema_is_an_error() {
    block_on(async {
        let place = Place::new();
        let house = place.open().await;
        let tool = "
name: half
description: Gives half of a number.
params:
  - {name: n, type: INTEGER, required: true, description: The number, testValue: 4}
output: {type: integer}
code: return n / 2
";
        house.offer(&yaml("half", tool)).await;
        let report = house.call("half", json!({"n": 3})).await.expect("a report");
        let failure = report.failure().expect("a failure");
        assert_eq!(failure.code, ErrorCode::OutputSchema);
        assert_eq!(report.value(), &Value::Null);
        let last = house.tail(1).await.remove(0);
        assert_eq!(last["outcome"]["code"], "OUTPUT_SCHEMA");
    });
}

fn only_published_tools_are_called() {
    block_on(async {
        let place = Place::new();
        let house = place.open().await;
        house.import(&[yaml("add", ADD)]).await.expect("imported");
        let (code, message) = refused(house.call("add", json!({"a": 1, "b": 2})).await);
        assert_eq!(code, ErrorCode::Conflict);
        assert!(message.contains("DRAFT"), "{message}");
        house.test("add").await;
        assert_eq!(refused(house.call("add", json!({"a": 1, "b": 2})).await).0, ErrorCode::Conflict);
        house.publish("add", Reasons::default()).await.expect("published");
        assert!(house.call("add", json!({"a": 1, "b": 2})).await.expect("a report").is_ok());
        house.act(Action::ToolUnpublish { tool: "add".to_owned() }).await.expect("unpublished");
        assert_eq!(refused(house.call("add", json!({"a": 1, "b": 2})).await).0, ErrorCode::Conflict);
    });
}

fn a_wrong_name_is_told_with_the_right_one() {
    block_on(async {
        let place = Place::new();
        let house = place.open().await;
        house.offer(&yaml("add", ADD)).await;
        let refusal = house.call("adf", json!({})).await.expect_err("no such tool");
        assert_eq!(refusal.code, ErrorCode::NotFound);
        assert!(refusal.hint.as_deref().is_some_and(|hint| hint.contains("`add`")), "{refusal:?}");
    });
}

fn a_secret_stands_in_no_record() {
    block_on(async {
        let place = Place::new();
        let house = place.open().await;
        let secrets = Secrets::open(&place.data(), Fallback::none()).expect("secrets");
        let (name, value) = ("API_TOKEN", "tok-9f8e7d6c5b4a3210");
        #[expect(clippy::disallowed_methods, reason = "the time a secret is set at does not matter here")]
        let now = std::time::SystemTime::now();
        secrets
            .set(&SecretName::parse(name).expect("a name"), &Secret::new(value.to_owned()), now)
            .expect("set");
        let tool = "
name: leak
description: Gives back what it is given.
params:
  - {name: text, type: STRING, required: true, description: Any text, testValue: hello}
  - {name: kind, type: STRING, enum: [one, two], description: Which}
statics:
  - {name: token, value: \"${API_TOKEN}\"}
code: |
  console.log(`token ${token}`);
  if (text === 'throw') throw new Error(`it is ${token}`);
  return {token, text};
";
        house.offer(&yaml("leak", tool)).await;
        let (caller, hears) = hearing();
        let report = house.call_as(caller, "leak", json!({"text": value})).await.expect("a report");
        assert!(!json!(report).to_string().contains(value));
        let failed = house.call("leak", json!({"text": "throw"})).await.expect("a report");
        assert!(!json!(failed).to_string().contains(value));
        let console = format!("{:?}", hears.0.lock().expect("not poisoned"));
        assert!(console.contains("token") && !console.contains(value), "{console}");
        // Also where the arguments do not fit, and the message tells why.
        for arguments in [json!({"text": [value]}), json!({"text": "x", "kind": value}), json!({value: 1})] {
            let refusal = house.call("leak", arguments).await.expect_err("it does not fit");
            assert_eq!(refusal.code, ErrorCode::InvalidInput);
        }
        let records = house.tail(100).await;
        assert!(records.iter().any(|record| record["tool"]["name"] == "leak"));
        assert!(!json!(records).to_string().contains(value), "{}", json!(records));
    });
}

fn a_call_that_its_caller_drops_is_recorded_as_cancelled() {
    block_on(async {
        let place = Place::new();
        let house = place.open().await;
        let tool = "
name: wait
description: Waits for a while.
params:
  - {name: ms, type: INTEGER, required: true, description: How long, testValue: 1}
overrides: {addAllow: [timers], removeDeny: [timers]}
code: |
  console.log('begun');
  await new Promise((done) => setTimeout(done, ms));
";
        house.offer(&yaml("wait", tool)).await;
        let (caller, hears) = hearing();
        let action = Action::ToolCall {
            tool: "wait".to_owned(),
            arguments: json!({"ms": 4000}).as_object().cloned().expect("a map"),
            correlation: None,
            workspace: None,
        };
        let core = house.core.clone();
        let call = tokio::spawn(async move { core.perform(caller, action).await });
        while !hears.0.lock().expect("not poisoned").iter().any(|event| matches!(event, Event::Log(_))) {
            tokio::task::yield_now().await;
        }
        call.abort();
        let last = loop {
            let last = house.tail(1).await.remove(0);
            if last["kind"] == "outcome" {
                break last;
            }
            tokio::task::yield_now().await;
        };
        assert_eq!(last["outcome"]["code"], "CANCELLED", "{last}");
        assert!(house.verify().await.ok);
    });
}

fn console_lines_are_heard_while_the_call_runs() {
    block_on(async {
        let place = Place::new();
        let house = place.open().await;
        let tool = "
name: talk
description: Says two things.
code: |
  console.log('one');
  console.warn('two');
  return 3;
";
        house.offer(&yaml("talk", tool)).await;
        let (caller, hears) = hearing();
        let report = house.call_as(caller, "talk", json!({})).await.expect("a report");
        let texts = |lines: Vec<&bailiwick_types::LogLine>| {
            lines.into_iter().map(|line| line.text.clone()).collect::<Vec<_>>()
        };
        assert_eq!(texts(report.logs().iter().collect()), ["one", "two"]);
        let events = hears.0.lock().expect("not poisoned");
        let lines = events.iter().filter_map(|event| match event {
            Event::Log(line) => Some(line),
            _ => None,
        });
        assert_eq!(texts(lines.collect()), ["one", "two"]);
    });
}

fn many_calls_at_once_each_have_their_own_records() {
    block_on(async {
        let place = Place::new();
        let house = Arc::new(place.open().await);
        house.offer(&yaml("add", ADD)).await;
        let mut calls = tokio::task::JoinSet::new();
        for n in 0..40 {
            let house = Arc::clone(&house);
            calls.spawn(async move {
                let report = house.call_as(cli(), "add", json!({"a": n, "b": 1})).await.expect("a report");
                assert_eq!(report.value(), &json!(n + 1));
            });
        }
        while let Some(ended) = calls.join_next().await {
            ended.expect("a call");
        }
        let records = house.tail(1000).await;
        let of_kind = |kind: &str| -> Vec<&Value> {
            let is = |record: &&Value| record["action"] == "tool.call" && record["kind"] == kind;
            records.iter().filter(is).collect()
        };
        let (intents, outcomes) = (of_kind("intent"), of_kind("outcome"));
        let mut sums: Vec<i64> =
            intents.iter().filter_map(|record| record["arguments"]["a"].as_i64()).collect();
        sums.sort_unstable();
        assert_eq!(sums, (0..40).collect::<Vec<_>>());
        let ids = |records: &[&Value]| -> BTreeSet<String> {
            records.iter().map(|record| record["callId"].to_string()).collect()
        };
        assert_eq!((ids(&intents), outcomes.len()), (ids(&outcomes), 40));
        assert!(house.verify().await.ok);
    });
}

fn a_failure_of_the_code_is_a_report_and_not_a_refusal() {
    block_on(async {
        let place = Place::new();
        let house = place.open().await;
        let tool = "
name: fail
description: Fails when it is told to.
params:
  - {name: how, type: STRING, default: none, description: How}
code: |
  if (how === 'throw') throw new Error('as you wish');
  if (how === 'loop') for (;;) {}
  return how;
limits: {steps: 100000}
";
        house.offer(&yaml("fail", tool)).await;
        for (how, code) in [("throw", ErrorCode::EvalError), ("loop", ErrorCode::StepLimit)] {
            let report = house.call("fail", json!({"how": how})).await.expect("a report");
            assert_eq!(report.failure().map(|failure| failure.code), Some(code));
            let last = house.tail(1).await.remove(0);
            assert_eq!(last["outcome"]["code"], json!(code));
        }
    });
}

fn a_tool_has_a_workspace_of_its_own_and_calls_may_share_one() {
    block_on(async {
        let place = Place::new();
        let house = place.open().await;
        let keeps = "
name: keeps
description: Keeps a text in a file.
params:
  - {name: text, type: STRING, required: true, description: The text, testValue: hello}
overrides: {fileWrite: true}
approval: {mode: DISABLED}
code: safety.fs.writeText('kept.txt', text)
";
        let finds = "
name: finds
description: Tells whether the file is there.
overrides: {fileRead: true}
code: return safety.fs.exists('kept.txt')
";
        let id = house.offer(&yaml("keeps", keeps)).await.id;
        house.offer(&yaml("finds", finds)).await;
        let call = |tool: &str, arguments: Value, workspace: Option<&str>| {
            let action = Action::ToolCall {
                tool: tool.to_owned(),
                arguments: arguments.as_object().cloned().expect("a map"),
                correlation: None,
                workspace: workspace.map(str::to_owned),
            };
            let core = house.core.clone();
            async move {
                match core.perform(cli(), action).await? {
                    bailiwick_core::Reply::Called(report) => Ok(report.value().clone()),
                    other => panic!("{other:?}"),
                }
            }
        };
        for (workspace, found) in [(None, false), (Some("report-42"), true)] {
            call("keeps", json!({"text": "x"}), workspace).await.expect("written");
            let given = call("finds", json!({}), workspace).await;
            assert_eq!(given.expect("a value"), json!(found), "{workspace:?}");
        }
        // Nobody gets at the workspace of another tool by naming it.
        let (code, _) = refused(call("finds", json!({}), Some(&id.to_string())).await);
        assert_eq!(code, ErrorCode::InvalidInput);
        let (code, _) = refused(call("finds", json!({}), Some("../keeps")).await);
        assert_eq!(code, ErrorCode::InvalidInput);
    });
}

fn a_tool_that_emits_reads_its_one_parameter() {
    block_on(async {
        let place = Place::new();
        let house = place.open().await;
        let tool = "
name: loud
description: Gives a text in capitals.
entry: emit
params:
  - {name: input, type: STRING, required: true, description: The text, testValue: hello}
tests:
  - {name: umlauts, input: {input: ü}, equals: Ü}
code: emit(read_input().toUpperCase())
";
        house.offer(&yaml("loud", tool)).await;
        let report = house.call("loud", json!({"input": "abc"})).await.expect("a report");
        assert_eq!(report.value(), &json!("ABC"));
    });
}
