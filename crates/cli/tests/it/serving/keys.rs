//! `bailiwick key …`, and what keys open.

use super::{GREET, Serving, bailiwick, run};

#[test]
fn a_key_is_alone_on_stdout_and_opens_what_it_covers() {
    let program = bailiwick().with_file("greet.tool.yaml", GREET);
    let server = Serving::start(&program, &[]);
    run(&program, &["tool", "publish", "greet.tool.yaml"], 0);
    let made = run(&program, &["key", "create", "agent", "--scope", "call", "--expires", "30d"], 0);
    run(&program, &["key", "create", "desk", "--scope", "call", "--dialogue"], 0);
    let told = run(&program, &["key", "create", "odd", "--scope", "approve", "--dialogue"], 2).stderr;
    assert!(told.contains("add the scope call"), "{told}");
    let key = made.stdout.trim();
    assert!(key.starts_with("bwk_") && made.stdout.lines().count() == 1, "{}", made.stdout);
    assert!(made.stderr.contains("will not be shown again") && !made.stderr.contains(key), "{}", made.stderr);
    let agent =
        program.with_variable("BAILIWICK_SERVER", server.address()).with_variable("BAILIWICK_KEY", key);
    assert_eq!(run(&agent, &["tool", "call", "greet", "--arg", "who=you"], 0).stdout, "\"Hello you!\"\n");
    let refused = run(&agent, &["tool", "unpublish", "greet"], 3);
    assert!(refused.stderr.contains("`author`"), "{}", refused.stderr);
    run(&agent, &["audit", "tail"], 3);
    // The operator's own key is in the data folder, and a file that is named comes first.
    let home = agent.home().join(".local/share/bailiwick/operator.key");
    let operator = home.to_string_lossy().into_owned();
    let listed = run(&agent, &["key", "list", "--key-file", &operator], 0);
    assert!(listed.stdout.contains("agent") && !listed.stdout.contains(key), "{}", listed.stdout);
    let dialogue = |name: &str| {
        let row = listed.stdout.lines().find(|line| line.starts_with(name));
        row.is_some_and(|row| row.contains("counts"))
    };
    assert_eq!(
        (dialogue("agent"), dialogue("desk"), dialogue("operator")),
        (false, true, false),
        "{}",
        listed.stdout
    );
    run(&agent, &["key", "revoke", "agent", "--yes", "--key-file", &operator], 0);
    let gone = run(&agent, &["tool", "call", "greet", "--arg", "who=you"], 3);
    assert!(gone.stderr.contains("$BAILIWICK_KEY") && !gone.stderr.contains(key), "{}", gone.stderr);
    server.end();
}

#[test]
fn what_is_no_key_and_what_is_no_server_is_told_plainly() {
    let program = bailiwick().with_file("key", "two words\n");
    for (arguments, said) in [
        (&["--server", "http://127.0.0.1:1", "tool", "list"][..], "start it: bailiwick serve"),
        (&["--server", "127.0.0.1:1", "tool", "list"], "is not an address"),
        (&["--server", "http://127.0.0.1:1", "--key-file", "key", "tool", "list"], "is not a key"),
        (&["--server", "http://127.0.0.1:1", "--key-file", "none", "tool", "list"], "cannot open"),
    ] {
        let run = program.run(arguments);
        assert!(run.stderr.contains(said), "{arguments:?}: {}", run.stderr);
        assert_ne!(run.code, Some(0));
    }
    let program = program.with_variable("BAILIWICK_KEY", "bwk_0_x");
    let run = program.run(&["--server", "http://tools.example", "tool", "list"]);
    assert!(run.stderr.contains("in the clear") && !run.stderr.contains("bwk_0_x"), "{}", run.stderr);
}
