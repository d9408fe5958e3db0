//! `policy show | explain | diff` and `limits`, for people and for machines.

use insta::assert_snapshot;
use serde_json::Value;

use super::{OVERRIDES, bailiwick};

#[track_caller]
fn json(stdout: &str) -> Value {
    let parsed = serde_json::from_str(stdout);
    assert!(parsed.is_ok(), "not one JSON object: {stdout}");
    parsed.unwrap_or_default()
}

#[test]
fn explain_says_yes_with_the_rule_and_its_layer() {
    let program = bailiwick().with_file("o.yaml", "network: allowlist\nhosts: [api.github.com]\n");
    let run = program.run(&[
        "policy",
        "explain",
        "--overrides",
        "o.yaml",
        "--query",
        "fetch https://api.github.com/x",
    ]);
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""));
    assert_snapshot!(run.stdout, @r"
    answer        yes  GET https://api.github.com/x
    capability    net.fetch
    rule          hosts: api.github.com
    layer         tool
    note          every address the name resolves to must be public
    risk          L3
    ");
}

#[test]
fn explain_says_no_with_the_narrowest_fix_and_its_risk() {
    let program = bailiwick().with_file("o.yaml", "fileRead: true\n");
    let run = program.run(&[
        "policy",
        "explain",
        "--overrides",
        "o.yaml",
        "--query",
        "fetch https://api.github.com/x",
    ]);
    assert_eq!((run.code, run.stderr.as_str()), (Some(3), ""));
    assert_snapshot!(run.stdout, @r#"
    answer        no  GET https://api.github.com/x
    capability    net.fetch
    rule          network
    layer         baseline
    reason        network-blocked: the network mode is `blocked`, so there is no fetch at all
    fix           in the overrides:
                    network: allowlist
                    hosts: [api.github.com]
    risk          L3 → L4
    "#);
}

#[test]
fn explain_json_gives_the_denial() {
    let program = bailiwick().with_file("o.yaml", "network: allowlist\nhosts: [api.github.com]\n");
    let run = program.run(&[
        "policy",
        "explain",
        "--json",
        "--overrides",
        "o.yaml",
        "--query",
        "fetch https://evil.test/",
    ]);
    assert_eq!(run.code, Some(3));
    let json = json(&run.stdout);
    let denial: bailiwick_types::Denial = serde_json::from_value(json.clone()).expect("the Denial itself");
    assert_eq!(denial.reason.word(), "host-not-allowed");
    assert_eq!(json["fix"]["overrides"], serde_json::json!({"hosts": ["evil.test"]}));
    assert_eq!(json["answer"], "no");
}

#[test]
fn a_proposed_fix_can_be_applied_as_printed() {
    let program = bailiwick();
    let run = program.run(&["policy", "explain", "--json", "--query", "read notes.txt"]);
    let fix = json(&run.stdout)["fix"]["overrides"].to_string();
    let again =
        program.run_with_input(&["policy", "explain", "--overrides", "-", "--query", "read notes.txt"], &fix);
    assert_eq!(again.code, Some(0), "{again:?}");
}

#[test]
fn show_tells_the_whole_policy() {
    let run = bailiwick().with_file("o.yaml", OVERRIDES).run(&["policy", "show", "--overrides", "o.yaml"]);
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""));
    assert_snapshot!(run.stdout);
    let run = bailiwick().with_file("o.yaml", OVERRIDES).run(&[
        "policy",
        "show",
        "--overrides",
        "o.yaml",
        "--json",
    ]);
    assert_snapshot!(run.stdout);
}

#[test]
fn overrides_can_be_toml_json_or_come_by_stdin() {
    let toml = "network = \"strict\"\n";
    let yaml_json = "{\"network\": \"strict\"}";
    let mode = |run: bailiwick_testkit::Run| json(&run.stdout)["network"]["mode"].clone();
    let program = bailiwick().with_file("o.toml", toml).with_file("o.json", yaml_json);
    assert_eq!(mode(program.run(&["policy", "show", "--json", "--overrides", "o.toml"])), "strict");
    assert_eq!(mode(program.run(&["policy", "show", "--json", "--overrides", "o.json"])), "strict");
    assert_eq!(
        mode(program.run_with_input(&["policy", "show", "--json", "--overrides", "-"], yaml_json)),
        "strict"
    );
}

