//! What an agent's client does with our server, by the official clients: both generations of TypeScript and Python, over
//! HTTP and over a pipe, in each era that they speak.

use bailiwick_testkit::requires;
use serde_json::{Value, json};

use super::driver::{Client, Era, Forms, Whose};
use super::stage::{KEY, Stage, Way};
use super::{has_node, has_python};

macro_rules! tours {
    ($($name:ident: $whose:ident, $era:ident, $way:ident;)+) => {$(
        #[test]
        fn $name() {
            check(Whose::$whose, Era::$era, Way::$way);
        }
    )+};
}

tours! {
    typescript_1_is_served_in_a_session_over_http: TypeScript1, Sessions, Http;
    typescript_1_is_served_in_a_session_over_a_pipe: TypeScript1, Sessions, Pipe;
    typescript_2_is_served_in_a_session_over_http: TypeScript2, Sessions, Http;
    typescript_2_is_served_in_a_session_over_a_pipe: TypeScript2, Sessions, Pipe;
    typescript_2_is_served_without_a_session_over_http: TypeScript2, Stateless, Http;
    typescript_2_is_served_without_a_session_over_a_pipe: TypeScript2, Stateless, Pipe;
    python_is_served_in_a_session_over_http: Python, Sessions, Http;
    python_is_served_in_a_session_over_a_pipe: Python, Sessions, Pipe;
    python_is_served_without_a_session_over_http: Python, Stateless, Http;
    python_is_served_without_a_session_over_a_pipe: Python, Stateless, Pipe;
}

#[track_caller]
fn check(whose: Whose, era: Era, way: Way) {
    match whose {
        Whose::TypeScript1 | Whose::TypeScript2 => requires!("mcp-node", has_node()),
        Whose::Python => requires!("mcp-python", has_python()),
    }
    let mut stage = Stage::set(way);
    let (mut client, connected) = Client::connect(whose, era, Forms::Shown, &stage.at);
    speaks(&connected, whose, era, way);
    lists_and_calls(&mut client, era);
    is_told_what_failed(&mut client);
    asks_the_person_at_the_client(&mut client, &stage, way);
    cancels(&mut client, &stage);
    sees_changes(&mut client, &stage);
    client.end();
    stage.attend();
    is_told_that_a_call_waits(whose, era, &stage);
    stage.end();
}

fn speaks(connected: &Value, whose: Whose, era: Era, way: Way) {
    let version = match era {
        Era::Sessions => "2025-11-25",
        Era::Stateless => "2026-07-28",
    };
    // The first generation does not tell which version it agreed on over a pipe.
    if (whose, way) != (Whose::TypeScript1, Way::Pipe) {
        assert_eq!(connected["version"], version, "{connected}");
    }
    assert_eq!(connected["server"]["name"], "bailiwick", "{connected}");
}

fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap_or_default()
}

fn names(listed: &Value) -> Vec<&str> {
    listed.as_array().into_iter().flatten().filter_map(|tool| tool["name"].as_str()).collect()
}

fn lists_and_calls(client: &mut Client, era: Era) {
    let listed = client.does("list", "listed");
    assert_eq!(names(&listed), ["asks", "fails", "greet", "slow"], "{listed}");
    let greet = &listed[2];
    assert_eq!(greet["inputSchema"]["required"], json!(["who"]), "{greet}");
    assert_eq!(greet["annotations"]["openWorldHint"], false, "{greet}");
    assert!(greet["_meta"]["bailiwick/risk"].is_string(), "{greet}");

    let called = client.call("greet", &json!({"who": "you"})).expect("a result");
    assert_eq!(text(&called), "Hello you!", "{called}");
    let structured = called.get("structuredContent");
    let wanted = json!("Hello you!");
    assert_eq!(structured, (era == Era::Stateless).then_some(&wanted), "only an object fits the older era");
    let line = client.does("logged", "logged");
    assert_eq!((&line["level"], &line["data"]), (&json!("info"), &json!("greeting you")), "{line}");
}

