//! Tools in files named on the command line, and the calls that are made of them.

use std::path::Path;

use bailiwick::{Call, Entry};
use bailiwick_config::files;
use bailiwick_tool::{
    ArgumentFault, ArgumentProblem, Body, InputCheck, ParamType, Read, Syntax, Tool, has_front_matter,
};
use serde_json::{Map, Value};

use crate::commands::run::arguments::Reading;
use crate::failure::Failure;

/// What a file holds.
pub(crate) enum Held {
    /// A tool: a document, or code with the fields of a tool at its top. With it, what is unwise in it.
    Tool(Box<Read>),
    /// Plain code.
    Code(String),
}

/// Reads a file that is to be run.
pub(crate) fn held(path: &Path) -> Result<Held, Failure> {
    let text = files::read_document(path)?;
    match Syntax::of_path(path) {
        Some(syntax) if !syntax.is_code() || has_front_matter(&text) => {
            Ok(Held::Tool(Box::new(Tool::read(&super::name_of(path), &text, syntax)?)))
        }
        _ => Ok(Held::Code(text)),
    }
}

/// The code of a tool.
pub(crate) fn code_of(tool: &Tool) -> Result<&str, Failure> {
    match tool.body() {
        Body::Code(code) => Ok(code),
        Body::Command(_) => Err(Failure::Waits {
            message: "a command tool has no code to run here; it runs in a command sandbox".to_owned(),
            hint: "try it with bailiwick tool test FILE, or publish it and call it".to_owned(),
        }),
    }
}

/// A call of a tool with arguments that were checked.
pub(crate) fn call_of(tool: &Tool, mut arguments: Map<String, Value>) -> Result<Call, Failure> {
    let call =
        Call::new(tool.entry(), code_of(tool)?).language(tool.language()).statics(tool.plain_statics());
    if tool.entry() == Entry::Emit {
        // The one parameter that such a tool can have is the text it reads.
        return Ok(match arguments.remove("input") {
            Some(Value::String(input)) => call.input(input),
            _ => call,
        });
    }
    Ok(call.arguments(arguments).parameters(tool.params().iter().map(|param| param.name.clone())))
}

/// How what is typed for a parameter is read: what is declared as text is never taken for a number.
pub(crate) fn reading(tool: &Tool, name: &str) -> Reading {
    match tool.param(name) {
        Some(param) if param.kind == ParamType::String => Reading::Text,
        _ => Reading::Guess,
    }
}

/// The arguments with defaults in place of what was not typed.
pub(crate) fn checked(tool: &Tool, arguments: Map<String, Value>) -> Result<Map<String, Value>, Failure> {
    InputCheck::new(tool).check(arguments).map_err(|problems| {
        let messages: Vec<&str> = problems.iter().map(|problem| problem.message.as_str()).collect();
        let hint = problems.iter().find_map(|ArgumentProblem { kind, path, hint, .. }| match kind {
            ArgumentFault::Missing => Some(format!("add --arg {path}=…")),
            ArgumentFault::Unknown | ArgumentFault::Wrong => hint.clone(),
        });
        let hint = hint.unwrap_or_else(|| "see the `params` of the tool".to_owned());
        Failure::Argument { message: messages.join("; "), hint }
    })
}
