//! `bailiwick tool …`, as an author and an operator meet it.

mod apply;
mod call;
mod catalogue;
mod check;
mod new;
mod publish;
mod terminal;
mod test;

use bailiwick_testkit::{Program, Run};
use serde_json::Value;

use super::bailiwick;

/// A tool that needs nothing.
const GREET: &str = "name: greet
title: Greet
description: Greets somebody.
params:
  - {name: who, type: STRING, required: true, description: Who is greeted., testValue: world}
tests:
  - {name: greets, input: {who: you}, equals: Hello you!}
code: |
  console.log('greeting', who);
  return `Hello ${who}!`;
";

/// A tool whose every call waits for a person.
const KEEP: &str = "name: keep
description: Keeps a text in a file.
params:
  - {name: text, type: STRING, required: true, description: The text., testValue: a}
overrides: {fileWrite: true}
approval: {mode: AUTO, prompt: \"{tool} wants to write ({risk})\"}
tests:
  - {name: keeps it, input: {text: b}, equals: kept.txt, leaves: {kept.txt: b}}
code: |
  safety.fs.writeText('kept.txt', text);
  return 'kept.txt';
";

/// A tool that asks for a host it has not declared.
const STRAYS: &str = "name: strays
description: Gets a page.
tests:
  - name: gets it
    http: [{request: {method: GET, url: \"https://evil.test/\"}, response: {status: 200, text: page}}]
    equals: page
overrides: {network: allowlist, hosts: [api.example.com]}
code: |
  const answer = await fetch('https://evil.test/');
  return await answer.text();
";

/// A machine with these documents in the working folder.
fn with(documents: &[(&str, &str)]) -> Program {
    documents.iter().fold(bailiwick(), |program, (name, text)| program.with_file(name, text))
}

#[track_caller]
fn check_code(run: &Run, code: i32) {
    assert_eq!(run.code, Some(code), "{}{}", run.stdout, run.stderr);
}

/// Runs it; what it printed is one JSON object.
#[track_caller]
fn json(program: &Program, arguments: &[&str], code: i32) -> Value {
    let run = program.run(&[arguments, &["--json"]].concat());
    check_code(&run, code);
    let value = serde_json::from_str(&run.stdout);
    assert!(value.is_ok(), "not one JSON object: {}{}", run.stdout, run.stderr);
    value.unwrap_or_default()
}

/// A text whose times are the same each time.
fn steady(text: &str) -> String {
    let line = |line: &str| match line.strip_suffix(" ms").and_then(|line| line.rsplit_once(' ')) {
        Some((before, _)) => format!("{before} N ms\n"),
        None => format!("{line}\n"),
    };
    text.lines().map(line).collect()
}

/// A file of the working folder.
#[expect(clippy::disallowed_methods, reason = "a file that the program under test wrote")]
#[track_caller]
fn written(program: &Program, name: &str) -> String {
    std::fs::read_to_string(program.working_folder().join(name))
        .unwrap_or_else(|error| format!("{name}: {error}"))
}
