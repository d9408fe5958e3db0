//! YAML (and so JSON) events to tree, with an explicit stack.
//!
//! Only plain data: anchors, aliases, tags, several documents and keys that are not text are refused. Plain
//! scalars follow the YAML 1.2 core schema, so `no` is a text and `017` is a number.

use std::collections::HashSet;

use saphyr_parser::{Event, Marker, Parser, ScalarStyle, Span};

use crate::node::saturating;
use crate::parse::Meter;
use crate::{Bounds, Key, Node, Place, Problem, Value};

/// A list or map that is still open.
struct Open {
    place: Place,
    kind: OpenKind,
}

enum OpenKind {
    List(Vec<Node>),
    /// `seen` makes the check for a key given twice cheap for a map of any size.
    Map {
        entries: Vec<(Key, Node)>,
        key: Option<Key>,
        seen: HashSet<String>,
    },
}

pub(crate) fn read(text: &str, bounds: Bounds) -> Result<Node, Problem> {
    let mut meter = Meter::new(bounds);
    let mut open: Vec<Open> = Vec::new();
    let mut root: Option<Node> = None;
    let mut documents = 0;
    for event in Parser::new_from_str(text) {
        let (event, span) = event.map_err(|error| {
            let place = place_of(error.marker());
            // The scanner looks ahead over brackets and has a limit of its own there.
            if error.info().contains("recursion limit") {
                return meter.too_deep(place);
            }
            Problem::at(place, format!("not valid YAML: {}", error.info()))
        })?;
        let place = start_of(&span);
        let finished = match event {
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentEnd => continue,
            Event::DocumentStart(_) => {
                documents += 1;
                if documents > 1 {
                    let problem = Problem::at(place, "a second document begins here; only one is read");
                    return Err(problem.with_hint("remove the line `---`, or put it into a file of its own"));
                }
                continue;
            }
            Event::Alias(_) => return Err(no_anchors(place)),
            Event::Scalar(text, style, anchor, tag) => {
                plain_data(anchor, tag.is_some(), place)?;
                meter.node(place)?;
                Node { place, value: scalar(&text, style) }
            }
            Event::SequenceStart(anchor, tag) => {
                plain_data(anchor, tag.is_some(), place)?;
                open.push(Open { place, kind: OpenKind::List(Vec::new()) });
                meter.depth(open.len(), place)?;
                continue;
            }
            Event::MappingStart(anchor, tag) => {
                plain_data(anchor, tag.is_some(), place)?;
                open.push(Open {
                    place,
                    kind: OpenKind::Map { entries: Vec::new(), key: None, seen: HashSet::new() },
                });
                meter.depth(open.len(), place)?;
                continue;
            }
            Event::SequenceEnd | Event::MappingEnd => {
                let Some(closed) = open.pop() else { continue };
                meter.node(closed.place)?;
                let value = match closed.kind {
                    OpenKind::List(items) => Value::List(items),
                    OpenKind::Map { entries, .. } => Value::Map(entries),
                };
                Node { place: closed.place, value }
            }
        };
        match open.last_mut() {
            None => root = Some(finished),
            Some(Open { kind: OpenKind::List(items), .. }) => items.push(finished),
            Some(Open { kind: OpenKind::Map { entries, key, seen }, .. }) => match key.take() {
                Some(name) => entries.push((name, finished)),
                None => *key = Some(as_key(finished, seen)?),
            },
        }
    }
    Ok(root.unwrap_or(Node { place: Place::START, value: Value::Null }))
}

fn as_key(node: Node, seen: &mut HashSet<String>) -> Result<Key, Problem> {
    let text = match node.value {
        Value::Text(text) | Value::Number(text) => text,
        Value::Bool(flag) => flag.to_string(),
        Value::Null => "null".to_owned(),
        Value::List(_) | Value::Map(_) => {
            return Err(Problem::at(node.place, "a key must be a text, not a list or a map"));
        }
    };
    if !seen.insert(text.clone()) {
        return Err(Problem::at(
            node.place,
            format!("`{}` is given twice", bailiwick_types::shortened(&text)),
        )
        .with_hint("keep one; which of two values holds would be a guess"));
    }
    Ok(Key { place: node.place, text })
}

fn plain_data(anchor: usize, tagged: bool, place: Place) -> Result<(), Problem> {
    if anchor != 0 {
        return Err(no_anchors(place));
    }
    if tagged {
        return Err(Problem::at(place, "tags (`!name`) are not accepted").with_hint("write the plain value"));
    }
    Ok(())
}

fn no_anchors(place: Place) -> Problem {
    Problem::at(place, "anchors and aliases (`&name`, `*name`) are not accepted")
        .with_hint("write the value out; a text that begins with `*` needs quotes, as in \"*.example.com\"")
}

fn scalar(text: &str, style: ScalarStyle) -> Value {
    if style != ScalarStyle::Plain {
        return Value::Text(text.to_owned());
    }
    match text {
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        "true" | "True" | "TRUE" => Value::Bool(true),
        "false" | "False" | "FALSE" => Value::Bool(false),
        _ if is_number(text) => Value::Number(text.to_owned()),
        _ => Value::Text(text.to_owned()),
    }
}

/// The numbers of the core schema; `_` between digits is accepted as TOML does.
fn is_number(text: &str) -> bool {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    if let Some(digits) = unsigned.strip_prefix("0x") {
        return !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_hexdigit());
    }
    if let Some(digits) = unsigned.strip_prefix("0o") {
        return !digits.is_empty() && digits.bytes().all(|b| (b'0'..=b'7').contains(&b));
    }
    unsigned.starts_with(|c: char| c.is_ascii_digit() || c == '.')
        && unsigned.bytes().any(|b| b.is_ascii_digit())
        && unsigned.replace('_', "").parse::<f64>().is_ok()
}

fn start_of(span: &Span) -> Place {
    place_of(&span.start)
}

fn place_of(marker: &Marker) -> Place {
    // The parser counts lines from 1 and columns from 0.
    Place { line: saturating(marker.line()).max(1), column: saturating(marker.col() + 1) }
}
