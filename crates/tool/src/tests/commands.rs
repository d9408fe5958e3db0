//! The block `command`: its fields, its mistakes, its canonical form.

use bailiwick_sandbox::{Image, Limit, Network};
use bailiwick_types::Tier;
use serde_json::json;

use super::{read, tool};
use crate::{Gives, Runs, Syntax, Tool};

/// A command with these fields, in a tool with the parameter `p`; then other fields.
fn with(command: &str, rest: &str) -> String {
    format!("name: a\ndescription: d\nparams: [{{name: p, type: STRING}}]\ncommand: {command}\n{rest}\n")
}

/// The document has exactly these problems: path, a part of the message, a part of the hint.
#[track_caller]
fn check(command: &str, rest: &str, expected: &[(&str, &str, &str)]) {
    let problems = match read(&with(command, rest)) {
        Ok(_) => panic!("it was read: {command}"),
        Err(problems) => problems.list,
    };
    assert_eq!(problems.len(), expected.len(), "{problems:#?}");
    for (problem, (path, message, hint)) in problems.iter().zip(expected) {
        assert_eq!(problem.path.as_str(), *path, "{problem:?}");
        assert!(problem.place.is_some_and(|place| place.line >= 4), "{problem:?}");
        assert!(problem.message.contains(message), "{problem:?}");
        assert!(problem.hint.as_deref().unwrap_or_default().contains(hint), "{problem:?}");
    }
}

const FULL: &str = "{argv: [grep, {when: p, words: [--, '{p}']}], stdin: '{p}', env: {LC_ALL: C}, image: debian-12,
  minTier: CONTAINER, network: {allow: [EXAMPLE.org, 'b.test:8443']}, mounts: ['/srv/a:/a', '/srv/b:/b:rw'],
  limits: {cpu: 0.5, memory: 64MiB, disk: 16MiB, timeout: 5s, processes: 20, output: 64KiB}, output: lines, okExit: [1, 0]}";

#[test]
fn every_field_is_read() {
    let one = tool(&with(FULL, ""));
    let command = one.command().unwrap();
    assert!(matches!(command.runs(), Runs::Argv(items) if items.len() == 2));
    assert_eq!(command.image(), &Image::Named("debian-12".to_owned()));
    assert_eq!(command.min_tier(), Some(Tier::Container));
    assert_eq!(command.network(), &Network::Allow(vec!["example.org".to_owned(), "b.test:8443".to_owned()]));
    assert_eq!(command.mounts().iter().map(|mount| mount.writable).collect::<Vec<_>>(), [false, true]);
    assert_eq!(command.limits()[&Limit::Memory], "64MiB");
    assert_eq!(command.limits()[&Limit::Cpu], "0.5");
    assert_eq!(command.output(), Gives::Lines);
    assert!(
        command.is_ok_exit(0) && command.is_ok_exit(1) && !command.is_ok_exit(2) && !command.is_ok_exit(-1)
    );
    assert!(command.reaches_out());
}

#[test]
fn what_is_not_said_is_closed() {
    let one = tool(&with("{argv: [ls]}", ""));
    let command = one.command().unwrap();
    assert_eq!((command.image(), command.network()), (&Image::Host, &Network::None));
    assert_eq!((command.mounts(), command.min_tier(), command.output()), (&[][..], None, Gives::Text));
    assert!(command.is_ok_exit(0) && !command.is_ok_exit(1) && !command.reaches_out());
    assert!(!tool(&with("{argv: [ls], mounts: ['/srv/a:/a']}", "")).command().unwrap().reaches_out());
    assert!(tool(&with("{argv: [ls], network: git}", "")).command().unwrap().reaches_out());
}

