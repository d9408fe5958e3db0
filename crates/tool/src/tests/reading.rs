use bailiwick_wire::{Entry, Language};
use serde_json::json;

use super::{STARS, read, tool};
use crate::{ApprovalMode, Body, Name, ParamType, StaticValue, Syntax, Tool};

/// A document with these lines beside a name, a description and code.
fn with(lines: &str) -> String {
    format!("name: a\ndescription: Does a.\ncode: return 1\n{lines}\n")
}

/// The document has exactly these problems: line, path, a part of the message, a part of the hint.
#[track_caller]
fn check(lines: &str, expected: &[(u32, &str, &str, &str)]) {
    let problems = match read(&with(lines)) {
        Ok(_) => panic!("it was read:\n{lines}"),
        Err(problems) => problems.list,
    };
    assert_eq!(problems.len(), expected.len(), "{problems:#?}");
    for (problem, (line, path, message, hint)) in problems.iter().zip(expected) {
        assert_eq!(problem.place.map(|place| place.line), Some(line + 3), "{problem:?}");
        assert_eq!(problem.path.as_str(), *path, "{problem:?}");
        assert!(problem.message.contains(message), "{problem:?}");
        assert!(problem.hint.as_deref().unwrap_or_default().contains(hint), "{problem:?}");
    }
}

/// The document is read, with these warnings.
#[track_caller]
fn check_warned(text: &str, expected: &[&str]) {
    let warnings = read(text).unwrap().warnings;
    assert_eq!(warnings.len(), expected.len(), "{warnings:#?}");
    for (warning, message) in warnings.iter().zip(expected) {
        assert!(warning.message.contains(message) && warning.hint.is_some(), "{warning:?}");
    }
}

#[test]
fn every_field_of_the_specification_is_read() {
    let one = tool(STARS);
    assert_eq!(one.name().as_str(), "repo_stars");
    assert!(one.category().unwrap().is_known());
    let [repo] = one.params() else { panic!() };
    assert_eq!((repo.kind, repo.required), (ParamType::String, true));
    assert_eq!(repo.test_value, Some(json!("rust-lang/rust")));
    assert!(matches!(&one.statics()[0].value, StaticValue::Secret { seal: Some(_), .. }));
    assert_eq!((one.entry(), one.language()), (Entry::Body, Language::Either));
    assert_eq!(
        one.policy().layer.to_overrides(),
        json!({"network": "allowlist", "hosts": ["api.github.com"]})
    );
    assert_eq!(one.policy().layer.to_limits(), json!({"wall": "10s"}));
    assert_eq!(one.approval().mode, ApprovalMode::Auto);
    assert_eq!(one.tests()[0].name, "counts stars");
    assert_eq!(one.tests()[0].expect.equals, Some(json!({"stars": 7})));
    assert!(one.tests()[0].http.is_some());
    assert!(one.code().unwrap().starts_with("const r"));
    assert_eq!(one.trial(), Ok(json!({"repo": "rust-lang/rust"}).as_object().unwrap().clone()));
}

#[test]
fn all_mistakes_are_told_at_once_with_their_places() {
    check(
        "params: [{name: 1a, type: STRIN}]\ntags: [safe]\napproval: {mode: always, promt: x}\nlimits: {wal: 1s}\n\
         overrides: {netwrok: strict}\ntests: [{equal: 1}]\nsafety: {fs: true}",
        &[
            (1, "params[0].name", "not an identifier", "name it `_1a`"),
            (1, "params[0].type", "`STRIN` is no type", "did you mean `STRING`?"),
            (2, "tags[0]", "claims a capability", "what the tool is about"),
            (3, "approval.mode", "cannot be `always`", "one of REQUIRED"),
            (3, "approval.promt", "unknown field", "did you mean `prompt`?"),
            (4, "limits.wal", "unknown limit", "did you mean `wall`?"),
            (5, "overrides.netwrok", "unknown field", "did you mean `network`?"),
            (6, "tests[0].equal", "unknown field", "did you mean `equals`?"),
            (7, "safety.fs", "unknown field", "below `overrides`"),
        ],
    );
}

