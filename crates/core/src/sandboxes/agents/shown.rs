//! What a person is shown of what an agent asks for, before they say yes: all of it, for nothing that they were not shown may
//! decide what happens. The record tells less: of variables the names, of input nothing.

use std::collections::BTreeMap;

use bailiwick_sandbox::Command;
use serde_json::{Value, json};

use crate::sandboxes::record::command_told;

/// The longest text that a person is shown whole, in bytes.
const MOST_SHOWN: usize = 256 * 1024;

/// What is asked for, in two ways.
pub(super) struct Shown {
    /// As a person sees it.
    pub(super) whole: Value,
    /// As the record tells it.
    pub(super) told: Value,
    /// What runs, where it is code.
    pub(super) code: Option<String>,
}

impl Shown {
    /// Arguments that the record may tell as they are.
    pub(super) fn arguments(arguments: Value) -> Self {
        Self { whole: arguments.clone(), told: arguments, code: None }
    }

    /// A command. Its variables are the agent's own words: they hide nothing of it, and their values are seen.
    pub(super) fn command(command: &Command) -> Self {
        let whole = json!({
            "argv": command.argv(),
            "shell": command.is_shell(),
            "cwd": command.cwd,
            "env": command.env,
            "input": (!command.input.is_empty()).then(|| text_or_hash(&command.input)),
            "timeoutMs": command.timeout.map(|timeout| timeout.as_millis()),
        });
        Self { whole, told: command_told(command, [].iter()), code: None }
    }

    /// A sandbox with variables of every command in it.
    pub(super) fn variables(env: &BTreeMap<String, String>) -> Self {
        Self { whole: json!({"env": env}), told: json!({}), code: None }
    }

    /// With something more, in both.
    pub(super) fn with(mut self, name: &str, value: &Value) -> Self {
        for arguments in [&mut self.whole, &mut self.told] {
            if let Value::Object(said) = arguments {
                said.insert(name.to_owned(), value.clone());
            }
        }
        self
    }
}

/// Bytes as a text; what is none, or is too long to be read, by its hash.
pub(super) fn text_or_hash(bytes: &[u8]) -> Value {
    match std::str::from_utf8(bytes) {
        Ok(text) if text.len() <= MOST_SHOWN => json!(text),
        _ => json!({"bytes": bytes.len(), "sha256": bailiwick_tool::Hash::of_bytes(bytes)}),
    }
}