#[test]
fn every_mistake_is_told_where_it_is() {
    check(
        "{argv: [ls], netwrok: git}",
        "",
        &[("command.netwrok", "unknown field", "did you mean `network`?")],
    );
    check("{argv: [ls], network: gti}", "", &[("command.network", "not a network", "did you mean `git`?")]);
    check("{argv: [ls], network: {allow: []}}", "", &[("command.network", "no host is named", "")]);
    check("{argv: [ls], network: {allow: ['*.com']}}", "", &[("command.network", "not a host", "")]);
    check(
        "{argv: [ls], network: {alow: [a.test]}}",
        "",
        &[("command.network.alow", "unknown field", "`allow`")],
    );
    check("{argv: [ls], minTier: container}", "", &[("command.minTier", "cannot be", "CONTAINER")]);
    check(
        "{argv: [ls], limits: {memry: 1MiB}}",
        "",
        &[("command.limits.memry", "unknown field", "`memory`")],
    );
    check("{argv: [ls], limits: {timeout: 0s}}", "", &[("command.limits.timeout", "deadline", "")]);
    check("{argv: [ls], limits: {memory: -1}}", "", &[("command.limits.memory", "less than zero", "")]);
    check(
        "{argv: [ls], mounts: ['/srv/a']}",
        "",
        &[("command.mounts[0]", "cannot be mounted", "/srv/reports")],
    );
    check("{argv: [ls], mounts: ['/srv:/etc']}", "", &[("command.mounts", "its own there", "")]);
    check("{argv: [ls], mounts: ['srv:/s']}", "", &[("command.mounts", "must be absolute", "")]);
    check("{argv: [ls], mounts: ['/a/../b:/s']}", "", &[("command.mounts", "`..`", "")]);
    check("{argv: [ls], image: ''}", "", &[("command.image", "cannot be the name of an image", "")]);
    check("{argv: [ls], output: xml}", "", &[("command.output", "cannot be `xml`", "text")]);
    check("{argv: [ls], okExit: []}", "", &[("command.okExit", "no exit code is fine", "[0]")]);
    check("{argv: [ls], okExit: [256]}", "", &[("command.okExit[0]", "no exit code", "255")]);
    check("{argv: [ls], env: {A-B: x}}", "", &[("command.env.A-B", "no variable", "")]);
    check("{argv: [ls], env: {A: '${KEY}'}}", "", &[("command.env.A", "`statics` only", "")]);
    check("{argv: [ls], env: {A: '{q}'}}", "", &[("command.env.A", "names no parameter", "p")]);
    check("{argv: [ls], stdin: '{q}'}", "", &[("command.stdin", "names no parameter", "p")]);
    check(
        "{argv: ls}",
        "",
        &[("command.argv", "must be a list", "[\"ls\"]"), ("command.argv", "is empty", "")],
    );
    check("{}", "", &[("command", "nothing that could be run", "argv")]);
    check("ls", "", &[("command", "must be a map", "")]);
}

#[test]
fn a_script_is_python_and_returns() {
    let one = tool(&with("{language: python, script: return p}", ""));
    assert_eq!(one.command().unwrap().runs(), &Runs::Python("return p".to_owned()));
    check("{script: return 1}", "", &[("command.script", "does not say its `language`", "python")]);
    check("{language: python}", "", &[("command.language", "no `script`", "")]);
    check("{language: ruby, script: x}", "", &[("command.language", "cannot be `ruby`", "python")]);
    check(
        "{argv: [ls], language: python, script: x}",
        "",
        &[("command.language", "beside `argv`", "keep"), ("command.script", "beside `argv`", "keep")],
    );
    check(
        "{language: python, script: x, output: json, okExit: [0]}",
        "",
        &[("command.output", "is for `argv`", "returns"), ("command.okExit", "is for `argv`", "returns")],
    );
    let told =
        read("name: a\nparams: [{name: lambda, type: STRING}]\ncommand: {language: python, script: x}");
    assert!(told.unwrap_err().to_string().contains("a word of Python"));
    let told = read("name: a\nparams: [{name: $a, type: STRING}]\ncommand: {language: python, script: x}");
    assert!(told.unwrap_err().to_string().contains("not an identifier"));
}

