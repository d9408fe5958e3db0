//! `jsrun`: the pure function, byte for byte.

use serde_json::json;

use super::bailiwick;

#[track_caller]
fn check(request: &str, stdout: &str, stderr: &str, code: i32) {
    let run = bailiwick().run_with_input(&["jsrun"], request);
    assert_eq!(
        (run.stdout.as_str(), run.stderr.as_str(), run.code),
        (stdout, stderr, Some(code)),
        "{request}"
    );
}

/// A request whose answer is one line of output.
#[track_caller]
fn check_output(source: &str, output: &str) {
    check(&json!({"source": source}).to_string(), &format!("{}\n", json!({"output": output})), "", 0);
}

#[test]
fn what_goes_in_comes_out() {
    check(r#"{"source":"emit(read_input())","input":"héllo"}"#, "{\"output\":\"héllo\"}\n", "", 0);
    check(r#"{"source":"emit(read_input().length)"}"#, "{\"output\":\"0\"}\n", "", 0);
    check(
        r#"{"source":"emit(1); emit(); emit(null, 2); emit([3])","more":true}"#,
        "{\"output\":\"1null3\"}\n",
        "",
        0,
    );
}

#[test]
fn output_is_cut_at_its_limit_to_the_byte() {
    let source = "emit('a'.repeat(1500))";
    let cut = format!("{}\n", json!({"output": "a".repeat(1024)}));
    let told = "{\"code\":\"OUTPUT_LIMIT\",\"message\":\"output exceeded 1 KB\"}\n";
    check(&json!({"source": source, "limits": {"output_kb": 1}}).to_string(), &cut, told, 1);
    let many = "for (let i = 0; i < 1500; i++) emit('a')";
    check(&json!({"source": many, "limits": {"output_kb": 1}}).to_string(), &cut, told, 1);
}

#[test]
fn a_cut_never_splits_a_character() {
    for (text, kept) in [("aé", 511), ("ab€", 340), ("a😀", 255)] {
        let (first, rest) = text.split_at(text.len() - text.chars().last().map_or(0, char::len_utf8));
        let source = format!("emit('{first}' + '{rest}'.repeat(1024))");
        let output = format!("{first}{}", rest.repeat(kept));
        assert!(output.len() <= 1024 && output.len() + rest.len() > 1024);
        let stdout = format!("{}\n", json!({"output": output}));
        let told = "{\"code\":\"OUTPUT_LIMIT\",\"message\":\"output exceeded 1 KB\"}\n";
        check(&json!({"source": source, "limits": {"output_kb": 1}}).to_string(), &stdout, told, 1);
    }
}

#[test]
fn code_that_does_not_end_is_ended_and_gives_nothing() {
    let told = "{\"code\":\"TIMEOUT\",\"message\":\"execution exceeded 100 ms\"}\n";
    for source in ["for(;;){}", "emit('x'); for(;;){}", "try { for(;;){} } finally { emit('x') }"] {
        check(&json!({"source": source, "limits": {"wall_ms": 100}}).to_string(), "", told, 1);
    }
}

#[test]
fn code_that_fails_gives_nothing_but_the_reason() {
    for (source, message) in [
        ("throw new TypeError('no')", "TypeError: no (1:11)"),
        ("emit(1); let a; a.x", "TypeError: cannot read property 'x' of undefined (1:17)"),
        ("throw 'text'", "text"),
    ] {
        let told = format!("{}\n", json!({"code": "EVAL_ERROR", "message": message}));
        check(&json!({"source": source}).to_string(), "", &told, 1);
    }
    for source in
        ["(", "function f(){ f() } f()", "const a = []; for (;;) a.push(new Array(1e6).fill(0))", "await 1"]
    {
        let run = bailiwick().run_with_input(&["jsrun"], &json!({"source": source}).to_string());
        assert_eq!((run.stdout.as_str(), run.code), ("", Some(1)), "{source}");
        assert!(
            run.stderr.starts_with("{\"code\":\"EVAL_ERROR\",\"message\":\""),
            "{source}: {}",
            run.stderr
        );
        assert_eq!(run.stderr.lines().count(), 1);
    }
}

#[test]
fn what_is_no_request_is_refused() {
    for request in [
        "",
        "{",
        "[]",
        "null",
        "{}",
        r#"{"source":""}"#,
        r#"{"source":1}"#,
        r#"{"source":"1","input":2}"#,
        r#"{"source":"1","limits":[]}"#,
        r#"{"source":"1","limits":{"wall_ms":"1"}}"#,
    ] {
        let run = bailiwick().run_with_input(&["jsrun"], request);
        assert_eq!((run.stdout.as_str(), run.code), ("", Some(2)), "{request}");
        assert!(run.stderr.starts_with("{\"code\":\"INVALID_INPUT\",\"message\":\""), "{}", run.stderr);
        assert_eq!(run.stderr.lines().count(), 1);
    }
}

#[test]
fn limits_that_say_nothing_are_the_defaults_and_large_ones_the_ceilings() {
    for limits in
        [json!({}), json!({"wall_ms": 0, "output_kb": -5}), json!({"wall_ms": -1.5}), json!({"other": []})]
    {
        let source = "emit('a'.repeat(64 * 1024))";
        let run =
            bailiwick().run_with_input(&["jsrun"], &json!({"source": source, "limits": limits}).to_string());
        assert_eq!((run.code, run.stdout.len()), (Some(0), 64 * 1024 + 14), "{limits}");
    }
    let huge = json!({"source": "emit('a'.repeat(17 * 1024 * 1024))", "limits": {"output_kb": 1e12, "wall_ms": 1e9}});
    let run = bailiwick().run_with_input(&["jsrun"], &huge.to_string());
    assert_eq!(run.stderr, "{\"code\":\"OUTPUT_LIMIT\",\"message\":\"output exceeded 16384 KB\"}\n");
}

#[test]
fn only_the_pure_language_is_there() {
    for name in [
        "require",
        "console",
        "setTimeout",
        "setInterval",
        "Promise",
        "Date",
        "WeakRef",
        "FinalizationRegistry",
        "SharedArrayBuffer",
        "Atomics",
        "queueMicrotask",
        "structuredClone",
        "fetch",
        "process",
        "globalThis.eval",
        "Math.random",
    ] {
        check_output(&format!("emit(typeof {name})"), "undefined");
    }
    check_output("emit(Object.getOwnPropertyNames(globalThis).includes('emit'))", "true");
}

#[test]
fn the_same_input_gives_the_same_bytes() {
    let source = "const o = {}; for (let i = 0; i < 99; i++) o['k' + (i * 7919) % 101] = i; \
        try { null.x } catch (e) { emit(e.stack) } emit(JSON.stringify(o)); emit([...new Set([3, 1, 2])].join())";
    let request = json!({"source": source}).to_string();
    let first = bailiwick().run_with_input(&["jsrun"], &request);
    assert_eq!(first.code, Some(0), "{}", first.stderr);
    for _ in 0..5 {
        assert_eq!(bailiwick().run_with_input(&["jsrun"], &request), first);
    }
}

#[test]
fn a_batch_answers_each_line_in_order() {
    let requests = [
        r#"{"source":"for(let i=0;i<3e6;i++);emit('slow')"}"#,
        r#"{"source":"emit('fast')"}"#,
        "not json",
        "",
        r#"{"source":"emit('a'.repeat(2000))","limits":{"output_kb":1}}"#,
        r#"{"source":"throw 1"}"#,
    ]
    .join("\n");
    let run = bailiwick().run_with_input(&["jsrun", "--batch"], &requests);
    let lines: Vec<&str> = run.stdout.lines().collect();
    assert_eq!((run.code, run.stderr.as_str(), lines.len()), (Some(0), "", 5));
    assert_eq!(lines[0], r#"{"output":"slow"}"#);
    assert_eq!(lines[1], r#"{"output":"fast"}"#);
    assert!(lines[2].starts_with(r#"{"error":{"code":"INVALID_INPUT""#), "{}", lines[2]);
    assert!(
        lines[3].ends_with(r#""error":{"code":"OUTPUT_LIMIT","message":"output exceeded 1 KB"}}"#),
        "{}",
        lines[3]
    );
    assert_eq!(lines[4], r#"{"error":{"code":"EVAL_ERROR","message":"1"}}"#);
}
