//! The arguments of a call against the declared parameters, before anything is run.
//!
//! What a client sees ([`Tool::input_schema`]) and what is checked here are made from the same declarations.

use bailiwick_types::{did_you_mean, shortened};
use serde_json::{Map, Value, json};

use crate::Tool;
use crate::content::{ContentFault, Contents};
use crate::json::is_within_depth;
use crate::param::Param;
use crate::schema::{Breach, DEEPEST_VALUE, Schema, with_references_below};

/// Problems of one call that are told.
const MOST_TOLD: usize = 10;

/// What is wrong with an argument.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArgumentProblem {
    /// What kind of mistake it is.
    pub kind: ArgumentFault,
    /// Which argument, and where within it: `filter/0/name`. For missing ones, the first of them.
    pub path: String,
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub hint: Option<String>,
}

/// The kinds of mistakes in arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ArgumentFault {
    /// Required arguments were not given.
    Missing,
    /// There is no such parameter.
    Unknown,
    /// The value does not fit.
    Wrong,
}

impl std::fmt::Display for ArgumentProblem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)?;
        self.hint.as_ref().map_or(Ok(()), |hint| write!(f, " ({hint})"))
    }
}

/// The parameters of a tool, ready to check arguments.
#[derive(Debug, Clone)]
pub struct InputCheck {
    params: Vec<Param>,
}

impl InputCheck {
    /// The check of a tool's arguments.
    pub fn new(tool: &Tool) -> Self {
        Self::of(tool.params())
    }

    pub(crate) fn of(params: &[Param]) -> Self {
        Self { params: params.to_vec() }
    }

    /// The arguments with defaults in place of what was not given, in the order of the parameters; or what is wrong.
    pub fn check(&self, arguments: Map<String, Value>) -> Result<Map<String, Value>, Vec<ArgumentProblem>> {
        let mut problems = Vec::new();
        let missing: Vec<&Param> = self
            .params
            .iter()
            .filter(|param| param.required && !arguments.contains_key(&param.name))
            .collect();
        if let Some(first) = missing.first() {
            let names: Vec<&str> = missing.iter().map(|param| param.name.as_str()).collect();
            problems.push(ArgumentProblem {
                kind: ArgumentFault::Missing,
                path: first.name.clone(),
                message: format!("required arguments are missing: {}", names.join(", ")),
                hint: Some(format!("give `{}`, {}", first.name, first.kind.article())),
            });
        }
        for (name, value) in &arguments {
            if problems.len() >= MOST_TOLD {
                break;
            }
            match self.params.iter().find(|param| param.name == *name) {
                None => problems.push(self.unknown(name)),
                Some(param) => problems.extend(wrong(param, value)),
            }
        }
        if !problems.is_empty() {
            problems.truncate(MOST_TOLD);
            return Err(problems);
        }
        let mut arguments = arguments;
        let settled = self.params.iter().filter_map(|param| {
            let value = arguments.remove(&param.name).or_else(|| param.default.clone())?;
            Some((param.name.clone(), value))
        });
        Ok(settled.collect())
    }

    fn unknown(&self, name: &str) -> ArgumentProblem {
        let names = || self.params.iter().map(|param| param.name.as_str());
        let hint = did_you_mean(name, names(), || match self.params.len() {
            0 => "it has none".to_owned(),
            _ => format!("its parameters are: {}", names().collect::<Vec<_>>().join(", ")),
        });
        let shown = shortened(name);
        ArgumentProblem {
            kind: ArgumentFault::Unknown,
            path: shown.clone(),
            message: format!("the tool has no parameter `{shown}`"),
            hint: Some(hint),
        }
    }
}

