//! Calls: what comes back, what is refused, what is heard meanwhile.

use bailiwick_core::Action;
use serde_json::{Value, json};

use crate::client::{Way, failed, text};
use crate::stage::{Stage, block_on};
use crate::tools::{ADD, FAILS, FETCHES, GREET, TALKS, WAIT};

bailiwick_testkit::tests!(
    a_value_comes_as_text_and_as_data_where_the_era_has_a_place_for_it,
    content_comes_as_content,
    arguments_that_do_not_fit_take_no_cell,
    a_tool_that_is_not_there_is_a_mistake_of_the_client,
    a_tool_that_fails_is_told_with_its_reason,
    a_denial_carries_its_fix,
    what_caused_a_call_is_on_the_record,
    lines_are_heard_only_by_whoever_asked_for_them,
    lines_come_before_the_result,
    a_slow_call_is_not_in_the_way_of_a_fast_one,
);

fn a_value_comes_as_text_and_as_data_where_the_era_has_a_place_for_it() {
    block_on(async {
        let stage = Stage::with(&[ADD, GREET]).await;
        for way in Way::ALL {
            let mut client = stage.client(way).await;
            let sum = client.called("add", json!({"a": 20, "b": 22})).await;
            assert_eq!((text(&sum).as_str(), &sum["isError"]), ("42", &json!(false)), "{way:?}: {sum:#}");
            let data = if way.is_new() { json!(42) } else { Value::Null };
            assert_eq!(sum["structuredContent"], data, "{way:?}: {sum:#}");
            assert_eq!(sum["_meta"]["bailiwick/risk"], "L0");
            assert!(sum["_meta"]["bailiwick/callId"].is_string(), "{sum:#}");
            let greeting = client.called("greet", json!({"who": "you"})).await;
            assert_eq!(greeting["structuredContent"], json!({"hello": "you"}), "{way:?}");
            assert_eq!(serde_json::from_str::<Value>(&text(&greeting)).ok(), Some(json!({"hello": "you"})));
            assert_eq!(greeting.get("resultType").is_some(), way.is_new(), "{way:?}: {greeting:#}");
        }
    });
}

/// Gives every kind of content, with something for programs beside it.
const PAINTS: &str = "
name: paints
description: Gives a picture with a word about it.
output: {type: object, required: [dots], properties: {dots: {type: integer}}}
code: |
  return {structured: {dots: 1}, $content: [
    {type: 'text', text: 'a dot'},
    {type: 'image', data: 'AAAA', mimeType: 'image/png'},
    {type: 'audio', data: 'AAAA', mimeType: 'audio/wav'},
    {type: 'resource', resource: {uri: 'file:///a.txt', mimeType: 'text/plain', text: 'A'}},
    {type: 'resource', resource: {uri: 'file:///b.txt', text: 'B'}},
    {type: 'resource', resource: {uri: 'file:///a.bin', blob: 'AAAA'}},
  ]};
";

fn content_comes_as_content() {
    block_on(async {
        let stage = Stage::with(&[PAINTS]).await;
        for way in Way::ALL {
            let given = stage.client(way).await.called("paints", json!({})).await;
            let wanted = json!([
                {"type": "text", "text": "a dot"},
                {"type": "image", "data": "AAAA", "mimeType": "image/png"},
                {"type": "audio", "data": "AAAA", "mimeType": "audio/wav"},
                {"type": "resource", "resource": {"uri": "file:///a.txt", "mimeType": "text/plain", "text": "A"}},
                {"type": "resource", "resource": {"uri": "file:///b.txt", "text": "B"}},
                {"type": "resource", "resource": {"uri": "file:///a.bin", "blob": "AAAA"}},
            ]);
            assert_eq!(given["content"], wanted, "{way:?}: {given:#}");
            assert_eq!(given["structuredContent"], json!({"dots": 1}), "{way:?}: {given:#}");
        }
    });
}

