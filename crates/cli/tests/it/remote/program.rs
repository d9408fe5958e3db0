//! The program with a server named in its settings: the same line on either machine, and settings that do not do.
#![expect(clippy::disallowed_methods, reason = "files of the test's own")]

use bailiwick_testkit::{Program, requires};
use serde_json::Value;

use super::{There, bailiwick, has_sandboxes, run};

const CONFIG: &str = ".config/bailiwick/bailiwick.toml";
/// The secret that the key is kept as.
const SECRET: &str = "OTHER_KEY";

/// Settings that name a server.
fn settings(url: &str, backends: &str) -> String {
    format!("[sandbox]\nbackends = [{backends}]\n[sandbox.remote]\nurl = \"{url}\"\nkey = \"{SECRET}\"\n")
}

/// A machine whose settings name a server, with its key among its secrets.
fn here(there: &There, backends: &str) -> Program {
    let program = bailiwick().with_home_file(CONFIG, &settings(there.address(), backends));
    let set = program.run_with_input(&["secret", "set", SECRET], &there.key);
    assert_eq!(set.code, Some(0), "{}", set.stderr);
    program
}

#[test]
fn the_same_line_runs_on_either_machine() {
    requires!("sandboxes", has_sandboxes());
    let there = There::start();
    let here = here(&there, "\"process\", \"remote\"");
    for backend in ["process", "remote"] {
        let line = ["-q", "exec", "--backend", backend, "--", "sh", "-c", "cat; echo no >&2; exit 5"];
        let ran = here.run_with_input(&line, "what is typed\n");
        assert_eq!(
            (ran.code, ran.stdout.as_str(), ran.stderr.as_str()),
            (Some(5), "what is typed\n", "no\n")
        );
    }
    // Whoever does not ask for the other machine stays on this one.
    let told = run(&here, &["exec", "--json", "--", "true"], 0).stdout;
    let told: Value = serde_json::from_str(&told).expect("JSON");
    assert_eq!(told["backend"], "process");
    let told = run(&here, &["exec", "--json", "--backend", "remote", "--", "true"], 0).stdout;
    let told: Value = serde_json::from_str(&told).expect("JSON");
    assert_eq!(told["backend"], "remote");
    assert!(!told.to_string().contains(&there.key));
    let walls = told["receipt"]["walls"].as_array().expect("walls");
    let says = format!("{} says: ", there.address());
    assert!(walls.iter().all(|wall| wall["mechanism"].as_str().is_some_and(|how| how.starts_with(&says))));
    there.is_empty();
    there.serving.end();
}

#[test]
fn what_means_this_machine_is_refused_before_anything_is_sent() {
    requires!("sandboxes", has_sandboxes());
    let there = There::start();
    let here = here(&there, "\"process\", \"remote\"").with_file("data/x", "one\n");
    let before = there.made();
    for words in [["--mount", "data:/data"], ["--overlay", "data:/data"]] {
        let line = [&["exec", "--json", "--backend", "remote"][..], &words, &["--", "true"]].concat();
        let refused = run(&here, &line, 125).stdout;
        assert!(refused.contains("UNSUPPORTED"), "{words:?}: {refused}");
        assert!(refused.contains("is on this machine"), "{words:?}: {refused}");
    }
    assert_eq!(there.made(), before, "nothing was asked for");
    there.serving.end();
}

#[test]
fn a_server_that_names_itself_does_not_ask_itself_for_ever() {
    requires!("sandboxes", has_sandboxes());
    // A server whose only backend is itself.
    let program = bailiwick().with_variable(SECRET, "").with_home_file(CONFIG, "");
    let first = super::Serving::start(&program, &[]);
    let address = first.address().to_owned();
    let key = run(&program, &["-q", "key", "create", "own", "--scope", "author"], 0).stdout;
    let set = program.run_with_input(&["secret", "set", SECRET], key.trim());
    assert_eq!(set.code, Some(0), "{}", set.stderr);
    first.end();
    let listen = address.trim_start_matches("http://");
    for (backends, code) in [("\"remote\"", 125), ("\"remote\", \"process\"", 0)] {
        let program = program_with(&program, &settings(&address, backends));
        let server = super::Serving::start_at(program, listen, &[]);
        let ended = program.run(&["exec", "--server", &address, "--json", "--", "echo", "here"]);
        assert_eq!(ended.code, Some(code), "{}{}", ended.stdout, ended.stderr);
        if code != 0 {
            let told = format!("{}{}", ended.stdout, ended.stderr);
            assert!(told.contains("handed on without an end"), "{told}");
        }
        let by_name =
            program.run(&["exec", "--server", &address, "--backend", "remote", "--", "echo", "here"]);
        assert_eq!(by_name.code == Some(0), code == 0, "{}", by_name.stderr);
        let told = run(program, &["audit", "tail", "-n", "200", "--json"], 0).stdout;
        assert!(told.matches("\"sandbox.create\"").count() < 20, "it did not go round: {told}");
        server.end();
    }
}

/// The same machine with other settings.
fn program_with<'a>(program: &'a Program, settings: &str) -> &'a Program {
    let written = std::fs::write(program.home().join(CONFIG), settings);
    assert!(written.is_ok(), "{written:?}");
    program
}

#[track_caller]
fn check(program: &Program, key: &str, says: &str, hint: &str) {
    let refused = program.run(&["exec", "--json", "--backend", "remote", "--", "true"]);
    assert_eq!(refused.code, Some(125));
    let told = format!("{}{}", refused.stdout, refused.stderr);
    assert!(told.contains("UNAVAILABLE"), "{told}");
    assert!(told.contains(says) && told.contains(hint), "{says} / {hint}: {told}");
    assert!(key.is_empty() || !told.contains(key), "the key is not shown: {told}");
}

#[test]
fn settings_that_do_not_do_say_what_to_do() {
    requires!("sandboxes", has_sandboxes());
    let there = There::start();
    let with = |settings: &str| bailiwick().with_home_file(CONFIG, settings);
    let listed = "[sandbox]\nbackends = [\"remote\"]\n";
    check(&with(listed), "", "no server is named", "sandbox.remote.url");
    check(&with(&settings(there.address(), "\"remote\"")), "", "is not set", "bailiwick secret set");
    // The key of somebody who may not make sandboxes, and one that is none.
    let caller = run(&there.program, &["-q", "key", "create", "caller", "--scope", "call"], 0).stdout;
    for (key, says, hint) in [
        (format!("{}x", there.key), "does not take the key", "--scope author"),
        ("bwk_x".repeat(20), "does not take the key", "--scope author"),
    ] {
        let program = with(&settings(there.address(), "\"remote\""));
        assert_eq!(program.run_with_input(&["secret", "set", SECRET], &key).code, Some(0));
        check(&program, &key, says, hint);
    }
    let program = with(&settings(there.address(), "\"remote\""));
    assert_eq!(program.run_with_input(&["secret", "set", SECRET], caller.trim()).code, Some(0));
    check(&program, caller.trim(), "author", "");
    // Readable on its way: it is never sent.
    let program = with(&settings("http://192.0.2.1:8282", "\"remote\""));
    assert_eq!(program.run_with_input(&["secret", "set", SECRET], &there.key).code, Some(0));
    check(&program, &there.key, "in the clear", "https://");
    // As shipped it is not listed, whatever else is set.
    let program = with(&format!("[sandbox.remote]\nurl = \"{}\"\n", there.address()));
    let refused = program.run(&["exec", "--backend", "remote", "--", "true"]);
    assert!(refused.stderr.contains("there is no backend `remote`"), "{}", refused.stderr);
    there.is_empty();
    there.serving.end();
}
