//! JSON Schemas as tools may carry them: draft 2020-12, whole in themselves, of bounded cost.
//!
//! The validator recurses over a schema and over a value at once. So a schema whose references lead back to
//! themselves, or that would unfold to more than [`MOST_PARTS`] parts or [`DEEPEST`] levels, is refused before it is
//! compiled, and a value that nests deeper than [`DEEPEST_VALUE`] before it is looked at. Whoever writes a schema and a
//! value to it decides what the check costs us, so that is bounded too ([`MOST_CHECKS`]). Patterns run on the linear
//! engine. Nothing is ever fetched: a reference points into its own schema.

mod cost;
mod walk;

pub(crate) use cost::{Cost, cost};
pub(crate) use walk::{texts, with_references_below};

use std::sync::Arc;

use jsonschema::{Draft, PatternOptions, Validator};
use serde_json::Value;

use crate::json::{brief, weight};

/// Subschemas and values in them, each counted as often as it is reached by a reference.
pub(crate) const MOST_PARTS: usize = 5_000;
/// Subschemas within each other, references followed.
pub(crate) const DEEPEST: usize = 64;
/// Lists and maps within each other, in a value that is checked.
pub(crate) const DEEPEST_VALUE: usize = 64;
/// Regular expressions in one schema.
pub(crate) const MOST_PATTERNS: usize = 100;
/// The same for all schemas of one document together: they are compiled when it is read.
pub(crate) const MOST_PARTS_IN_ALL: usize = 20_000;
/// Regular expressions of one document, `matches` of its tests included.
pub(crate) const MOST_PATTERNS_IN_ALL: usize = 200;
/// Bytes that one compiled regular expression may take.
pub(crate) const PATTERN_BYTES: usize = 1 << 18;
/// Parts of a schema times values that are held against it.
pub(crate) const MOST_CHECKS: usize = 10_000_000;
/// The same, where every breach is looked for: the validator notes each, and for every alternative once more.
const MOST_EXPLAINED: usize = 200_000;
/// Breaches of one value that are told.
const MOST_TOLD: usize = 10;

/// What is wrong with a schema.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SchemaFault {
    pub(crate) message: String,
    pub(crate) hint: Option<String>,
}

impl SchemaFault {
    fn new(message: impl Into<String>, hint: &str) -> Self {
        Self { message: message.into(), hint: Some(hint.to_owned()) }
    }
}

/// Where and how a value breaks a schema.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Breach {
    /// A JSON pointer into the value; empty for the value itself.
    pub(crate) pointer: String,
    pub(crate) message: String,
}

/// A schema ready to check values.
#[derive(Debug, Clone)]
pub(crate) struct Schema {
    validator: Arc<Validator>,
    parts: usize,
}

impl Schema {
    /// Checks a schema's own bounds and compiles it.
    pub(crate) fn compile(schema: &Value) -> Result<Self, SchemaFault> {
        let parts = cost(schema)?.parts;
        let patterns = PatternOptions::regex().size_limit(PATTERN_BYTES).dfa_size_limit(PATTERN_BYTES);
        let built = jsonschema::options()
            .with_draft(Draft::Draft202012)
            .with_pattern_options(patterns)
            .should_validate_formats(false)
            .offline()
            .build(schema);
        match built {
            Ok(validator) => Ok(Self { validator: Arc::new(validator), parts }),
            Err(error) => {
                let at = match error.instance_path().to_string() {
                    at if at.is_empty() => String::new(),
                    at => format!(" at {at}"),
                };
                let message =
                    format!("is no valid JSON Schema{at}: {}", clipped(&error.masked().to_string()));
                Err(SchemaFault::new(message, "see JSON Schema 2020-12; patterns have no look-around"))
            }
        }
    }

    /// How a value breaks the schema; empty if it does not. At most ten breaches are told.
    pub(crate) fn breaches(&self, value: &Value) -> Vec<Breach> {
        let whole = |message: String| vec![Breach { pointer: String::new(), message }];
        let Some(weight) = weight(value, DEEPEST_VALUE) else {
            return whole(format!("lists and maps are nested more than {DEEPEST_VALUE} deep"));
        };
        let checks = weight.saturating_mul(self.parts);
        if checks > MOST_CHECKS {
            return whole("it is too large to be held against this schema".to_owned());
        }
        if self.validator.is_valid(value) {
            return Vec::new();
        }
        if checks > MOST_EXPLAINED {
            return whole("it does not fit the schema, and is too large to say where".to_owned());
        }
        self.validator
            .iter_errors(value)
            .take(MOST_TOLD)
            .map(|error| {
                let message = error.masked_with(brief(error.instance())).to_string();
                Breach { pointer: error.instance_path().to_string(), message: clipped(&message) }
            })
            .collect()
    }
}

/// A message that fits on a screen, whatever names were put into it.
fn clipped(text: &str) -> String {
    const SHOWN: usize = 300;
    let mut shown: String = text.chars().take(SHOWN).collect();
    if text.chars().nth(SHOWN).is_some() {
        shown.push('…');
    }
    shown
}
