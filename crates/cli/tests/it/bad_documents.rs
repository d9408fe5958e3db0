//! A bad document gives one clear message with place and hint, exit code 2, and never a panic.

use std::time::{Duration, Instant};

use super::bailiwick;

#[track_caller]
fn check(text: &str, told: &[&str]) {
    let run = bailiwick().with_file("o.yaml", text).run(&["policy", "show", "--overrides", "o.yaml"]);
    assert_eq!(run.code, Some(2), "{run:?}");
    assert_eq!(run.stdout, "");
    for part in told {
        assert!(run.stderr.contains(part), "`{part}` is missing in:\n{}", run.stderr);
    }
    assert!(!run.stderr.contains("panicked"), "{}", run.stderr);
    assert!(run.stderr.len() < 2_500, "one clear message, not a flood:\n{}", run.stderr);
}

#[test]
fn unknown_keys_wrong_types_and_broken_text_point_at_their_place() {
    check("netwrok: open\n", &["unknown field `netwrok`", "o.yaml:1:1", "hint: did you mean `network`?"]);
    check(
        "network: open\nfileRead: 7\n",
        &["`fileRead` must be true or false, but is a number", "o.yaml:2:11"],
    );
    check("network: {open: 1}\n", &["`network` must be a text, but is a map", "o.yaml:1:10"]);
    check("network: [\n", &["not valid YAML", "o.yaml:2:1"]);
    check("a: &x 1\n", &["anchors and aliases", "o.yaml:1:4"]);
    check(
        "network: strict\nlimits: {wall: 1s}\n",
        &["unknown field `network`", "move it below `overrides:`"],
    );
    check("network: 5\n", &["`network` must be a text", "one of blocked, allowlist, strict, open"]);
}

#[test]
fn conflicts_and_rules_without_effect_name_both_sides() {
    check(
        "addAllow: [timers]\naddDeny: [timers]\n",
        &[
            "`timers` is allowed and denied in the same layer",
            "o.yaml:1:12  addAllow[0]  [tool]",
            "o.yaml:2:11  addDeny[0]  [tool]",
        ],
    );
    check(
        "hosts: [api.github.com]\n",
        &[
            "host `api.github.com` has no effect",
            "o.yaml:1:9  hosts[0]  [tool]",
            "hint: add `network: allowlist`",
        ],
    );
}

#[test]
fn ten_megabytes_and_deep_nesting_are_refused_at_once() {
    let started = Instant::now();
    check(&"a: 1\n".repeat(2_000_000), &["o.yaml has more than 1048576 bytes", "hint:"]);
    check(&"[".repeat(200_000), &["nested more than 32 deep", "hint:"]);
    check(&"- ".repeat(200_000), &["nested more than 32 deep"]);
    check(&format!("{}1{}", "{a: ".repeat(30_000), "}".repeat(30_000)), &["nested more than 32 deep"]);
    check(
        &(0..60_000).map(|i| format!("k{i}: 1")).collect::<Vec<_>>().join("\n"),
        &["more than 50000 values"],
    );
    check(
        &(0..20_000).map(|i| format!("k{i}: 1")).collect::<Vec<_>>().join("\n").replace("k1:", "hosts:"),
        &["unknown field"],
    );
    // Not a benchmark: only that nothing here is quadratic or worse.
    assert!(started.elapsed() < Duration::from_secs(20), "{:?}", started.elapsed());
}

