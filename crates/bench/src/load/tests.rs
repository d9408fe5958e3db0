//! Which answers count.

use super::{Request, Response};

#[track_caller]
fn check(status: u16, body: &str, counts: bool) {
    let request = Request::call(([127, 0, 0, 1], 1).into(), "answer", 42);
    assert_eq!(
        request.is_met_by(&Response { status, is_last: false, body: body.to_owned() }),
        counts,
        "{status} {body}"
    );
}

#[test]
fn an_answer_counts_only_when_the_call_went_well_and_gave_this_very_value() {
    check(200, r#"{"ok":true,"value":42}"#, true);
    check(200, r#"{"ok":true,"value":421}"#, false);
    check(200, r#"{"ok":true,"value":"42"}"#, false);
    check(200, r#"{"ok":true,"value":{"value":42}}"#, false);
    check(200, r#"{"ok":false,"value":42}"#, false);
    check(200, r#"{"ok":false,"error":{"message":"42"}}"#, false);
    check(200, "42", false);
    check(503, r#"{"ok":true,"value":42}"#, false);
}

#[test]
fn an_answer_over_mcp_counts_only_when_it_is_no_error_and_its_text_is_this_very_value() {
    let request = Request::over_mcp(([127, 0, 0, 1], 1).into(), "2026-07-28", "answer", 42);
    let is_met =
        |status, body: &str| request.is_met_by(&Response { status, is_last: false, body: body.to_owned() });
    assert!(is_met(200, r#"{"result":{"content":[{"type":"text","text":"42"}]}}"#));
    assert!(is_met(200, r#"{"result":{"isError":false,"content":[{"type":"text","text":"42"}]}}"#));
    for body in [
        r#"{"result":{"isError":true,"content":[{"type":"text","text":"42"}]}}"#,
        r#"{"result":{"content":[{"type":"text","text":"421"}]}}"#,
        r#"{"error":{"message":"42"}}"#,
        "42",
    ] {
        assert!(!is_met(200, body), "{body}");
    }
    assert!(!is_met(503, r#"{"result":{"content":[{"type":"text","text":"42"}]}}"#));
}
