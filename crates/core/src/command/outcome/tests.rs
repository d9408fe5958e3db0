//! Every way in which a command can end, and what its caller is told.

use bailiwick_redact::{Redactor, Secret};
use bailiwick_sandbox::{Captured, ExecResult, ExecUsage, Exit, Limits};
use bailiwick_tool::{CommandBlock, Syntax, Tool};
use bailiwick_types::{CallId, ErrorCode, Failure, Outcome, Receipt, SandboxId, Tier};
use serde_json::{Value, json};

use super::{MOST_LINES, lines, outcome};

fn block(command: &str) -> CommandBlock {
    let text = format!("name: a\ndescription: d\ncommand: {command}\n");
    Tool::read("a.tool.yaml", &text, Syntax::Yaml).unwrap().tool.command().unwrap().clone()
}

fn captured(text: impl Into<Vec<u8>>) -> Captured {
    Captured { bytes: text.into().into(), truncated: false }
}

/// A command that wrote this and ended with this.
fn ended(exit: Exit, stdout: &str, stderr: &str) -> ExecResult {
    ExecResult {
        exit,
        timed_out: false,
        oom: false,
        stdout: captured(stdout),
        stderr: captured(stderr),
        usage: ExecUsage { wall_ms: 12.5, ..ExecUsage::default() },
        denials: Vec::new(),
        receipt: Receipt::new(Tier::Process, Vec::new(), &[]),
        sandbox_id: SandboxId::from_parts(1, &[1; 10]),
        backend: "process".to_owned(),
        tier: Tier::Process,
        correlation_id: CallId::from_parts(1, &[1; 10]).into(),
    }
}

fn redactor() -> Redactor {
    Redactor::new([&Secret::new("hunter22-hunter22".to_owned())]).unwrap()
}

fn of(command: &str, result: &ExecResult) -> Result<Value, Box<Failure>> {
    match outcome(&block(command), result, &Limits::default(), &redactor()) {
        Outcome::Returned(value) => Ok(value),
        Outcome::Failed(failure) => Err(failure),
    }
}

#[track_caller]
fn check(command: &str, stdout: &str, expected: Value) {
    assert_eq!(of(command, &ended(Exit::Code(0), stdout, "")), Ok(expected));
}

#[track_caller]
fn check_failed(command: &str, result: &ExecResult, code: ErrorCode, message: &str) {
    let failure = of(command, result).unwrap_err();
    assert_eq!(failure.code, code, "{failure:?}");
    assert!(failure.message.contains(message) && failure.hint.is_some(), "{failure:?}");
}

#[test]
fn output_becomes_what_the_document_says() {
    check("{argv: [a]}", "one\ntwo\n", json!("one\ntwo\n"));
    check("{argv: [a]}", "", json!(""));
    check("{argv: [a], output: lines}", "one\n\ntwo\n", json!(["one", "", "two"]));
    check("{argv: [a], output: lines}", "", json!([]));
    check("{argv: [a], output: json}", " {\"a\": [1]}\n", json!({"a": [1]}));
    check_failed(
        "{argv: [a], output: json}",
        &ended(Exit::Code(0), "{} x", ""),
        ErrorCode::EvalError,
        "no JSON",
    );
    let deep = "[".repeat(1000) + &"]".repeat(1000);
    check_failed(
        "{argv: [a], output: json}",
        &ended(Exit::Code(0), &deep, ""),
        ErrorCode::EvalError,
        "no JSON",
    );
    let bytes = ExecResult { stdout: captured(vec![0xff, 0]), ..ended(Exit::Code(0), "", "") };
    check_failed("{argv: [a]}", &bytes, ErrorCode::EvalError, "no UTF-8");
}

#[test]
fn what_was_cut_is_never_a_result() {
    let cut = Captured { truncated: true, ..captured("[1]") };
    let result = ExecResult { stdout: cut.clone(), ..ended(Exit::Code(0), "", "") };
    for command in ["{argv: [a]}", "{argv: [a], output: json}", "{argv: [a], output: lines}"] {
        check_failed(command, &result, ErrorCode::OutputLimit, "1MiB");
    }
    let said = Captured { truncated: true, ..captured("{\"value\": 1}") };
    let result = ExecResult { stdout: said, ..ended(Exit::Code(0), "", "") };
    check_failed("{language: python, script: x}", &result, ErrorCode::OutputLimit, "1MiB");
}

#[test]
fn an_exit_code_is_fine_where_the_document_says_so() {
    assert_eq!(of("{argv: [a], okExit: [0, 1]}", &ended(Exit::Code(1), "x", "")), Ok(json!("x")));
    check_failed(
        "{argv: [a], okExit: [1]}",
        &ended(Exit::Code(0), "x", ""),
        ErrorCode::EvalError,
        "exit code 0",
    );
    check_failed(
        "{argv: [a]}",
        &ended(Exit::Code(2), "x", "first\nit went wrong\n"),
        ErrorCode::EvalError,
        "exit code 2: first\nit went wrong",
    );
}

