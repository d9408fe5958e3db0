//! JSON as YAML for people: maps and lists as indented blocks, long texts as literal blocks, quotes where they are needed.
//!
//! What is written reads back as the same: a text stands plain only if it is of letters, digits and tame marks, and as a
//! block only if the reader of documents gives it back. Documents are bounded in depth, so this may recurse.

use bailiwick_document::{Bounds, Format, parse};
use serde_json::{Map, Value};

use std::fmt::Write as _;

/// Maps and lists stand on one line up to this width.
const ONE_LINE: usize = 90;

/// A document.
pub(crate) fn document(value: &Value) -> String {
    let mut out = String::new();
    match value {
        Value::Object(map) if !map.is_empty() => fields(&mut out, map, 0),
        other => {
            nested(&mut out, other, 0);
        }
    }
    out
}

fn fields(out: &mut String, map: &Map<String, Value>, indent: usize) {
    for (index, (key, value)) in map.iter().enumerate() {
        // The first field of a map in a list stands behind the dash.
        if index > 0 || indent == 0 || out.ends_with('\n') {
            pad(out, indent);
        }
        field(out, key, value, indent);
    }
}

fn field(out: &mut String, key: &str, value: &Value, indent: usize) {
    out.push_str(&scalar(key));
    out.push(':');
    nested(out, value, indent);
}

/// The value behind a colon or a dash, with the end of its line.
fn nested(out: &mut String, value: &Value, indent: usize) {
    if let Some(line) = one_line(value) {
        let _ = writeln!(out, " {line}");
        return;
    }
    match value {
        Value::Object(map) => {
            out.push('\n');
            fields(out, map, indent + 2);
        }
        Value::Array(items) => {
            out.push('\n');
            for item in items {
                pad(out, indent + 2);
                out.push('-');
                match item {
                    Value::Object(map) if one_line(item).is_none() => {
                        out.push(' ');
                        fields(out, map, indent + 4);
                    }
                    item => nested(out, item, indent + 2),
                }
            }
        }
        Value::String(text) => match block(text, indent + 2) {
            Some(block) => {
                let _ = writeln!(out, " {block}");
            }
            None => {
                let _ = writeln!(out, " {}", quoted(text));
            }
        },
        other => {
            let _ = writeln!(out, " {other}");
        }
    }
}

fn pad(out: &mut String, indent: usize) {
    out.push_str(&" ".repeat(indent));
}

/// A value that stands on the line it begins on.
fn one_line(value: &Value) -> Option<String> {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => Some(value.to_string()),
        Value::String(text) if text.contains('\n') => None,
        Value::String(text) => Some(scalar(text)),
        Value::Array(_) | Value::Object(_) => flow(value).filter(|line| line.chars().count() <= ONE_LINE),
    }
}

/// A value in brackets; nothing if it holds a text of several lines.
fn flow(value: &Value) -> Option<String> {
    match value {
        Value::Array(items) => {
            let items: Option<Vec<String>> = items.iter().map(flow).collect();
            Some(format!("[{}]", items?.join(", ")))
        }
        Value::Object(map) => {
            let fields: Option<Vec<String>> =
                map.iter().map(|(key, value)| Some(format!("{}: {}", scalar(key), flow(value)?))).collect();
            Some(format!("{{{}}}", fields?.join(", ")))
        }
        Value::String(text) if text.contains('\n') => None,
        Value::String(text) => Some(scalar(text)),
        Value::Null | Value::Bool(_) | Value::Number(_) => Some(value.to_string()),
    }
}

/// A text on one line: as it is where nothing can take it for something else, else in quotes.
fn scalar(text: &str) -> String {
    if is_plain(text) { text.to_owned() } else { quoted(text) }
}

fn is_plain(text: &str) -> bool {
    const WORDS: &[&str] = &["true", "false", "null", "yes", "no", "on", "off", "y", "n", "nan", "inf"];
    let is_tame =
        |one: char| one.is_ascii_alphanumeric() || matches!(one, ' ' | '_' | '-' | '.' | '/' | '(' | ')');
    text.starts_with(|first: char| first.is_ascii_alphabetic())
        && !text.ends_with(' ')
        && text.chars().all(is_tame)
        && !WORDS.iter().any(|word| word.eq_ignore_ascii_case(text))
}

/// A text in double quotes, everything that cannot be seen escaped.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for one in text.chars() {
        match one {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            one if is_unseen(one) => {
                let _ = match u32::from(one) {
                    code @ 0..=0xff => write!(out, "\\x{code:02x}"),
                    code @ 0x100..=0xffff => write!(out, "\\u{code:04x}"),
                    code => write!(out, "\\U{code:08x}"),
                };
            }
            one => out.push(one),
        }
    }
    out.push('"');
    out
}

/// Characters that a reader of YAML, or an editor, could lose or take for a line's end.
fn is_unseen(one: char) -> bool {
    one.is_control()
        || matches!(one, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}')
        || matches!(one, '\u{2060}'..='\u{2069}' | '\u{fff0}'..='\u{ffff}')
        || u32::from(one) & 0xfffe == 0xfffe
}

/// A text of several lines as a literal block, if it reads back as the same.
fn block(text: &str, indent: usize) -> Option<String> {
    if text.chars().any(|one| is_unseen(one) && one != '\n' && one != '\t') {
        return None;
    }
    let kept = match text.strip_suffix('\n') {
        None => "-",
        Some(rest) if rest.ends_with('\n') || rest.is_empty() => "+",
        Some(_) => "",
    };
    // A text that begins with blanks says how far it is indented.
    let blank = text.starts_with([' ', '\t', '\n']);
    let told = |indent: usize| if blank { indent.to_string() } else { String::new() };
    let lines = |indent: usize| {
        let body = text.strip_suffix('\n').unwrap_or(text);
        let lines: Vec<String> = body
            .split('\n')
            .map(|line| if line.is_empty() { String::new() } else { format!("{}{line}", " ".repeat(indent)) })
            .collect();
        lines.join("\n")
    };
    let probe = format!("k: |{}{kept}\n{}\nz: 1\n", told(2), lines(2));
    let bounds = Bounds { bytes: usize::MAX, ..Bounds::WRITTEN_BY_HAND };
    let tree = parse("a block", &probe, Format::Yaml, bounds).ok()?;
    let reads_back = matches!(
        tree.get("k").map(|node| &node.value),
        Some(bailiwick_document::Value::Text(read)) if read == text
    );
    // The indent is told relative to the field that the block belongs to, which is always two less.
    reads_back.then(|| format!("|{}{kept}\n{}", told(2), lines(indent)))
}