/// What is wrong with a value; told without recursion if it nests too deep.
fn wrong(param: &Param, value: &Value) -> Vec<ArgumentProblem> {
    let problem = |pointer: &str, message: String| {
        let path = format!("{}{pointer}", param.name);
        let hint = match value {
            Value::Null if !param.required => Some("leave it out".to_owned()),
            _ => None,
        };
        let message = format!("the argument `{path}` {message}");
        ArgumentProblem { kind: ArgumentFault::Wrong, path, message, hint }
    };
    if !is_within_depth(value, DEEPEST_VALUE) {
        return vec![problem("", format!("is nested more than {DEEPEST_VALUE} deep"))];
    }
    let told = |Breach { pointer, message }: Breach| {
        // What the schema's own check says is a sentence about the value.
        let message = if message.starts_with("must be") { message } else { format!("is wrong: {message}") };
        problem(&pointer, message)
    };
    param.breaches(value).into_iter().map(told).collect()
}

/// The schema of a tool's arguments.
pub(crate) fn schema_of(params: &[Param]) -> Value {
    let properties: Map<String, Value> =
        params.iter().map(|param| (param.name.clone(), property(param))).collect();
    let required: Vec<&str> =
        params.iter().filter(|param| param.required).map(|param| param.name.as_str()).collect();
    let mut schema = Map::new();
    schema.insert("type".to_owned(), json!("object"));
    schema.insert("properties".to_owned(), Value::Object(properties));
    if !required.is_empty() {
        schema.insert("required".to_owned(), json!(required));
    }
    schema.insert("additionalProperties".to_owned(), json!(false));
    Value::Object(schema)
}

fn property(param: &Param) -> Value {
    let mut map = Map::from_iter([("type".to_owned(), json!(param.kind.schema_word()))]);
    if let Some(description) = &param.description {
        map.insert("description".to_owned(), json!(description));
    }
    if let Some(schema) = &param.schema
        && let Value::Object(fields) = with_references_below(schema, &format!("/properties/{}", param.name))
    {
        for (key, value) in fields {
            map.entry(key).or_insert(value);
        }
    }
    if !param.choices.is_empty() {
        map.insert("enum".to_owned(), json!(param.choices));
    }
    if let Some(default) = &param.default {
        map.insert("default".to_owned(), default.clone());
    }
    Value::Object(map)
}

/// The declared shape of a tool's result, ready to check one.
#[derive(Debug, Clone)]
pub struct OutputCheck {
    schema: Option<Schema>,
}

impl OutputCheck {
    /// The check of a tool's result. A tool that declares nothing may give anything.
    pub fn new(tool: &Tool) -> Self {
        Self { schema: tool.output_schema().cloned() }
    }

    /// What is wrong with a result, for `OUTPUT_SCHEMA`. Of content, what is `structured` is held against the schema.
    pub fn check(&self, result: &Value) -> Result<(), Misfit> {
        let contents = Contents::read(result).map_err(Misfit::Content)?;
        let Some(schema) = &self.schema else { return Ok(()) };
        let (value, name) = match &contents {
            None => (result, "the result"),
            Some(Contents { structured: Some(structured), .. }) => (structured, "`structured` of the result"),
            Some(Contents { structured: None, .. }) => {
                let message = "the result has `$content` and no `structured` beside it".to_owned();
                return Err(Misfit::Schema(vec![message]));
            }
        };
        let told = |Breach { pointer, message }: Breach| {
            let at = if pointer.is_empty() { name.to_owned() } else { format!("{name} at {pointer}") };
            format!("{at}: {message}")
        };
        let breaches: Vec<String> = schema.breaches(value).into_iter().map(told).collect();
        if breaches.is_empty() { Ok(()) } else { Err(Misfit::Schema(breaches)) }
    }
}

/// What is wrong with a result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Misfit {
    /// It does not match the schema in `output`; each breach in a sentence.
    Schema(Vec<String>),
    /// It says that it is content, and is none.
    Content(ContentFault),
}

impl Misfit {
    /// What is wrong, in one line.
    pub fn message(&self) -> String {
        const MOST: usize = 5;
        match self {
            Self::Schema(breaches) => {
                let first: Vec<&str> = breaches.iter().take(MOST).map(String::as_str).collect();
                format!("the result does not match the tool's `output`: {}", first.join("; "))
            }
            Self::Content(fault) => fault.to_string(),
        }
    }

    /// What to do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::Schema(_) => "mend the code, or the schema in `output`".to_owned(),
            Self::Content(fault) => fault.hint.clone(),
        }
    }
}
