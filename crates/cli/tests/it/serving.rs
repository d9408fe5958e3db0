//! `bailiwick serve`, and commands that ask it.

mod alike;
mod approvals;
mod budgets;
mod keys;
mod mount_race;
mod review;
mod sandboxes;
mod server;
mod start;

use bailiwick_testkit::{Program, Running};
use serde_json::Value;

use super::{bailiwick, exec::has_sandboxes};

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

/// The same, and every call of it waits for a person.
fn asking() -> String {
    GREET.replace("name: greet\n", "name: asks\n").replace("tests:", "approval: {mode: REQUIRED}\ntests:")
}

/// A server on a free port, with no tools of its own.
pub(super) struct Serving {
    running: Running,
    said: Value,
}

impl Serving {
    #[track_caller]
    pub(super) fn start(program: &Program, more: &[&str]) -> Self {
        Self::start_at(program, "127.0.0.1:0", more)
    }

    /// At this address.
    #[track_caller]
    pub(super) fn start_at(program: &Program, address: &str, more: &[&str]) -> Self {
        let arguments = [&["serve", "--listen", address, "--preset", "none", "--json"], more].concat();
        let running = program.start(&arguments);
        running.wait_for("\"listens\"");
        let text = running.wait_for("}\n");
        let line = text.lines().find(|line| line.starts_with("{\"listens\"")).unwrap_or_default();
        let said: Result<Value, _> = serde_json::from_str(line);
        assert!(said.is_ok(), "{text}");
        Self { running, said: said.unwrap_or_default() }
    }

    /// Where it listens.
    pub(super) fn address(&self) -> &str {
        self.said.get("listens").and_then(Value::as_str).unwrap_or_default()
    }

    /// Ends it without a word.
    pub(super) fn killed(self) {
        self.running.kill();
        self.running.end();
    }

    #[track_caller]
    pub(super) fn end(self) -> String {
        self.running.terminate();
        let (code, text) = self.running.end();
        assert_eq!(code, Some(0), "{text}");
        text
    }
}

/// Runs it; it must end with this code.
#[track_caller]
pub(super) fn run(program: &Program, arguments: &[&str], code: i32) -> bailiwick_testkit::Run {
    let run = program.run(arguments);
    assert_eq!(run.code, Some(code), "{arguments:?}: {}{}", run.stdout, run.stderr);
    run
}
