//! What is to be run: a published tool by its name, or code that is no tool.

use bailiwick_core::{Action, Code, CodeRun};
use bailiwick_types::CorrelationId;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

/// What code is called in records that came without a name.
const CODE_NAME: &str = "code";

/// What is to be run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(untagged, try_from = "Written")]
pub enum Execute {
    /// A published tool.
    Tool(ExecuteTool),
    /// Code that is no tool.
    Code(Box<ExecuteCode>),
}

/// A call of a published tool.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ExecuteTool {
    /// Its name or id.
    pub tool: String,
    /// Its arguments.
    #[schema(value_type = Object, required = false)]
    pub arguments: Map<String, Value>,
    /// The workspace of its files, private to the caller unless `fs.sharedWorkspaces` lists it; the tool's own where none
    /// is named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workspace: Option<String>,
    /// What caused the call; the header `x-correlation-id` where it is not said here.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, min_length = 1, max_length = 128)]
    pub correlation_id: Option<CorrelationId>,
}

/// A run of code that is no tool.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ExecuteCode {
    /// Its text.
    pub code: String,
    /// How it is entered: `body`, `expression`, `execute`.
    #[schema(required = false, default = "body")]
    pub entry: String,
    /// What it is written in: `js` or `ts`.
    #[schema(required = false, default = "js")]
    pub language: String,
    /// What it is called in records.
    #[schema(required = false, default = "code")]
    pub name: String,
    /// Its arguments.
    #[schema(value_type = Object, required = false)]
    pub arguments: Map<String, Value>,
    /// What it may do beyond the operator's bare policy. Needs the scope `author`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub overrides: Option<Value>,
    /// A profile of the operator's file. Needs the scope `author`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
    /// Limits that differ from the operator's: `{"wall": "1s"}`. Higher ones need the scope `author`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub limits: Option<Value>,
    /// What caused the call; the header `x-correlation-id` where it is not said here.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, min_length = 1, max_length = 128)]
    pub correlation_id: Option<CorrelationId>,
}

/// Both at once, as it was written: which of them it is, is not known yet.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Written {
    tool: Option<String>,
    workspace: Option<String>,
    code: Option<String>,
    entry: Option<String>,
    language: Option<String>,
    name: Option<String>,
    overrides: Option<Value>,
    profile: Option<String>,
    limits: Option<Value>,
    #[serde(default)]
    arguments: Map<String, Value>,
    correlation_id: Option<CorrelationId>,
}

impl TryFrom<Written> for Execute {
    type Error = String;

    fn try_from(written: Written) -> Result<Self, String> {
        let Written {
            tool,
            workspace,
            code,
            entry,
            language,
            name,
            overrides,
            profile,
            limits,
            arguments,
            correlation_id,
        } = written;
        match (tool, code) {
            (Some(tool), None) => {
                let of_code = [
                    ("entry", entry.is_some()),
                    ("language", language.is_some()),
                    ("name", name.is_some()),
                    ("overrides", overrides.is_some()),
                    ("profile", profile.is_some()),
                    ("limits", limits.is_some()),
                ];
                match of_code.into_iter().find(|(_, is_there)| *is_there) {
                    None => Ok(Self::Tool(ExecuteTool { tool, arguments, workspace, correlation_id })),
                    Some((field, _)) => {
                        Err(format!("`{field}` goes with `code`: what a tool may do is in its document"))
                    }
                }
            }
            (None, Some(_)) if workspace.is_some() => {
                Err("`workspace` goes with `tool`: code that is no tool has none".to_owned())
            }
            (None, Some(code)) => Ok(Self::Code(Box::new(ExecuteCode {
                code,
                entry: entry.unwrap_or_else(|| "body".to_owned()),
                language: language.unwrap_or_else(|| "js".to_owned()),
                name: name.unwrap_or_else(|| CODE_NAME.to_owned()),
                arguments,
                overrides,
                profile,
                limits,
                correlation_id,
            }))),
            (Some(_), Some(_)) => Err("both `tool` and `code` are there: name one".to_owned()),
            (None, None) => Err("neither `tool` nor `code` is there: name one".to_owned()),
        }
    }
}

impl Execute {
    /// The action that it asks for. What caused it is `cause` where it says nothing itself.
    pub fn action(self, cause: &CorrelationId) -> Action {
        let cause = |own: Option<CorrelationId>| Some(own.unwrap_or_else(|| cause.clone()));
        match self {
            Self::Tool(ExecuteTool { tool, arguments, workspace, correlation_id }) => {
                Action::ToolCall { tool, arguments, correlation: cause(correlation_id), workspace }
            }
            Self::Code(code) => {
                let ExecuteCode {
                    code,
                    entry,
                    language,
                    name,
                    arguments,
                    overrides,
                    profile,
                    limits,
                    correlation_id,
                } = *code;
                Action::CodeRun(Box::new(CodeRun {
                    code: Code { text: code, entry, language },
                    name,
                    arguments,
                    overrides,
                    profile,
                    limits,
                    correlation: cause(correlation_id),
                    always_asks: false,
                }))
            }
        }
    }
}

impl From<CodeRun> for Execute {
    fn from(run: CodeRun) -> Self {
        // Whether a person is asked in any case is what a server says of its own tools, and nobody asks it for that.
        let CodeRun { code, name, arguments, overrides, profile, limits, correlation, always_asks: _ } = run;
        let Code { text, entry, language } = code;
        Self::Code(Box::new(ExecuteCode {
            code: text,
            entry,
            language,
            name,
            arguments,
            overrides,
            profile,
            limits,
            correlation_id: correlation,
        }))
    }
}

/// Code to be looked at, without running it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Validate {
    /// Its text.
    pub code: String,
    /// How it is entered: `body`, `expression`, `execute`.
    #[serde(default = "body")]
    #[schema(default = "body")]
    pub entry: String,
    /// What it is written in: `js` or `ts`.
    #[serde(default = "js")]
    #[schema(default = "js")]
    pub language: String,
}

fn body() -> String {
    "body".to_owned()
}

fn js() -> String {
    "js".to_owned()
}

impl From<Validate> for Code {
    fn from(validate: Validate) -> Self {
        let Validate { code, entry, language } = validate;
        Self { text: code, entry, language }
    }
}

impl From<Code> for Validate {
    fn from(code: Code) -> Self {
        let Code { text, entry, language } = code;
        Self { code: text, entry, language }
    }
}
