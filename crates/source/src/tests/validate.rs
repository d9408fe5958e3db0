use bailiwick_wire::{Entry, Language, Severity};

use crate::validate;

fn owned(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

/// What is found, as `name line:column`, a warning with a `?` before it.
#[track_caller]
fn found(entry: Entry, source: &str, granted: &[&str]) -> Vec<String> {
    let findings = validate(source, entry, Language::Either, &owned(granted)).unwrap();
    let worded = findings.into_iter().map(|finding| {
        assert!(!finding.why.is_empty() && !finding.instead.is_empty());
        let doubt = if finding.severity == Severity::Warning { "?" } else { "" };
        format!("{doubt}{} {}:{}", finding.name, finding.location.line, finding.location.column)
    });
    worded.collect()
}

#[track_caller]
fn check(source: &str, expected: &[&str]) {
    assert_eq!(found(Entry::Body, source, &["console", "Date", "crypto.randomUUID"]), expected, "{source}");
}

#[test]
fn absent_globals_are_found_where_they_stand() {
    check("return require('fs')", &["require 1:8"]);
    check("module.exports = 1", &["module 1:1"]);
    check("exports.x = process.env.HOME", &["exports 1:1", "process 1:13"]);
    check("\n\n  eval('1')", &["eval 3:3"]);
    check("'é😀'; eval(1)", &["eval 1:7"]);
    check("a;\r\nb; fetch(c)", &["fetch 2:4"]);
    check("a;\u{2028}b; fetch(c)", &["fetch 2:4"]);
    check("new Function('return 1')", &["Function 1:5"]);
    check("return x instanceof Function", &["Function 1:21"]);
    check(
        "setTimeout(f); setInterval(f); clearTimeout(1)",
        &["setTimeout 1:1", "setInterval 1:16", "clearTimeout 1:32"],
    );
    check("return {process}", &["process 1:9"]);
    check("return [...fs]", &["fs 1:12"]);
    check("exec('ls'); spawn('ls')", &["exec 1:1", "spawn 1:13"]);
    check("return safety.fs.readText('a')", &["safety 1:8"]);
    check("return `${__dirname}`", &["__dirname 1:11"]);
    check("return window.document", &["window 1:8", "document 1:15"]);
    check("return Math.random()", &["Math.random 1:8"]);
    check("const f = (a = process) => a", &["process 1:16"]);
    check("for (const x of tools) {}", &["tools 1:17"]);
    check("class A extends Worker {}", &["Worker 1:17"]);
    check("process?.exit()", &["process 1:1"]);
}

#[test]
fn module_syntax_is_found() {
    check("import fs from 'fs'; return fs", &["import 1:1"]);
    check("return import('fs')", &["import() 1:8"]);
    check("return import.meta.url", &["import.meta 1:8"]);
    let execute =
        |source, expected: &[&str]| assert_eq!(found(Entry::Execute, source, &[]), expected, "{source}");
    execute("import {a} from 'b'; function execute() {}", &["import 1:1"]);
    execute("export * from 'b'; function execute() {}", &["export from 1:1"]);
    execute("export {a} from 'b'; function execute() {}", &["export from 1:1"]);
    execute("import type {a} from 'b'; function execute() {}", &[]);
    execute("export default function execute() {}", &[]);
    execute("export const a = 1; export {a as b}; export default () => process", &["process 1:59"]);
    assert_eq!(found(Entry::Script, "export const a = 1", &[]), ["export 1:1"]);
}

#[test]
fn computed_spellings_are_found() {
    check("return globalThis['require']", &["require 1:19"]);
    check("return globalThis['ev' + 'al']", &["eval 1:19"]);
    check("return globalThis[`eval`]('1')", &["eval 1:19"]);
    check("return globalThis[`e${'va'}l`]", &["eval 1:19"]);
    check("return globalThis[('ev') + ('a' + 'l')]", &["eval 1:19"]);
    check("return this['eval']", &["eval 1:13"]);
    check("return (() => this['eval'])()", &["eval 1:20"]);
    check("return globalThis.eval", &["eval 1:19"]);
    check("return globalThis.globalThis.eval", &["eval 1:30"]);
    check("return globalThis?.['eval']", &["eval 1:21"]);
    check("return Reflect.get(globalThis, 'eval')", &["eval 1:32"]);
    check("return Object.getOwnPropertyDescriptor(globalThis, 'eval').value", &["eval 1:52"]);
    check("const {eval: e, process} = globalThis", &["eval 1:8", "process 1:17"]);
    check("return globalThis[x]", &["?globalThis[…] 1:19"]);
    check("return globalThis[`a${x}`]", &["?globalThis[…] 1:19"]);
    check("return (globalThis as any)['eval']", &["eval 1:28"]);
}

#[test]
fn constructors_of_functions_are_found() {
    check("return (() => {}).constructor('return 1')()", &["constructor 1:19"]);
    check("return (function () {}).constructor('x')", &["constructor 1:25"]);
    check("return [].constructor.constructor('x')()", &["constructor 1:23"]);
    check("return ''['constructor']['constr' + 'uctor']('x')", &["constructor 1:26"]);
    check("return new (async () => {}).constructor('x')", &["constructor 1:29"]);
    check("const A = Object.getPrototypeOf(async function () {}).constructor", &["constructor 1:55"]);
    check("return Array.constructor('x')", &["constructor 1:14"]);
    check("return x.constructor('code')", &["?constructor 1:10"]);
    check("return x['constructor']('code')", &["?constructor 1:10"]);
}

#[test]
fn commands_of_a_required_module_are_found() {
    check("require('child_process').execSync('ls')", &["require 1:1", "execSync 1:26"]);
    check("const cp = require('node:child_process'); cp.exec('ls')", &["require 1:12", "exec 1:46"]);
    check("import cp from 'child_process'; cp.spawn('ls')", &["import 1:1", "spawn 1:36"]);
    check("const cp = await import('child_process'); cp.exec('ls')", &["import() 1:18", "exec 1:46"]);
    check("/a/.exec(b); re.exec(c); db.exec(d)", &[]);
}

#[test]
fn what_is_the_authors_own_is_not_found() {
    for source in [
        "",
        "return 'require eval process'",
        "// require('fs')\n/* eval(1) */ return 1",
        "return `eval`",
        "return /eval/",
        "return obj.eval + obj.require('x') + foo.process",
        "return {require: 1, eval() {}, 'process': 2}",
        "class A { exec() {} static process = 1; #fs = 2 } return A",
        "const require = x => x; return require('a')",
        "function f(process, {fs}, [env]) { return process + fs + env }",
        "const {process} = params; return process",
        "for (const window of list) { window }",
        "try {} catch (global) { return global }",
        "return typeof require",
        "return typeof (process) === 'undefined'",
        "return typeof globalThis.process",
        "eval: for (;;) { break eval }",
        "fetch_ = 1; return evaluate(requirement)",
        "function exec() {} return exec()",
        "tools = {}; return tools.a",
        "globalThis.process = {}; globalThis[k] = 1",
        "return 'eval' in globalThis",
        "return globalThis[Symbol.iterator]",
        "return globalThis.JSON ?? globalThis['Array']",
        "return x.constructor.name + x.constructor === y.constructor",
        "class A { clone() { return new this.constructor('a') } get() { return this['process'] } }",
        "function f() { return this['eval'] }",
        "return ''.constructor('a') + [].constructor('a')",
        "return x.constructor(y)",
        "with (a) { b }",
        "return Math.max(1, 2)",
        "return await Promise.all([])",
        "console.log(new Date(), crypto.randomUUID())",
        "var Buffer = class {}; return new Buffer()",
        "let x: Buffer | typeof process = 1; return x",
        "interface A extends Worker { p: typeof window } return <Worker>x",
        "let x: T; return f<Buffer>(1)",
        "return new.target",
        "with (a) {}",
        "namespace A { export type B = 1 } declare global { var process: 1 } return 1",
        "declare module 'x' {} return 1",
        "function f(a: A): void; function f(a) {} return f",
        "abstract class A { abstract m(): void; x!: T } return A",
    ] {
        check(source, &[]);
    }
}

#[test]
fn a_doubt_is_a_warning() {
    check("with (a) { process }", &["?process 1:12"]);
    check("return typeof process !== 'undefined' && process.env", &["?process 1:42"]);
    check("return typeof globalThis.fetch === 'function' ? fetch(a) : b", &["?fetch 1:49"]);
}

#[test]
fn what_only_types_declare_is_absent() {
    check("declare const process: any; return process.env", &["process 1:36"]);
    check("declare function require(x: string): any; return require('a')", &["require 1:50"]);
    check("interface Buffer {} return new Buffer()", &["Buffer 1:32"]);
}

#[test]
fn what_is_granted_is_not_found() {
    let check = |source, granted: &[&str], expected: &[&str]| {
        assert_eq!(found(Entry::Body, source, granted), expected, "{source}");
    };
    check("eval(1); Function(2)", &["eval"], &["Function 1:10"]);
    check("(() => {}).constructor('1')", &["eval", "Function"], &[]);
    check("safety.fs.readText(a)", &["safety.fs.readText"], &[]);
    check("crypto.subtle.digest(a)", &["crypto.subtle.digest"], &[]);
    check("crypto.randomUUID()", &["cryptography"], &["crypto 1:1"]);
    check("return Math.random()", &["Math.random"], &[]);
    check("setTimeout(f); globalThis['setTimeout']", &["setTimeout"], &[]);
    // A parameter of the body.
    check("return env.a + process", &["env"], &["process 1:16"]);
    check(
        "console.log(Date.now(), new URL(a), atob(b))",
        &[],
        &["console 1:1", "Date 1:13", "URL 1:29", "atob 1:37"],
    );
}

#[test]
fn emit_has_no_async_syntax_and_no_promises() {
    let check =
        |source, expected: &[&str]| assert_eq!(found(Entry::Emit, source, &["emit", "read_input"]), expected);
    check("emit(read_input())", &[]);
    check("async function f() { await 1 }", &["async 1:1", "await 1:22"]);
    check("const f = async () => 1", &["async 1:11"]);
    check("const o = { async m() {} }", &["async 1:20"]);
    check("class A { static async *m() { for await (const a of b) {} } }", &["async 1:26", "for await 1:31"]);
    check(
        "new Promise(f); queueMicrotask(g); new WeakRef(a)",
        &["Promise 1:5", "queueMicrotask 1:17", "WeakRef 1:40"],
    );
    check(
        "structuredClone(a); console.log(Date.now())",
        &["structuredClone 1:1", "console 1:21", "Date 1:33"],
    );
    for source in ["async function f() {}", "let f = async () => 1", "class A { async m() {} }"] {
        let error = crate::strip_types(source, Entry::Emit).unwrap_err();
        assert!(error.message.starts_with("`async` does not exist here"), "{}", error.message);
        assert!(crate::prepare(source, Entry::Emit, Language::Either, None).is_err());
    }
}

#[test]
fn findings_are_sorted_and_each_is_told_once() {
    check("eval(require('a'), process)", &["eval 1:1", "require 1:6", "process 1:20"]);
    let findings = validate("require('a')", Entry::Script, Language::JavaScript, &[]).unwrap();
    assert_eq!(findings[0].why, "there are no modules: a tool is one file");
    assert_eq!(findings[0].instead, "write the code into the tool");
}
