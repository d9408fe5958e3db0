//! Tools of our own, each off until the operator switches it on.
//!
//! Those on sandboxes are put into words in `described`, their arguments become wishes in `wishes`, and what came of them is
//! told in `told`. What they may do is decided in `core`.

mod described;
mod told;
mod wishes;

use std::sync::Arc;

use bailiwick_core::sandboxes::{AgentOffer, AgentTool};
use bailiwick_core::{Action, Code, CodeRun, Hints};
use bailiwick_types::{CorrelationId, RiskLevel};
use rmcp::model::{JsonObject, Tool};
use serde_json::Value;

pub(crate) use self::told::{Telling, told};
use crate::published::{annotations, risk_of};

/// A tool of our own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Native {
    /// Tells what code finds.
    DescribeRuntime,
    /// Runs code.
    RunJavascript,
    /// Does something in a sandbox.
    Sandbox(AgentTool),
}

/// What an operator offers to code that is no tool: the bare policy, and command sandboxes.
#[derive(Debug, Clone)]
pub struct Bare {
    /// The badge of the bare policy.
    pub level: RiskLevel,
    /// What that allows.
    pub hints: Hints,
    /// The sandboxes.
    pub sandboxes: AgentOffer,
}

/// What a call is tied to.
#[derive(Debug, Clone, Default)]
pub(crate) struct Cause {
    pub(crate) id: Option<CorrelationId>,
    /// Whether the client said so itself.
    pub(crate) is_tied: bool,
}

impl Native {
    /// All of them, by name.
    pub const ALL: &'static [Self] = &[
        Self::DescribeRuntime,
        Self::RunJavascript,
        Self::Sandbox(AgentTool::RunCommand),
        Self::Sandbox(AgentTool::RunPython),
        Self::Sandbox(AgentTool::Create),
        Self::Sandbox(AgentTool::Exec),
        Self::Sandbox(AgentTool::Poll),
        Self::Sandbox(AgentTool::Kill),
        Self::Sandbox(AgentTool::ReadFile),
        Self::Sandbox(AgentTool::WriteFile),
        Self::Sandbox(AgentTool::ListFiles),
        Self::Sandbox(AgentTool::Upload),
        Self::Sandbox(AgentTool::Download),
        Self::Sandbox(AgentTool::Expose),
        Self::Sandbox(AgentTool::Close),
    ];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::DescribeRuntime => "describe_runtime",
            Self::RunJavascript => "run_javascript",
            Self::Sandbox(tool) => tool.name(),
        }
    }

    /// The one of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|native| native.name() == name)
    }

    /// As a client sees it.
    pub(crate) fn tool(self, bare: &Bare) -> Tool {
        let described::Words { title, description, input, output } = match self {
            Self::DescribeRuntime => described::describe_runtime(),
            Self::RunJavascript => described::run_javascript(),
            Self::Sandbox(tool) => described::of(tool, &bare.sandboxes),
        };
        let (hints, level) = match self {
            Self::DescribeRuntime => {
                let hints =
                    Hints { read_only: true, destructive: false, idempotent: true, open_world: false };
                (hints, RiskLevel::L0)
            }
            Self::RunJavascript => (bare.hints, bare.level),
            Self::Sandbox(tool) => (bare.sandboxes.hints(tool), bare.sandboxes.risk(tool).level),
        };
        let mut tool = Tool::new_with_raw(self.name(), Some(description.into()), Arc::new(object(input)));
        tool.title = Some(title.to_owned());
        tool.output_schema = output.map(|schema| Arc::new(object(schema)));
        tool.annotations = Some(annotations(title, hints));
        tool.meta = Some(risk_of(level));
        tool
    }

    /// What a call of it does, and how its result is told; else why its arguments are none. Whether a person is asked about
    /// what is done in sandboxes is for `core` to say.
    pub(crate) fn action(
        self,
        mut arguments: JsonObject,
        cause: Cause,
        always_asks: bool,
    ) -> Result<(Action, Telling), String> {
        let action = match self {
            Self::Sandbox(tool) => return wishes::of(tool, arguments, cause),
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
                    correlation: cause.id,
                    always_asks,
                }))
            }
        };
        match arguments.keys().next() {
            Some(other) => Err(format!("`{}` takes no `{}`", self.name(), bailiwick_types::shortened(other))),
            None => Ok((action, Telling::Plain)),
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
