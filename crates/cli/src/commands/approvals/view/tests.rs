//! Keys against questions, by a clock of the test's own.

use std::time::{Duration, Instant};

use bailiwick_core::{Remember, RememberedFor, Waiting};
use serde_json::json;

use super::{Do, Key, SETTLED, View};
use crate::render::stage::Line;

const ALONE: &str = "01890000-0000-7000-8000-00000000000";

fn waiting(n: u8, arguments: &serde_json::Value) -> Waiting {
    serde_json::from_value(json!({
        "id": format!("{ALONE}{n}"),
        "question": {
            "tool": format!("tool{n}"), "hash": "h", "policyHash": "p",
            "callId": format!("{ALONE}{n}"), "prompt": null,
            "risk": {"level": "L4", "credited": null, "reasons": []},
            "arguments": arguments, "actor": {"key": "agent", "client": "http"},
            "correlationId": "c", "effect": null, "deadlineMs": 120_000,
        },
        "askedAt": "2026-01-01T00:00:00Z", "deadlineAt": "2026-01-01T00:02:00Z", "remainingMs": 120_000,
        "last": {"arguments": {"text": "old"}, "at": "2025-12-31T00:00:00Z", "by": "operator", "hash": "h"},
    }))
    .expect("a question")
}

fn questions(numbers: &[u8]) -> Vec<Waiting> {
    numbers.iter().map(|n| waiting(*n, &json!({"text": "new"}))).collect()
}

/// A view that shows these, painted just now.
fn shown(numbers: &[u8], now: Instant) -> View {
    let mut view = View::default();
    view.take(questions(numbers), now);
    view.frame(80, 40, now);
    view
}

fn id(n: u8) -> bailiwick_types::ApprovalId {
    bailiwick_types::ApprovalId::parse(&format!("{ALONE}{n}")).expect("an id")
}

fn text(lines: &[Line]) -> String {
    let mut bytes = Vec::new();
    for line in lines {
        for span in line {
            span.write_plain(&mut bytes);
        }
        bytes.push(b'\n');
    }
    String::from_utf8(bytes).expect("text")
}

#[track_caller]
fn check(keys: &[Key], expected: &Do) {
    let now = Instant::now();
    let mut view = shown(&[1, 2, 3], now);
    let mut done = Do::Nothing;
    let mut at = now;
    for key in keys {
        at += SETTLED;
        done = view.press(*key, at);
        view.frame(80, 40, at);
    }
    assert_eq!(done, *expected, "{keys:?}");
}

#[test]
fn one_key_answers_what_is_selected() {
    let yes = |n, remember| Do::Answer { id: id(n), yes: true, remember };
    check(&[Key::Char('y')], &yes(1, None));
    check(&[Key::Char('n')], &Do::Answer { id: id(1), yes: false, remember: None });
    check(&[Key::Char('j'), Key::Char('y')], &yes(2, None));
    check(&[Key::Down, Key::Down, Key::Down, Key::Char('y')], &yes(3, None));
    check(&[Key::Down, Key::Up, Key::Up, Key::Char('y')], &yes(1, None));
    let remember = |what, minutes| Some(Remember { what, minutes });
    check(&[Key::Char('r'), Key::Enter], &yes(1, remember(RememberedFor::Arguments, 10)));
    check(
        &[Key::Char('R'), Key::Backspace, Key::Char('5'), Key::Enter],
        &yes(1, remember(RememberedFor::Key, 15)),
    );
    // The first digit takes the place of what is proposed; nobody who types 5 means 105.
    check(&[Key::Char('r'), Key::Char('5'), Key::Enter], &yes(1, remember(RememberedFor::Arguments, 5)));
    check(
        &[Key::Char('r'), Key::Char('4'), Key::Char('5'), Key::Enter],
        &yes(1, remember(RememberedFor::Arguments, 45)),
    );
    check(&[Key::Char('r'), Key::Char('0'), Key::Enter], &Do::Nothing);
    check(&[Key::Char('r'), Key::Escape], &Do::Nothing);
    check(&[Key::Char('r'), Key::Backspace, Key::Backspace, Key::Enter], &Do::Nothing);
    check(&[Key::Char('r'), Key::Char('y')], &Do::Nothing);
    for other in [Key::Enter, Key::Escape, Key::Char('Y'), Key::Char('x')] {
        check(&[other], &Do::Nothing);
    }
    check(&[Key::Char('q')], &Do::Quit);
    check(&[Key::End], &Do::Quit);
}