#[test]
fn profile_chains_and_circles_are_refused_with_their_place() {
    let chain = |links: usize| -> String {
        (1..=links)
            .map(|link| match link {
                1 => "[profiles.p1]\n".to_owned(),
                _ => format!("[profiles.p{link}]\nextends = \"p{}\"\n", link - 1),
            })
            .collect()
    };
    let with = |text: &str| bailiwick().with_home_file(".config/bailiwick/bailiwick.toml", text);
    assert_eq!(with(&chain(8)).run(&["policy", "show", "--profile", "p8"]).code, Some(0));
    // Already when the operator's file is read, whoever uses it.
    let run = with(&chain(9)).run(&["limits"]);
    assert_eq!(run.code, Some(2));
    assert!(run.stderr.contains("the chain of profile `p9` has more than 8 links"), "{}", run.stderr);
    assert!(run.stderr.contains("bailiwick.toml:3:11  profiles.p2.extends"), "{}", run.stderr);

    let run = with("[profiles.x]\nextends = \"y\"\n[profiles.y]\nextends = \"x\"\n").run(&["limits"]);
    assert_eq!(run.code, Some(2));
    assert!(run.stderr.contains("in a circle: x → y → x"), "{}", run.stderr);
    assert!(run.stderr.contains("hint: remove one `extends`"), "{}", run.stderr);
}

#[test]
fn with_json_a_mistake_is_one_object_on_stdout() {
    let run = bailiwick().with_file("o.yaml", "netwrok: 1\n").run(&[
        "policy",
        "show",
        "--json",
        "--overrides",
        "o.yaml",
    ]);
    assert_eq!((run.code, run.stderr.as_str()), (Some(2), ""));
    let json: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(json["ok"], false);
    assert_eq!(json["error"]["code"], "VALIDATION");
    assert_eq!(json["error"]["problems"][0]["sources"][0]["line"], 1);
    let run = bailiwick().with_file("o.yaml", "hosts: [a.test]\n").run(&[
        "policy",
        "show",
        "--json",
        "--overrides",
        "o.yaml",
    ]);
    let json: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(json["error"]["code"], "CONFLICT");
    assert_eq!(json["error"]["problems"][0]["kind"], "no-effect");
    assert_eq!(json["error"]["problems"][0]["sources"][0]["line"], 1);
    // What was typed is wrong: the same shape.
    let run = bailiwick().run(&["--json", "polcy"]);
    assert_eq!((run.code, run.stderr.as_str()), (Some(2), ""));
    let json: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(json["error"]["code"], "INVALID_INPUT");
}

#[test]
fn a_file_that_is_not_there_or_not_text_is_told_apart() {
    let program = bailiwick();
    let run = program.run(&["policy", "show", "--overrides", "nope.yaml"]);
    assert_eq!(run.code, Some(2));
    assert!(run.stderr.contains("cannot open nope.yaml"), "{}", run.stderr);
    let run = program.run(&["policy", "show", "--overrides", "/dev"]);
    assert!(run.code == Some(2) && run.stderr.contains("/dev is not a regular file"), "{run:?}");
    let run = program.run(&["policy", "show", "--overrides", "/dev/zero"]);
    assert!(run.code == Some(2) && run.stderr.contains("more than 1048576 bytes"), "{run:?}");
    let run = program.run(&["policy", "diff", "-", "-"]);
    assert!(run.code == Some(2) && run.stderr.contains("only one stdin"), "{run:?}");
    let two = bailiwick().with_file("t.yaml", "profile: strict\n");
    let run = two.run(&["policy", "show", "--overrides", "t.yaml", "--profile", "other"]);
    assert!(run.code == Some(2) && run.stderr.contains("names the profile `strict`"), "{run:?}");
    let run = program.run(&["policy", "explain", "--query", "may I"]);
    assert!(run.code == Some(2) && run.stderr.contains("hint: ask `fetch URL`"), "{run:?}");
}

#[test]
fn hostile_text_is_shown_harmless() {
    let text = "hosts: [\"\\e[2J\\u202Eevil\"]\n\"\\e]0;title\\a\": 1\n";
    let run = bailiwick().with_file("o.yaml", text).run(&["policy", "show", "--overrides", "o.yaml"]);
    assert_eq!(run.code, Some(2));
    assert!(run.stderr.chars().all(|c| c == '\n' || !c.is_control()), "{:?}", run.stderr);
    assert!(run.stderr.contains("\\u{1b}[2J\\u{202e}evil"), "{}", run.stderr);
}