#[test]
fn a_field_that_nobody_knows_is_a_mistake_and_never_ignored() {
    let table = [
        ("aproval: {mode: REQUIRED}", "did you mean `approval`?"),
        ("limit: {wall: 100ms}", "did you mean `limits`?"),
        ("overides: {network: blocked}", "did you mean `overrides`?"),
        ("param: [{name: p, type: STRING}]", "did you mean `params`?"),
        ("test: [{equals: 1}]", "did you mean `tests`?"),
        ("sandboxOverrides: {networkMode: blocked}", "tool import --from spring"),
        ("staticVariables: [{a: b}]", "tool import --from spring"),
        ("humanInTheLoop: {mode: REQUIRED}", "tool import --from spring"),
        ("Approval: {mode: REQUIRED}", "did you mean `approval`?"),
        ("annotations: {readOnlyHint: true}", "known here: "),
        ("meta: {a: 1}", "metadata"),
        ("aproval:", "did you mean `approval`?"),
    ];
    for (line, hint) in table {
        let field = line.split(':').next().unwrap();
        check(line, &[(1, field, &format!("unknown field `{field}`"), hint)]);
    }
    // The place is that of the name, so that a caret can point at it.
    let problem = read(&with("aproval: {mode: REQUIRED}")).unwrap_err().list.remove(0);
    assert_eq!(problem.place.map(|place| (place.line, place.column)), Some((4, 1)));
    // A document that is kept is read by the same rule.
    let kept = json!({"name": "a", "code": "return 1", "aproval": {"mode": "REQUIRED"}});
    assert!(Tool::from_json(&kept).unwrap_err().to_string().contains("unknown field `aproval`"));
}

#[test]
fn metadata_and_names_that_begin_with_x_are_kept_and_mean_nothing() {
    let plain = tool(&with(""));
    let more = tool(&with("metadata: {owner: a, aproval: {mode: REQUIRED}}\nx-vendor: [1]"));
    assert_eq!(more.kept().keys().collect::<Vec<_>>(), ["metadata", "x-vendor"]);
    assert_eq!((more.covered_hash(), more.texts_hash()), (plain.covered_hash(), plain.texts_hash()));
    assert_eq!(more.approval().mode, ApprovalMode::Auto);
    check("metadata: mine", &[(1, "metadata", "must be a map of fields", "")]);
    check("x: 1", &[(1, "x", "unknown field `x`", "")]);
}

#[test]
fn below_the_top_every_field_is_known_too() {
    let code = |lines: &str, path: &str, hint: &str| {
        let problems = read(&with(lines)).map(|_| panic!("it was read: {lines}")).unwrap_err().list;
        let told = problems.iter().any(|problem| {
            problem.path.as_str() == path
                && format!("{} {}", problem.message, problem.hint.as_deref().unwrap_or_default())
                    .contains(hint)
        });
        assert!(told, "{lines}: {problems:#?}");
    };
    code("params: [{name: p, type: STRING, desciption: x}]", "params[0].desciption", "`description`");
    code("statics: [{name: s, value: 1, seald: {}}]", "statics[0].seald", "`sealed`");
    code(
        "statics: [{name: s, value: '${S}', sealed: {hosts: [a.test], in: 'header:A', host: b}}]",
        "statics[0].sealed",
        "host",
    );
    code("tests: [{equls: 1}]", "tests[0].equls", "`equals`");
    code("tests: [{throws: {cod: TIMEOUT}}]", "tests[0].throws.cod", "`code`");
    code("tests: [{http: [{requst: {}}]}]", "tests[0].http", "requst");
    code(
        "tests: [{http: [{request: {url: 'https://a.test/'}, response: {statsu: 1}}]}]",
        "tests[0].http",
        "statsu",
    );
    code("approval: {mod: REQUIRED}", "approval.mod", "`mode`");
    code("limits: {walll: 1s}", "limits.walll", "`wall`");
    code("overrides: {ask: {nett: first}}", "overrides.ask.nett", "`net`");
    code(
        "overrides: {network: allowlist, hosts: [{host: a.test, method: [GET]}]}",
        "overrides.hosts[0].method",
        "`methods`",
    );
}

