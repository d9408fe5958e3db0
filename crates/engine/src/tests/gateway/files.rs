//! `safety.fs`: what is asked of the world, and what comes back.

use bailiwick_types::{Answer, Effect, ErrorCode, FileAnswer, FileRequest};
use bailiwick_wire::{Entry, Given, Reply, TroubleKind};

use super::{refused, rows, world};
use crate::tests::{job, run_in};

/// Says what was asked, as far as it is not about one of a few files.
pub(super) fn answer(request: &FileRequest) -> Reply {
    let answer = match request {
        FileRequest::ReadText { path } => match path.as_str() {
            "no" => return refused(ErrorCode::FsDenied, "outside"),
            "broken.json" => FileAnswer::Text("{\"a\":".to_owned()),
            "good.json" => FileAnswer::Text("{\"a\":[1],\"__proto__\":2}".to_owned()),
            _ => FileAnswer::Text(format!("text of {path}")),
        },
        FileRequest::ReadBytes { .. } => FileAnswer::Bytes(vec![1, 2, 3].into()),
        FileRequest::Stat { path } if path == "plain" => {
            FileAnswer::Json(r#"{"path":"plain","kind":"file","size":3,"modified":1}"#.to_owned())
        }
        FileRequest::Write { content, .. } | FileRequest::Append { content, .. } => {
            FileAnswer::Json(format!("{:?}", String::from_utf8_lossy(&content.0)))
        }
        other => FileAnswer::Json(format!("{:?}", format!("{other:?}"))),
    };
    Reply::Given(Answer::Filed(answer))
}

#[test]
fn every_function_asks_for_what_it_was_given() {
    rows(
        "const fs = safety.fs",
        &[
            ("fs.readText('a')", r#""text of a""#),
            ("await fs.readText('\\ud800')", r#""text of �""#),
            ("[fs.readBytes('a') instanceof Uint8Array, ...fs.readBytes('a')]", "[true,1,2,3]"),
            ("fs.readJson('good.json')", r#"{"a":[1],"__proto__":2}"#),
            ("fs.readJson('broken.json')", "!SyntaxError: broken.json is not JSON: "),
            ("fs.list('d')", r#""List { path: \"d\", recursive: false }""#),
            ("fs.list('d', { recursive: 1 })", r#""List { path: \"d\", recursive: true }""#),
            ("fs.exists('a')", r#""Exists { path: \"a\" }""#),
            ("fs.stat('plain')", r#"{"path":"plain","kind":"file","size":3,"modified":1}"#),
            ("fs.lineCount('a')", r#""LineCount { path: \"a\" }""#),
            ("fs.slice('a')", r#""Slice { path: \"a\", from: 1, to: None }""#),
            ("fs.slice('a', { from: 3, to: 9 })", r#""Slice { path: \"a\", from: 3, to: Some(9) }""#),
            (
                "fs.grep('a', 'x+')",
                r#""Grep { path: \"a\", pattern: \"x+\", how: Matching { ignore_case: false, invert: false, limit: None } }""#,
            ),
            (
                "fs.grep('a', 'x', { ignoreCase: true, invert: true, limit: 5 })",
                r#""Grep { path: \"a\", pattern: \"x\", how: Matching { ignore_case: true, invert: true, limit: Some(5) } }""#,
            ),
            ("fs.find('a', '*.rs')", r#""Find { path: \"a\", glob: \"*.rs\", kind: None }""#),
            (
                "fs.find('a', '*', { kind: 'dir' })",
                r#""Find { path: \"a\", glob: \"*\", kind: Some(\"dir\") }""#,
            ),
            (
                "fs.search('a', 'x', { glob: '*.md', limit: 2 })",
                r#""Search { path: \"a\", pattern: \"x\", glob: Some(\"*.md\"), how: Matching { ignore_case: false, invert: false, limit: Some(2) } }""#,
            ),
            (
                "fs.cut('a', { delimiter: ',', fields: [1, 3] })",
                r#""Cut { path: \"a\", delimiter: \",\", fields: [1, 3] }""#,
            ),
            ("fs.cut('a', { fields: [2] })", r#""Cut { path: \"a\", delimiter: \"\\t\", fields: [2] }""#),
            (
                "fs.sort('a')",
                r#""Sort { path: \"a\", numeric: false, reverse: false, unique: false, field: None }""#,
            ),
            (
                "fs.sort('a', { numeric: true, unique: true, field: 2, delimiter: ';' })",
                r#""Sort { path: \"a\", numeric: true, reverse: false, unique: true, field: Some((2, \";\")) }""#,
            ),
            ("fs.workspace()", r#""Workspace""#),
            ("fs.roots()", r#""Roots""#),
            ("fs.writeText('a', 'é\\ud800')", r#""é�""#),
            ("fs.writeBytes('a', new Uint8Array([65, 66, 67]).subarray(1))", r#""BC""#),
            ("fs.writeBytes('a', new DataView(new ArrayBuffer(0)))", r#""""#),
            ("fs.appendText('a', 'more')", r#""more""#),
            (
                "fs.editText('a', 'x', 'y', { all: true })",
                r#""Edit { path: \"a\", old: \"x\", new: \"y\", all: true }""#,
            ),
            ("fs.copy('a', 'b')", r#""Copy { from: \"a\", to: \"b\" }""#),
            ("fs.mkdir('a')", "undefined"),
            ("fs.move('a', 'b')", "undefined"),
            ("fs.delete('a')", "undefined"),
            ("fs.deleteDir('a', { recursive: true })", r#""DeleteDir { path: \"a\", recursive: true }""#),
            (
                "[fs.readText.name, fs.readText.length, fs.editText.length, 'prototype' in fs.delete]",
                r#"["readText",1,3,false]"#,
            ),
        ],
    );
}

#[test]
fn arguments_are_what_they_should_be() {
    rows(
        "const fs = safety.fs; const reads = []; const watched = new Proxy({}, { get: (t, k) => { reads.push(String(k)) } }); fs.grep('a', 'b', watched); fs.sort('a', watched)",
        &[
            ("reads", r#"["ignoreCase","invert","limit","numeric","reverse","unique","field","delimiter"]"#),
            ("fs.readText()", "!TypeError: safety.fs.readText: path must be a string"),
            ("fs.readText({ toString: () => 'a' })", "!TypeError"),
            ("fs.readBytes('a', 5)", "!TypeError: safety.fs.readBytes: the options must be an object"),
            (
                "fs.readBytes('a', { offset: -1 })",
                "!RangeError: safety.fs.readBytes: offset must be a whole number",
            ),
            (
                "fs.readBytes('a', { length: '5' })",
                "!TypeError: safety.fs.readBytes: length must be a number",
            ),
            ("fs.slice('a', { from: 0 })", "!RangeError"),
            ("fs.slice('a', { to: 1.5 })", "!RangeError"),
            ("fs.grep('a')", "!TypeError: safety.fs.grep: pattern must be a string"),
            ("fs.grep('a', /x/)", "!TypeError"),
            ("fs.find('a', 5)", "!TypeError"),
            ("fs.find('a', '*', { kind: 'socket' })", "!TypeError: safety.fs.find: kind must be"),
            ("fs.search('a', 'b', { glob: 5 })", "!TypeError"),
            ("fs.cut('a')", "!TypeError: safety.fs.cut: fields must be an array"),
            ("fs.cut('a', { fields: [] })", "!RangeError"),
            ("fs.cut('a', { fields: [0] })", "!RangeError"),
            ("fs.cut('a', { fields: ['1'] })", "!TypeError"),
            ("fs.cut('a', { fields: Array(1e9) })", "!RangeError"),
            ("fs.cut('a', { fields: [2 ** 40] })", "!RangeError"),
            ("fs.sort('a', { field: 0 })", "!RangeError"),
            ("fs.writeText('a')", "!TypeError: safety.fs.writeText: text must be a string"),
            ("fs.writeText('a', new Uint8Array(1))", "!TypeError"),
            ("fs.writeBytes('a', 'text')", "!TypeError: safety.fs.writeBytes: bytes must be"),
            ("fs.writeBytes('a', [1, 2])", "!TypeError"),
            ("fs.editText('a', 'b')", "!TypeError"),
            ("fs.copy('a')", "!TypeError: safety.fs.copy: to must be a string"),
            ("fs.move(5, 'a')", "!TypeError: safety.fs.move: from must be a string"),
            ("fs.list('a', { get recursive() { throw new RangeError('mine') } })", "!RangeError: mine"),
        ],
    );
}

#[test]
fn a_refusal_is_thrown_and_names_its_effect() {
    rows(
        "let e; try { safety.fs.readText('no') } catch (x) { e = x }",
        &[(
            "[e.constructor === Error, e.message, e.code, e.reason]",
            r#"[true,"the host said no (outside)","FS_DENIED","outside"]"#,
        )],
    );
    let report = run_in(job(Entry::Body, "safety.fs.exists('a');\nsafety.fs.readText('no')"), &world());
    let Given::Trouble(told) = report.given else { panic!("{report:?}") };
    assert_eq!(
        (told.kind, told.refusal, told.location.map(|at| at.line)),
        (TroubleKind::Threw, Some(2), Some(2))
    );
}

#[test]
fn files_and_requests_mix() {
    let world = world();
    let source = "const p = fetch('https://e.test/json'); const t = safety.fs.readText('a'); const q = fetch('https://e.test/bom'); const u = safety.fs.readText('b'); return [t, u, (await q).status, (await (await p).json()).a]";
    assert_eq!(
        run_in(job(Entry::Body, source), &world).given,
        Given::Value(r#"["text of a","text of b",200,[1,2]]"#.to_owned())
    );
    let asked = world.asked.borrow();
    let kinds: Vec<bool> = asked.iter().map(|(_, effect)| matches!(effect, Effect::File(_))).collect();
    assert_eq!(kinds, [false, true, false, true]);
}