#[test]
fn a_question_that_has_only_just_appeared_is_not_answered() {
    let now = Instant::now();
    let early = now + SETTLED.checked_sub(Duration::from_millis(1)).expect("a while");
    let mut view = shown(&[1, 2], now);
    assert_eq!(view.press(Key::Char('y'), early), Do::Nothing);
    // The first is gone, and the second slides into its place: it has to stand there by itself.
    view.take(questions(&[2]), now + SETTLED);
    assert_eq!(view.press(Key::Char('y'), now + SETTLED), Do::Nothing);
    view.frame(80, 40, now + SETTLED);
    assert_eq!(view.press(Key::Char('y'), now + SETTLED + SETTLED / 2), Do::Nothing);
    let done = view.press(Key::Char('y'), now + SETTLED + SETTLED);
    assert_eq!(done, Do::Answer { id: id(2), yes: true, remember: None });
}

#[test]
fn a_question_without_room_for_what_matters_is_not_answered() {
    let now = Instant::now();
    let later = now + SETTLED * 4;
    let yes = Do::Answer { id: id(1), yes: true, remember: None };
    for (columns, rows) in [(80, 1), (80, 5), (80, 6), (80, 9), (16, 40)] {
        let mut view = View::default();
        view.take(questions(&[1]), now);
        view.frame(columns, rows, now);
        for key in ['y', 'n', 'r', 'R'] {
            assert_eq!(view.press(Key::Char(key), later), Do::Nothing, "{key} at {columns} × {rows}");
        }
        let said = text(&view.frame(80, rows.max(6), later));
        assert!(said.contains("make the window larger, or scroll"), "{said}");
        // A window that is large enough later shows it only from then on.
        view.frame(90, 40, later);
        assert_eq!(view.press(Key::Char('y'), later), Do::Nothing, "{columns} × {rows}");
        assert_eq!(view.press(Key::Char('y'), later + SETTLED), yes, "{columns} × {rows}");
    }
}

#[test]
fn what_matters_may_be_scrolled_through() {
    let now = Instant::now();
    let mut view = View::default();
    view.take(questions(&[1]), now);
    for _ in 0..20 {
        view.frame(80, 9, now);
        view.press(Key::Char(' '), now);
    }
    view.frame(80, 9, now);
    let done = view.press(Key::Char('y'), now + SETTLED);
    assert_eq!(done, Do::Answer { id: id(1), yes: true, remember: None });
}

/// A question whose last argument is far below the first screen.
fn with_a_tail() -> Waiting {
    let lines: Vec<String> = (0..60).map(|n| format!("line {n}")).collect();
    waiting(1, &json!({"a": lines, "z": "rm -rf /"}))
}

#[test]
fn a_yes_counts_only_once_every_line_was_on_the_screen() {
    let now = Instant::now();
    let later = now + SETTLED * 2;
    for (letter, expected) in [
        ('y', Do::Answer { id: id(1), yes: true, remember: None }),
        // These ask for the minutes first.
        ('r', Do::Nothing),
        ('R', Do::Nothing),
    ] {
        let mut view = View::default();
        view.take(vec![with_a_tail()], now);
        let first = text(&view.frame(80, 30, now));
        assert!(!first.contains("rm -rf"), "the tail is not on the first screen: {first}");
        assert_eq!(view.press(Key::Char(letter), later), Do::Nothing, "{letter}");
        assert!(view.typing.is_none(), "{letter} begins nothing before everything was seen");
        let said = text(&view.frame(80, 30, later));
        assert!(
            said.contains("not on the screen yet") && said.contains(&format!("press {letter} again")),
            "{said}"
        );
        let mut at = later;
        while !text(&view.frame(80, 30, at)).contains("id          01890000") {
            view.press(Key::Char(' '), at);
        }
        // It has to stand there for a while, too.
        assert_eq!(view.press(Key::Char(letter), at), Do::Nothing, "{letter}");
        assert!(view.typing.is_none(), "{letter}");
        at += SETTLED;
        assert_eq!(view.press(Key::Char(letter), at), expected, "{letter}");
        assert_eq!(view.typing.is_some(), letter != 'y', "{letter}");
    }
}

#[test]
fn a_no_needs_no_scrolling() {
    let now = Instant::now();
    let mut view = View::default();
    view.take(vec![with_a_tail()], now);
    view.frame(80, 30, now);
    let no = Do::Answer { id: id(1), yes: false, remember: None };
    assert_eq!(view.press(Key::Char('n'), now + SETTLED), no);
}

#[test]
fn lines_that_a_page_skips_are_not_seen() {
    let now = Instant::now();
    let mut view = View::default();
    view.take(vec![with_a_tail()], now);
    view.frame(80, 30, now);
    // Two pages between two paintings: the first of them was never painted.
    view.press(Key::Char(' '), now);
    view.press(Key::Char(' '), now);
    view.press(Key::Char(' '), now);
    view.press(Key::Char(' '), now);
    view.frame(80, 30, now);
    assert_eq!(view.press(Key::Char('y'), now + SETTLED * 2), Do::Nothing);
}

