//! Server-sent events: what is heard is told, the end is told, and whoever goes away ends the action.

use std::sync::Arc;
use std::time::Duration;

use axum::response::Response;
use bailiwick_core::{Action, Event, Happening, Refusal, Reply, Settled, ToolChange};
use bailiwick_http::perimeter::Principal;
use bailiwick_types::{ErrorCode, KeyId, LogLevel, LogLine, Outcome, Scope, Scopes};
use http_body_util::BodyExt as _;
use serde_json::{Value, json as object};
use tokio::sync::{Notify, mpsc};

use crate::replies;
use crate::schema::is_a;
use crate::stage::{Answer, Stage, block_on, get, json, principal, with};

bailiwick_testkit::tests!(
    a_call_tells_its_lines_and_then_its_report,
    a_call_that_waits_tells_so,
    a_call_that_is_refused_tells_a_problem,
    a_test_tells_each_test,
    whoever_goes_away_ends_the_call,
    a_slow_reader_is_told_what_was_missed,
    who_watches_is_told_what_their_scopes_cover,
    who_watches_is_let_go_when_the_server_ends,
);

/// The events of a text, by name and data.
#[track_caller]
fn events(text: &str) -> Vec<(String, Value)> {
    let event = |block: &str| {
        let field = |name: &str| block.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
        let name = field("event:")?;
        let data = field("data:").expect("data");
        Some((name.to_owned(), serde_json::from_str(data).expect("JSON")))
    };
    text.split("\n\n").filter_map(event).collect()
}

fn names(events: &[(String, Value)]) -> Vec<&str> {
    events.iter().map(|(name, _)| name.as_str()).collect()
}

fn log(text: &str) -> Event {
    Event::Log(LogLine { level: LogLevel::Log, text: text.to_owned(), at: 1 })
}

fn report() -> Reply {
    Reply::Called(Box::new(replies::report(Outcome::Returned(object!(3)))))
}

fn call() -> axum::extract::Request {
    json("POST", "/v1/execute?stream", &object!({"tool": "add"}))
}

/// Somebody who says these things and then replies.
async fn saying(said: Vec<Event>, reply: Result<Reply, Refusal>) -> Stage {
    Stage::script(move |caller, _| {
        said.iter().cloned().for_each(|event| caller.listener.hear(event));
        Box::pin(std::future::ready(reply.clone()))
    })
    .await
}

fn a_call_tells_its_lines_and_then_its_report() {
    block_on(async {
        let stage = saying(vec![log("one\nline"), log("two")], Ok(report())).await;
        let answer = stage.ask(call()).await;
        assert_eq!(answer.kind(), Some("text/event-stream"));
        let told = events(&answer.text);
        assert_eq!(names(&told), ["log", "log", "result"]);
        assert_eq!(told[0].1["text"], "one\nline");
        is_a("LogLine", &told[0].1);
        is_a("CallReport", &told[2].1);
        // The same by what is accepted.
        let request = json("POST", "/v1/execute", &object!({"tool": "add"}));
        let answer = stage.ask(with(request, "accept", "text/html, text/event-stream;q=0.9")).await;
        assert_eq!(names(&events(&answer.text)), ["log", "log", "result"]);
        let request = json("POST", "/v1/execute?stream=false", &object!({"tool": "add"}));
        let answer = stage.ask(with(request, "accept", "text/event-stream")).await;
        assert_eq!(answer.kind(), Some("application/json"));
    });
}

fn a_call_that_waits_tells_so() {
    block_on(async {
        let id = replies::approval_id();
        let still = Event::StillWaiting { id, waited_ms: 10_000, remaining_ms: 110_000 };
        let stage = saying(vec![Event::Waiting(Box::new(replies::waiting())), still], Ok(report())).await;
        let told = events(&stage.ask(call()).await.text);
        assert_eq!(names(&told), ["approval", "approval", "result"]);
        is_a("ApprovalNews", &told[0].1);
        is_a("ApprovalNews", &told[1].1);
        assert_eq!(told[0].1["what"], "asked");
        assert_eq!(told[0].1["question"]["tool"], "add");
        assert_eq!(
            (&told[1].1["what"], &told[1].1["waitedMs"]),
            (&object!("stillWaiting"), &object!(10_000))
        );
    });
}