#[test]
fn parameters_are_checked_one_by_one() {
    check("params: [{type: STRING}]", &[(1, "params[0]", "no `name`", "")]);
    check("params: [{name: a}]", &[(1, "params[0]", "no `type`", "")]);
    check("params: [{name: if, type: STRING}]", &[(1, "params[0].name", "reserved word", "`if_`")]);
    check("params: [{name: Math, type: STRING}]", &[(1, "params", "name of a global", "`Math_`")]);
    check(
        "params: [{name: a, type: STRING, requried: true}]",
        &[(1, "params[0].requried", "unknown field", "required")],
    );
    check(
        "params: [{name: p, type: STRING}, {name: p, type: STRING}]",
        &[(1, "params[1]", "`p` is there twice", "")],
    );
    check(
        "params: [{name: p, type: STRING, default: 7}]",
        &[(1, "params[0].default", "must be a text", "\"7\"")],
    );
    check(
        "params: [{name: p, type: INTEGER, default: 7.5}]",
        &[(1, "params[0].default", "a whole number", "")],
    );
    check(
        "params: [{name: p, type: integer, enum: [1, x]}]",
        &[(1, "params[0].enum[1]", "a whole number", "")],
    );
    check("params: [{name: p, type: STRING, enum: []}]", &[(1, "params[0].enum", "no value fits", "")]);
    check(
        "params: [{name: p, type: STRING, enum: [a], default: b}]",
        &[(1, "params[0].default", "must be one of \"a\", but is \"b\"", "")],
    );
    check("params: [{name: p, type: NUMBER, testValue: x}]", &[(1, "params[0].testValue", "a number", "")]);
    check(
        "params: [{name: p, type: STRING, schema: {}}]",
        &[(1, "params[0].schema", "OBJECT and ARRAY", "")],
    );
    check(
        "params: [{name: p, type: ARRAY, schema: {type: object}}]",
        &[(1, "params[0].schema", "another than the parameter's", "array")],
    );
    check(
        "params: [{name: p, type: ARRAY, schema: {items: {type: string}}, default: [1]}]",
        &[(1, "params[0].default", "at /0", "")],
    );
}

#[test]
fn a_test_value_that_is_text_is_parsed_where_the_type_is_another() {
    let text = with(
        "params:\n  - {name: n, type: number, testValue: '1.5'}\n  - {name: o, type: OBJECT, testValue: '{\"a\": [1]}'}\n\
         \x20 - {name: s, type: String, testValue: '7'}\n  - {name: h, type: INTEGER, testValue: 0x10}",
    );
    let one = tool(&text);
    let values: Vec<_> = one.params().iter().map(|param| param.test_value.clone().unwrap()).collect();
    assert_eq!(values, [json!(1.5), json!({"a": [1]}), json!("7"), json!(16)]);
}

#[test]
fn names_tags_and_texts_have_bounds() {
    check("tags: [a, b, c, d, e, f, g, h, i]", &[(1, "tags", "at most 8", "")]);
    check(
        "tags: ['Read-Only', L0, ' x', web]",
        &[(1, "tags[0]", "claims", ""), (1, "tags[1]", "claims", ""), (1, "tags[2]", "is no tag", "")],
    );
    check("id: 7f", &[(1, "id", "must be a UUID", "leave `id` out")]);
    check("version: 1.2.0", &[(1, "version", "a whole number", "")]);
    for bad in ["''", "' a'", "\"a\\nb\"", "[a]"] {
        assert!(read(&format!("name: {bad}\ncode: x")).is_err(), "{bad}");
    }
    assert!(read("code: x").unwrap_err().to_string().contains("no `name`"));
}

#[test]
fn foreign_names_are_kept_and_told() {
    let text = "name: 'Get Weather!'\ndescription: d\ncode: x";
    assert_eq!(tool(text).name(), &Name::Foreign("Get Weather!".to_owned()));
    check_warned(text, &["only an imported tool may have"]);
    check_warned(&format!("name: {}\ndescription: d\ncode: x", "a".repeat(41)), &["more than 40 characters"]);
}

