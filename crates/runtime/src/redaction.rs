//! What a call gave, with every secret in it masked: values, keys, messages, stacks, console lines, denials.
//!
//! One door: nothing that a call gave reaches its caller but through here. What kept a call from being started is ours
//! alone and names no value. What no redactor can find (a value that the code changed by itself) is in SECURITY.md.

use std::collections::BTreeMap;

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

/// The longest line that an effect is told in is cut; from here on it may have lost its end.
const MAY_BE_CUT_LINE: usize = 290;

/// An effect in one line, without secrets, and without the beginning of one whose end was cut off.
pub(crate) fn line_of_effect(redactor: &Redactor, line: &str) -> String {
    if line.chars().count() < MAY_BE_CUT_LINE {
        return redactor.redact(line).into_owned();
    }
    redactor.redact_cut(line).into_owned()
}

/// A failure without secrets.
pub(crate) fn failure(redactor: &Redactor, failure: Failure) -> Failure {
    let Failure { code, message: mut said, hint, location, stack, denied } = failure;
    let denied = denied.map(|denied| {
        let asked = line_of_effect(redactor, &denied.asked);
        said = said.replace(&denied.asked, &asked);
        Denial { asked, ..denial(redactor, denied) }
    });
    Failure {
        code,
        message: message(redactor, said),
        hint: hint.map(|hint| text(redactor, hint)),
        location,
        stack: stack.map(|stack| message(redactor, stack)),
        denied,
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
pub fn value(redactor: &Redactor, given: Value) -> Value {
    match given {
        Value::String(said) => Value::String(text(redactor, said)),
        Value::Array(items) => items.into_iter().map(|item| value(redactor, item)).collect(),
        Value::Object(fields) => {
            let mut masked = Map::with_capacity(fields.len());
            let mut taken = BTreeMap::new();
            for (key, field) in fields {
                insert(&mut masked, &mut taken, text(redactor, key), value(redactor, field));
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

/// Two keys that became the same are both kept; `taken` says how often each was met.
fn insert(fields: &mut Map<String, Value>, taken: &mut BTreeMap<String, u64>, key: String, field: Value) {
    if !fields.contains_key(&key) {
        fields.insert(key, field);
        return;
    }
    let count = taken.entry(key.clone()).or_insert(1);
    loop {
        *count += 1;
        let name = format!("{key} {count}");
        if !fields.contains_key(&name) {
            fields.insert(name, field);
            return;
        }
    }
}
