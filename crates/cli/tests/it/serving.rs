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

pub(crate) use bailiwick_testkit::{Serving, run};

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
