//! How a JSON text is laid out, and what is written into it in the same way.

use std::ops::Range;

use serde_json::Value;

use super::places::{Container, Item};

/// How a text is laid out.
pub(super) struct Layout {
    newline: &'static str,
    unit: String,
    /// Whether the items of the outermost object stand on lines of their own.
    has_lines: bool,
    is_spaced: bool,
}

impl Layout {
    /// Of a text with this outermost object.
    pub(super) fn of(text: &str, root: &Container) -> Self {
        let own_line = root.items.first().map(|item| indent_before(text, item.start));
        Self {
            newline: if text.contains("\r\n") { "\r\n" } else { "\n" },
            unit: own_line.flatten().filter(|unit| !unit.is_empty()).unwrap_or("  ").to_owned(),
            has_lines: own_line.is_none_or(|own| own.is_some()),
            is_spaced: text.contains("\": "),
        }
    }

    /// The text with one item more, at the end of a container.
    pub(super) fn insert(&self, text: &str, into: &Container, key: Option<&str>, value: &Value) -> String {
        let (Some(first), Some(last)) = (into.items.first(), into.items.last()) else {
            let inside = into.open + 1..into.close;
            if !self.has_lines {
                return spliced(text, inside, &self.item(key, value, None));
            }
            let base = indent_of_line(text, into.open);
            let indent = format!("{base}{}", self.unit);
            let newline = self.newline;
            let item = self.item(key, value, Some(&indent));
            return spliced(text, inside, &format!("{newline}{indent}{item}{newline}{base}"));
        };
        let end = last.value.end..last.value.end;
        if let Some(indent) = indent_before(text, first.start) {
            let item = self.item(key, value, Some(indent));
            return spliced(text, end, &format!(",{}{indent}{item}", self.newline));
        }
        let comma = if self.is_spaced { ", " } else { "," };
        spliced(text, end, &format!("{comma}{}", self.item(key, value, None)))
    }

    /// The text with another value for an item.
    pub(super) fn replace(&self, text: &str, item: &Item, value: &Value) -> String {
        let indent = indent_before(text, item.start);
        spliced(text, item.value.clone(), &self.item(None, value, indent))
    }

    /// An item on lines with this indent, or on one.
    fn item(&self, key: Option<&str>, value: &Value, indent: Option<&str>) -> String {
        let value = match indent {
            Some(indent) => self.lines(value).join(&format!("{}{indent}", self.newline)),
            None => value.to_string(),
        };
        let colon = if indent.is_some() || self.is_spaced { ": " } else { ":" };
        match key {
            Some(key) => format!("{}{colon}{value}", Value::from(key)),
            None => value,
        }
    }

    /// A value on lines, indented as the text is.
    fn lines(&self, value: &Value) -> Vec<String> {
        let pretty = format!("{value:#}");
        // No text of JSON holds a line break or begins a line, so what a line begins with is its indent.
        let line = |line: &str| {
            let content = line.trim_start_matches(' ');
            format!("{}{content}", self.unit.repeat((line.len() - content.len()) / 2))
        };
        pretty.lines().map(line).collect()
    }
}

/// The space before this place, where nothing else stands before it on its line and a line is before that.
fn indent_before(text: &str, place: usize) -> Option<&str> {
    let (_, line) = text.get(..place)?.rsplit_once('\n')?;
    line.chars().all(|c| c == ' ' || c == '\t').then_some(line)
}

/// The space that the line of this place begins with.
fn indent_of_line(text: &str, place: usize) -> &str {
    let before = text.get(..place).unwrap_or_default();
    let line = before.rsplit_once('\n').map_or(before, |(_, line)| line);
    let end = line.find(|c: char| c != ' ' && c != '\t').unwrap_or(line.len());
    line.get(..end).unwrap_or_default()
}

/// The text with this in the place of a range.
pub(super) fn spliced(text: &str, range: Range<usize>, with: &str) -> String {
    let before = text.get(..range.start).unwrap_or_default();
    let after = text.get(range.end..).unwrap_or_default();
    format!("{before}{with}{after}")
}
