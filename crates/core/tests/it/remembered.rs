//! Answers that are remembered: for what they hold, when they end, and that they are bound to what was asked.

use std::time::Duration;

use bailiwick_core::{Action, Remember, RememberedFor, Reply};
use bailiwick_redact::Secret;
use bailiwick_secrets::{Fallback, SecretName, Secrets};
use bailiwick_types::{ApprovalId, ErrorCode};
use serde_json::{Value, json};

use crate::asking::{Served, WRITES, agent, has_run, keyless, other_agent};
use crate::stage::{block_on, cli, refused, sql, yaml};

bailiwick_testkit::tests!(
    a_yes_for_these_arguments_lets_the_same_call_through,
    a_yes_for_a_key_lets_all_its_calls_through,
    a_yes_ends_with_its_minutes,
    a_tool_that_changed_is_asked_about_anew,
    a_policy_that_changed_is_asked_about_anew,
    a_forgotten_yes_is_asked_about_anew,
    a_row_that_is_put_back_or_edited_is_none,
    what_cannot_be_remembered_leaves_the_question_waiting,
    whoever_has_no_key_is_known_by_all_that_is_known_of_them,
    the_last_yes_is_shown_with_the_next_question,
    only_the_hash_of_arguments_with_secrets_is_kept,
    a_yes_goes_with_its_tool,
);

const ARGUMENTS: Remember = Remember { what: RememberedFor::Arguments, minutes: 10 };
const KEY: Remember = Remember { what: RememberedFor::Key, minutes: 10 };

/// A server where a call of the agent was said yes to, to be remembered.
async fn said(remember: Remember) -> (Served, ApprovalId) {
    let mut served = Served::new().await;
    let call = served.call(agent(), json!({"n": 1}));
    let id = served.asked().await.id;
    served.remember(id, remember).await.expect("answered");
    assert!(call.await.expect("no panic").expect("a report").is_ok());
    assert!(has_run(&served.place));
    (served, id)
}

async fn forget(served: &Served, id: ApprovalId) -> Result<Reply, bailiwick_core::Refusal> {
    served.house.core.perform(served.anna(), Action::ApprovalForget { id }).await
}

fn a_yes_for_these_arguments_lets_the_same_call_through() {
    block_on(async {
        let (mut served, id) = said(ARGUMENTS).await;
        // A default that is written out is the same argument.
        served.runs_unasked(agent(), json!({"m": 5, "n": 1})).await;
        let records = served.house.tail(3).await;
        let kinds: Vec<_> = records.iter().map(|record| record["kind"].clone()).collect();
        assert_eq!(kinds, ["decision", "intent", "outcome"]);
        let by = format!("remembered {id} by anna");
        for record in &records {
            assert_eq!(record["approval"]["answer"], "yes");
            assert_eq!(record["approval"]["by"], by);
        }
        let listed = served.remembered().await;
        let [one] = &listed[..] else { panic!("{listed:?}") };
        assert_eq!((one.id, one.used, one.what), (id, 1, RememberedFor::Arguments));
        assert_eq!((one.tool.as_str(), one.by.as_str()), ("writes", "anna"));
        assert_eq!(one.arguments, Some(json!({"n": 1, "m": 5})));
        assert_eq!(one.actor.key.as_deref(), Some("agent"));
        assert_eq!(one.hash, served.house.show("writes").await.hash);
        assert!(one.until > one.at, "{one:?}");
        // Everything else is asked about.
        served.is_asked_about(agent(), json!({"n": 2})).await;
        served.is_asked_about(agent(), json!({"n": 1, "m": 6})).await;
        served.is_asked_about(other_agent(), json!({"n": 1})).await;
        served.is_asked_about(keyless("agent"), json!({"n": 1})).await;
        let shared = Action::ToolCall {
            tool: "writes".to_owned(),
            arguments: json!({"n": 1}).as_object().cloned().expect("a map"),
            correlation: None,
            workspace: Some("report-42".to_owned()),
        };
        let (core, who) = (served.house.core.clone(), agent());
        let call = tokio::spawn(async move { core.perform(who, shared).await });
        let waiting = served.asked().await;
        served.answer(waiting.id, false).await.expect("answered");
        call.await.expect("no panic").expect("a report");
        // The next server remembers it, too.
        let mut served = served.reopened(&[]).await;
        served.runs_unasked(agent(), json!({"n": 1})).await;
        assert_eq!(served.remembered().await.first().map(|one| one.used), Some(2));
        assert!(served.house.verify().await.ok);
    });
}

fn a_yes_for_a_key_lets_all_its_calls_through() {
    block_on(async {
        let (mut served, id) = said(KEY).await;
        served.runs_unasked(agent(), json!({"n": 1})).await;
        served.runs_unasked(agent(), json!({"n": 2, "m": 3})).await;
        served.is_asked_about(other_agent(), json!({"n": 1})).await;
        served.is_asked_about(keyless("agent"), json!({"n": 1})).await;
        let listed = served.remembered().await;
        let [one] = &listed[..] else { panic!("{listed:?}") };
        assert_eq!((one.id, one.used, one.what, &one.arguments), (id, 2, RememberedFor::Key, &None));
    });
}

