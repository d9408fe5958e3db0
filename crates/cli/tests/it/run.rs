//! `run` and `limits` as people and machines see them.

use insta::assert_snapshot;
use serde_json::{Value, json};

use super::bailiwick;

#[track_caller]
fn result(arguments: &[&str]) -> Value {
    let mut all = vec!["run", "--json"];
    all.extend_from_slice(arguments);
    let run = bailiwick().run(&all);
    let report = serde_json::from_str(&run.stdout);
    assert!(report.is_ok(), "not one JSON object: {}{}", run.stdout, run.stderr);
    report.unwrap_or_default()
}

#[test]
fn the_result_goes_to_stdout_and_the_console_to_stderr() {
    let run =
        bailiwick().run(&["run", "-e", "console.log('a', {b: 1}); console.warn('c\\nd'); return [1, 'x']"]);
    assert_snapshot!(run.stdout, @r#"
    [
      1,
      "x"
    ]
    "#);
    assert_snapshot!(run.stderr, @r"
    a { b: 1 }
    warn  c
    warn  d
    ");
    assert_eq!(run.code, Some(0));
}

#[test]
fn a_failure_says_what_where_and_what_to_do() {
    let run = bailiwick().with_file("a.js", "const a = 1;\n\nreturn a.b.c;\n").run(&["run", "a.js"]);
    assert_snapshot!(run.stderr, @r"
    error: EVAL_ERROR: TypeError: cannot read property 'c' of undefined
      --> a.js:3:8
    ");
    assert_eq!((run.stdout.as_str(), run.code), ("", Some(1)));
    let run = bailiwick().run(&["run", "-e", "const fs = require('fs')"]);
    assert_snapshot!(run.stderr, @r"
    error: VALIDATION: `require` cannot work here: there are no modules: a tool is one file
      --> -e:1:12
      hint: write the code into the tool
    ");
    assert_eq!(run.code, Some(2));
}

#[test]
fn each_kind_of_failure_has_its_exit_code() {
    for (arguments, code, name) in [
        (vec!["-e", "throw 1"], 1, "EVAL_ERROR"),
        (vec!["-e", "return ("], 1, "SYNTAX_ERROR"),
        (vec!["-e", "await new Promise(() => {})"], 1, "DEADLOCK"),
        (vec!["-e", "require('x')"], 2, "VALIDATION"),
        (vec!["--no-check", "-e", "setTimeout(() => {})"], 3, "CAPABILITY_DENIED"),
        (vec!["--no-check", "-e", "eval('1')"], 3, "CAPABILITY_DENIED"),
        (vec!["--timeout", "50ms", "-e", "for(;;){}"], 4, "TIMEOUT"),
        (vec!["--memory", "4MiB", "-e", "return new Array(1e7).fill(0)"], 4, "MEMORY_LIMIT"),
        (vec!["-e", "function f() { f() } f()"], 4, "STACK_LIMIT"),
        (vec!["-e", "return 'x'.repeat(2 ** 21)"], 4, "OUTPUT_LIMIT"),
    ] {
        let mut all = vec!["run", "--json"];
        all.extend(&arguments);
        let run = bailiwick().run(&all);
        let report: Value = serde_json::from_str(&run.stdout).unwrap();
        assert_eq!((report["error"]["code"].as_str(), run.code), (Some(name), Some(code)), "{arguments:?}");
        assert!(!report["error"]["message"].as_str().unwrap_or_default().is_empty());
    }
}

#[test]
fn a_denial_brings_the_fix_that_lifts_it() {
    let report = result(&["--no-check", "-e", "setTimeout(() => {}, 1)"]);
    let denied = &report["error"]["denied"];
    assert_eq!(denied["capability"], "timers");
    let overrides = denied["fix"]["overrides"].to_string();
    let program = bailiwick().with_file("o.yaml", &overrides);
    let code = "await new Promise(done => setTimeout(done, 1)); return 'waited'";
    let run = program.run(&["run", "--overrides", "o.yaml", "-e", code]);
    assert_eq!((run.stdout.as_str(), run.code), ("\"waited\"\n", Some(0)), "{}", run.stderr);
}

#[test]
fn arguments_are_values_and_never_code() {
    let report = result(&["--arg", "n=42", "--arg", "t=4 2", "--arg", "l=[1]", "-e", "return [n + 1, t, l]"]);
    assert_eq!(report["value"], json!([43, "4 2", [1]]));
    let report = result(&[
        "--args",
        r#"{"o":{"__proto__":{"x":1}}}"#,
        "-e",
        "return [o.x ?? null, Object.keys(o), ({}).x ?? null]",
    ]);
    assert_eq!(report["value"], json!([null, ["__proto__"], null]));
    for bad in [
        vec!["--arg", "x"],
        vec!["--args", "[]"],
        vec!["--arg", "a=1", "--arg", "a=2"],
        vec!["--arg", "if=1"],
    ] {
        let mut all = vec!["run", "-e", "return 1"];
        all.extend(&bad);
        assert_eq!(bailiwick().run(&all).code, Some(2), "{bad:?}");
    }
}

#[test]
fn a_tool_document_runs_with_its_parameters_statics_and_limits() {
    let tool = "name: greet\nparams:\n  - {name: who, type: STRING, required: true}\n  - {name: times, type: INTEGER}\n\
        statics:\n  - {name: greeting, value: Hello}\nlimits: {wall: 2s}\ncode: |\n  return greeting + ' ' + who + '!'.repeat(times ?? 1);\n";
    let program = bailiwick().with_file("greet.tool.yaml", tool);
    let run = program.run(&["run", "greet.tool.yaml", "--arg", "who=42"]);
    assert_eq!((run.stdout.as_str(), run.stderr.as_str()), ("\"Hello 42!\"\n", ""));
    let run = program.run(&["run", "greet.tool.yaml"]);
    assert_snapshot!(run.stderr, @r"
    error: required arguments are missing: who
      hint: add --arg who=…
    ");
    let run = program.run(&["run", "greet.tool.yaml", "--arg", "who=a", "--arg", "tmes=2"]);
    assert_snapshot!(run.stderr, @r"
    error: the tool has no parameter `tmes`
      hint: did you mean `times`?
    ");
}

#[test]
fn typescript_runs_and_its_errors_are_where_they_were_written() {
    let code = "interface A { b?: number }\nconst a: A = {};\nreturn (a as any).b.c;\n";
    let run = bailiwick().with_file("a.ts", code).run(&["run", "a.ts"]);
    assert!(run.stderr.contains("--> a.ts:3:"), "{}", run.stderr);
    let run = bailiwick().with_file("e.ts", "enum E { A }\nreturn E.A").run(&["run", "e.ts"]);
    assert_eq!(run.code, Some(2), "{}", run.stderr);
    assert!(run.stderr.contains("enum"), "{}", run.stderr);
}

#[test]
fn limits_lists_exactly_the_globals_that_code_finds() {
    for overrides in [
        "{}",
        "addAllow: [timers, eval]\nremoveDeny: [timers, eval]\n",
        "removeAllow: [console, clock, random]\n",
        "removeAllow: [url, encoding, crypto.random, crypto.digest, crypto.hmac, parser.html, parser.yaml]\n",
        "network: strict\nfileRead: true\n",
        "fileWrite: true\ndestructive: true\nremoveAllow: [\"parser.*\"]\n",
    ] {
        let program = bailiwick().with_file("o.yaml", overrides);
        let limits = program.run(&["limits", "--json", "--overrides", "o.yaml"]);
        let limits: Value = serde_json::from_str(&limits.stdout).unwrap();
        let listed: Vec<&str> =
            limits["globals"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
        let code = "
            const found = 'random' in Math ? ['Math.random'] : [];
            const walk = (object, lead) => Object.getOwnPropertyNames(object).forEach((name) => {
                const inner = lead + name;
                if (!/^(crypto|crypto\\.subtle|safety|safety\\.fs|safety\\.parser)$/.test(inner)) found.push(inner);
                else walk(object[name], inner + '.');
            });
            walk(globalThis, '');
            return found.sort()";
        let run = program.run(&["run", "--no-check", "--overrides", "o.yaml", "-e", code]);
        let found: Vec<String> = serde_json::from_str(&run.stdout).unwrap();
        assert_eq!(found, listed, "{overrides}");
    }
}

#[test]
fn a_report_has_every_field_of_its_shape() {
    let report = result(&["-p", "1 + 1", "--correlation", "abc"]);
    assert_eq!(
        (report["ok"].as_bool(), &report["value"], &report["error"]),
        (Some(true), &json!(2), &Value::Null)
    );
    for field in ["logs", "logsDropped", "usage", "risk", "receipt", "callId", "correlationId"] {
        assert!(!report[field].is_null(), "{field}");
    }
    assert_eq!(report["correlationId"], "abc");
    assert_eq!(report["receipt"]["tier"], "PROCESS");
    for floor in ["own process", "no other system calls", "no network", "no files"] {
        let walls = report["receipt"]["walls"].as_array().unwrap();
        let wall = walls.iter().find(|wall| wall["demand"] == floor).unwrap();
        assert_eq!(wall["status"], "enforced", "{floor}");
    }
    assert!(report["receipt"]["insecure"].is_null());
}

#[test]
fn check_tells_what_would_not_work_without_running_it() {
    let code = "console.log('ran');\nconst x = globalThis['ev' + 'al'];\nreturn process.env;\n";
    let run = bailiwick().with_file("a.js", code).run(&["run", "--check", "a.js"]);
    assert_eq!((run.code, run.stderr.as_str()), (Some(2), ""));
    assert!(run.stdout.contains("a.js:2:") && run.stdout.contains("a.js:3:8"), "{}", run.stdout);
    let run =
        bailiwick().run(&["run", "--check", "-e", "const eval2 = {eval: 1}; return eval2.eval // eval()"]);
    assert_eq!((run.stdout.as_str(), run.code), ("nothing found\n", Some(0)));
}
