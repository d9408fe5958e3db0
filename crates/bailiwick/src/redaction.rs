//! What a call gave, with every secret in it masked: values, keys, messages, stacks, console lines, denials.
//!
//! One door: nothing of a report reaches a caller but through here. What no redactor can find (a value that the code
//! changed by itself) is written in SECURITY.md.

use bailiwick_redact::Redactor;
use bailiwick_types::{Denial, Failure, Fix, LogLine, Outcome};
use serde_json::{Map, Value};

/// The text without secrets.
pub(crate) fn text(redactor: &Redactor, text: String) -> String {
    match redactor.redact(&text) {
        std::borrow::Cow::Borrowed(_) => text,
        std::borrow::Cow::Owned(masked) => masked,
    }
}

/// From this length on a message may have lost its end in the cell, which bounds messages at 8 KiB.
const MAY_BE_CUT: usize = 8 * 1024 - 8;

/// A text of a failure without secrets, and without the beginning of one whose end was cut off.
fn message(redactor: &Redactor, said: String) -> String {
    if said.len() < MAY_BE_CUT {
        return text(redactor, said);
    }
    redactor.redact_cut(said.trim_end_matches('…')).into_owned()
}

/// A console line without secrets.
pub(crate) fn line(redactor: &Redactor, line: LogLine) -> LogLine {
    let LogLine { level, text: said, at } = line;
    LogLine { level, text: text(redactor, said), at }
}

/// An outcome without secrets.
pub(crate) fn outcome(redactor: &Redactor, outcome: Outcome) -> Outcome {
    match outcome {
        Outcome::Returned(given) => Outcome::Returned(value(redactor, given)),
        Outcome::Failed(failed) => Outcome::Failed(Box::new(failure(redactor, *failed))),
    }
}

/// A failure without secrets.
pub(crate) fn failure(redactor: &Redactor, failure: Failure) -> Failure {
    let Failure { code, message: said, hint, location, stack, denied } = failure;
    Failure {
        code,
        message: message(redactor, said),
        hint: hint.map(|hint| text(redactor, hint)),
        location,
        stack: stack.map(|stack| message(redactor, stack)),
        denied: denied.map(|denied| denial(redactor, denied)),
    }
}

fn denial(redactor: &Redactor, denial: Denial) -> Denial {
    let Denial { code, capability, asked, rule, layer, reason, fix } = denial;
    Denial {
        code,
        capability,
        asked: text(redactor, asked),
        rule: text(redactor, rule),
        layer,
        reason,
        fix: fix.map(|Fix { overrides, risk }| Fix { overrides: value(redactor, overrides), risk }),
    }
}

/// A value without secrets. Its depth was bounded when it was read.
pub(crate) fn value(redactor: &Redactor, given: Value) -> Value {
    match given {
        Value::String(said) => Value::String(text(redactor, said)),
        Value::Array(items) => items.into_iter().map(|item| value(redactor, item)).collect(),
        Value::Object(fields) => {
            let mut masked = Map::with_capacity(fields.len());
            for (key, field) in fields {
                insert(&mut masked, &text(redactor, key), value(redactor, field));
            }
            Value::Object(masked)
        }
        // A secret of digits may come back as a number.
        Value::Number(number) => match redactor.redact(&number.to_string()) {
            std::borrow::Cow::Borrowed(_) => Value::Number(number),
            std::borrow::Cow::Owned(masked) => Value::String(masked),
        },
        Value::Null | Value::Bool(_) => given,
    }
}

/// Two keys that became the same are both kept.
fn insert(fields: &mut Map<String, Value>, key: &str, field: Value) {
    let mut name = key.to_owned();
    let mut number = 2;
    while fields.contains_key(&name) {
        name = format!("{key} {number}");
        number += 1;
    }
    fields.insert(name, field);
}