fn a_yes_ends_with_its_minutes() {
    block_on(async {
        for remember in [ARGUMENTS, KEY] {
            let (mut served, _) = said(remember).await;
            served.house.core.put_clock_ahead(Duration::from_mins(9));
            served.runs_unasked(agent(), json!({"n": 1})).await;
            served.house.core.put_clock_ahead(Duration::from_mins(1));
            served.is_asked_about(agent(), json!({"n": 1})).await;
            assert!(served.remembered().await.is_empty());
        }
    });
}

fn a_tool_that_changed_is_asked_about_anew() {
    block_on(async {
        for changed in [
            WRITES.replace("return n;", "return n + 1;"),
            WRITES.replace("if a person agrees", "whatever anybody says"),
            WRITES.replace("approval:", "limits: {wall: 7s}\napproval:"),
        ] {
            for remember in [ARGUMENTS, KEY] {
                let (mut served, _) = said(remember).await;
                served.house.offer(&yaml("writes", &changed)).await;
                served.is_asked_about(agent(), json!({"n": 1})).await;
                assert!(served.remembered().await.is_empty(), "it is void");
            }
        }
    });
}

fn a_policy_that_changed_is_asked_about_anew() {
    block_on(async {
        let (served, _) = said(KEY).await;
        // Narrower, so that the pass still holds; but not what was said yes to.
        let mut served = served.reopened(&["limits.wall=1s"]).await;
        served.is_asked_about(agent(), json!({"n": 1})).await;
        assert!(served.remembered().await.is_empty(), "it is void");
    });
}

fn a_forgotten_yes_is_asked_about_anew() {
    block_on(async {
        for remember in [ARGUMENTS, KEY] {
            let (mut served, id) = said(remember).await;
            served.runs_unasked(agent(), json!({"n": 1})).await;
            forget(&served, id).await.expect("forgotten");
            let record = served.house.tail(1).await.remove(0);
            assert_eq!((&record["kind"], &record["action"]), (&json!("decision"), &json!("approval.forget")));
            assert_eq!(record["actor"]["key"], "anna");
            served.is_asked_about(agent(), json!({"n": 1})).await;
            assert!(served.remembered().await.is_empty());
            assert_eq!(refused(forget(&served, id).await).0, ErrorCode::NotFound);
            // The tool is none the worse: its state still hangs on its own last change.
            assert_eq!(served.house.state("writes").await, "PUBLISHED");
        }
    });
}

fn a_row_that_is_put_back_or_edited_is_none() {
    block_on(async {
        let (served, id) = said(KEY).await;
        sql(&served.place, "CREATE TABLE aside AS SELECT * FROM remembered");
        forget(&served, id).await.expect("forgotten");
        let mut served = {
            sql(&served.place, "INSERT INTO remembered SELECT * FROM aside");
            served.reopened(&[]).await
        };
        served.is_asked_about(agent(), json!({"n": 1})).await;
        assert!(served.remembered().await.is_empty());
        let (mut served, _) = said(KEY).await;
        for edit in ["until_ms = until_ms + 1", "used = 7", "body = replace(body, 'anna', 'otto')"] {
            sql(&served.place, "CREATE TABLE aside AS SELECT * FROM remembered");
            sql(&served.place, &format!("UPDATE remembered SET {edit}"));
            served.is_asked_about(agent(), json!({"n": 1})).await;
            assert!(served.remembered().await.is_empty(), "{edit}");
            sql(&served.place, "DELETE FROM remembered");
            sql(&served.place, "INSERT INTO remembered SELECT * FROM aside");
            sql(&served.place, "DROP TABLE aside");
            served.runs_unasked(agent(), json!({"n": 1})).await;
        }
    });
}

fn what_cannot_be_remembered_leaves_the_question_waiting() {
    block_on(async {
        let mut served = Served::new().await;
        let call = served.call(keyless("curl"), json!({"n": 1}));
        let id = served.asked().await.id;
        for (yes, remember) in [
            (true, KEY),
            (true, Remember { minutes: 0, ..ARGUMENTS }),
            (true, Remember { minutes: 1441, ..ARGUMENTS }),
            (false, ARGUMENTS),
        ] {
            let core = &served.house.core;
            let answered = crate::asking::answer(core, served.anna(), id, yes, Some(remember)).await;
            assert_eq!(refused(answered).0, ErrorCode::InvalidInput, "{remember:?}");
            assert_eq!(served.waiting().await.len(), 1);
        }
        served.nothing_ran().await;
        served.remember(id, Remember { minutes: 1440, ..ARGUMENTS }).await.expect("answered");
        assert!(call.await.expect("no panic").expect("a report").is_ok());
    });
}

