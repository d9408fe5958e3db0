//! Arguments as they are typed: `--arg name=value` and `--args JSON`.

use serde_json::{Map, Value};

use crate::failure::Failure;

/// How a typed value becomes one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reading {
    /// JSON where it is valid JSON, else text.
    Guess,
    /// Text, whatever it looks like: the parameter is declared as one.
    Text,
}

/// All arguments of a run. `reading` says how the value of a parameter is read.
pub(crate) fn read(
    one_by_one: &[String],
    all: Option<&str>,
    reading: impl Fn(&str) -> Reading,
) -> Result<Map<String, Value>, Failure> {
    let mut arguments = match all {
        None => Map::new(),
        Some(text) => match serde_json::from_str(text) {
            Ok(Value::Object(arguments)) => arguments,
            Ok(_) => return Err(wrong("--args is not a JSON object".to_owned())),
            Err(error) => return Err(wrong(format!("--args is not JSON: {error}"))),
        },
    };
    for argument in one_by_one {
        let Some((name, text)) = argument.split_once('=').filter(|(name, _)| !name.is_empty()) else {
            return Err(wrong(format!("`{argument}` is not NAME=VALUE")));
        };
        let guessed = || serde_json::from_str(text).ok().filter(|_| reading(name) == Reading::Guess);
        let value = guessed().unwrap_or_else(|| Value::String(text.to_owned()));
        if arguments.insert(name.to_owned(), value).is_some() {
            return Err(wrong(format!("the argument `{name}` is given twice")));
        }
    }
    Ok(arguments)
}

fn wrong(message: String) -> Failure {
    let hint = "write --arg name=value, or --args '{\"name\": \"value\"}'".to_owned();
    Failure::Argument { message, hint }
}
