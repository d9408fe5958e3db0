//! What a test expects of a call, and how far what came is from it. Pure: the call itself is made elsewhere.

use bailiwick_types::{ErrorCode, shortened};
use regex::Regex;
use serde_json::{Map, Value, json};

use crate::diff;
use crate::json::brief;
use crate::schema::{Breach, Schema};

/// What a test expects; nothing that is absent is looked at.
#[derive(Debug, Clone, Default)]
pub struct Expectations {
    /// The result is this value.
    pub equals: Option<Value>,
    /// The result holds this: a part of a text, an element of a list, fields of a map.
    pub contains: Option<Value>,
    /// The result, as text, matches.
    pub matches: Option<Regex>,
    /// The result fits this schema.
    pub(crate) schema: Option<(Value, Schema)>,
    /// The call fails.
    pub throws: Option<Throws>,
    /// The call takes no longer, in milliseconds.
    pub max_ms: Option<u64>,
}

/// The failure that is expected; any failure if nothing is said about it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Throws {
    /// Its code.
    pub code: Option<ErrorCode>,
    /// A part of its message.
    pub message: Option<String>,
}

/// What a call gave.
#[derive(Debug, Clone, Copy)]
pub struct Given<'a> {
    /// Its result, or its failure.
    pub outcome: Result<&'a Value, Failed<'a>>,
    /// How long it took.
    pub wall_ms: f64,
}

/// A failure of a call.
#[derive(Debug, Clone, Copy)]
pub struct Failed<'a> {
    /// Its code.
    pub code: ErrorCode,
    /// Its message.
    pub message: &'a str,
}

/// Which expectation was missed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ExpectationKind {
    /// That the call gives a result at all.
    Result,
    /// `equals`
    Equals,
    /// `contains`
    Contains,
    /// `matches`
    Matches,
    /// `schema`
    Schema,
    /// `throws`
    Throws,
    /// `maxMs`
    MaxMs,
    /// `leaves`
    Leaves,
}

impl ExpectationKind {
    /// The field of a test; `result` for the one that every test has.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Result => "result",
            Self::Equals => "equals",
            Self::Contains => "contains",
            Self::Matches => "matches",
            Self::Schema => "schema",
            Self::Throws => "throws",
            Self::MaxMs => "maxMs",
            Self::Leaves => "leaves",
        }
    }
}

/// An expectation that was not met.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Miss {
    /// Which.
    pub kind: ExpectationKind,
    /// What was expected, and what came.
    pub message: String,
    /// Both beside each other, where that helps: `-` expected, `+` came.
    pub diff: Option<String>,
}

impl Miss {
    pub(crate) fn new(kind: ExpectationKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), diff: None }
    }
}

impl Expectations {
    /// Whether nothing is expected but a result.
    pub fn is_empty(&self) -> bool {
        let Self { equals, contains, matches, schema, throws, max_ms } = self;
        let any = equals.is_some() || contains.is_some() || matches.is_some() || schema.is_some();
        !any && throws.is_none() && max_ms.is_none()
    }

    /// The schema that a result must fit.
    pub fn schema(&self) -> Option<&Value> {
        self.schema.as_ref().map(|(written, _)| written)
    }

    /// Every expectation that what came does not meet.
    pub fn check(&self, given: Given<'_>) -> Vec<Miss> {
        let Given { outcome, wall_ms } = given;
        let mut misses = match (outcome, &self.throws) {
            (Ok(value), None) => self.check_value(value),
            (Ok(value), Some(_)) => {
                let message = format!("a failure was expected, but it gave {}", brief(value));
                vec![Miss::new(ExpectationKind::Throws, message)]
            }
            (Err(Failed { code, message }), None) => {
                vec![Miss::new(ExpectationKind::Result, format!("it failed: {code}: {}", shortened(message)))]
            }
            (Err(failed), Some(throws)) => throws.check(failed),
        };
        #[expect(clippy::cast_precision_loss, reason = "a test's bound of more than 2^53 ms is no bound")]
        let late = self.max_ms.filter(|most| wall_ms > *most as f64);
        if let Some(most) = late {
            let message = format!("at most {most} ms were expected, but it took {wall_ms:.1} ms");
            misses.push(Miss::new(ExpectationKind::MaxMs, message));
        }
        misses
    }

