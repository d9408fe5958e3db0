//! When a waiting call is found, and when it ends.

use std::time::Duration;

use bailiwick_core::{Actor, Admitted};
use bailiwick_types::{ErrorCode, Scope, Scopes};
use rmcp::model::{InputRequests, JsonObject};
use serde_json::{Value, json};
use tokio::sync::oneshot;
use tokio_util::task::TaskTracker;

use super::{Bound, NotOurs, Parked};
use crate::going::Going;
use crate::line::{Asked, Line};
use crate::offers::Failed;

const LONG: Duration = Duration::from_mins(1);

fn somebody(key: Option<&str>, client: &str) -> Admitted {
    let actor = Actor { key: key.map(str::to_owned), client: client.to_owned() };
    Admitted::alone(actor, Scopes::of([Scope::Call]))
}

fn arguments(value: &Value) -> JsonObject {
    value.as_object().cloned().unwrap()
}

fn bound() -> Bound {
    Bound::to(&somebody(Some("agent"), "mcp/a"), "writes", &arguments(&json!({"n": 7})))
}

/// A call that never ends by itself; what comes with it tells when it is gone.
fn call() -> (Going, Asked, oneshot::Receiver<()>) {
    let (line, said) = Line::new(true, "mcp/a".to_owned());
    let (held, gone) = oneshot::channel::<()>();
    let going = Going::start(&TaskTracker::new(), said, async move {
        let _held = (line, held);
        std::future::pending::<Result<rmcp::model::CallToolResult, Failed>>().await
    });
    let (answer, _) = oneshot::channel();
    (going, Asked { requests: InputRequests::new(), answer }, gone)
}

fn park(parked: &Parked, bound: &Bound) -> (String, oneshot::Receiver<()>) {
    let (going, asked, gone) = call();
    let result = parked.park(bound, going, asked).unwrap();
    (result.request_state.unwrap(), gone)
}

#[tokio::test]
async fn a_call_is_found_once() {
    let parked = Parked::new(LONG).unwrap();
    let (state, _gone) = park(&parked, &bound());
    assert!(parked.find(&bound(), &state).is_ok());
    assert_eq!(parked.find(&bound(), &state).err(), Some(NotOurs));
}

#[tokio::test]
#[expect(clippy::disallowed_methods, reason = "a text expires by the clock of the machine")]
async fn a_text_that_has_expired_counts_for_nothing() {
    let parked = Parked::new(Duration::ZERO).unwrap();
    let (state, _gone) = park(&parked, &bound());
    // Nothing else runs meanwhile, so the call itself is still there: what refuses is the text.
    std::thread::sleep(Duration::from_millis(5));
    assert_eq!(parked.find(&bound(), &state).err(), Some(NotOurs));
}

#[tokio::test(start_paused = true)]
async fn a_call_whose_client_never_comes_back_is_ended() {
    let parked = Parked::new(LONG).unwrap();
    let (_state, gone) = park(&parked, &bound());
    gone.await.unwrap_err();
}

#[tokio::test]
async fn with_the_server_all_that_waits_is_ended() {
    let parked = Parked::new(LONG).unwrap();
    let (state, gone) = park(&parked, &bound());
    parked.clear();
    gone.await.unwrap_err();
    assert_eq!(parked.find(&bound(), &state).err(), Some(NotOurs));
}

#[tokio::test]
async fn a_text_of_another_server_counts_for_nothing() {
    let (ours, theirs) = (Parked::new(LONG).unwrap(), Parked::new(LONG).unwrap());
    let (state, _gone) = park(&theirs, &bound());
    assert_eq!(ours.find(&bound(), &state).err(), Some(NotOurs));
    assert!(theirs.find(&bound(), &state).is_ok());
}

#[tokio::test]
async fn one_caller_cannot_take_all_the_room() {
    let parked = Parked::new(LONG).unwrap();
    let mut held = Vec::new();
    for _ in 0..super::MOST_OF_ONE {
        held.push(park(&parked, &bound()));
    }
    let (going, asked, gone) = call();
    assert_eq!(parked.park(&bound(), going, asked).unwrap_err().code, ErrorCode::Busy);
    gone.await.unwrap_err();
    let other = Bound::to(&somebody(Some("other"), "mcp/a"), "writes", &JsonObject::new());
    park(&parked, &other);
}

#[track_caller]
fn check(who: &Admitted, tool: &str, with: &Value, is_same: bool) {
    let other = Bound::to(who, tool, &arguments(with));
    let one = Bound::to(
        &somebody(Some("agent"), "mcp/a"),
        "writes",
        &arguments(&json!({"n": 7, "m": {"a": 1, "b": 2}})),
    );
    assert_eq!(one.seal == other.seal, is_same, "{tool} {with}");
}

#[test]
fn what_a_text_is_bound_to_is_the_caller_the_tool_and_the_meaning_of_the_arguments() {
    let agent = somebody(Some("agent"), "mcp/a");
    let same = json!({"n": 7, "m": {"a": 1, "b": 2}});
    check(&agent, "writes", &same, true);
    check(&agent, "writes", &json!({"m": {"b": 2, "a": 1}, "n": 7}), true);
    check(&somebody(Some("agent"), "mcp/b"), "writes", &same, true);
    check(&somebody(Some("other"), "mcp/a"), "writes", &same, false);
    check(&somebody(None, "mcp/a"), "writes", &same, false);
    check(&Admitted { scopes: Scopes::ALL, ..agent.clone() }, "writes", &same, false);
    check(&agent, "write", &same, false);
    for with in [
        json!({}),
        json!({"n": 7}),
        json!({"n": "7", "m": {"a": 1, "b": 2}}),
        json!({"n": 7, "m": {"a": 2, "b": 1}}),
        json!({"n": 7, "m": [1, 2]}),
    ] {
        check(&agent, "writes", &with, false);
    }
}
