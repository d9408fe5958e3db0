//! A script in Python as a command: the runner as its program's text, all else on standard input; and what the runner says.

use bailiwick_sandbox::{Command, CommandError};
use bailiwick_types::{ErrorCode, Failure, Location, Outcome};
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// Runs the script inside.
const RUNNER: &str = include_str!("runner.py");

/// The command that runs a script: isolated from what a folder or a variable could slip in. What is sealed is a variable of
/// the script, too; its placeholder is the sandbox's own, and is found in the environment there.
pub(super) fn command(
    script: &str,
    variables: &Map<String, Value>,
    sealed: &[&str],
    stdin: &str,
) -> Result<Command, CommandError> {
    let given = json!({"script": script, "variables": variables, "sealed": sealed, "stdin": stdin});
    Command::new(["python3", "-I", "-B", "-X", "utf8", "-c", RUNNER])?.with_input(given.to_string().into())
}

/// What the runner says.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
enum Said {
    Value(Value),
    Error(Raised),
}

/// An exception that nothing caught.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Raised {
    kind: String,
    message: String,
    place: Option<(u32, u32)>,
    frames: Vec<(u32, String)>,
}

/// What a script gave, if its runner came to say it.
pub(super) fn said(stdout: &str) -> Option<Outcome> {
    Some(match serde_json::from_str(stdout).ok()? {
        Said::Value(value) => Outcome::Returned(value),
        Said::Error(raised) => Outcome::Failed(Box::new(failure(raised))),
    })
}

fn failure(raised: Raised) -> Failure {
    let Raised { kind, message, place, frames } = raised;
    let (code, hint) = match kind.as_str() {
        "SyntaxError" | "IndentationError" | "TabError" => (ErrorCode::SyntaxError, None),
        "MemoryError" => (ErrorCode::MemoryLimit, Some("use less, or raise `command.limits.memory`")),
        "RecursionError" => (ErrorCode::StackLimit, None),
        "ModuleNotFoundError" => {
            (ErrorCode::EvalError, Some("name an image that has it with `command.image`"))
        }
        "SystemExit" => (ErrorCode::EvalError, Some("a script gives its result with `return`")),
        _ => (ErrorCode::EvalError, None),
    };
    let stack: Vec<String> =
        frames.iter().rev().map(|(line, name)| format!("    at {name} (script:{line})")).collect();
    Failure {
        code,
        message: if message.is_empty() { kind } else { format!("{kind}: {message}") },
        hint: hint.map(str::to_owned),
        location: place.map(|(line, column)| Location { line, column }),
        stack: (!stack.is_empty()).then(|| stack.join("\n")),
        denied: None,
    }
}