#[test]
fn what_only_code_understands_is_told() {
    check("{argv: [ls]}", "entry: body", &[("entry", "a command has no `entry`", "leave it out")]);
    check("{argv: [ls]}", "language: js", &[("language", "has no `language`", "below `command`")]);
    check("{argv: [ls]}", "profile: web", &[("profile", "has no `profile`", "below `command`")]);
    check(
        "{argv: [ls]}",
        "overrides: {network: strict}",
        &[("overrides", "has no `overrides`", "network, mounts")],
    );
    check("{argv: [ls]}", "limits: {wall: 1s}", &[("limits", "has no `limits`", "command.limits")]);
    check(
        "{argv: [ls]}",
        "tests: [{equals: 1, files: {a: b}}, {equals: 1, http: []}]",
        &[
            ("tests[0].files", "has no `files`", "empty folder"),
            ("tests[1].http", "has no `http`", "real sandbox"),
        ],
    );
    check(
        "{argv: [ls], env: {A: x}}",
        "statics: [{name: A, value: 1}]",
        &[("command.env.A", "a static, too", "keep one")],
    );
    check("{argv: [ls]}", "statics: [{name: p, value: 1}]", &[("statics", "share one set", "")]);
    check("{argv: [ls]}", "statics: [{name: A-B, value: 1}]", &[("statics", "letters, digits", "")]);
    // What says nothing is no mistake, and a name that only JavaScript keeps is free.
    tool(&with("{argv: [ls]}", "overrides: {}\nlimits: {}\nstatics: [{name: Math, value: 1}]"));
}

#[test]
fn a_command_reads_back_as_it_was_written() {
    for command in [
        FULL,
        "{argv: [ls]}",
        "{argv: [echo, '{{}}', 'a{{{p}}}'], network: full, okExit: [3]}",
        "{argv: [echo], network: 'allow:b.test'}",
        "{language: python, script: \"x = 1\\nreturn x\\n\", stdin: x}",
    ] {
        let one = tool(&with(command, "statics: [{name: A, value: 1}]"));
        assert_eq!(Tool::from_json(&one.to_json()).unwrap(), one, "{command}");
        let yaml = one.to_yaml();
        let again = Tool::read("a.tool.yaml", &yaml, Syntax::Yaml).unwrap().tool;
        assert_eq!((again.covered_hash(), again.to_yaml()), (one.covered_hash(), yaml), "{command}");
    }
}

#[test]
fn every_field_of_a_command_moves_the_covered_hash() {
    let plain = tool(&with("{argv: [ls]}", "")).covered_hash();
    for field in [
        "stdin: x",
        "env: {A: x}",
        "image: x",
        "minTier: PROCESS",
        "network: git",
        "mounts: ['/srv/a:/a']",
        "limits: {timeout: 5s}",
        "output: json",
        "okExit: [0, 1]",
    ] {
        assert_ne!(tool(&with(&format!("{{argv: [ls], {field}}}"), "")).covered_hash(), plain, "{field}");
    }
    for same in ["{argv: ['ls'], network: none}", "{argv: [ls], okExit: [0, 0], output: text, limits: {}}"] {
        assert_eq!(tool(&with(same, "")).covered_hash(), plain, "{same}");
    }
    let limits = |text: &str| tool(&with(&format!("{{argv: [ls], limits: {{{text}}}}}"), "")).covered_hash();
    assert_eq!(limits("memory: 64MiB, timeout: 1000ms"), limits("timeout: 1s, memory: 65536KiB"));
}

#[test]
fn nothing_of_a_command_reaches_a_model() {
    let one = tool(&with(FULL, "statics: [{name: A, value: hidden}]"));
    let seen = one.definition().to_string();
    assert!(!seen.contains("grep") && !seen.contains("/srv") && !seen.contains("hidden"), "{seen}");
    assert_eq!(one.definition()["inputSchema"]["properties"], json!({"p": {"type": "string"}}));
}