#[test]
fn a_document_can_name_its_profile_and_limits() {
    let text = "profile: strict\noverrides: {network: strict}\nlimits: {wall: 10s}\n";
    let run =
        bailiwick().with_file("t.yaml", text).run(&["policy", "show", "--json", "--overrides", "t.yaml"]);
    let json = json(&run.stdout);
    assert_eq!(json["limits"]["steps"], 500_000);
    assert_eq!(json["limits"]["wallMs"], 10_000);
    assert_eq!(json["profile"], "strict");
}

#[test]
fn diff_tells_what_an_edit_changes() {
    let program = bailiwick().with_file("a.yaml", "network: strict\n").with_file(
        "b.yaml",
        "network: allowlist\nhosts: [{host: db.internal, port: 5000, private: true}]\nfileWrite: true\n",
    );
    let run = program.run(&["policy", "diff", "a.yaml", "b.yaml"]);
    assert_eq!(run.code, Some(0));
    assert_snapshot!(run.stdout, @r"
    + use fs.write
    + fetch db.internal:5000 (private)
    - fetch any public host
    risk          L3 → L4
                  L4 fileWrite: workspace
                  L3 private host: db.internal:5000 (private)
    ");
    let run = program.run(&["policy", "diff", "a.yaml", "b.yaml", "--json"]);
    assert_eq!(json(&run.stdout)["wider"], true);
    let same = program.run(&["policy", "diff", "a.yaml", "a.yaml"]);
    assert!(same.stdout.starts_with("the same powers\n"), "{}", same.stdout);
}

#[test]
fn limits_lists_what_code_would_find() {
    let run = bailiwick().run(&["limits"]);
    assert_eq!(run.code, Some(0));
    assert_snapshot!(run.stdout);
    let run = bailiwick().run(&["limits", "--json", "--profile", "strict"]);
    let json = json(&run.stdout);
    assert_eq!(json["limits"]["steps"], 500_000);
    for key in ["globals", "blocked", "limits", "fetch"] {
        assert!(json.get(key).is_some(), "{key}");
    }
}

#[test]
fn what_code_asks_for_after_a_change_of_files_is_learned_too() {
    let code = "safety.fs.writeText('a.txt', 'x'); const text = safety.fs.readText('a.txt');\n\
                safety.fs.delete('a.txt'); return text;";
    let program = bailiwick().with_file("w.js", code);
    let run = program.run(&["policy", "learn", "w.js", "--json"]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let learned = json(&run.stdout);
    let all = serde_json::json!({"fileRead": true, "fileWrite": true, "destructive": true});
    assert_eq!((&learned["overrides"], &learned["runs"][0]["ok"]), (&all, &Value::Bool(true)), "{learned}");
    // It was a copy: with what was learned, the workspace is as empty as before.
    let program = program.with_file("o.yaml", "fileRead: true\n");
    let seen = program.run(&[
        "run",
        "--workspace",
        "w",
        "--overrides",
        "o.yaml",
        "-e",
        "return safety.fs.list('.').entries",
    ]);
    assert_eq!(seen.stdout.trim(), "[]", "{}", seen.stderr);
}

#[test]
fn what_this_build_does_not_have_is_not_proposed() {
    let program = bailiwick().with_file("o.yaml", "addAllow: [tools.call]\nremoveDeny: [tools.call]\n");
    let run = program.run(&["policy", "explain", "--query", "tools.call"]);
    assert_eq!(run.code, Some(3), "{}", run.stderr);
    assert_snapshot!(run.stdout, @r"
    answer        no  tools.call
    capability    tools.call
    rule          build
    layer         guard
    reason        not-in-this-build: this build does not have this capability, so nothing can grant it
    fix           none: nothing a tool declares would allow it
    risk          L0
    ");
    let run = program.run(&["policy", "show", "--overrides", "o.yaml"]);
    assert_eq!(run.code, Some(2), "{}", run.stdout);
    assert_snapshot!(run.stderr, @r"
    error: `tools.call` cannot be granted: this build does not have it
      --> o.yaml:2:14  removeDeny[0]  [tool]
      --> o.yaml:1:12  addAllow[0]  [tool]
      hint: drop the line; `bailiwick limits` lists what this build has
    ");
    let run = program.run(&["run", "-e", "return env.HOME"]);
    assert_snapshot!(run.stderr, @r"
    error: VALIDATION: `env` cannot work here: `env.read`: this build does not have this capability, so nothing can grant it
      --> -e:1:8
      hint: pass what you need as a parameter or a static
    ");
}
