//! JSON in its one canonical form (RFC 8785), so that the same content always has the same hash.
//!
//! Keys are sorted by their UTF-16 units, numbers are written as ECMAScript writes them, and a text escapes no more than
//! it must. A whole number beyond 2^53 is written as the double nearest to it, as the RFC says: JavaScript sees no other.
//! Nothing here recurses over what a value nests.

use std::fmt::Write as _;

use serde_json::{Number, Value};

/// What is still to be written.
enum Step<'a> {
    Value(&'a Value),
    Key(&'a str),
    Mark(char),
}

/// The canonical form of a value.
///
/// ```
/// let value = serde_json::json!({"b": [1.0, 1e21], "a": "é\n"});
/// assert_eq!(bailiwick_tool::canonical(&value), r#"{"a":"é\n","b":[1,1e+21]}"#);
/// ```
pub fn canonical(value: &Value) -> String {
    let mut out = String::new();
    // The last is written first.
    let mut steps = vec![Step::Value(value)];
    while let Some(step) = steps.pop() {
        match step {
            Step::Mark(mark) => out.push(mark),
            Step::Key(key) => {
                text(&mut out, key);
                out.push(':');
            }
            Step::Value(Value::Null) => out.push_str("null"),
            Step::Value(Value::Bool(flag)) => out.push_str(if *flag { "true" } else { "false" }),
            Step::Value(Value::Number(value)) => out.push_str(&number(value)),
            Step::Value(Value::String(value)) => text(&mut out, value),
            Step::Value(Value::Array(items)) => {
                out.push('[');
                steps.push(Step::Mark(']'));
                for (index, item) in items.iter().enumerate().rev() {
                    steps.push(Step::Value(item));
                    if index > 0 {
                        steps.push(Step::Mark(','));
                    }
                }
            }
            Step::Value(Value::Object(map)) => {
                out.push('{');
                steps.push(Step::Mark('}'));
                let mut fields: Vec<(&String, &Value)> = map.iter().collect();
                fields.sort_by(|(one, _), (other, _)| one.encode_utf16().cmp(other.encode_utf16()));
                for (index, (key, value)) in fields.into_iter().enumerate().rev() {
                    steps.push(Step::Value(value));
                    steps.push(Step::Key(key));
                    if index > 0 {
                        steps.push(Step::Mark(','));
                    }
                }
            }
        }
    }
    out
}

fn text(out: &mut String, text: &str) {
    out.push('"');
    for one in text.chars() {
        match one {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\u{8}' => out.push_str("\\b"),
            '\t' => out.push_str("\\t"),
            '\n' => out.push_str("\\n"),
            '\u{c}' => out.push_str("\\f"),
            '\r' => out.push_str("\\r"),
            '\0'..='\u{1f}' => {
                let _ = write!(out, "\\u{:04x}", u32::from(one));
            }
            _ => out.push(one),
        }
    }
    out.push('"');
}

/// The largest whole number below which every whole number is a double.
const EXACT: u64 = 1 << 53;

fn number(value: &Number) -> String {
    match (value.as_i64(), value.as_f64()) {
        (Some(whole), _) if whole.unsigned_abs() <= EXACT => whole.to_string(),
        (_, Some(double)) => as_ecmascript(double),
        (_, None) => value.to_string(),
    }
}

/// A double as `String(double)` gives it in ECMAScript: the shortest digits, and of two equally near the even one.
pub(crate) fn as_ecmascript(double: f64) -> String {
    // JSON has no other doubles.
    if double.is_finite() {
        ryu_js::Buffer::new().format_finite(double).to_owned()
    } else {
        "null".to_owned()
    }
}