/// A static that is sealed for these hosts, in this place.
fn sealed(hosts: &str, place: &str) -> String {
    format!("statics: [{{name: T, value: '${{T}}', sealed: {{hosts: [{hosts}], in: '{place}'}}}}]")
}

#[test]
fn what_is_sealed_is_for_hosts_that_the_command_reaches() {
    for (network, hosts) in [
        ("{allow: [a.test]}", "a.test"),
        ("{allow: [a.test, b.test]}", "b.test, a.test"),
        ("{allow: ['*.a.test']}", "x.a.test"),
        ("{allow: ['a.test:8443']}", "'a.test:8443'"),
        ("{allow: ['a.test:*']}", "'a.test:8443', a.test"),
        ("git", "github.com"),
        ("full", "a.test"),
    ] {
        let one = tool(&with(
            &format!("{{argv: [ls], network: {network}}}"),
            &sealed(hosts, "header:Authorization"),
        ));
        let [secret] = one.sealed_statics().try_into().unwrap();
        assert_eq!((secret.variable.as_str(), secret.secret.as_str()), ("T", "T"));
        assert_eq!(secret.sealed["in"], "header:Authorization");
    }
    for (network, hosts, message, hint) in [
        ("none", "a.test", "with the network `none`", "network: {allow: [\"a.test\"]}"),
        ("host", "'a.test:8443'", "with the network `host`", "[\"a.test:8443\"]"),
        ("{allow: [b.test]}", "a.test", "does not reach `a.test`", "name `a.test` in `command.network`"),
        ("{allow: [a.test]}", "a.test, b.test", "does not reach `b.test`", "out of `sealed.hosts`"),
        ("{allow: [a.test]}", "'a.test:8443'", "does not reach `a.test:8443`", ""),
        ("{allow: ['a.test:8443']}", "a.test", "does not reach `a.test`", ""),
        ("{allow: ['*.a.test']}", "a.test", "does not reach `a.test`", ""),
        ("git", "a.test", "does not reach `a.test`", ""),
        ("full", "'a.test:25'", "does not reach `a.test:25`", ""),
        ("full", "10.0.0.1", "does not reach `10.0.0.1`", ""),
    ] {
        check(
            &format!("{{argv: [ls], network: {network}}}"),
            &sealed(hosts, "header:Authorization"),
            &[("statics[0].sealed", message, hint)],
        );
    }
}

#[test]
fn what_is_sealed_stands_in_a_header() {
    for place in ["query:key", "body"] {
        let told = format!("headers only, not in `{place}`");
        let problem = ("statics[0].sealed", told.as_str(), "header:NAME");
        check("{argv: [ls], network: full}", &sealed("a.test", place), &[problem]);
    }
    let many: Vec<String> = (0..17)
        .map(|n| format!("{{name: T{n}, value: '${{T}}', sealed: {{hosts: [a.test], in: 'header:X'}}}}"))
        .collect();
    let many = format!("statics: [{}]", many.join(", "));
    check("{argv: [ls], network: full}", &many, &[("statics", "17 statics are sealed", "two tools")]);
}

#[test]
fn of_two_statics_with_one_name_the_later_is_sealed_or_not() {
    let seal = "sealed: {hosts: [a.test], in: 'header:X'}";
    for (statics, count) in [
        (format!("{{name: T, value: 1}}, {{name: T, value: '${{T}}', {seal}}}"), 1),
        (format!("{{name: T, value: '${{T}}', {seal}}}, {{name: T, value: '${{U}}'}}"), 0),
    ] {
        let document = with("{argv: [ls], network: full}", &format!("statics: [{statics}]"));
        assert_eq!(tool(&document).sealed_statics().len(), count, "{statics}");
    }
}
