//! Waiting for a person before a call: anything but an explicit yes is a no.

use std::pin::Pin;
use std::sync::{Arc, Mutex};

use bailiwick_core::{Action, Answer, Approver, Core, Question, Reasons};
use bailiwick_types::ErrorCode;
use serde_json::json;

use crate::stage::{ADD, Place, Says, block_on, cli, refused, with, yaml};

bailiwick_testkit::tests!(
    what_is_no_yes_is_a_no,
    a_yes_runs_the_call_once_and_is_on_the_record,
    the_operator_can_name_tools_that_always_wait,
    a_tool_that_changes_while_its_call_waits_does_not_run,
    the_question_shows_what_will_run,
    an_effect_that_asks_is_put_to_the_same_person,
    a_prompt_has_room_for_the_begin_of_long_arguments,
    a_call_that_ends_after_it_was_asked_about_is_on_the_record,
);

const ASKING: &str = "
name: careful
description: Gives back a number, if a person agrees.
params:
  - {name: n, type: INTEGER, required: true, description: A number, testValue: 1}
approval: {mode: REQUIRED, prompt: \"Run {tool} ({risk}) with {args}?\"}
code: return n
";

fn what_is_no_yes_is_a_no() {
    block_on(async {
        let place = Place::new().set("approvals.deadline=100ms");
        let house = place.open().await;
        house.offer(&yaml("careful", ASKING)).await;
        for (caller, code, answer) in [
            (cli(), ErrorCode::ApprovalUnavailable, "nobody"),
            (with(Says::no()), ErrorCode::ApprovalDeclined, "no"),
            (with(Says::nothing()), ErrorCode::ApprovalTimeout, "nothing"),
        ] {
            let report = house.call_as(caller, "careful", json!({"n": 1})).await.expect("a report");
            assert_eq!(report.failure().map(|failure| failure.code), Some(code));
            assert!(report.receipt().walls.is_empty(), "nothing ran, so no wall stood");
            let records = house.tail(2).await;
            assert_eq!(records[0]["kind"], "decision");
            assert_eq!(records[0]["approval"]["answer"], answer);
            assert_eq!(records[1]["kind"], "outcome");
            assert_eq!(records[1]["outcome"]["code"], json!(code));
        }
        let intents = house.tail(1000).await.iter().filter(|record| record["kind"] == "intent").count();
        assert_eq!(intents, 0, "nothing began");
    });
}

fn a_yes_runs_the_call_once_and_is_on_the_record() {
    block_on(async {
        let place = Place::new();
        let house = place.open().await;
        house.offer(&yaml("careful", ASKING)).await;
        let says = Says::yes();
        let report = house.call_as(with(says.clone()), "careful", json!({"n": 7})).await.expect("a report");
        assert_eq!(report.value(), &json!(7));
        assert_eq!(says.asked.lock().expect("not poisoned").len(), 1);
        let kinds: Vec<_> = house.tail(3).await.iter().map(|record| record["kind"].clone()).collect();
        assert_eq!(kinds, ["decision", "intent", "outcome"]);
        let outcome = house.tail(1).await.remove(0);
        assert_eq!(outcome["approval"]["answer"], "yes");
        assert_eq!(outcome["approval"]["by"], "test");
        assert_eq!(outcome["risk"]["credited"], json!("L0"));
    });
}

fn the_operator_can_name_tools_that_always_wait() {
    block_on(async {
        let place = Place::new().set("approvals.required=add");
        let house = place.open().await;
        house.offer(&yaml("add", ADD)).await;
        let report = house.call("add", json!({"a": 1, "b": 2})).await.expect("a report");
        assert_eq!(report.failure().map(|failure| failure.code), Some(ErrorCode::ApprovalUnavailable));
        let report =
            house.call_as(with(Says::yes()), "add", json!({"a": 1, "b": 2})).await.expect("a report");
        assert_eq!(report.value(), &json!(3));
    });
}

/// Changes the tool, then says yes to what it was.
struct ChangesIt {
    core: Core,
    document: bailiwick_core::Document,
}

impl Approver for ChangesIt {
    fn ask(&self, _question: Question) -> Pin<Box<dyn Future<Output = Answer> + Send + '_>> {
        Box::pin(async {
            let action = Action::ToolPublishDocument {
                document: self.document.clone(),
                reasons: Reasons::default(),
                approval_off: true,
            };
            self.core.perform(cli(), action).await.expect("published anew");
            Answer::Yes { by: "test".to_owned() }
        })
    }
}

fn a_tool_that_changes_while_its_call_waits_does_not_run() {
    block_on(async {
        let place = Place::new();
        let house = place.open().await;
        house.offer(&yaml("careful", ASKING)).await;
        for other in [
            ASKING.replace("return n", "return n + 1"),
            ASKING.replace("if a person agrees", "whatever anybody says"),
            ASKING.replace("approval:", "limits: {wall: 7s}\napproval:"),
        ] {
            let approver = ChangesIt { core: house.core.clone(), document: yaml("careful", &other) };
            let (code, message) =
                refused(house.call_as(with(Arc::new(approver)), "careful", json!({"n": 1})).await);
            assert_eq!(code, ErrorCode::Conflict, "{message}");
            house.offer(&yaml("careful", ASKING)).await;
        }
    });
}