fn whoever_has_no_key_is_known_by_all_that_is_known_of_them() {
    block_on(async {
        let mut served = Served::new().await;
        let call = served.call(keyless("curl"), json!({"n": 1}));
        let id = served.asked().await.id;
        served.remember(id, ARGUMENTS).await.expect("answered");
        call.await.expect("no panic").expect("a report");
        served.runs_unasked(keyless("curl"), json!({"n": 1})).await;
        served.is_asked_about(keyless("wget"), json!({"n": 1})).await;
        // The same name with other scopes is somebody else.
        let operator = bailiwick_core::Caller::alone(keyless("curl").actor);
        served.is_asked_about(operator, json!({"n": 1})).await;
    });
}

fn the_last_yes_is_shown_with_the_next_question() {
    block_on(async {
        let mut served = Served::new().await;
        let hash = served.house.show("writes").await.hash;
        let ask = async |served: &mut Served, n: u64, yes: bool| {
            let call = served.call(agent(), json!({"n": n}));
            let waiting = served.asked().await;
            served.answer(waiting.id, yes).await.expect("answered");
            call.await.expect("no panic").expect("a report");
            waiting.last
        };
        assert_eq!(ask(&mut served, 1, true).await, None);
        let last = ask(&mut served, 2, false).await.expect("the last yes");
        assert_eq!((last.arguments, last.by.as_str()), (json!({"n": 1, "m": 5}), "anna"));
        assert_eq!(last.hash.as_deref(), Some(hash.as_str()));
        // A no does not take its place; the next server knows it, too.
        let mut served = served.reopened(&[]).await;
        let last = ask(&mut served, 3, true).await.expect("the last yes");
        assert_eq!(last.arguments, json!({"n": 1, "m": 5}));
        let last = ask(&mut served, 4, false).await.expect("the last yes");
        assert_eq!(last.arguments, json!({"n": 3, "m": 5}));
        // One that somebody edited is not shown.
        sql(&served.place, "UPDATE last_yes SET body = replace(body, 'anna', 'otto')");
        assert_eq!(ask(&mut served, 5, false).await, None);
    });
}

fn only_the_hash_of_arguments_with_secrets_is_kept() {
    block_on(async {
        let mut served = Served::new().await;
        let secrets = Secrets::open(&served.place.data(), Fallback::none()).expect("secrets");
        let value = "tok-9f8e7d6c5b4a3210";
        #[expect(clippy::disallowed_methods, reason = "the time a secret is set at does not matter here")]
        let now = std::time::SystemTime::now();
        let name = SecretName::parse("API_TOKEN").expect("a name");
        secrets.set(&name, &Secret::new(value.to_owned()), now).expect("set");
        let tool = "
name: leak
description: Gives back what it is given.
params:
  - {name: text, type: STRING, required: true, description: Any text, testValue: hello}
statics:
  - {name: token, value: \"${API_TOKEN}\"}
approval: {mode: REQUIRED}
code: return text.length
";
        served.house.offer(&yaml("leak", tool)).await;
        let call = served.call_of("leak", agent(), json!({"text": value}));
        let waiting = served.asked().await;
        assert!(!json!(waiting).to_string().contains(value));
        served.remember(waiting.id, ARGUMENTS).await.expect("answered");
        assert!(call.await.expect("no panic").expect("a report").is_ok());
        let again = served.call_of("leak", agent(), json!({"text": value}));
        assert!(again.await.expect("no panic").expect("a report").is_ok());
        assert!(served.nobody_was_asked());
        assert!(!json!(served.remembered().await).to_string().contains(value));
        // What was shown is not what is compared.
        let shown = waiting.question.arguments["text"].clone();
        assert_ne!(shown, Value::Null);
        let other = served.call_of("leak", agent(), json!({"text": shown}));
        let waiting = served.asked().await;
        assert!(!json!(waiting).to_string().contains(value));
        served.answer(waiting.id, false).await.expect("answered");
        other.await.expect("no panic").expect("a report");
        let connection = rusqlite::Connection::open(served.place.database()).expect("the store");
        for table in ["remembered", "last_yes"] {
            let mut rows = connection.prepare(&format!("SELECT body FROM {table}")).expect("a statement");
            let bodies: Vec<String> =
                rows.query_map([], |row| row.get(0)).expect("rows").map(|row| row.expect("a row")).collect();
            assert!(!bodies.is_empty() && !bodies.iter().any(|body| body.contains(value)), "{bodies:?}");
        }
    });
}

fn a_yes_goes_with_its_tool() {
    block_on(async {
        let (served, id) = said(KEY).await;
        served
            .house
            .core
            .perform(cli(), Action::ToolRemove { tool: "writes".to_owned() })
            .await
            .expect("gone");
        assert!(served.remembered().await.is_empty());
        assert_eq!(refused(forget(&served, id).await).0, ErrorCode::NotFound);
    });
}