fn a_call_that_is_refused_tells_a_problem() {
    block_on(async {
        let refusal = Refusal::new(ErrorCode::NotFound, "there is no tool `add`");
        let stage = saying(Vec::new(), Err(refusal)).await;
        let told = events(&stage.ask(with(call(), "x-correlation-id", "mine")).await.text);
        assert_eq!(names(&told), ["error"]);
        is_a("Problem", &told[0].1);
        assert_eq!((&told[0].1["status"], &told[0].1["instance"]), (&object!(404), &object!("mine")));
    });
}

fn a_test_tells_each_test() {
    block_on(async {
        let line = || Event::Test { tool: "add".to_owned(), line: Box::new(replies::test_line()) };
        let said = vec![line(), Event::Progress { done: 1, of: Some(2) }, line()];
        let stage = saying(said, Ok(Reply::Tested(vec![replies::tested()]))).await;
        let request = |uri: &str, body: &Value| json("POST", uri, body);
        for (request, last) in [
            (request("/v1/tools/add/test?stream", &object!({})), "Tested"),
            (request("/v1/tools/try?stream", &object!({"document": {}})), "Tested"),
            (request("/v1/tools/test?stream", &object!({"which": "all"})), "TestedAll"),
        ] {
            let told = events(&stage.ask(request).await.text);
            assert_eq!(names(&told), ["test", "progress", "test", "result"]);
            is_a("TestEvent", &told[0].1);
            is_a("Progress", &told[1].1);
            is_a(last, &told[3].1);
        }
    });
}

/// Tells that it is gone.
pub(crate) struct Alarm(pub(crate) mpsc::UnboundedSender<()>);

impl Drop for Alarm {
    fn drop(&mut self) {
        // Nobody has to be there to hear it.
        let _told = self.0.send(());
    }
}

/// The next event of an answer that goes on.
pub(crate) async fn next(response: &mut Response) -> Option<(String, Value)> {
    loop {
        let frame = tokio::time::timeout(Duration::from_secs(20), response.body_mut().frame());
        let frame = frame.await.expect("something happens")?.expect("a frame");
        let data = frame.into_data().expect("data");
        if let Some(event) = events(std::str::from_utf8(&data).expect("text")).pop() {
            return Some(event);
        }
    }
}

fn whoever_goes_away_ends_the_call() {
    block_on(async {
        let (gone, mut is_gone) = mpsc::unbounded_channel();
        let stage = Stage::script(move |caller, _| {
            let alarm = Alarm(gone.clone());
            Box::pin(async move {
                let _alarm = alarm;
                caller.listener.hear(log("begun"));
                std::future::pending().await
            })
        })
        .await;
        let mut response = stage.send(call()).await;
        assert_eq!(next(&mut response).await.expect("an event").0, "log");
        drop(response);
        let ended = tokio::time::timeout(Duration::from_secs(20), is_gone.recv()).await;
        assert_eq!(ended, Ok(Some(())));
    });
}

fn a_slow_reader_is_told_what_was_missed() {
    block_on(async {
        let said = (0..3000).map(|n| log(&n.to_string())).collect();
        let stage = saying(said, Ok(report())).await;
        let told = events(&stage.ask(call()).await.text);
        let count = |name: &str| told.iter().filter(|(event, _)| event == name).count();
        let missed: u64 = told.iter().filter_map(|(_, data)| data["count"].as_u64()).sum();
        assert_eq!(count("log") as u64 + missed, 3000);
        assert!(missed > 0 && count("missed") > 0);
        assert_eq!(told.last().expect("an end").0, "result");
    });
}

fn happened(happening: Happening) -> Event {
    Event::Happened(Box::new(happening))
}

