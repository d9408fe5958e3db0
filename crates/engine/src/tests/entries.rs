//! The shapes of code, what is given to it, and that it cannot leave its shape.

use bailiwick_wire::{Check, Entry, Given, Language, TroubleKind};

use super::{gives, gives_for, job, run, trouble_of};

fn with_arguments(entry: Entry, source: &str, arguments: &str, statics: &str) -> bailiwick_wire::Job {
    let mut job = job(entry, source);
    job.arguments = arguments.to_owned();
    job.statics = statics.to_owned();
    job
}

#[test]
fn a_body_has_its_parameters_as_variables() {
    let mut body =
        with_arguments(Entry::Body, "return [a, b, c, typeof d]", r#"{"a": 1, "b": [2]}"#, r#"{"c": "s"}"#);
    body.parameters = vec!["a".to_owned(), "d".to_owned()];
    gives_for(body, r#"[1,[2],"s","undefined"]"#);
    gives("return await Promise.resolve(5)", "5");
    gives("return typeof this === 'object' && this === globalThis", "true");
    gives("'use strict'; return this === undefined", "true");
    gives("return (function () { return typeof this })()", r#""object""#);
    gives("undeclared = 5; return undeclared", "5");
    gives("return 1 // ends with a comment", "1");
}

#[test]
fn arguments_pollute_nothing() {
    let hostile = r#"{"a": {"__proto__": {"polluted": 1}}, "b": {"constructor": {"prototype": {"p": 1}}}}"#;
    let source = "return [({}).polluted, Object.hasOwn(a, '__proto__'), Object.getPrototypeOf(a) === Object.prototype, a]";
    gives_for(
        with_arguments(Entry::Body, source, hostile, "{}"),
        r#"[null,true,true,{"__proto__":{"polluted":1}}]"#,
    );
    let own = with_arguments(
        Entry::Execute,
        "function execute(params) { return [params.x, Object.keys(params)] }",
        r#"{"__proto__": {"x": 1}}"#,
        "{}",
    );
    gives_for(own, r#"[null,["__proto__"]]"#);
}

#[test]
fn arguments_must_be_one_object() {
    for bad in ["", "[]", "5", "null", "\"text\"", "{", "{} {}", "{\"a\": 1\0}"] {
        let told = trouble_of(with_arguments(Entry::Body, "return 1", bad, "{}"));
        assert_eq!(told.kind, TroubleKind::Input, "{bad}");
        let told = trouble_of(with_arguments(Entry::Body, "return 1", "{}", bad));
        assert_eq!(told.kind, TroubleKind::Input, "{bad}");
    }
}

#[test]
fn names_that_cannot_be_variables_are_refused() {
    for name in ["a-b", "1a", "", "class", "await", "a){evil()}//", "Object", "console", "x\\u0061"] {
        let mut body = job(Entry::Body, "return 1");
        body.parameters = vec![name.to_owned()];
        assert_eq!(trouble_of(body).kind, TroubleKind::Validation, "{name}");
    }
    let clash = with_arguments(Entry::Body, "return 1", r#"{"a": 1}"#, r#"{"a": 2}"#);
    assert_eq!(trouble_of(clash).kind, TroubleKind::Validation);
}

#[test]
fn code_cannot_leave_its_shape() {
    let bodies = [
        "}); evil(); (async function(){",
        "}}); evil(); ({async m(){",
        "} evil(); async function g() {",
        "}, evil, async function() {",
        "}, x, get() {",
        "}[evil()] = function(){",
        "}, [evil()]() {",
        "} /* { */",
        "}}) //",
        "}`${evil()}`; {",
        "return 1 } {",
        "`",
        "/*",
        "'",
        "return 1 }",
    ];
    for source in bodies {
        let told = trouble_of(job(Entry::Body, source));
        assert_eq!(told.kind, TroubleKind::Syntax, "{source}: {told:?}");
        assert!(
            told.location.is_some_and(|place| place.line == 1 && place.column as usize <= source.len() + 1),
            "{told:?}"
        );
    }
    for source in [
        "1) ; evil(",
        "1); evil(); (2",
        "1] ; evil([2",
        "1)}}); ({async \"\"(){return(1",
        "",
        "1; 2",
        "return 1",
        "...[1]",
        "1,,2",
    ] {
        assert_eq!(trouble_of(job(Entry::Expression, source)).kind, TroubleKind::Syntax, "{source}");
    }
    for source in ["}); evil(); ({async m(){", "} var execute; {"] {
        let kind = trouble_of(job(Entry::Execute, source)).kind;
        assert!(matches!(kind, TroubleKind::Syntax | TroubleKind::Validation), "{source}");
    }
}

#[test]
fn an_expression_gives_its_value() {
    for (source, expected) in [
        ("1 + 1", "2"),
        ("{ a: 1 }", r#"{"a":1}"#),
        ("await Promise.resolve(3)", "3"),
        ("1, 2", "2"),
        ("[1, 2].map(x => x * 2); ", "[2,4]"),
        ("function () {}.name", r#""""#),
        ("(() => { return 5 })() // five", "5"),
    ] {
        gives_for(job(Entry::Expression, source), expected);
    }
    gives_for(with_arguments(Entry::Expression, "a + b", r#"{"a": 1}"#, r#"{"b": 2}"#), "3");
}

#[test]
fn execute_can_be_defined_in_many_ways() {
    for source in [
        "function execute(params, config) { return params.a + config.b }",
        "async function execute({ a }, { b }) { return a + b }",
        "const execute = (p, c) => p.a + c.b",
        "let execute = async function (p, c) { return p.a + c.b }",
        "var execute = (p, c) => Promise.resolve(p.a + c.b)",
        "execute = (p, c) => p.a + c.b",
        "globalThis.execute = (p, c) => p.a + c.b",
        "export default function (p, c) { return p.a + c.b }",
        "export default async (p, c) => p.a + c.b",
        "export default function execute(p, c) { return p.a + c.b }",
        "const run = (p, c) => p.a + c.b; export default run",
        "const helper = (x, y) => x + y;\nfunction execute(p, c) { return helper(p.a, c.b) }",
        "function execute(p, c) { return { then: (done) => done(p.a + c.b) } }",
    ] {
        gives_for(with_arguments(Entry::Execute, source, r#"{"a": 1}"#, r#"{"b": 2}"#), "3");
    }
}

#[test]
fn code_without_execute_is_told_so() {
    for source in ["", "function run() {}", "const execute = 5", "let execute"] {
        let told = trouble_of(job(Entry::Execute, source));
        assert_eq!(told.kind, TroubleKind::Validation, "{source}");
        assert!(told.message.contains("execute"), "{told:?}");
    }
}

#[test]
fn typescript_loses_its_types() {
    let source = "const n: number = a as number;\nreturn n satisfies number";
    for language in [Language::TypeScript, Language::Either] {
        let mut body = with_arguments(Entry::Body, source, r#"{"a": 4}"#, "{}");
        body.language = language;
        gives_for(body, "4");
    }
    let mut body = job(Entry::Body, source);
    assert_eq!(trouble_of(body.clone()).kind, TroubleKind::Syntax);
    body.source = "let x: number = ;".to_owned();
    body.language = Language::Either;
    assert_eq!(trouble_of(body.clone()).kind, TroubleKind::Syntax);
    body.source = "const f = <T>(x: T): T => { null.x; return x };\n  f(1)".to_owned();
    let told = trouble_of(body);
    assert_eq!(told.location.map(|place| (place.line, place.column)), Some((1, 29)), "{told:?}");
}

#[test]
fn code_is_validated_when_asked() {
    let mut body = job(Entry::Body, "return require('fs')");
    body.check = Check::Only;
    let Given::Findings(found) = run(body.clone()).given else { panic!("no findings") };
    assert_eq!(found.first().map(|finding| finding.name.as_str()), Some("require"));
    body.check = Check::First;
    assert!(matches!(run(body.clone()).given, Given::Findings(found) if found.len() == 1));
    body.source = "return 1".to_owned();
    gives_for(body.clone(), "1");
    body.check = Check::Only;
    assert_eq!(run(body).given, Given::Findings(Vec::new()));
}

#[test]
fn a_script_runs_for_its_effect() {
    let source = "var x = eval('1 + 1'); if (x !== 2) throw new Error('no')";
    let mut granted = job(Entry::Script, source);
    granted.globals.push("eval".to_owned());
    gives_for(granted, "null");
    assert_eq!(trouble_of(job(Entry::Script, source)).missing.as_deref(), Some("eval"));
    gives_for(job(Entry::Script, "Promise.resolve().then(() => { globalThis.done = 1 })"), "null");
    assert_eq!(trouble_of(job(Entry::Script, "throw new Error('x')")).message, "Error: x");
    assert_eq!(
        trouble_of(job(Entry::Script, "queueMicrotask(() => { throw new Error('late') })")).message,
        "Error: late"
    );
}

#[track_caller]
fn emits(source: &str, input: &str, expected: &str) {
    let mut pure = job(Entry::Emit, source);
    pure.input = input.to_owned();
    assert_eq!(run(pure).given, Given::Output { text: expected.to_owned(), over: false }, "{source}");
}

#[test]
fn the_pure_mode_reads_and_emits() {
    emits("emit(read_input())", "é😀", "é😀");
    emits(
        "emit(); emit(1); emit('a'); emit(null); emit(undefined); emit([1, 2]); emit({})",
        "",
        "1anullundefined1,2[object Object]",
    );
    emits("emit('\\ud800x\\udc00')", "", "\u{FFFD}x\u{FFFD}");
    emits("emit({ toString: () => 'mine' }, 'second is ignored')", "", "mine");
    emits("for (const c of read_input()) emit(c.toUpperCase())", "abc", "ABC");
    emits("const async_ = 'async'; emit(async_)", "", "async");
    emits("emit(typeof async); var async = 1", "", "undefined");
    emits("", "x", "");
    for source in [
        "emit(Symbol())",
        "emit({ toString() { throw new Error('x') } })",
        "emit(Object.create(null))",
        "nothing()",
    ] {
        assert_eq!(trouble_of(job(Entry::Emit, source)).kind, TroubleKind::Threw, "{source}");
    }
}

#[test]
fn the_pure_mode_has_no_async_syntax() {
    for source in [
        "async function f() {}",
        "const f = async () => 1",
        "({ async m() {} })",
        "class A { async *m() {} }",
        "async function* g() {}",
        "await 1",
        "return 1",
    ] {
        assert_eq!(trouble_of(job(Entry::Emit, source)).kind, TroubleKind::Syntax, "{source}");
    }
}

#[test]
fn output_is_cut_at_the_limit() {
    let cut = |source: &str, limit: u64| {
        let mut pure = job(Entry::Emit, source);
        pure.limits.result = limit;
        run(pure).given
    };
    let output = |text: &str, over: bool| Given::Output { text: text.to_owned(), over };
    assert_eq!(cut("emit('ééé')", 5), output("éé", true));
    assert_eq!(cut("emit('ééé')", 6), output("ééé", false));
    assert_eq!(cut("for (;;) emit('ab')", 5), output("ababa", true));
    assert_eq!(cut("for (;;) { try { emit('ab') } catch {} }", 5), output("ababa", true));
    assert_eq!(cut("emit('ab'); try { emit('cd') } finally { for (;;); }", 3), output("abc", true));
    assert_eq!(cut("emit('x'.repeat(1e6))", 3), output("xxx", true));
    assert_eq!(cut("emit('abc'); emit('')", 3), output("abc", false));
}

#[test]
fn the_pure_mode_gives_the_same_bytes_each_time() {
    let source = "try { null.x } catch (e) { emit(e.stack) } emit([...new Set([3, 1, 2])]); emit(Math.sin(1)); emit(Object.keys({ b: 1, a: 2 }))";
    let first = run(job(Entry::Emit, source)).given;
    assert_eq!(first, run(job(Entry::Emit, source)).given);
    assert!(matches!(first, Given::Output { text, .. } if text.contains("code:1:")));
}
