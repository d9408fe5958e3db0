//! Which answers count.

use super::{Heard, Wish};

#[track_caller]
fn check(status: u16, body: &str, counts: bool) {
    let wish = Wish::call(([127, 0, 0, 1], 1).into(), "answer", 42);
    assert_eq!(
        wish.is_met_by(&Heard { status, is_last: false, body: body.to_owned() }),
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