    fn check_value(&self, value: &Value) -> Vec<Miss> {
        let Self { equals, contains, matches, schema, throws: _, max_ms: _ } = self;
        let mut misses = Vec::new();
        if let Some(expected) = equals.as_ref().filter(|expected| !same(expected, value)) {
            misses.push(Miss {
                kind: ExpectationKind::Equals,
                message: format!("{} was expected, but it gave {}", brief(expected), brief(value)),
                diff: diff::of_values(expected, value),
            });
        }
        if let Some(expected) = contains.as_ref().filter(|expected| !holds(value, expected)) {
            misses.push(Miss {
                kind: ExpectationKind::Contains,
                message: format!("{} does not contain {}", brief(value), brief(expected)),
                diff: diff::of_values(expected, value),
            });
        }
        if let Some(pattern) = matches {
            let text = match value {
                Value::String(text) => text.clone(),
                other => other.to_string(),
            };
            if !pattern.is_match(&text) {
                let message = format!("{} does not match /{}/", brief(value), shortened(pattern.as_str()));
                misses.push(Miss::new(ExpectationKind::Matches, message));
            }
        }
        if let Some((_, schema)) = schema {
            for Breach { pointer, message } in schema.breaches(value) {
                let at = if pointer.is_empty() { "the result".to_owned() } else { pointer };
                misses.push(Miss::new(ExpectationKind::Schema, format!("{at}: {message}")));
            }
        }
        misses
    }

    pub(crate) fn write(&self, map: &mut Map<String, Value>) {
        let Self { equals, contains, matches, schema, throws, max_ms } = self;
        let mut put = |key: &str, value: Option<Value>| {
            if let Some(value) = value {
                map.insert(key.to_owned(), value);
            }
        };
        put("equals", equals.clone());
        put("contains", contains.clone());
        put("matches", matches.as_ref().map(|pattern| json!(pattern.as_str())));
        put("schema", schema.as_ref().map(|(written, _)| written.clone()));
        put("throws", throws.as_ref().map(Throws::to_json));
        put("maxMs", max_ms.map(|most| json!(most)));
    }
}

impl Throws {
    fn check(&self, failed: Failed<'_>) -> Vec<Miss> {
        let mut misses = Vec::new();
        if let Some(expected) = self.code.filter(|expected| *expected != failed.code) {
            let message = format!(
                "{expected} was expected, but it failed with {}: {}",
                failed.code,
                shortened(failed.message)
            );
            misses.push(Miss::new(ExpectationKind::Throws, message));
        }
        if let Some(part) = self.message.as_deref().filter(|part| !failed.message.contains(part)) {
            misses.push(Miss {
                kind: ExpectationKind::Throws,
                message: format!("the message does not contain \"{}\"", shortened(part)),
                diff: Some(diff::of_texts(part, failed.message)),
            });
        }
        misses
    }

    fn to_json(&self) -> Value {
        match self {
            Self { code: None, message: None } => json!(true),
            Self { code: None, message: Some(message) } => json!(message),
            Self { code: Some(code), message: None } => json!({"code": code.to_string()}),
            Self { code: Some(code), message: Some(message) } => {
                json!({"code": code.to_string(), "message": message})
            }
        }
    }
}

/// Whether two values are the same; numbers by their value, so `7` is `7.0`. It goes no deeper than the shallower one,
/// and one of them stands in a document.
pub(crate) fn same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => {
            one == other || (one.is_f64() != other.is_f64() && one.as_f64() == other.as_f64())
        }
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| same(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            one.len() == other.len()
                && one.iter().all(|(key, one)| other.get(key).is_some_and(|other| same(one, other)))
        }
        (one, other) => one == other,
    }
}

/// Whether a value holds what is expected: a part of a text, an element (or each of several) of a list, fields of a map.
fn holds(value: &Value, expected: &Value) -> bool {
    match (value, expected) {
        (Value::String(text), Value::String(part)) => text.contains(part.as_str()),
        (Value::Array(items), expected) => {
            let has = |expected: &Value| items.iter().any(|item| is_subset(expected, item));
            has(expected) || expected.as_array().is_some_and(|all| all.iter().all(has))
        }
        (value, expected) => is_subset(expected, value),
    }
}

/// Whether every field of a map is in the other, and so on within; what is no map is the same.
fn is_subset(part: &Value, whole: &Value) -> bool {
    match (part, whole) {
        (Value::Object(part), Value::Object(whole)) => {
            part.iter().all(|(key, part)| whole.get(key).is_some_and(|whole| is_subset(part, whole)))
        }
        (part, whole) => same(part, whole),
    }
}