fn the_question_shows_what_will_run() {
    block_on(async {
        let place = Place::new();
        let house = place.open().await;
        house.offer(&yaml("careful", ASKING)).await;
        let says = Says::yes();
        house.call_as(with(says.clone()), "careful", json!({"n": 7})).await.expect("a report");
        let asked = says.asked.lock().expect("not poisoned");
        let question = &asked[0];
        assert_eq!(question.tool, "careful");
        assert_eq!(question.prompt.as_deref(), Some("Run careful (L0) with {\"n\":7}?"));
        assert_eq!(question.arguments, json!({"n": 7}));
        assert_eq!(question.hash.as_deref().map(str::len), Some(64));
        assert_eq!(question.actor.client, "test");
    });
}

/// Says yes to calls, and remembers the effects it was asked about.
#[derive(Default)]
struct Watching(Mutex<Vec<String>>);

impl Approver for Watching {
    fn ask(&self, question: Question) -> Pin<Box<dyn Future<Output = Answer> + Send + '_>> {
        let effect = question.effect.map(|effect| effect.effect);
        self.0.lock().expect("not poisoned").extend(effect);
        Box::pin(std::future::ready(Answer::No { by: "test".to_owned() }))
    }
}

fn an_effect_that_asks_is_put_to_the_same_person() {
    block_on(async {
        let place = Place::new();
        let house = place.open().await;
        let tool = "
name: reads
description: Reads a file, if a person agrees.
overrides: {fileRead: true, ask: {fs: first}}
tests:
  - {name: reads, input: {}, files: {notes.txt: hello}, equals: hello}
code: return safety.fs.readText('notes.txt')
";
        house.offer(&yaml("reads", tool)).await;
        let watching = Arc::new(Watching::default());
        let report = house.call_as(with(watching.clone()), "reads", json!({})).await.expect("a report");
        assert_eq!(report.failure().map(|failure| failure.code), Some(ErrorCode::FsDenied));
        let asked = watching.0.lock().expect("not poisoned").clone();
        assert_eq!(asked.len(), 1, "{asked:?}");
        let decision = house.tail(2).await.remove(0);
        assert_eq!(decision["kind"], "decision");
        assert_eq!(decision["approval"]["asked"]["effect"]["capability"], "fs.read");
    });
}

fn a_call_that_ends_after_it_was_asked_about_is_on_the_record() {
    block_on(async {
        let place = Place::new();
        let house = place.open().await;
        house.offer(&yaml("careful", ASKING)).await;
        // The caller goes away while nobody answers.
        let says = Says::nothing();
        let call = house.call_as(with(says.clone()), "careful", json!({"n": 1}));
        let waited = async {
            while says.asked.lock().expect("not poisoned").is_empty() {
                tokio::task::yield_now().await;
            }
        };
        tokio::select! {
            ended = call => panic!("{ended:?}"),
            () = waited => {}
        }
        house.close().await;
        let house = place.open().await;
        let outcome = house.tail(1).await.remove(0);
        assert_eq!(outcome["action"], "tool.call", "{outcome}");
        assert_eq!(outcome["outcome"]["code"], json!(ErrorCode::Cancelled));
        // The tool is changed while somebody thinks about it.
        let other = yaml("careful", &ASKING.replace("return n", "return n + 1"));
        let approver = ChangesIt { core: house.core.clone(), document: other };
        refused(house.call_as(with(Arc::new(approver)), "careful", json!({"n": 1})).await);
        let outcome = house.tail(1).await.remove(0);
        assert_eq!(outcome["kind"], "outcome", "{outcome}");
        assert_eq!(outcome["outcome"]["code"], json!(ErrorCode::Conflict));
        assert_eq!(outcome["approval"]["answer"], "yes");
    });
}

fn a_prompt_has_room_for_the_begin_of_long_arguments() {
    block_on(async {
        let place = Place::new();
        let house = place.open().await;
        let tool = ASKING.replace("type: INTEGER", "type: STRING").replace("testValue: 1", "testValue: one");
        house.offer(&yaml("careful", &tool)).await;
        let says = Says::no();
        let text = "x".repeat(20 << 20);
        let report =
            house.call_as(with(says.clone()), "careful", json!({"n": text})).await.expect("a report");
        assert_eq!(report.failure().map(|failure| failure.code), Some(ErrorCode::ApprovalDeclined));
        let prompt = says.asked.lock().expect("not poisoned")[0].prompt.clone().expect("a prompt");
        assert!(prompt.len() < 4_000 && prompt.contains("bytes more"), "{}", prompt.len());
        assert_eq!(house.tail(1).await.remove(0)["approval"]["answer"], "no");
    });
}
