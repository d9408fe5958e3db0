//! Which names there are.

use bailiwick_types::ECMASCRIPT;
use bailiwick_wire::{Entry, Given};

use super::{Fake, gives, gives_for, job, run, run_in, trouble_of};
use crate::OFFERED;

const NAMES: &str = "return Object.getOwnPropertyNames(globalThis).sort()";

#[track_caller]
fn finds(granted: &[&str], beside: &[&str]) {
    let mut body = job(Entry::Body, NAMES);
    body.globals = granted.iter().map(|name| (*name).to_owned()).collect();
    let mut expected: Vec<&str> = ECMASCRIPT.iter().chain(beside).copied().collect();
    expected.sort_unstable();
    let expected: Vec<String> = expected.iter().map(|name| format!("\"{name}\"")).collect();
    gives_for(body, &format!("[{}]", expected.join(",")));
}

#[test]
fn a_guest_finds_the_built_ins_and_what_is_granted() {
    finds(&[], &[]);
    finds(&["console", "Date"], &["console", "Date"]);
    finds(&["Math.random", "tools", "process"], &[]);
    finds(&["eval"], &["eval"]);
    let mut roots: Vec<&str> = OFFERED.iter().copied().filter(|name| !name.contains('.')).collect();
    roots.extend(["crypto", "safety", "sandbox"]);
    finds(OFFERED, &roots);
}

#[test]
fn the_pure_mode_finds_only_what_is_pure() {
    let mut pure = job(Entry::Emit, "emit(Object.getOwnPropertyNames(globalThis).sort())");
    pure.globals = OFFERED.iter().map(|name| (*name).to_owned()).collect();
    let Given::Output { text, .. } = run(pure).given else { panic!("no output") };
    let impure = ["FinalizationRegistry", "Promise", "WeakRef", "queueMicrotask", "structuredClone"];
    let mut expected: Vec<&str> = ECMASCRIPT.iter().copied().filter(|name| !impure.contains(name)).collect();
    expected.extend(["read_input", "emit"]);
    expected.sort_unstable();
    assert_eq!(text, expected.join(","));
    let mut pure =
        job(Entry::Emit, "emit([typeof Math.random, typeof Array.fromAsync, typeof Date, typeof eval])");
    pure.globals = OFFERED.iter().map(|name| (*name).to_owned()).collect();
    assert_eq!(
        run(pure).given,
        Given::Output { text: "undefined,undefined,undefined,undefined".to_owned(), over: false }
    );
}

#[test]
fn text_cannot_become_code_without_the_grant() {
    for source in [
        "return (() => {}).constructor('return 1')()",
        "return (async () => {}).constructor('return 1')()",
        "return (function* () {}).constructor('yield 1')()",
        "return (async function* () {}).constructor('yield 1')()",
        "return Reflect.construct((() => {}).constructor, ['return 1'])()",
        "return Object.getPrototypeOf(class {}).constructor('return 1')()",
    ] {
        let told = trouble_of(job(Entry::Body, source));
        assert_eq!(told.missing.as_deref(), Some("eval"), "{source}: {told:?}");
    }
    let told = trouble_of(job(Entry::Body, "return eval('1')"));
    assert_eq!(told.missing.as_deref(), Some("eval"));
    let told = trouble_of(job(Entry::Body, "return new Function('return 1')()"));
    assert_eq!(told.missing.as_deref(), Some("Function"));
}

#[test]
fn text_becomes_code_with_the_grant() {
    let mut body = job(
        Entry::Body,
        "const x = 2; return [eval('x + 1'), (0, eval)('typeof x'), (() => {}).constructor('return 4')()]",
    );
    body.globals = vec!["eval".to_owned()];
    gives_for(body, r#"[3,"undefined",4]"#);
    let mut body = job(Entry::Body, "return new Function('a', 'return a * 2')(4)");
    body.globals = vec!["Function".to_owned()];
    gives_for(body, "8");
}

#[test]
fn there_is_no_clock_without_the_grant() {
    let mut body = job(Entry::Body, "return [typeof Date, typeof performance, typeof Math.random]");
    body.globals = Vec::new();
    gives_for(body, r#"["undefined","undefined","undefined"]"#);
    gives(
        "return [typeof Date.now(), new Date(0).getTime(), new Date() > new Date(2020, 1)]",
        r#"["number",0,true]"#,
    );
}

#[test]
fn chance_is_seeded_for_every_call() {
    let source = "return [Math.random(), Math.random(), Math.random() < 1]";
    let given = |seed: u8| run_in(job(Entry::Body, source), &Fake::new(seed)).given;
    assert_eq!(given(1), given(1));
    assert_ne!(given(1), given(2));
    assert!(matches!(given(0), Given::Value(_)));
    gives(
        "let min = 1, max = 0; for (let i = 0; i < 1e4; i++) { const x = Math.random(); min = Math.min(min, x); max = Math.max(max, x) } return [min >= 0, min < 0.01, max < 1, max > 0.99]",
        "[true,true,true,true]",
    );
}

#[test]
fn bindings_look_native() {
    gives(
        "return [console.log.toString().includes('[native code]'), String(setTimeout).includes('[native code]'), 'prototype' in setTimeout, console.log.name, setTimeout.length, structuredClone.name]",
        r#"[true,true,false,"log",2,"structuredClone"]"#,
    );
}

#[test]
fn a_grant_can_be_shadowed_and_deleted() {
    gives("delete globalThis.console; return typeof console", r#""undefined""#);
    gives("globalThis.console = 5; return console", "5");
    gives("return Object.keys(globalThis)", "[]");
}