#[test]
fn every_end_has_its_code() {
    let plain = ended(Exit::Signal(9), "", "");
    let late = ExecResult { timed_out: true, ..plain.clone() };
    check_failed("{argv: [a]}", &late, ErrorCode::Timeout, "limit of 30s on timeout");
    let full = ExecResult { oom: true, ..plain.clone() };
    check_failed("{argv: [a]}", &full, ErrorCode::MemoryLimit, "limit of 256MiB on memory");
    // What lost a part of itself did not do well, whatever it says.
    let half = ExecResult { oom: true, ..ended(Exit::Code(0), "x", "") };
    check_failed("{argv: [a]}", &half, ErrorCode::MemoryLimit, "memory");
    check_failed("{argv: [a]}", &plain, ErrorCode::EvalError, "SIGKILL");
    check_failed("{argv: [a]}", &ended(Exit::Signal(31), "", ""), ErrorCode::SandboxViolation, "system call");
    check_failed("{argv: [a]}", &ended(Exit::NotFound, "", ""), ErrorCode::EvalError, "no such program");
    check_failed("{argv: [a]}", &ended(Exit::NotExecutable, "", ""), ErrorCode::EvalError, "no program");
}

#[test]
fn a_script_gives_what_its_runner_says() {
    const SCRIPT: &str = "{language: python, script: x}";
    check(SCRIPT, "{\"value\": {\"a\": null}}", json!({"a": null}));
    let raised = json!({"error": {
        "kind": "ValueError", "message": "no", "place": [2, 1], "frames": [[3, "script"], [2, "f"]],
    }});
    let failure = of(SCRIPT, &ended(Exit::Code(1), &raised.to_string(), "")).unwrap_err();
    assert_eq!((failure.code, failure.message.as_str()), (ErrorCode::EvalError, "ValueError: no"));
    assert_eq!(failure.location.map(|place| (place.line, place.column)), Some((2, 1)));
    assert_eq!(failure.stack.as_deref(), Some("    at f (script:2)\n    at script (script:3)"));
    for (kind, code) in [
        ("SyntaxError", ErrorCode::SyntaxError),
        ("MemoryError", ErrorCode::MemoryLimit),
        ("RecursionError", ErrorCode::StackLimit),
    ] {
        let raised = json!({"error": {"kind": kind, "message": "", "place": null, "frames": []}});
        let failure = of(SCRIPT, &ended(Exit::Code(1), &raised.to_string(), "")).unwrap_err();
        assert_eq!((failure.code, failure.message.as_str()), (code, kind));
    }
    for odd in
        ["", "x", "{}", "{\"value\": 1} {\"value\": 2}", "{\"value\": 1, \"error\": 2}", "{\"other\": 1}"]
    {
        check_failed(SCRIPT, &ended(Exit::Code(0), odd, ""), ErrorCode::EvalError, "without a result");
    }
    check_failed(SCRIPT, &ended(Exit::Code(3), "", "x"), ErrorCode::EvalError, "exit code 3: x");
}

#[test]
fn secrets_are_masked_in_all_that_leaves() {
    let value = of(
        "{argv: [a], output: json}",
        &ended(Exit::Code(0), "{\"hunter22-hunter22\": \"x hunter22-hunter22\"}", ""),
    );
    assert_eq!(value, Ok(json!({"***": "x ***"})));
    let long = format!("{}hunter22-hunter22{}", "a ".repeat(1200), "b ".repeat(495));
    let result = ended(Exit::Code(1), "", &long);
    let failure = of("{argv: [a]}", &result).unwrap_err();
    assert!(failure.message.contains(" … ") && failure.message.len() < 3_000, "{}", failure.message);
    let (told, _) = lines(&result, &redactor());
    for text in [&failure.message, &told[0].text] {
        assert!(text.contains("***") && !text.contains("hunter22"), "{text}");
    }
    // The beginning of a secret whose end was cut off is none of the text.
    let cut = Captured { truncated: true, ..captured("ok hunter22-hunt") };
    let (told, dropped) = lines(&ExecResult { stderr: cut, ..ended(Exit::Code(0), "", "") }, &redactor());
    assert!(dropped == 1 && !told[0].text.contains("hunter"), "{told:?}");
}

#[test]
fn console_lines_are_bounded_and_counted() {
    let many = "line\n".repeat(MOST_LINES + 7);
    let (told, dropped) = lines(&ended(Exit::Code(0), "", &many), &redactor());
    assert_eq!((told.len(), dropped, told[0].at), (MOST_LINES, 7, 12));
}
