//! How what came differs from what was expected, line by line, short enough to read.

use serde_json::Value;

use crate::json::is_within_depth;

/// Lines that are compared; of a longer text only the beginning.
const COMPARED: usize = 400;
/// Lines that are shown.
const SHOWN: usize = 60;
/// Lines that are the same, shown around a change.
const AROUND: usize = 2;
/// Characters of a line that are shown.
const WIDE: usize = 160;
/// A value that nests deeper is not shown.
const DEEPEST: usize = 64;

/// A line of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Line<'a> {
    Both(&'a str),
    Expected(&'a str),
    Got(&'a str),
}

/// A comparison of two values as indented JSON; of two texts with several lines, as they are. `-` is expected, `+` came.
pub(crate) fn of_values(expected: &Value, got: &Value) -> Option<String> {
    if !is_within_depth(expected, DEEPEST) || !is_within_depth(got, DEEPEST) {
        return None;
    }
    if let (Value::String(expected), Value::String(got)) = (expected, got)
        && (expected.contains('\n') || got.contains('\n'))
    {
        return Some(of_texts(expected, got));
    }
    let pretty = |value: &Value| serde_json::to_string_pretty(value).ok();
    Some(of_texts(&pretty(expected)?, &pretty(got)?))
}

/// A comparison of two texts.
pub(crate) fn of_texts(expected: &str, got: &str) -> String {
    let (before, after) = (lines_of(expected), lines_of(got));
    let lines = compared(&before, &after);
    let is_near = |at: usize| {
        let near = lines.get(at.saturating_sub(AROUND)..(at + AROUND + 1).min(lines.len()));
        near.is_some_and(|near| near.iter().any(|line| !matches!(line, Line::Both(_))))
    };
    let mut shown = Vec::new();
    let mut skipped = false;
    for (at, line) in lines.iter().enumerate() {
        if !is_near(at) {
            skipped = true;
            continue;
        }
        if std::mem::take(&mut skipped) {
            shown.push("  …".to_owned());
        }
        let (mark, text) = match line {
            Line::Both(text) => (' ', text),
            Line::Expected(text) => ('-', text),
            Line::Got(text) => ('+', text),
        };
        let cut = if text.chars().nth(WIDE).is_some() { "…" } else { "" };
        shown.push(format!("{mark} {}{cut}", text.chars().take(WIDE).collect::<String>()));
    }
    if skipped {
        shown.push("  …".to_owned());
    }
    let more = shown.len().saturating_sub(SHOWN);
    if more > 0 {
        shown.truncate(SHOWN);
        shown.push(format!("  … and {more} more lines"));
    }
    shown.join("\n")
}

fn lines_of(text: &str) -> Vec<&str> {
    text.split('\n').take(COMPARED).collect()
}

/// The longest common lines, and what stands between them.
fn compared<'a>(before: &[&'a str], after: &[&'a str]) -> Vec<Line<'a>> {
    // lengths[i][j]: how many lines the rests from i and from j have in common.
    let mut lengths = vec![vec![0_u16; after.len() + 1]; before.len() + 1];
    let at = |lengths: &[Vec<u16>], i: usize, j: usize| {
        lengths.get(i).and_then(|row| row.get(j)).copied().unwrap_or_default()
    };
    for (i, one) in before.iter().enumerate().rev() {
        for (j, other) in after.iter().enumerate().rev() {
            let longest = if one == other {
                at(&lengths, i + 1, j + 1) + 1
            } else {
                at(&lengths, i + 1, j).max(at(&lengths, i, j + 1))
            };
            if let Some(cell) = lengths.get_mut(i).and_then(|row| row.get_mut(j)) {
                *cell = longest;
            }
        }
    }
    let (mut i, mut j) = (0, 0);
    let mut lines = Vec::new();
    loop {
        match (before.get(i), after.get(j)) {
            (Some(one), Some(other)) if one == other => {
                lines.push(Line::Both(one));
                (i, j) = (i + 1, j + 1);
            }
            (Some(one), other) if other.is_none() || at(&lengths, i + 1, j) >= at(&lengths, i, j + 1) => {
                lines.push(Line::Expected(one));
                i += 1;
            }
            (_, Some(other)) => {
                lines.push(Line::Got(other));
                j += 1;
            }
            (_, None) => return lines,
        }
    }
}