#[test]
fn names_of_native_tools_are_not_handed_in() {
    for name in [
        "run_javascript",
        "describe_runtime",
        "run_command",
        "run_python",
        "run_code",
        "describe_tools",
        "sandbox_",
        "sandbox_create",
        "sandbox_anything",
        "run-javascript",
        "Run JavaScript",
        "RUN_CODE",
        "sandbox-exec",
        "Sandbox.exec",
    ] {
        let text = format!("name: '{name}'\ndescription: d\ncode: x");
        let problems = read(&text).unwrap_err().list;
        let [problem] = problems.as_slice() else { panic!("{name}: {problems:?}") };
        assert_eq!(
            (problem.path.as_str(), problem.place.map(|place| place.line)),
            ("name", Some(1)),
            "{name}"
        );
        assert!(problem.message.contains("kept for a native tool"), "{problem:?}");
        assert!(problem.hint.as_deref().unwrap_or_default().contains("choose another name"), "{problem:?}");
        // What was kept before the name was reserved can still be looked at.
        let kept = Tool::from_json(&json!({"name": name, "description": "d", "code": "x"})).unwrap();
        assert!(kept.name().is_reserved(), "{name}");
    }
    for name in
        ["run_javascript2", "javascript", "run", "sandbox", "sandboxed_run", "my_sandbox_tool", "run_codes"]
    {
        assert!(!tool(&format!("name: {name}\ndescription: d\ncode: x")).name().is_reserved(), "{name}");
    }
}

#[test]
fn what_is_unwise_is_a_warning() {
    check_warned("name: a\ncode: x", &["no `description`"]);
    check_warned(&with("tests: [{input: {}}]"), &["`test 1` expects nothing"]);
    check_warned(&with("params: [{name: p, type: STRING, required: true, default: x}]"), &["never used"]);
    check_warned(&with("category: mine\nx-anything: [1]"), &[]);
}

#[test]
fn statics_keep_their_order_and_the_later_holds() {
    let one = tool(&with(
        "statics:\n  - {name: s, value: 1}\n  - {name: t, value: \"${TOKEN}\"}\n  - {name: s, value: \"${OTHER}\"}\n  - {name: t, value: 2}",
    ));
    assert_eq!(one.statics().len(), 4);
    assert_eq!(one.plain_statics(), json!({"t": 2}).as_object().unwrap().clone());
    let secrets: Vec<_> =
        one.secret_statics().iter().map(|one| (one.variable.clone(), one.name.to_string())).collect();
    assert_eq!(secrets, [("s".to_owned(), "OTHER".to_owned())]);
    check("statics: [{name: s}]", &[(1, "statics[0]", "needs `name` and `value`", "")]);
    check("statics: [{name: s, value: 'a ${KEY} b'}]", &[(1, "statics[0]", "whole value", "${KEY}")]);
    check(
        "statics: [{name: s, value: '${key}'}]",
        &[(1, "statics[0]", "is not a secret's name", "${GITHUB_TOKEN}")],
    );
    check(
        "statics: [{name: s, value: a, sealed: {}}]",
        &[(1, "statics[0]", "only a secret can be sealed", "")],
    );
    check(
        "statics: [{name: s, value: '${KEY}', sealed: {}}]",
        &[(1, "statics[0].sealed", "`sealed`", "hosts")],
    );
    check("statics: [{name: a-b, value: 1}]", &[(1, "statics", "not an identifier", "`a_b`")]);
    check(
        "params: [{name: s, type: STRING}]\nstatics: [{name: s, value: 1}]",
        &[(2, "statics", "share one set", "")],
    );
}

#[test]
fn a_body_is_code_or_a_command() {
    let one = tool("name: a\ndescription: d\ncommand: {argv: [ls, -l]}");
    assert!(matches!(one.body(), Body::Command(_)));
    assert_eq!(one.to_json()["command"], json!({"argv": ["ls", "-l"]}));
    assert_eq!(one.code(), None);
    check("command: {argv: [ls]}", &[(1, "command", "`code` and `command`", "keep one")]);
    assert!(read("name: a").unwrap_err().to_string().contains("no `code`"));
    let long = "x".repeat(crate::MOST_CODE + 1);
    let told = read(&format!("name: a\ncode: {long}")).unwrap_err().to_string();
    assert!(told.contains("the code has 102401 bytes"), "{told}");
    assert!(read(&format!("name: a\ncode: {}", &long[1..])).is_ok());
}

#[test]
fn the_pure_entry_takes_one_text_at_most() {
    assert!(read(&with("entry: emit")).is_ok());
    assert!(read(&with("entry: emit\nparams: [{name: input, type: STRING}]")).is_ok());
    let told = read(&with("entry: emit\nparams: [{name: other, type: STRING}]")).unwrap_err().to_string();
    assert!(told.contains("no parameters but `input`"), "{told}");
}

#[test]
fn a_prompt_has_only_the_places_that_are_filled() {
    assert!(
        read(&with("approval: {mode: REQUIRED, prompt: '{tool} with {args} at {risk}; {} { } fine'}"))
            .is_ok()
    );
    check("approval: {prompt: 'run {toll}?'}", &[(1, "approval.prompt", "no place `{toll}`", "{args}")]);
}

