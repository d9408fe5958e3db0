//! Between a document's tree and JSON.
//!
//! A tree is bounded in depth when it is parsed, and a JSON value before it becomes a tree, so both may recurse.

use bailiwick_document::{self as document, Bounds, Key, Node, Place, Problem, Problems};
use serde_json::{Map, Number, Value};

/// A value of a document as JSON.
pub fn json_of(value: &document::Value) -> Value {
    match value {
        document::Value::Null => Value::Null,
        document::Value::Bool(flag) => Value::Bool(*flag),
        // A number that JSON cannot hold stays the text it was written as.
        document::Value::Number(text) => {
            number(text).map_or_else(|| Value::String(text.clone()), Value::Number)
        }
        document::Value::Text(text) => Value::String(text.clone()),
        document::Value::List(list) => list.iter().map(|node| json_of(&node.value)).collect(),
        document::Value::Map(map) => {
            let fields = map.iter().map(|(key, node)| (key.text.clone(), json_of(&node.value)));
            Value::Object(fields.collect::<Map<_, _>>())
        }
    }
}

/// A number as documents write it: also `0x1F`, `0o17`, `1_000`, `+1`, `.5` and `017`.
fn number(text: &str) -> Option<Number> {
    if let Ok(number) = serde_json::from_str(text) {
        return Some(number);
    }
    let plain = text.replace('_', "");
    let (negative, digits) = match plain.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, plain.strip_prefix('+').unwrap_or(&plain)),
    };
    let whole = match digits.get(..2) {
        Some("0x") => i64::from_str_radix(digits.get(2..)?, 16).ok(),
        Some("0o") => i64::from_str_radix(digits.get(2..)?, 8).ok(),
        _ => digits.parse().ok(),
    };
    match whole {
        Some(whole) => Some(Number::from(if negative { -whole } else { whole })),
        None => Number::from_f64(plain.parse().ok()?),
    }
}

/// JSON as a tree whose places mean nothing, within the bounds of a document.
pub(crate) fn tree_of(name: &str, value: &Value, bounds: Bounds) -> Result<Node, Problems> {
    measured(value, bounds).map_err(|problem| Problems::one(name, problem))?;
    Ok(node(value))
}

fn node(value: &Value) -> Node {
    let place = Place::START;
    let value = match value {
        Value::Null => document::Value::Null,
        Value::Bool(flag) => document::Value::Bool(*flag),
        Value::Number(number) => document::Value::Number(number.to_string()),
        Value::String(text) => document::Value::Text(text.clone()),
        Value::Array(items) => document::Value::List(items.iter().map(node).collect()),
        Value::Object(map) => document::Value::Map(
            map.iter().map(|(key, value)| (Key { place, text: key.clone() }, node(value))).collect(),
        ),
    };
    Node { place, value }
}

/// Whether a value keeps a document's bounds, told without recursion.
fn measured(value: &Value, bounds: Bounds) -> Result<(), Problem> {
    let wrong =
        |message: String| Problem { place: None, path: document::DocPath::root(), message, hint: None };
    let (mut nodes, mut bytes) = (0, 0);
    let mut left = vec![(value, 0)];
    while let Some((value, depth)) = left.pop() {
        nodes += 1;
        match value {
            Value::String(text) => bytes += text.len(),
            Value::Array(items) => left.extend(items.iter().map(|item| (item, depth + 1))),
            Value::Object(map) => {
                bytes += map.keys().map(String::len).sum::<usize>();
                // Where a document is parsed, keys count as well.
                nodes += map.len();
                left.extend(map.values().map(|value| (value, depth + 1)));
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
        let is_nested = value.is_array() || value.is_object();
        if is_nested && depth >= bounds.depth {
            return Err(wrong(format!("lists and maps are nested more than {} deep", bounds.depth)));
        }
        if nodes > bounds.nodes {
            return Err(wrong(format!("the document holds more than {} values", bounds.nodes)));
        }
        if bytes > bounds.bytes {
            return Err(wrong(format!("the document has more than {} bytes of text", bounds.bytes)));
        }
    }
    Ok(())
}

/// How many values a value holds, itself included, long texts counted as several; nothing if it nests deeper than this.
/// Told without recursion. A scalar has depth 0.
pub(crate) fn weight(value: &Value, deepest: usize) -> Option<usize> {
    /// Bytes of text that count as one value.
    const BYTES: usize = 64;
    let mut weight = 0;
    let mut left = vec![(value, 0)];
    while let Some((value, depth)) = left.pop() {
        weight += 1;
        match value {
            Value::Array(_) | Value::Object(_) if depth >= deepest => return None,
            Value::Array(items) => left.extend(items.iter().map(|item| (item, depth + 1))),
            Value::Object(map) => {
                weight += map.keys().map(|key| key.len() / BYTES).sum::<usize>();
                left.extend(map.values().map(|value| (value, depth + 1)));
            }
            Value::String(text) => weight += text.len() / BYTES,
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
    Some(weight)
}

/// Whether a value nests no deeper than this, told without recursion.
pub(crate) fn is_within_depth(value: &Value, deepest: usize) -> bool {
    weight(value, deepest).is_some()
}

/// What a value is, for a message.
pub(crate) const fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "a map",
    }
}

/// A value in a few words: never the whole of what was given.
pub(crate) fn brief(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(flag) => flag.to_string(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => {
            const SHOWN: usize = 40;
            let shown: String = text.chars().take(SHOWN).collect();
            let more = if text.chars().nth(SHOWN).is_some() { "…" } else { "" };
            format!("\"{}\"{more}", shown.escape_debug())
        }
        Value::Array(items) => format!("a list of {}", items.len()),
        Value::Object(map) => format!("a map of {}", map.len()),
    }
}
