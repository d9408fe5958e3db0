//! `tool apply`: a folder of documents as it is to be published, on any machine and as often as one likes.

use insta::assert_snapshot;
use serde_json::{Value, json};

use super::{GREET, KEEP, STRAYS, bailiwick, check_code, json, with, written};

/// The result of each tool, by name.
fn results(applied: &Value) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let tools = applied["tools"].as_array().into_iter().flatten();
    tools.map(|tool| (text(&tool["name"]), text(&tool["result"]))).collect()
}

fn of(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|(name, result)| ((*name).to_owned(), (*result).to_owned())).collect()
}

#[test]
fn what_passes_is_published_and_the_rest_says_why_not() {
    let program =
        with(&[("a/greet.tool.yaml", GREET), ("a/keep.tool.yaml", KEEP), ("a/s.tool.yaml", STRAYS)]);
    let run = program.run(&["tool", "apply", "a"]);
    check_code(&run, 1);
    assert_snapshot!(run.stdout, @r"
    RESULT     NAME    BADGE  STATE            FILE
    published  greet   L0     PUBLISHED        a/greet.tool.yaml
    waits      keep    L4     AWAITING_REVIEW  a/keep.tool.yaml
    failed     strays  -      DRAFT            a/s.tool.yaml
    ");
    for said in
        ["a/keep.tool.yaml: it is L4 and waits for a written reason", "a/s.tool.yaml: `strays` did not pass"]
    {
        assert!(run.stderr.contains(said), "{said}: {}", run.stderr);
    }
    assert_eq!(program.run(&["tool", "call", "greet", "--arg", "who=you"]).stdout, "\"Hello you!\"\n");
    // With a reason for its level, and the last one mended, everything is published.
    let program = program.with_file("a/s.tool.yaml", &STRAYS.replace("api.example.com", "evil.test"));
    let applied = json(&program, &["tool", "apply", "a", "--reason", "L4=it keeps one file of its own"], 0);
    assert_eq!(applied["ok"], true, "{applied:#}");
    assert_eq!(
        results(&applied),
        of(&[("greet", "unchanged"), ("keep", "published"), ("strays", "published")])
    );
    let shown = json(&program, &["tool", "show", "keep"], 0);
    assert_eq!(shown["notes"]["justification"], "it keeps one file of its own", "{shown:#}");
    // A tool that needs no reason got none.
    let shown = json(&program, &["tool", "show", "strays"], 0);
    assert!(shown["notes"]["justification"].is_null(), "{shown:#}");
}

#[test]
fn what_is_published_and_unchanged_is_left_alone() {
    let program = with(&[("a/greet.tool.yaml", GREET), ("a/keep.tool.yaml", KEEP)]);
    let reason = ["tool", "apply", "a", "--reason", "they keep one file of their own"];
    check_code(&program.run(&reason), 0);
    let before = program.run(&["audit", "export"]).stdout;
    let applied = json(&program, &reason, 0);
    assert_eq!(results(&applied), of(&[("greet", "unchanged"), ("keep", "unchanged")]));
    assert_eq!(
        program.run(&["audit", "export"]).stdout,
        before,
        "nothing was recorded, since nothing was done"
    );
}

#[test]
fn a_change_that_fails_leaves_the_published_tool_as_it_is() {
    let program = with(&[("a/greet.tool.yaml", GREET)]);
    check_code(&program.run(&["tool", "apply", "a"]), 0);
    let program = program.with_file("a/greet.tool.yaml", &GREET.replace("Hello ${who}", "Bye ${who}"));
    let applied = json(&program, &["tool", "apply", "a"], 1);
    assert_eq!((&applied["ok"], &applied["tools"][0]["state"]), (&json!(false), &json!("PUBLISHED")));
    assert_eq!(results(&applied), of(&[("greet", "failed")]));
    assert_eq!(program.run(&["tool", "call", "greet", "--arg", "who=you"]).stdout, "\"Hello you!\"\n");
}

#[test]
fn what_is_exported_here_is_published_elsewhere() {
    let here = with(&[("a/greet.tool.yaml", GREET), ("a/keep.tool.yaml", KEEP)]);
    let reason = "they keep one file of their own";
    check_code(&here.run(&["tool", "apply", "a", "--reason", reason]), 0);
    check_code(&here.run(&["tool", "export", "--to", "out"]), 0);
    let there = bailiwick()
        .with_file("out/greet.tool.yaml", &written(&here, "out/greet.tool.yaml"))
        .with_file("out/keep.tool.yaml", &written(&here, "out/keep.tool.yaml"));
    let applied = json(&there, &["tool", "apply", "out", "--reason", reason], 0);
    assert_eq!(results(&applied), of(&[("greet", "published"), ("keep", "published")]));
    let listed = json(&there, &["tool", "list", "--state", "published"], 0);
    assert_eq!(listed["tools"].as_array().map(Vec::len), Some(2), "{listed:#}");
}

#[test]
fn what_cannot_be_read_or_is_there_twice_is_told() {
    let program = with(&[("a/bad.tool.yaml", "name: bad\ncod: x\n"), ("a/greet.tool.yaml", GREET)]);
    let applied = json(&program, &["tool", "apply", "a"], 1);
    assert_eq!(results(&applied), of(&[("", "failed"), ("greet", "published")]));
    assert_eq!(applied["tools"][0]["state"], Value::Null, "{applied:#}");
    assert!(applied["tools"][0]["because"].as_str().is_some_and(|why| why.contains("cod")), "{applied:#}");
    let program = with(&[("a/one.tool.yaml", GREET), ("a/two.tool.yaml", GREET)]);
    let run = program.run(&["tool", "apply", "a"]);
    check_code(&run, 2);
    assert!(run.stderr.contains("are both named `greet`"), "{}", run.stderr);
    let twice = ["tool", "apply", "a", "--reason", "one reason", "--reason", "another reason"];
    check_code(&program.run(&twice), 2);
}