#[test]
fn a_question_that_is_not_shown_whole_gets_no_yes_here() {
    let now = Instant::now();
    let mut view = View::default();
    view.take(vec![waiting(1, &json!({"text": format!("a{}z", "x".repeat(1 << 20))}))], now);
    for _ in 0..100 {
        view.frame(80, 30, now);
        view.press(Key::Char(' '), now);
    }
    let later = now + SETTLED * 2;
    for letter in ['y', 'r', 'R'] {
        assert_eq!(view.press(Key::Char(letter), later), Do::Nothing, "{letter}");
        let said = text(&view.frame(80, 30, later));
        assert!(said.contains("approvals show 00000001, then approvals yes 00000001"), "{said}");
    }
}

#[test]
fn a_new_question_leaves_the_selected_one_where_it_is() {
    let now = Instant::now();
    let mut view = shown(&[2], now);
    view.take(questions(&[1, 2, 3]), now);
    view.frame(80, 40, now);
    let done = view.press(Key::Char('y'), now + SETTLED);
    assert_eq!(done, Do::Answer { id: id(2), yes: true, remember: None });
}

#[test]
fn minutes_that_are_typed_for_a_question_that_is_over_answer_nothing() {
    let now = Instant::now();
    let mut view = shown(&[1, 2], now);
    view.press(Key::Char('r'), now + SETTLED);
    view.take(questions(&[2]), now + SETTLED);
    assert_eq!(view.press(Key::Enter, now + SETTLED * 3), Do::Nothing);
}

#[test]
fn the_frame_shows_the_question_with_what_changed_and_fits() {
    let now = Instant::now();
    let mut view = shown(&[1, 2], now);
    let frame = text(&view.frame(80, 30, now + Duration::from_mins(1)));
    for said in ["2 wait", "> L4", "tool1", "agent", "- ", "\"old\"", "+ ", "\"new\"", "1m 00s", "y yes once"]
    {
        assert!(frame.contains(said), "{said}: {frame}");
    }
    for (columns, rows) in [(80, 24), (40, 12), (20, 8), (200, 60)] {
        let frame = view.frame(columns, rows, now);
        assert!(frame.len() <= rows, "{} rows of {rows}", frame.len());
        let widest = text(&frame).lines().map(|line| line.chars().count()).max();
        assert!(widest <= Some(columns), "{widest:?} of {columns}");
    }
}

#[test]
fn hostile_arguments_are_shown_harmless() {
    let now = Instant::now();
    let mut view = View::default();
    view.take(vec![waiting(1, &json!({"text": "\u{1b}[2J\u{202e}yes\u{200b}"}))], now);
    let frame = text(&view.frame(60, 40, now));
    for hostile in ['\u{1b}', '\u{202e}', '\u{200b}'] {
        assert!(!frame.contains(hostile), "{frame:?}");
    }
    assert!(frame.contains("202e"), "{frame}");
}

#[test]
fn long_arguments_are_scrolled_and_nothing_of_them_is_lost() {
    let now = Instant::now();
    let many: Vec<String> = (0..100).map(|n| format!("line-{n}-")).collect();
    let mut view = View::default();
    view.take(vec![waiting(1, &json!({"lines": many}))], now);
    let mut seen = text(&view.frame(80, 24, now));
    assert!(seen.contains("space and b scroll"), "{seen}");
    for _ in 0..60 {
        view.press(Key::Char(' '), now);
        seen.push_str(&text(&view.frame(80, 24, now)));
    }
    for line in many {
        assert!(seen.contains(&line), "{line}");
    }
}

#[test]
fn a_huge_argument_does_not_hold_up_the_view_and_what_is_left_out_is_told() {
    let now = Instant::now();
    let huge = format!("begin{}end", "x".repeat(7 << 20));
    let mut view = View::default();
    view.take(vec![waiting(1, &json!({"text": huge}))], now);
    let first = text(&view.frame(80, 24, now));
    assert!(first.contains("begin"), "{first}");
    let lines = view.seen.as_ref().expect("a question").lines.as_ptr();
    let mut seen = String::new();
    for _ in 0..300 {
        view.press(Key::Char(' '), now);
        seen.push_str(&text(&view.frame(80, 24, now)));
    }
    assert_eq!(view.seen.as_ref().expect("a question").lines.as_ptr(), lines, "its lines are made once");
    assert!(seen.contains("bytes are left out here: bailiwick approvals show 01890000"), "{}", seen.len());
    assert!(seen.contains("end\""), "{}", seen.len());
}

#[test]
fn the_countdown_goes_on() {
    let now = Instant::now();
    let mut view = shown(&[1], now);
    for (after, left) in [(0, "left        2m 00s"), (75, "left        45s"), (119, "left        1s")] {
        let frame = text(&view.frame(80, 40, now + Duration::from_secs(after)));
        assert!(frame.contains(left), "{frame}");
    }
}
