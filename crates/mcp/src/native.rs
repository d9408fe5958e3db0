//! Tools of our own, each off until the operator switches it on.

use std::sync::Arc;

use bailiwick_core::{Action, Code, CodeRun, Hints};
use bailiwick_types::{CorrelationId, RiskLevel};
use rmcp::model::{JsonObject, Tool};
use serde_json::{Value, json};

use crate::published::{annotations, risk_of};

/// A tool of our own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Native {
    /// Tells what code finds.
    DescribeRuntime,
    /// Runs code.
    RunJavascript,
}

/// What an operator's bare policy comes to, which is what code gets that is no tool.
#[derive(Debug, Clone, Copy)]
pub struct Bare {
    /// Its badge.
    pub level: RiskLevel,
    /// What it allows.
    pub hints: Hints,
}

impl Native {
    /// All of them, by name.
    pub const ALL: &'static [Self] = &[Self::DescribeRuntime, Self::RunJavascript];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::DescribeRuntime => "describe_runtime",
            Self::RunJavascript => "run_javascript",
        }
    }

    /// The one of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|native| native.name() == name)
    }

    /// As a client sees it.
    pub(crate) fn tool(self, bare: Bare) -> Tool {
        let (title, description, schema) = match self {
            Self::DescribeRuntime => (
                "Describe the runtime",
                "Tells what code that run_javascript runs finds: its globals, what is blocked and what to use instead, \
                 its limits, and what it may fetch.",
                json!({"type": "object", "properties": {}, "additionalProperties": false}),
            ),
            Self::RunJavascript => (
                "Run JavaScript",
                "Runs JavaScript or TypeScript once, in a sandboxed process of its own that keeps nothing. `code` is the \
                 body of an async function: give a value back with `return`. There is no Node.js, no `require`, no \
                 `import`; describe_runtime tells what there is.",
                json!({"type": "object", "additionalProperties": false, "required": ["code"], "properties": {
                    "code": {"type": "string", "description": "the body of an async function"},
                    "arguments": {"type": "object", "description": "variables of the code, by name"},
                }}),
            ),
        };
        let hints = match self {
            Self::DescribeRuntime => {
                Hints { read_only: true, destructive: false, idempotent: true, open_world: false }
            }
            Self::RunJavascript => bare.hints,
        };
        let level = match self {
            Self::DescribeRuntime => RiskLevel::L0,
            Self::RunJavascript => bare.level,
        };
        let mut tool = Tool::new_with_raw(self.name(), Some(description.into()), Arc::new(object(schema)));
        tool.title = Some(title.to_owned());
        tool.annotations = Some(annotations(title, hints));
        tool.meta = Some(risk_of(level));
        tool
    }

    /// What a call of it does; else why its arguments are none.
    pub(crate) fn action(
        self,
        mut arguments: JsonObject,
        correlation: Option<CorrelationId>,
        always_asks: bool,
    ) -> Result<Action, String> {
        let action = match self {
            Self::DescribeRuntime => Action::Limits,
            Self::RunJavascript => {
                let text = match arguments.remove("code") {
                    Some(Value::String(text)) => text,
                    Some(_) => return Err("`code` has to be a text".to_owned()),
                    None => return Err("`code` is missing: the text that is to run".to_owned()),
                };
                let given = match arguments.remove("arguments") {
                    None | Some(Value::Null) => JsonObject::new(),
                    Some(Value::Object(given)) => given,
                    Some(_) => return Err("`arguments` has to be an object".to_owned()),
                };
                Action::CodeRun(Box::new(CodeRun {
                    code: Code { text, entry: "body".to_owned(), language: "either".to_owned() },
                    name: self.name().to_owned(),
                    arguments: given,
                    // Nothing on this channel widens a policy.
                    overrides: None,
                    profile: None,
                    limits: None,
                    correlation,
                    always_asks,
                }))
            }
        };
        match arguments.keys().next() {
            Some(other) => Err(format!("`{}` takes no `{}`", self.name(), bailiwick_types::shortened(other))),
            None => Ok(action),
        }
    }
}

fn object(value: Value) -> JsonObject {
    match value {
        Value::Object(object) => object,
        _ => JsonObject::new(),
    }
}

#[cfg(test)]
mod tests;
