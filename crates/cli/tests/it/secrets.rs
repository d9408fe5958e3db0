//! `bailiwick secret`, as an operator meets it.

use std::os::unix::fs::PermissionsExt;

use bailiwick_testkit::{Program, Run};

use super::bailiwick;

const VALUE: &str = "ghp_16C7e42F292c6912E7";

fn set(program: &Program, name: &str, value: &str) -> Run {
    program.run_with_input(&["secret", "set", name], value)
}

#[track_caller]
fn names(program: &Program) -> Vec<String> {
    let run = program.run(&["secret", "list"]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let lines = run.stdout.lines().filter(|line| *line != "there are no secrets");
    lines.filter_map(|line| line.split_whitespace().next()).map(str::to_owned).collect()
}

#[track_caller]
fn check(run: &Run, code: i32, stdout: &str, stderr: &str) {
    assert_eq!(run.code, Some(code), "{run:?}");
    assert!(run.stdout.contains(stdout) && run.stderr.contains(stderr), "{run:?}");
    assert!(!run.stdout.contains(VALUE) && !run.stderr.contains(VALUE), "a value was shown");
}

#[test]
fn a_secret_is_set_listed_rotated_and_removed() {
    let program = bailiwick();
    check(&program.run(&["secret", "list"]), 0, "there are no secrets\n", "");
    check(&set(&program, "GITHUB_TOKEN", &format!("{VALUE}\n")), 0, "added GITHUB_TOKEN\n", "the key is in");
    check(&set(&program, "GITHUB_TOKEN", VALUE), 0, "replaced GITHUB_TOKEN\n", "");
    // One line break was trimmed, so the value is the one it has.
    let rotate = |value| program.run_with_input(&["secret", "rotate", "GITHUB_TOKEN"], value);
    check(&rotate(VALUE), 2, "", "the new value of GITHUB_TOKEN is the one it has");
    check(&rotate(&format!("{VALUE}\n\n")), 0, "rotated GITHUB_TOKEN", "");
    check(&program.run(&["secret", "list"]), 0, "GITHUB_TOKEN  store        created 20", "");
    let run = program.run(&["secret", "list", "--json"]);
    let json: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(json["secrets"][0]["name"], "GITHUB_TOKEN");
    assert_eq!(json["secrets"][0]["source"], "store");
    check(&program.run(&["secret", "rotate", "--key"]), 0, "rotated the key", "");
    assert_eq!(names(&program), ["GITHUB_TOKEN"]);
    // Stdin is a pipe here, so nobody is asked.
    check(&program.run(&["secret", "rm", "GITHUB_TOKEN"]), 0, "removed GITHUB_TOKEN\n", "");
    assert!(names(&program).is_empty());
}

#[test]
fn what_is_not_there_exits_with_two() {
    let program = bailiwick();
    check(&program.run(&["secret", "rm", "--yes", "NOPE"]), 2, "", "no secret called NOPE");
    check(&program.run_with_input(&["secret", "rotate", "NOPE"], VALUE), 2, "", "no secret called NOPE");
    check(&program.run(&["secret", "rotate", "--key"]), 2, "", "no store yet");
    assert!(!program.home().join(".local").exists(), "nothing was made");
}

#[test]
fn a_value_is_never_an_argument() {
    let program = bailiwick();
    let run = program.run(&["secret", "set", "GITHUB_TOKEN", "the-value"]);
    assert_eq!(run.code, Some(2), "{run:?}");
    check(&program.run(&["secret", "set", "github_token"]), 2, "", "is not a secret's name");
}

#[test]
fn values_that_cannot_be_kept_are_refused_and_short_ones_warned_about() {
    let program = bailiwick();
    check(&set(&program, "A", ""), 2, "", "the value is empty");
    check(&set(&program, "A", "\n"), 2, "", "the value is empty");
    check(&set(&program, "A", "a\0b"), 2, "", "NUL");
    check(&set(&program, "A", &"x".repeat(65_537)), 2, "", "more than 65536 bytes");
    check(&set(&program, "A", &"x".repeat(200_000)), 2, "", "more than 65536 bytes");
    check(&set(&program, "A", &format!("{}\n", "x".repeat(65_536))), 0, "added A", "");
    check(&set(&program, "B", "abc"), 0, "added B", "under 4 characters: nothing of it is redacted");
    check(&set(&program, "C", "abcdefg"), 0, "added C", "under 8 characters");
    let run = set(&program, "D", "abcdefgh");
    assert!(run.code == Some(0) && run.stderr.is_empty(), "{run:?}");
}

#[test]
fn a_listed_variable_stands_in_and_no_other_does() {
    let program = bailiwick()
        .with_variable("DEPLOY_KEY", VALUE)
        .with_variable("OTHER_KEY", VALUE)
        .with_variable("BAILIWICK_SECRETS_ENV", "DEPLOY_KEY, NOT_SET");
    check(&program.run(&["secret", "list"]), 0, "DEPLOY_KEY  environment\n", "");
    assert_eq!(names(&program), ["DEPLOY_KEY"]);
    check(&program.run(&["secret", "rm", "DEPLOY_KEY"]), 2, "", "in the store");
    set(&program, "DEPLOY_KEY", "another value");
    check(&program.run(&["secret", "rm", "DEPLOY_KEY"]), 0, "removed", "stands in for it now");
    let bad = bailiwick().with_variable("BAILIWICK_SECRETS_ENV", "lower");
    check(&bad.run(&["secret", "list"]), 2, "", "secrets.env: `lower` is not a secret's name");
}

#[test]
fn a_store_that_others_can_read_is_refused_with_what_to_do() {
    let program = bailiwick();
    set(&program, "A", VALUE);
    let store = program.home().join(".local/share/bailiwick/secrets/store");
    std::fs::set_permissions(&store, std::fs::Permissions::from_mode(0o644)).unwrap();
    check(&program.run(&["secret", "list"]), 2, "", "chmod go= [MACHINE]");
}

#[test]
fn a_missing_key_is_our_side_and_loses_nothing() {
    let program = bailiwick();
    set(&program, "A", VALUE);
    let key = program.home().join(".local/share/bailiwick/secrets.key");
    let kept = key.with_extension("kept");
    std::fs::rename(&key, &kept).unwrap();
    check(&set(&program, "B", VALUE), 5, "", "is missing");
    check(&program.run(&["secret", "list", "--json"]), 5, "UNAVAILABLE", "");
    std::fs::rename(&kept, &key).unwrap();
    assert_eq!(names(&program), ["A"]);
}

#[test]
fn several_processes_lose_no_update() {
    let program = bailiwick();
    std::thread::scope(|scope| {
        for writer in 0..4 {
            let program = &program;
            scope.spawn(move || {
                for number in 0..4 {
                    check(&set(program, &format!("W{writer}_{number}"), VALUE), 0, "added", "");
                }
            });
        }
        scope.spawn(|| {
            for _ in 0..4 {
                // There may be no store yet.
                let run = program.run(&["secret", "rotate", "--key"]);
                assert!(matches!(run.code, Some(0 | 2)), "{run:?}");
            }
        });
    });
    assert_eq!(names(&program).len(), 16);
}
