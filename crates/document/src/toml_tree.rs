//! TOML to tree. The parser has a recursion guard of its own; the conversion here uses an explicit stack.

use std::borrow::Cow;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::parse::Meter;
use crate::{Bounds, Key, Node, Place, Problem, Value};

/// A list or map on its way from the parser's form to ours.
struct Open<'a, 'i> {
    place: Place,
    key: Option<Key>,
    rest: Rest<'a, 'i>,
    done: Vec<(Option<Key>, Node)>,
}

/// A key and its value, as the parser gives them.
type Pair<'a, 'i> = (&'a Spanned<Cow<'i, str>>, &'a Spanned<DeValue<'i>>);

enum Rest<'a, 'i> {
    List(std::slice::Iter<'a, Spanned<DeValue<'i>>>),
    Map(Box<dyn Iterator<Item = Pair<'a, 'i>> + 'a>),
}

pub(crate) fn read(text: &str, bounds: Bounds) -> Result<Node, Problem> {
    let mut meter = Meter::new(bounds);
    let table = DeTable::parse(text).map_err(|error| {
        let place = error.span().map_or(Place::START, |span| Place::of_offset(text, span.start));
        // The parser has a bound on nesting of its own.
        if error.message().contains("recur") {
            return meter.too_deep(place);
        }
        Problem::at(place, format!("not valid TOML: {}", error.message().trim_end()))
    })?;
    let lines = Lines::of(text);
    let mut open =
        vec![Open { place: Place::START, key: None, rest: map_of(table.get_ref()), done: Vec::new() }];
    loop {
        let Some(top) = open.last_mut() else {
            return Ok(Node { place: Place::START, value: Value::Null });
        };
        let next = match &mut top.rest {
            Rest::List(items) => items.next().map(|value| (None, value)),
            Rest::Map(entries) => entries.next().map(|(key, value)| {
                let place = lines.place(text, key.span().start);
                (Some(Key { place, text: key.get_ref().to_string() }), value)
            }),
        };
        if let Some((key, value)) = next {
            let place = lines.place(text, value.span().start);
            meter.node(place)?;
            let rest = match value.get_ref() {
                DeValue::Array(items) => Rest::List(items.iter()),
                DeValue::Table(table) => map_of(table),
                leaf => {
                    top.done.push((key, Node { place, value: leaf_value(leaf) }));
                    continue;
                }
            };
            open.push(Open { place, key, rest, done: Vec::new() });
            meter.depth(open.len(), place)?;
            continue;
        }
        let Some(Open { place, key, rest, done }) = open.pop() else { continue };
        let value = match rest {
            Rest::List(_) => Value::List(done.into_iter().map(|(_, node)| node).collect()),
            Rest::Map(_) => {
                let mut entries: Vec<(Key, Node)> =
                    done.into_iter().filter_map(|(key, node)| key.map(|key| (key, node))).collect();
                // The parser sorts by name; people read in the order they wrote.
                entries.sort_by_key(|(key, _)| key.place);
                Value::Map(entries)
            }
        };
        let node = Node { place, value };
        match open.last_mut() {
            Some(parent) => parent.done.push((key, node)),
            None => return Ok(node),
        }
    }
}

fn map_of<'a, 'i>(table: &'a DeTable<'i>) -> Rest<'a, 'i> {
    Rest::Map(Box::new(table.iter()))
}

fn leaf_value(value: &DeValue<'_>) -> Value {
    match value {
        DeValue::String(text) => Value::Text(text.to_string()),
        DeValue::Integer(number) => {
            let prefix = match number.radix() {
                16 => "0x",
                8 => "0o",
                2 => "0b",
                _ => "",
            };
            Value::Number(format!("{prefix}{}", number.as_str().replace('_', "")))
        }
        DeValue::Float(number) => Value::Number(number.as_str().replace('_', "")),
        DeValue::Boolean(flag) => Value::Bool(*flag),
        DeValue::Datetime(time) => Value::Text(time.to_string()),
        // Lists and maps are opened by the caller.
        DeValue::Array(_) | DeValue::Table(_) => Value::Null,
    }
}

/// Where each line begins, and how many characters stand before every 1024th byte: a place costs a binary search and
/// a walk over at most 1024 bytes, also when everything stands on one line.
struct Lines {
    begins: Vec<usize>,
    checkpoints: Vec<usize>,
}

const STRIDE: usize = 1024;

impl Lines {
    fn of(text: &str) -> Self {
        let begins = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        let mut before = 0;
        let checkpoints = text
            .as_bytes()
            .chunks(STRIDE)
            .map(|chunk| {
                let here = before;
                before += characters(chunk);
                here
            })
            .collect();
        Self { begins, checkpoints }
    }

    fn place(&self, text: &str, offset: usize) -> Place {
        let line = self.begins.partition_point(|begin| *begin <= offset).max(1);
        let begin = self.begins.get(line - 1).copied().unwrap_or(0);
        let column = self.characters_before(text, offset) - self.characters_before(text, begin) + 1;
        Place { line: crate::node::saturating(line), column: crate::node::saturating(column) }
    }

    fn characters_before(&self, text: &str, offset: usize) -> usize {
        let step = offset / STRIDE;
        let known = self.checkpoints.get(step).copied().unwrap_or(0);
        known + text.as_bytes().get(step * STRIDE..offset).map_or(0, characters)
    }
}

/// How many characters begin in a piece of UTF-8.
fn characters(bytes: &[u8]) -> usize {
    bytes.iter().filter(|byte| **byte & 0b1100_0000 != 0b1000_0000).count()
}