fn arguments_that_do_not_fit_take_no_cell() {
    block_on(async {
        let stage = Stage::with(&[ADD]).await;
        let before = stage.records().await.len();
        for way in Way::ALL {
            let mut client = stage.client(way).await;
            for arguments in
                [json!({}), json!({"a": 1}), json!({"a": "x", "b": 2}), json!({"a": 1, "b": 2, "c": 3})]
            {
                let refused = client.called("add", arguments.clone()).await;
                assert_eq!(failed(&refused), "INVALID_INPUT", "{way:?} {arguments}: {refused:#}");
                assert!(text(&refused).starts_with("INVALID_INPUT: "), "{refused:#}");
            }
        }
        let records = stage.records().await;
        let begun = records.iter().skip(before).filter(|record| record["kind"] == "intent").count();
        assert_eq!(begun, 0, "{records:#?}");
    });
}

fn a_tool_that_is_not_there_is_a_mistake_of_the_client() {
    block_on(async {
        let stage = Stage::with(&[ADD]).await;
        let Ok(bailiwick_core::Reply::Tool(view)) =
            stage.act(Action::ToolShow { tool: "add".to_owned() }).await
        else {
            panic!("no tool")
        };
        let id_of_tool = view.line.id.to_string();
        for way in Way::ALL {
            let mut client = stage.client(way).await;
            for name in ["nothing", "", "Add", "add ", &id_of_tool] {
                let id = client.call(name, json!({"a": 1, "b": 2})).await;
                let (code, message) = client.error(id).await;
                assert_eq!(code, -32602, "{way:?} {name}: {message}");
            }
        }
        let hostile = format!("\u{1b}[2J\u{202e}{}", "x".repeat(100_000));
        let mut client = stage.client(Way::OldPipe).await;
        let id = client.call(&hostile, json!({})).await;
        let (code, message) = client.error(id).await;
        assert_eq!(code, -32602);
        assert!(message.len() < 2000 && !message.contains(['\u{1b}', '\u{202e}']), "{message}");
    });
}

fn a_tool_that_fails_is_told_with_its_reason() {
    block_on(async {
        let stage = Stage::with(&[FAILS]).await;
        for way in Way::ALL {
            let mut client = stage.client(way).await;
            let thrown = client.called("fails", json!({"how": "throw"})).await;
            assert!(text(&thrown).contains("it went wrong"), "{way:?}: {thrown:#}");
            let code = failed(&thrown);
            assert!(text(&thrown).starts_with(&format!("{code}: ")), "{way:?}: {thrown:#}");
            let looped = client.called("fails", json!({"how": "loop"})).await;
            assert!(failed(&looped).ends_with("LIMIT") || failed(&looped) == "TIMEOUT", "{looped:#}");
            assert!(looped["_meta"]["bailiwick/error"]["hint"].is_string(), "{looped:#}");
        }
    });
}

fn a_denial_carries_its_fix() {
    block_on(async {
        let stage = Stage::with(&[FETCHES]).await;
        for way in Way::ALL {
            let denied = stage.client(way).await.called("fetches", json!({"host": "evil.example.net"})).await;
            assert_eq!(failed(&denied), "NET_DENIED", "{way:?}");
            let fix = &denied["_meta"]["bailiwick/error"]["denied"]["fix"];
            assert_eq!(fix["overrides"]["hosts"], json!(["evil.example.net"]), "{denied:#}");
            assert!(text(&denied).contains("\ndenied: {"), "{denied:#}");
        }
    });
}

