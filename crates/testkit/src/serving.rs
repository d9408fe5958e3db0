//! A server of the program under test, on a free port.

use serde_json::Value;

use crate::{Program, Run, Running};

/// A server on a free port, with no tools of its own.
#[derive(Debug)]
pub struct Serving {
    /// Its process.
    pub running: Running,
    said: Value,
}

impl Serving {
    /// Starts it.
    ///
    /// # Panics
    /// When it does not say where it listens.
    #[track_caller]
    pub fn start(program: &Program, more: &[&str]) -> Self {
        Self::start_at(program, "127.0.0.1:0", more)
    }

    /// Starts it at this address.
    ///
    /// # Panics
    /// When it does not say where it listens.
    #[track_caller]
    pub fn start_at(program: &Program, address: &str, more: &[&str]) -> Self {
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
    pub fn address(&self) -> &str {
        self.said.get("listens").and_then(Value::as_str).unwrap_or_default()
    }

    /// Ends it without a word.
    pub fn killed(self) {
        self.running.kill();
        self.running.end();
    }

    /// Ends it as `kill` does; gives what it wrote.
    ///
    /// # Panics
    /// When it ends with another code than 0.
    #[track_caller]
    pub fn end(self) -> String {
        self.running.terminate();
        let (code, text) = self.running.end();
        assert_eq!(code, Some(0), "{text}");
        text
    }
}

/// Runs a program; it must end with this code.
///
/// # Panics
/// When it ends with another code.
#[track_caller]
pub fn run(program: &Program, arguments: &[&str], code: i32) -> Run {
    let run = program.run(arguments);
    assert_eq!(run.code, Some(code), "{arguments:?}: {}{}", run.stdout, run.stderr);
    run
}