fn is_told_what_failed(client: &mut Client) {
    let threw = client.call("fails", &json!({"how": "throw"})).expect("a result");
    assert_eq!(threw["isError"], true, "{threw}");
    let error = &threw["_meta"]["bailiwick/error"];
    assert!(error["code"].is_string() && text(&threw).contains("as it was told"), "{threw}");

    let lacking = client.call("greet", &json!({})).expect("a result, which a model can act on");
    assert_eq!(lacking["isError"], true, "{lacking}");
    assert!(text(&lacking).starts_with("INVALID_INPUT") && text(&lacking).contains("who"), "{lacking}");
    assert!(lacking["_meta"]["bailiwick/error"]["hint"].is_string(), "{lacking}");

    let unknown = client.call("nothing", &json!({})).expect_err("a fault of the protocol");
    assert_eq!(unknown["failed"]["code"], -32602, "{unknown}");
}

fn asks_the_person_at_the_client(client: &mut Client, stage: &Stage, way: Way) {
    let yes = json!({"action": "accept", "content": {"approve": true}});
    client.step(&json!({"do": "answer", "with": yes}));
    let called = client.call("asks", &json!({"who": "ann"})).expect("a result");
    assert_eq!(text(&called), "Hello ann!", "{called}");
    let asked = client.does("asked", "asked");
    assert_eq!(asked.as_array().map(Vec::len), Some(1), "{asked}");
    let message = asked[0]["message"].as_str().unwrap_or_default();
    assert!(message.contains("asks") && message.contains("ann"), "{asked}");
    let decision = stage.recorded("decision", "asks");
    assert!(decision["approval"].to_string().contains("dialogue"), "{decision}");
    let key = (way == Way::Http).then_some(KEY);
    assert_eq!(decision["actor"]["key"].as_str(), key, "whoever asks is who showed the key: {decision}");

    let noes = [
        json!({"action": "decline"}),
        json!({"action": "cancel"}),
        json!({"action": "accept", "content": {"approve": false}}),
    ];
    for no in noes {
        client.step(&json!({"do": "answer", "with": no}));
        let refused = client.call("asks", &json!({"who": "bob"})).expect("a result");
        assert_eq!(refused["isError"], true, "{no}: {refused}");
        assert!(text(&refused).starts_with("APPROVAL_DECLINED"), "{no}: {refused}");
    }
}

fn cancels(client: &mut Client, stage: &Stage) {
    let began =
        client.step(&json!({"do": "begin", "name": "slow", "arguments": {"rounds": 9_000_000_000_u64}}));
    assert_eq!(began["began"], "slow", "{began}");
    stage.recorded("intent", "slow");
    let cancelled = client.does("cancel", "cancelled");
    assert!(cancelled["failed"].is_object(), "{cancelled}");
    let outcome = stage.recorded("outcome", "slow");
    assert_eq!(outcome["outcome"]["code"], "CANCELLED", "{outcome}");
}

fn sees_changes(client: &mut Client, stage: &Stage) {
    stage.publish("late");
    sees(client, |names| names.contains(&"late"));
    let called = client.call("late", &json!({"who": "you"})).expect("a result, on the same connection");
    assert_eq!(text(&called), "Hello you!", "{called}");

    stage.edit("late");
    let gone = client.call("late", &json!({"who": "you"}));
    let is_refused = gone.as_ref().map_or(true, |result| result["isError"] == true);
    assert!(is_refused, "what was edited is not called any more: {gone:?}");
    sees(client, |names| !names.contains(&"late"));
}

/// Looks at the list whenever the client is told that it changed.
#[track_caller]
fn sees(client: &mut Client, as_wanted: impl Fn(&[&str]) -> bool) {
    loop {
        client.does("changed", "changed");
        let listed = client.does("list", "listed");
        if as_wanted(&names(&listed)) {
            return;
        }
    }
}

/// A client that shows no forms hears that its call waits, and gets its result when somebody else said yes.
fn is_told_that_a_call_waits(whose: Whose, era: Era, stage: &Stage) {
    let (mut client, _) = Client::connect(whose, era, Forms::None, &stage.at);
    client.step(&json!({"do": "begin", "name": "asks", "arguments": {"who": "cyd"}}));
    let progress = client.does("progress", "progress");
    assert!(progress["message"].as_str().is_some_and(|said| said.contains("person")), "{progress}");
    stage.approve();
    let called = client.does("finish", "called");
    assert_eq!(text(&called), "Hello cyd!", "{called}");
    client.end();
}