fn what_caused_a_call_is_on_the_record() {
    block_on(async {
        let stage = Stage::with(&[ADD]).await;
        for (at, way) in Way::ALL.into_iter().enumerate() {
            let mut client = stage.client(way).await;
            let cause = format!("cause-{at}");
            let call = |cause: Value| json!({"name": "add", "arguments": {"a": 1, "b": 2}, "_meta": {"bailiwick/correlationId": cause}});
            let id = client.send("tools/call", call(json!(cause))).await;
            let given = client.result(id).await;
            assert_eq!(given["_meta"]["bailiwick/correlationId"], json!(cause), "{way:?}: {given:#}");
            let last = stage.records().await.pop().expect("a record");
            assert_eq!(last["correlationId"], json!(cause));
            assert_eq!(last["actor"], json!({"key": "agent", "client": "mcp/a-test"}), "{way:?}");
            for wrong in ["", "a b", "\u{0}", &"x".repeat(5000)] {
                let id = client.send("tools/call", call(json!(wrong))).await;
                assert_eq!(client.error(id).await.0, -32602, "{way:?}");
            }
        }
    });
}

/// The lines of the console that were heard, by their level.
fn lines(heard: &[Value]) -> Vec<String> {
    let messages = heard.iter().filter(|message| message["method"] == "notifications/message");
    messages.map(|message| format!("{}: {}", message["params"]["level"], message["params"]["data"])).collect()
}

fn lines_are_heard_only_by_whoever_asked_for_them() {
    block_on(async {
        let stage = Stage::with(&[TALKS]).await;
        for way in Way::ALL {
            for (level, heard) in [
                (None, 0),
                (Some("debug"), 5),
                (Some("info"), 4),
                (Some("warning"), 2),
                (Some("critical"), 0),
            ] {
                let mut client = stage.client(way).await;
                let mut params = json!({"name": "talks", "arguments": {}});
                match level {
                    Some(level) if way.is_new() => {
                        params["_meta"] = json!({"io.modelcontextprotocol/logLevel": level});
                    }
                    Some(level) => {
                        let id = client.send("logging/setLevel", json!({"level": level})).await;
                        client.result(id).await;
                    }
                    None => {}
                }
                let id = client.send("tools/call", params).await;
                let (answer, mut before) = client.answer(id).await;
                assert_eq!(text(&answer["result"]), "said");
                // In a session they have a stream of their own, which may be later.
                while way == Way::Session && lines(&before).len() < heard {
                    before.push(client.next().await);
                }
                while let Some(late) = client.now() {
                    before.push(late);
                }
                let lines = lines(&before);
                assert_eq!(lines.len(), heard, "{way:?} {level:?}: {lines:?}");
            }
        }
    });
}

fn lines_come_before_the_result() {
    block_on(async {
        let stage = Stage::with(&[TALKS]).await;
        for way in [Way::Alone, Way::NewPipe, Way::OldPipe] {
            let mut client = stage.client(way).await;
            if way == Way::OldPipe {
                let id = client.send("logging/setLevel", json!({"level": "debug"})).await;
                client.result(id).await;
            }
            let meta = json!({"io.modelcontextprotocol/logLevel": "debug"});
            let id =
                client.send("tools/call", json!({"name": "talks", "arguments": {}, "_meta": meta})).await;
            let (_, before) = client.answer(id).await;
            let wanted = [
                "\"debug\": \"a debug line\"",
                "\"info\": \"a plain line\"",
                "\"info\": \"an info line\"",
                "\"warning\": \"a warning\"",
                "\"error\": \"an error\"",
            ];
            assert_eq!(lines(&before), wanted, "{way:?}");
            let logger = before.iter().all(|message| message["params"]["logger"] == "talks");
            assert!(logger, "{before:#?}");
        }
    });
}

fn a_slow_call_is_not_in_the_way_of_a_fast_one() {
    block_on(async {
        let stage = Stage::with(&[WAIT, ADD]).await;
        for way in Way::ALL {
            let mut client = stage.client(way).await;
            let slow = client.call("wait", json!({"ms": 20_000})).await;
            stage.record("intent", 1).await;
            for n in 0..5 {
                let fast = client.call("add", json!({"a": n, "b": 0})).await;
                let (answer, before) = client.answer(fast).await;
                assert_eq!(text(&answer["result"]), n.to_string());
                assert!(before.iter().all(|message| message["id"] != slow), "{way:?}");
            }
        }
    });
}