#[test]
fn tests_are_checked_when_they_are_read() {
    let params = "params: [{name: p, type: INTEGER, required: true}]\n";
    let check = |test: &str, expected: &[(u32, &str, &str, &str)]| {
        check(&format!("{params}tests: [{test}]"), expected);
    };
    check(
        "{input: {p: x}, equals: 1}",
        &[(2, "tests[0].input", "must be a whole number, but is a text", "")],
    );
    check(
        "{input: {q: 1}, equals: 1}",
        &[(2, "tests[0].input", "missing: p", ""), (2, "tests[0].input", "no parameter `q`", "")],
    );
    check("{input: [1], equals: 1}", &[(2, "tests[0]", "a map of arguments", "")]);
    check(
        "{input: {p: 1}, matches: '(a'}",
        &[(2, "tests[0].matches", "no regular expression", "look-around")],
    );
    check(
        "{input: {p: 1}, matches: '(?=a)'}",
        &[(2, "tests[0].matches", "no regular expression", "look-around")],
    );
    check("{input: {p: 1}, schema: {type: 7}}", &[(2, "tests[0].schema", "no valid JSON Schema", "2020-12")]);
    check("{input: {p: 1}, throws: false}", &[(2, "tests[0].throws", "says no failure", "true")]);
    check(
        "{input: {p: 1}, throws: {code: NET_DENID}}",
        &[(2, "tests[0].throws.code", "no error code", "NET_DENIED")],
    );
    check("{input: {p: 1}, throws: true, equals: 1}", &[(2, "tests[0]", "a failure and a result", "")]);
    check("{input: {p: 1}, maxMs: fast}", &[(2, "tests[0].maxMs", "a whole number", "")]);
    check("{input: {p: 1}, equals: 1, http: [{}]}", &[(2, "tests[0].http", "http[0]", "an entry is")]);
    check(
        "{input: {p: 1}, equals: 1, files: {../a: x}}",
        &[(2, "tests[0].files.../a", "../a", "notes/a.txt")],
    );
    check("{input: {p: 1}, leaves: {/etc/a: ~}}", &[(2, "tests[0].leaves./etc/a", "own workspace", "")]);
    check(
        "{input: {p: 1}, equals: 1, recording: 7}",
        &[(2, "tests[0].recording", "no recording", "--record")],
    );
    let one = tool(&with(&format!(
        "{params}tests: [{{input: {{p: x}}, throws: whole}}, {{input: {{p: 1}}, equals: ~, leaves: {{a: ~, b: x}}}}]"
    )));
    assert_eq!(one.tests()[1].name, "test 2");
    assert_eq!(one.tests()[1].expect.equals, Some(json!(null)));
    assert_eq!(one.tests()[1].leaves, [("a".to_owned(), None), ("b".to_owned(), Some("x".to_owned()))]);
}

#[test]
fn what_is_wrong_in_json_has_a_path_and_no_line() {
    let problems = Tool::from_json(&json!({"name": "a", "code": 7})).unwrap_err();
    assert_eq!(problems.list[0].place, None);
    assert_eq!(problems.list[0].path.as_str(), "code");
    let mut deep = json!(1);
    for _ in 0..40 {
        deep = json!([deep]);
    }
    assert!(Tool::from_json(&json!({"name": "a", "code": "x", "x-deep": deep})).is_err());
    assert!(Tool::from_json(&json!([])).is_err());
}

#[test]
fn a_file_is_read_by_what_its_name_says() {
    for (path, expected) in [
        ("a.tool.yaml", Some(Syntax::Yaml)),
        ("a.tool.yml", Some(Syntax::Yaml)),
        ("a.yml", Some(Syntax::Yaml)),
        ("b/a.tool.json", Some(Syntax::Json)),
        ("a.js", Some(Syntax::JavaScript)),
        ("a.mjs", Some(Syntax::JavaScript)),
        ("a.ts", Some(Syntax::TypeScript)),
        ("a.mts", Some(Syntax::TypeScript)),
        ("a.toml", None),
        ("js", None),
        ("-", None),
    ] {
        assert_eq!(Syntax::of_path(std::path::Path::new(path)), expected, "{path}");
    }
}
