//! `tool call`: a published tool, its arguments, its console, its exit codes, and who says yes.

use insta::assert_snapshot;

use super::{GREET, KEEP, Program, check_code, json, with};

fn published(name: &str, text: &str) -> Program {
    let file = format!("{name}.tool.yaml");
    let program = with(&[(&file, text)]);
    check_code(&program.run(&["tool", "publish", &file, "--justification", "it is here to be called"]), 0);
    program
}

#[test]
fn the_result_goes_to_stdout_and_the_console_to_stderr() {
    let program = published("greet", GREET);
    let run = program.run(&["tool", "call", "greet", "--arg", "who=42"]);
    assert_eq!(
        (run.stdout.as_str(), run.stderr.as_str(), run.code),
        ("\"Hello 42!\"\n", "greeting 42\n", Some(0))
    );
    let run = program.run_with_input(&["tool", "call", "greet", "--args", "-"], "{\"who\": \"stdin\"}");
    assert_eq!(run.stdout, "\"Hello stdin!\"\n", "{}", run.stderr);
}

#[test]
fn machines_get_the_report_of_the_call() {
    let program = published("greet", GREET);
    let report = json(&program, &["tool", "call", "greet", "--arg", "who=me", "--correlation", "abc"], 0);
    assert_eq!((&report["ok"], &report["value"]), (&true.into(), &"Hello me!".into()));
    assert_eq!(
        (&report["correlationId"], &report["logs"][0]["text"]),
        (&"abc".into(), &"greeting me".into())
    );
    for field in ["usage", "risk", "receipt", "callId", "logsDropped"] {
        assert!(!report[field].is_null(), "{field}");
    }
    let shown = program.run(&["audit", "show", "--correlation", "abc"]);
    assert!(shown.stdout.contains("greet"), "{}{}", shown.stdout, shown.stderr);
}

#[test]
fn each_kind_of_failure_has_its_exit_code() {
    let program = published("greet", GREET);
    for (arguments, code, said) in [
        (&["greet"][..], 2, "who"),
        (&["greet", "--arg", "wo=x"], 2, "did you mean `who`?"),
        (&["greet", "--arg", "who"], 2, "is not NAME=VALUE"),
        (&["greet", "--args", "[]"], 2, "--args is not a JSON object"),
        (&["greet", "--arg", "who=x", "--correlation", "a b"], 2, "correlation id"),
        (&["nope"], 2, "there is no tool `nope`"),
    ] {
        let run = program.run(&[&["tool", "call"], arguments].concat());
        check_code(&run, code);
        assert!(run.stderr.contains(said), "{arguments:?}: {}", run.stderr);
    }
    let throws =
        GREET.replace("return `", "if (who === 'nobody') throw new Error('nobody is here'); return `");
    let run = published("greet", &throws).run(&["tool", "call", "greet", "--arg", "who=nobody"]);
    check_code(&run, 1);
    assert!(run.stderr.contains("EVAL_ERROR: Error: nobody is here"), "{}", run.stderr);
}

#[test]
fn a_draft_is_not_called() {
    let program = with(&[("greet.tool.yaml", GREET)]);
    check_code(&program.run(&["tool", "import", "greet.tool.yaml"]), 0);
    let run = program.run(&["tool", "call", "greet", "--arg", "who=x"]);
    assert_ne!(run.code, Some(0), "{}", run.stdout);
    assert!(run.stderr.contains("hint: "), "{}", run.stderr);
}

/// How many workspaces hold what `keep` writes.
fn kept(program: &Program) -> usize {
    let workspaces = program.home().join(".local/share/bailiwick/workspaces");
    let workspaces = workspaces.read_dir().into_iter().flatten().flatten();
    workspaces.filter(|workspace| workspace.path().join("kept.txt").exists()).count()
}

#[test]
fn a_call_that_waits_for_a_person_does_not_run_where_there_is_nobody() {
    let program = published("keep", KEEP);
    let run = program.run(&["tool", "call", "keep", "--arg", "text=a"]);
    check_code(&run, 3);
    assert_snapshot!(run.stderr, @r"
    error: APPROVAL_UNAVAILABLE: `keep` did not run: a person has to say yes, and there is nobody to ask
      hint: call it where a person can be asked: at a terminal, or with --yes
    ");
    assert_eq!(kept(&program), 0, "nothing ran");
    let report = json(&program, &["tool", "call", "keep", "--arg", "text=a"], 3);
    assert_eq!(report["error"]["code"], "APPROVAL_UNAVAILABLE");
}

#[test]
fn a_yes_on_the_command_line_counts_and_is_recorded_as_such() {
    let program = published("keep", KEEP);
    let run = program.run(&["tool", "call", "keep", "--arg", "text=a", "--yes", "--correlation", "c-1"]);
    check_code(&run, 0);
    assert_eq!(kept(&program), 1, "it ran");
    assert!(run.stderr.starts_with("ask: call keep  yes (--yes)\n"), "{}", run.stderr);
    let shown = json(&program, &["audit", "show", "--correlation", "c-1"], 0);
    let decision =
        shown["records"].as_array().unwrap().iter().find(|record| record["kind"] == "decision").unwrap();
    assert_eq!(
        (&decision["approval"]["answer"], &decision["approval"]["by"]),
        (&"yes".into(), &"flag:--yes".into())
    );
}
