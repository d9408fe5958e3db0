//! What is asked at a terminal: before a call, before something is removed, and for a new tool.

use serde_json::Value;

use super::{GREET, KEEP, Program, bailiwick, check_code, json, with, written};

fn published_keep() -> Program {
    let program = with(&[("keep.tool.yaml", KEEP)]);
    check_code(&program.run(&["tool", "publish", "keep.tool.yaml", "--justification", "keeps one file"]), 0);
    program
}

#[track_caller]
fn check_answer(answer: &str, code: i32, recorded: &str) {
    let program = published_keep();
    let mut running =
        program.start_at_a_terminal(&["tool", "call", "keep", "--arg", "text=hi", "--correlation", "c"]);
    let asked = running.wait_for("allow it? [y/N] ");
    for said in ["ask: ", "keep wants to write (L4)", "fileWrite", "\"text\": \"hi\"", "hash", "120 s"] {
        assert!(asked.contains(said), "{said}: {asked}");
    }
    running.send(answer);
    let (ended, text) = running.end();
    assert_eq!(ended, Some(code), "{text}");
    let shown = json(&program, &["audit", "show", "--correlation", "c"], 0);
    let records = shown.get("records").and_then(Value::as_array).cloned().unwrap_or_default();
    let mut answers = records.iter().filter_map(|record| record.pointer("/approval/answer")?.as_str());
    assert_eq!(answers.next(), Some(recorded), "{shown}");
}

#[test]
fn a_call_runs_only_after_a_yes_at_the_terminal() {
    check_answer("y\n", 0, "yes");
    check_answer("yes\n", 0, "yes");
    check_answer("n\n", 3, "no");
    check_answer("\n", 3, "no");
    check_answer("yep\n", 3, "no");
}

#[test]
fn hostile_arguments_cannot_paint_the_question() {
    let program = published_keep();
    let text = "\u{1b}[2K\u{1b}[1A\u{202e}yes\u{200b}\r\u{7}";
    let arguments = serde_json::json!({"text": text}).to_string();
    let mut running = program.start_at_a_terminal(&["tool", "call", "keep", "--args", &arguments]);
    let asked = running.wait_for("allow it? [y/N] ");
    for hostile in ["\u{1b}[2K", "\u{1b}[1A", "\u{202e}", "\u{200b}", "\u{7}"] {
        assert!(!asked.contains(hostile), "{asked:?}");
    }
    assert!(asked.contains("\\u{202e}"), "it is made visible: {asked:?}");
    running.send("n\n");
    assert_eq!(running.end().0, Some(3));
}

#[test]
fn a_long_argument_is_shown_whole_before_the_question() {
    let program = published_keep();
    let lines = (0..60).map(|n| format!("line {n} ")).collect::<Vec<_>>().concat();
    let text = format!("{lines}{} the-tail", "x".repeat(2_000));
    let mut running =
        program.start_at_a_terminal(&["tool", "call", "keep", "--arg", &format!("text={text}")]);
    let asked = running.wait_for("allow it? [y/N] ");
    assert!(asked.contains("the-tail") && !asked.contains("not shown"), "{asked}");
    running.send("n\n");
    assert_eq!(running.end().0, Some(3));
}

#[test]
fn nobody_answers_in_time() {
    let program = published_keep();
    let running = program.start_at_a_terminal(&[
        "tool",
        "call",
        "keep",
        "--arg",
        "text=hi",
        "--set",
        "approvals.deadline=300ms",
    ]);
    let (code, text) = running.end();
    assert_eq!(code, Some(3), "{text}");
    assert!(text.contains("APPROVAL_TIMEOUT"), "{text}");
}

#[test]
fn removing_asks_first() {
    let program = with(&[("greet.tool.yaml", GREET)]);
    check_code(&program.run(&["tool", "import", "greet.tool.yaml"]), 0);
    for (answer, code) in [("n\n", 3), ("y\n", 0)] {
        let mut running = program.start_at_a_terminal(&["tool", "rm", "greet"]);
        running.wait_for("Remove the tool greet for good? [y/N] ");
        running.send(answer);
        let (ended, text) = running.end();
        assert_eq!(ended, Some(code), "{text}");
    }
    check_code(&program.run(&["tool", "show", "greet"]), 2);
}

#[test]
fn turning_approval_off_is_confirmed_at_the_terminal() {
    let (on, off) = (KEEP.replace("AUTO", "REQUIRED"), KEEP.replace("AUTO", "DISABLED"));
    let program = with(&[("keep.tool.yaml", &on), ("off.tool.yaml", &off)]);
    check_code(&program.run(&["tool", "import", "keep.tool.yaml"]), 0);
    for (answer, code) in [("n\n", 3), ("y\n", 0)] {
        let mut running = program.start_at_a_terminal(&["tool", "import", "off.tool.yaml"]);
        running.wait_for("turn approval off? [y/N] ");
        running.send(answer);
        let (ended, text) = running.end();
        assert_eq!(ended, Some(code), "{text}");
    }
}

#[test]
fn a_new_tool_is_asked_for_what_was_not_typed() {
    let program = bailiwick();
    let mut running = program.start_at_a_terminal(&["tool", "new"]);
    for (question, answer) in [
        ("Name of the tool", "Not A Name"),
        ("again: ", "stars"),
        ("What does it do", "Counts stars."),
        ("parameter: ", "repo:string!=a/b"),
        ("parameter: ", ""),
        ("Hosts it fetches from", "api.github.com"),
        ("none, read or write? [none] ", ""),
    ] {
        running.wait_for(question);
        running.send(&format!("{answer}\n"));
    }
    let (code, text) = running.end();
    assert_eq!(code, Some(0), "{text}");
    let made = written(&program, "stars.tool.yaml");
    for said in ["Counts stars.", "testValue: \"a/b\"", "hosts: [api.github.com]"] {
        assert!(made.contains(said), "{said}: {made}");
    }
    check_code(&program.run(&["tool", "test", "stars.tool.yaml"]), 0);
}

#[test]
fn differences_have_colours_at_a_terminal() {
    let program = with(&[("greet.tool.yaml", &GREET.replace("Hello you!", "Bye!"))])
        .with_variable("TERM", "xterm-256color");
    let (code, text) = program.start_at_a_terminal(&["tool", "test", "greet.tool.yaml"]).end();
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("\u{1b}["), "{text:?}");
}