/// A key that made a sandbox.
fn mine() -> KeyId {
    KeyId::from_parts(1, &[1; 10])
}

fn all_that_happens() -> Vec<Event> {
    let settled =
        Settled { id: replies::approval_id(), tool: "add".to_owned(), answer: "yes".to_owned(), by: None };
    let change = |is_published| ToolChange {
        action: "tool.publish".to_owned(),
        tool: Some(replies::line()),
        name: "add".to_owned(),
        is_published,
        was_published: false,
        published_as: None,
    };
    vec![
        happened(Happening::Asked(replies::waiting())),
        happened(Happening::Answered(settled)),
        happened(Happening::Tool(change(true))),
        happened(Happening::Tool(change(false))),
        happened(Happening::KeyGone(replies::key_line())),
        happened(Happening::Sandbox(replies::sandbox_change(Some(mine())))),
        happened(Happening::Sandbox(replies::sandbox_change(None))),
        happened(Happening::Record(replies::record(1))),
        happened(Happening::Missed(4)),
    ]
}

/// Which events somebody with these scopes is told.
async fn check_watch(scopes: Scopes, uri: &str, wanted: &[&str]) {
    check_watch_by(None, scopes, uri, wanted).await;
}

/// The same of somebody who showed a key.
async fn check_watch_by(key: Option<KeyId>, scopes: Scopes, uri: &str, wanted: &[&str]) {
    let stage = saying(all_that_happens(), Ok(Reply::Done)).await;
    let answer = Answer::of(stage.send_as(Principal { key, ..principal(scopes) }, get(uri)).await).await;
    let told = events(&answer.text);
    let mut named = names(&told);
    named.sort_unstable();
    assert_eq!(named, wanted, "{uri} with {scopes}");
    for (name, data) in &told {
        let shape = match name.as_str() {
            "approval" => "ApprovalNews",
            "tool" => "ToolChange",
            "key" => "KeyLine",
            "audit" => "Record",
            "sandbox" => "SandboxChange",
            _ => "MissedEvents",
        };
        is_a(shape, data);
    }
    assert_eq!(stage.asked(), [Action::Watch]);
}

fn who_watches_is_told_what_their_scopes_cover() {
    block_on(async {
        let all = ["approval", "approval", "audit", "key", "missed", "sandbox", "sandbox", "tool", "tool"];
        check_watch(Scopes::ALL, "/v1/events", &all).await;
        check_watch(Scopes::ALL, "/v1/events?types=audit,tool", &["audit", "missed", "tool", "tool"]).await;
        check_watch(Scopes::of([Scope::Call]), "/v1/events", &["missed", "tool"]).await;
        check_watch(Scopes::of([Scope::Approve]), "/v1/events", &["approval", "approval", "missed", "tool"])
            .await;
        let operates = ["audit", "key", "missed", "sandbox", "sandbox", "tool"];
        check_watch(Scopes::of([Scope::Operate]), "/v1/events", &operates).await;
        // Of sandboxes one hears of one's own.
        let author = Scopes::of([Scope::Author]);
        check_watch(author, "/v1/events?types=sandbox", &["missed"]).await;
        check_watch_by(Some(mine()), author, "/v1/events?types=sandbox", &["missed", "sandbox"]).await;
        let other = KeyId::from_parts(1, &[2; 10]);
        check_watch_by(Some(other), author, "/v1/events?types=sandbox", &["missed"]).await;
    });
}

fn who_watches_is_let_go_when_the_server_ends() {
    block_on(async {
        let begun = Arc::new(Notify::new());
        let told = begun.clone();
        let stage = Stage::script(move |_, _| {
            told.notify_one();
            Box::pin(std::future::pending())
        })
        .await;
        let mut response = stage.send(get("/v1/events")).await;
        let closing = stage.closing.clone();
        let end = tokio::spawn(async move { next(&mut response).await });
        begun.notified().await;
        closing.cancel();
        assert_eq!(end.await.expect("an end"), None);
    });
}
