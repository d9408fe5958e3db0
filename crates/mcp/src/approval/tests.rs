//! What a person is shown, and what counts as a yes.

use bailiwick_core::{Actor, Answer, Approver as _, Question};
use bailiwick_types::{CallId, CorrelationId, Risk, RiskLevel};
use rmcp::model::InputResponses;
use serde_json::{Value, json};

use super::{AtClient, KEY, MOST_SHOWN, form, read, text};
use crate::line::{Line, Said};

fn question() -> Question {
    Question {
        tool: "writes".to_owned(),
        hash: Some("ab".repeat(32)),
        policy_hash: "0".repeat(64),
        call_id: CallId::from_parts(1, &[7; 10]),
        prompt: None,
        risk: Risk { level: RiskLevel::L3, credited: None, reasons: Vec::new() },
        code: None,
        workspace: None,
        arguments: json!({"n": 1}),
        actor: Actor { key: Some("agent".to_owned()), client: "mcp/a-test".to_owned() },
        correlation_id: CorrelationId::parse("together").unwrap(),
        effect: None,
        deadline_ms: 120_000,
    }
}

#[track_caller]
fn check(said: &Value, is_yes: bool) {
    let said: InputResponses = serde_json::from_value(said.clone()).unwrap();
    let by = || "somebody".to_owned();
    let wanted = if is_yes { Answer::Yes { by: by() } } else { Answer::No { by: by() } };
    assert_eq!(read(&said, by()), wanted, "{said:?}");
}

#[test]
fn only_an_explicit_yes_is_one() {
    let of = |answer: Value| json!({KEY: answer});
    check(&of(json!({"action": "accept", "content": {"approve": true}})), true);
    check(&of(json!({"action": "accept", "content": {"approve": true, "more": 1}})), true);
    check(&json!({}), false);
    check(&json!({"other": {"action": "accept", "content": {"approve": true}}}), false);
    for answer in [
        json!(true),
        Value::Null,
        json!("accept"),
        json!([]),
        json!({"action": "accept"}),
        json!({"action": "accept", "content": true}),
        json!({"action": "accept", "content": {"approve": "true"}}),
        json!({"action": "accept", "content": {"approve": 1}}),
        json!({"action": "accept", "content": {"approve": false}}),
        json!({"action": "decline", "content": {"approve": true}}),
        json!({"action": "cancel", "content": {"approve": true}}),
        json!({"action": "Accept", "content": {"approve": true}}),
    ] {
        check(&of(answer), false);
    }
}

#[test]
fn a_text_that_is_too_long_to_be_read_has_no_form() {
    assert!(form(&question()).is_some());
    let length = text(&question()).chars().count();
    let filled = |more: usize| Question { arguments: json!({"n": 1, "t": "x".repeat(more)}), ..question() };
    // Six characters of JSON stand around the text.
    let fits = MOST_SHOWN - length - 7;
    assert!(form(&filled(fits)).is_some());
    assert!(form(&filled(fits + 1)).is_none());
    assert!(form(&Question { code: Some("x".repeat(MOST_SHOWN)), ..question() }).is_none());
    assert!(form(&Question { prompt: Some("\u{202e}".repeat(MOST_SHOWN / 6)), ..question() }).is_none());
}

#[test]
fn whatever_a_stranger_wrote_stays_on_its_line() {
    let hostile = "x\n\u{1b}[2J\u{202e}Asked for by operator, with cli.\r\u{200b}";
    let asked = Question {
        tool: hostile.to_owned(),
        prompt: Some(hostile.to_owned()),
        code: Some(hostile.to_owned()),
        arguments: json!({"n": hostile}),
        workspace: Some(hostile.to_owned()),
        actor: Actor { key: Some(hostile.to_owned()), client: hostile.to_owned() },
        ..question()
    };
    let shown = text(&asked);
    assert!(!shown.contains(['\u{1b}', '\u{202e}', '\u{200b}', '\r']), "{shown:?}");
    assert_eq!(shown.lines().filter(|line| line.starts_with("Asked for by ")).count(), 1, "{shown}");
}

#[track_caller]
fn check_asked(can_ask: bool, up_to: impl Into<Option<RiskLevel>>, asked: Question, is_asked: bool) {
    let (line, mut heard) = Line::new(can_ask, "mcp/a-test".to_owned());
    let client = AtClient { line, up_to: up_to.into() };
    let mut answer = client.ask(asked);
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    let at_once = answer.as_mut().poll(&mut context);
    assert_eq!(matches!(heard.try_recv(), Ok(Said::Asks(_))), is_asked);
    assert_eq!(
        at_once,
        if is_asked { std::task::Poll::Pending } else { std::task::Poll::Ready(Answer::Nobody) }
    );
}

#[test]
fn a_client_is_asked_only_up_to_the_operators_level_and_only_if_it_can_be() {
    check_asked(true, RiskLevel::L3, question(), true);
    check_asked(true, RiskLevel::L2, question(), false);
    check_asked(true, RiskLevel::L0, question(), false);
    check_asked(false, RiskLevel::L5, question(), false);
    check_asked(true, RiskLevel::L5, Question { code: Some("x".repeat(5000)), ..question() }, false);
}
