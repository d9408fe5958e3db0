//! Arguments in the slots of a command: what it is run with, or which argument does not fit.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::template::{Piece, Template};
use super::words::{Item, Word, begins_with_value};
use super::{CommandBlock, Runs};
use crate::canonical::canonical;
use crate::param::{Param, ParamType};

/// What a command is run with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Filled {
    /// The words; none of a script.
    pub argv: Vec<String>,
    /// What is on standard input; nothing where none is said.
    pub stdin: Option<String>,
    /// Variables beside the sandbox's own.
    pub env: BTreeMap<String, String>,
}

/// An argument that fits its parameter and not its place in the command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unfit {
    /// Which.
    pub param: String,
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub hint: String,
}

/// The argument that a slot asks for was not given.
struct Absent;

impl CommandBlock {
    /// The command with arguments that were checked against the parameters.
    pub fn fill(&self, params: &[Param], arguments: &Map<String, Value>) -> Result<Filled, Unfit> {
        let filling = Filling { params, arguments };
        let argv = match &self.runs {
            Runs::Argv(items) => filling.argv(items)?,
            Runs::Python(_) => Vec::new(),
        };
        let stdin = self.stdin.as_ref().and_then(|template| filling.text(template).ok());
        let mut env = BTreeMap::new();
        for (name, template) in &self.env {
            if let Ok(value) = filling.text(template) {
                env.insert(name.clone(), value);
            }
        }
        Ok(Filled { argv, stdin, env })
    }
}

struct Filling<'a> {
    params: &'a [Param],
    arguments: &'a Map<String, Value>,
}

impl Filling<'_> {
    fn argv(&self, items: &[Item]) -> Result<Vec<String>, Unfit> {
        let mut argv = Vec::new();
        // Behind `--` every word is taken as it is.
        let mut options_ended = false;
        for item in items {
            match item {
                Item::Word(word) => self.word(word, &mut argv, &mut options_ended)?,
                Item::When { param, words } if self.is_given(param) => {
                    for word in words {
                        self.word(word, &mut argv, &mut options_ended)?;
                    }
                }
                Item::When { .. } => {}
            }
        }
        Ok(argv)
    }

    /// Whether the words that depend on a parameter are there.
    fn is_given(&self, param: &str) -> bool {
        self.arguments.get(param).is_some_and(|value| *value != Value::Bool(false))
    }

    fn word(&self, word: &Word, argv: &mut Vec<String>, options_ended: &mut bool) -> Result<(), Unfit> {
        match word {
            Word::One(template) => {
                let Ok(text) = self.text(template) else { return Ok(()) };
                if begins_with_value(template)
                    && let Some(name) = template.slots().next()
                {
                    self.no_option(name, &text, *options_ended)?;
                }
                *options_ended |= template.literal() == Some("--");
                argv.push(text);
            }
            Word::Each(name) => {
                for element in self.arguments.get(name).and_then(Value::as_array).into_iter().flatten() {
                    if element.is_array() || element.is_object() || element.is_null() {
                        return Err(Unfit {
                            param: name.clone(),
                            message: format!(
                                "each element of `{name}` is a word, and one of them is no text, number or truth value"
                            ),
                            hint: "give a list of texts".to_owned(),
                        });
                    }
                    let text = shown(element);
                    self.no_option(name, &text, *options_ended)?;
                    argv.push(text);
                }
            }
        }
        Ok(())
    }

    /// A word that begins with what an argument gave must not be taken for an option.
    fn no_option(&self, name: &str, text: &str, options_ended: bool) -> Result<(), Unfit> {
        let is_listed = self
            .params
            .iter()
            .any(|param| param.name == name && param.kind != ParamType::Array && !param.choices.is_empty());
        if options_ended || is_listed || !text.starts_with('-') {
            return Ok(());
        }
        Err(Unfit {
            param: name.to_owned(),
            message: format!(
                "the argument `{name}` begins with `-`, and the program would take it for an option"
            ),
            hint: "begin it otherwise, for a path with ./; the tool's author can put `--` before it"
                .to_owned(),
        })
    }

    fn text(&self, template: &Template) -> Result<String, Absent> {
        let mut text = String::new();
        for piece in &template.pieces {
            match piece {
                Piece::Text(plain) => text.push_str(plain),
                Piece::Slot(name) => text.push_str(&shown(self.arguments.get(name).ok_or(Absent)?)),
            }
        }
        Ok(text)
    }
}

/// A value as a program reads it: a text as it is, all else as JSON; a whole number without a point.
fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => canonical(other),
    }
}
