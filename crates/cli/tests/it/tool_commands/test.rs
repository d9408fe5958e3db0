//! `tool test`: verdicts, differences, denials with their fix, and exit codes.

use insta::assert_snapshot;
use serde_json::Value;

use super::{GREET, KEEP, STRAYS, check_code, json, steady, with};

#[test]
fn a_tool_that_passes_says_so_for_each_run() {
    let run = with(&[("greet.tool.yaml", GREET)]).run(&["tool", "test", "greet.tool.yaml"]);
    check_code(&run, 0);
    assert_snapshot!(steady(&run.stdout), @r"
    passed  greet  L0
      passed  test values  N ms
      passed  greets       N ms
    ");
    assert_eq!(run.stderr, "", "the console of tests is shown with -v only");
}

#[test]
fn a_miss_shows_the_difference() {
    let other = "name: other\ndescription: One.\ntests: [{name: is as before, equals: {a: 1, b: 2}}]\ncode: |\n  return {a: 1, b: 3}\n";
    let run = with(&[("other.tool.yaml", other)]).run(&["tool", "test", "other.tool.yaml"]);
    check_code(&run, 1);
    assert_snapshot!(steady(&run.stdout), @r#"
    failed  other  L0
      passed  test values   N ms
      failed  is as before  N ms
        equals: a map of 2 was expected, but it gave a map of 2
            {
              "a": 1,
          -   "b": 2
          +   "b": 3
            }
    "#);
}

#[test]
fn a_denial_comes_with_the_line_that_lifts_it() {
    let program = with(&[("strays.tool.yaml", STRAYS)]);
    let run = program.run(&["tool", "test", "strays.tool.yaml"]);
    check_code(&run, 3);
    assert_snapshot!(steady(&run.stdout), @r"
    failed  strays  L3
      failed  test values  N ms
        NET_DENIED: GET https://evil.test/: no entry of `hosts` matches this host and port (host-not-allowed)
          --> strays.tool.yaml:9:24
          fix: if it is meant to do that, declare it:
    overrides: {hosts: [evil.test]}
          the badge becomes L3
      failed  gets it      N ms
        NET_DENIED: GET https://evil.test/: no entry of `hosts` matches this host and port (host-not-allowed)
          --> strays.tool.yaml:9:24
    ");
    // The fix is added to what is declared.
    let mended = STRAYS.replace("[api.example.com]", "[api.example.com, evil.test]");
    let program = program.with_file("strays.tool.yaml", &mended);
    check_code(&program.run(&["tool", "test", "strays.tool.yaml"]), 0);
}

#[test]
fn each_kind_of_failure_has_its_exit_code() {
    let endless = GREET
        .replace("return `", "for (;;) {}\n  return `")
        .replace("params:", "limits: {wall: 100ms}\nparams:");
    let unanswered = STRAYS.replace("evil.test", "api.example.com").replace("    http: [{request: {method: GET, url: \"https://api.example.com/\"}, response: {status: 200, text: page}}]\n", "");
    for (text, code) in [
        (GREET, 0),
        (&GREET.replace("Hello you!", "Hello me!"), 1),
        (&GREET.replace("return `", "throw new Error('no'); return `"), 1),
        (&endless, 1),
        (&unanswered, 1),
        (&GREET.replace("tests:", "tets:\ntests:\n  - {nam: x}"), 2),
        (STRAYS, 3),
    ] {
        let program = with(&[("a.tool.yaml", text)]);
        let tested = json(&program, &["tool", "test", "a.tool.yaml"], code);
        assert_eq!(tested["ok"], code == 0, "{text}");
        assert_eq!(tested["tools"][0]["passed"], code == 0, "{text}");
    }
}

#[test]
fn a_request_without_an_answer_is_told_apart_from_a_failure() {
    let text = "name: gets\ndescription: Gets a page.\noverrides: {network: allowlist, hosts: [api.example.com]}\n\
        tests: [{name: gets it, equals: page}]\ncode: |\n  return await (await fetch('https://api.example.com/')).text();\n";
    let program = with(&[("gets.tool.yaml", text)]);
    let tested = json(&program, &["tool", "test", "gets.tool.yaml"], 1);
    assert_eq!(tested["tools"][0]["lines"][0]["verdict"], "unanswered", "{tested}");
    let run = program.run(&["tool", "test", "gets.tool.yaml"]);
    assert!(
        run.stdout.contains("give the test its answers with `http`, or run it with --live"),
        "{}",
        run.stdout
    );
}

#[test]
fn a_file_is_tried_and_a_tool_of_the_catalogue_keeps_its_pass() {
    let program = with(&[("greet.tool.yaml", GREET)]);
    check_code(&program.run(&["tool", "test", "greet.tool.yaml"]), 0);
    assert_eq!(json(&program, &["tool", "list"], 0)["tools"], Value::Array(Vec::new()));
    check_code(&program.run(&["tool", "import", "greet.tool.yaml"]), 0);
    assert_eq!(json(&program, &["tool", "show", "greet"], 0)["state"], "DRAFT");
    let run = program.run(&["tool", "test", "greet"]);
    check_code(&run, 0);
    assert!(run.stdout.starts_with("passed  greet  L0  READY\n"), "{}", run.stdout);
    let shown = json(&program, &["tool", "show", "greet"], 0);
    assert_eq!((&shown["state"], &shown["pass"]["level"]), (&"READY".into(), &"L0".into()));
    check_code(&program.run(&["tool", "test", "nope"]), 2);
    check_code(&program.run(&["tool", "test"]), 2);
}

#[test]
fn all_and_stale_choose_from_the_catalogue() {
    let program = with(&[("a/greet.tool.yaml", GREET), ("a/keep.tool.yaml", KEEP)]);
    check_code(&program.run(&["tool", "import", "a"]), 0);
    let tested = json(&program, &["tool", "test", "--all"], 0);
    let names: Vec<_> = tested["tools"].as_array().unwrap().iter().map(|tool| tool["tool"].clone()).collect();
    assert_eq!(names, ["greet", "keep"]);
    let none = json(&program, &["tool", "test", "--stale"], 0);
    assert_eq!(none["tools"], Value::Array(Vec::new()));
    assert_eq!(program.run(&["tool", "test", "--stale"]).stdout, "there is nothing to test\n");
    assert!(program.run(&["tool", "test", "--all"]).stdout.ends_with("\n2 passed, 0 failed\n"));
    // The operator gives every tool more than it passed under.
    let wider = json(&program, &["tool", "test", "--stale", "--set", "limits.memory=128MiB"], 0);
    assert_eq!(wider["tools"].as_array().unwrap().len(), 2, "{wider}");
}

#[test]
fn watching_runs_again_on_each_save_and_ends_by_ctrl_c() {
    let program = with(&[("greet.tool.yaml", GREET)]);
    let running = program.start(&["tool", "test", "--watch", "greet.tool.yaml"]);
    running.wait_for("watching; Ctrl-C ends it");
    let program = program.with_file("greet.tool.yaml", &GREET.replace("Hello you!", "Hello them!"));
    running.wait_for_nth("watching; Ctrl-C ends it", 2);
    let program = program.with_file("greet.tool.yaml", "name: [");
    running.wait_for_nth("watching; Ctrl-C ends it", 3);
    let _program = program.with_file("greet.tool.yaml", GREET);
    running.wait_for_nth("watching; Ctrl-C ends it", 4);
    running.interrupt();
    let (code, text) = running.end();
    assert_eq!(code, Some(0), "{text}");
    assert_eq!(text.matches("passed  greet  L0").count(), 2, "{text}");
    assert_eq!(text.matches("failed  greet  L0").count(), 1, "{text}");
    assert_eq!(text.matches("failed  greet.tool.yaml").count(), 1, "{text}");
}

#[test]
fn only_files_can_be_watched() {
    let run = with(&[]).run(&["tool", "test", "--watch", "greet"]);
    check_code(&run, 2);
    assert!(run.stderr.contains("name the file to be watched"), "{}", run.stderr);
}

#[test]
fn a_recording_beside_the_document_is_put_into_it() {
    let program = with(&[("a/greet.tool.yaml", GREET)]);
    check_code(
        &program.run(&["run", "a/greet.tool.yaml", "--arg", "who=you", "--record", "a/kept/greet.json"]),
        0,
    );
    let text = GREET.replace(
        "  - {name: greets,",
        "  - {name: as before, input: {who: you}, recording: kept/greet.json, equals: Hello you!}\n  - {name: greets,",
    );
    let program = program.with_file("a/greet.tool.yaml", &text);
    let run = program.run(&["tool", "test", "a/greet.tool.yaml"]);
    check_code(&run, 0);
    assert!(run.stdout.contains("passed  as before"), "{}", run.stdout);
    for (named, said) in [("../kept.json", "not below the document's folder"), ("none.json", "cannot open")] {
        let program = with(&[("a/greet.tool.yaml", &text.replace("kept/greet.json", named))]);
        let run = program.run(&["tool", "test", "a/greet.tool.yaml"]);
        check_code(&run, 2);
        assert!(run.stderr.contains(said), "{}", run.stderr);
    }
}

#[test]
fn a_test_with_a_very_long_name_is_told() {
    let name = "n".repeat(70_000);
    let tool =
        format!("name: long\ndescription: One.\ntests: [{{name: {name}, equals: 1}}]\ncode: return 1\n");
    let run = with(&[("long.tool.yaml", &tool)]).run(&["tool", "test", "long.tool.yaml"]);
    check_code(&run, 0);
    assert!(run.stdout.contains("nnn…"), "{}", run.stdout);
}
