//! What is done with the lines of a text: counted, sliced, cut, sorted. No file is touched here.
//!
//! A line ends with `\n`, and a `\r` before it belongs to the end. A last line without an end is a line.

use std::cmp::Ordering;

use bailiwick_types::FileAnswer;
use serde_json::{Value, json};

use super::Stop;
use super::answer::{self, Bounded};
use super::reason::{Fault, FileReason};

/// The most rows or lines of an answer.
const MOST_ROWS: usize = 10_000;
/// The most lines that are sorted.
const MOST_SORTED: usize = 1_000_000;
/// How many lines are worked on before looking whether the call ended.
const STRIDE: usize = 4096;

/// How many lines there are.
pub(super) fn count(text: &str) -> Result<FileAnswer, Fault> {
    answer::json(&json!(text.lines().count()))
}

/// Some lines, as they are in the file but for the end of the last.
pub(super) fn slice(text: &str, from: u64, to: Option<u64>) -> Result<FileAnswer, Fault> {
    let last = to.unwrap_or(u64::MAX);
    if from == 0 || last < from {
        return Err(FileReason::BadArgument.into());
    }
    let (mut begin, mut end, mut reached, mut more) = (None, 0, from - 1, false);
    let mut at = 0;
    for (number, line) in (1_u64..).zip(text.split_inclusive('\n')) {
        if number > last {
            more = true;
            break;
        }
        if number >= from {
            begin.get_or_insert(at);
            end = at + line.len();
            reached = number;
        }
        at += line.len();
    }
    let part = begin.and_then(|begin| text.get(begin..end)).unwrap_or("");
    let part = part.strip_suffix('\n').map_or(part, |part| part.strip_suffix('\r').unwrap_or(part));
    answer::json(&json!({"text": part, "from": from, "to": reached, "more": more}))
}

/// Some fields of every line; a field that is not there is empty.
pub(super) fn cut(text: &str, delimiter: &str, fields: &[u32], stop: &Stop) -> Result<FileAnswer, Fault> {
    if delimiter.is_empty() || fields.is_empty() || fields.contains(&0) || fields.len() > 1000 {
        return Err(FileReason::BadArgument.into());
    }
    let mut rows = Bounded::new(MOST_ROWS);
    for (number, line) in text.lines().enumerate() {
        if number % STRIDE == 0 {
            stop.check()?;
        }
        // No more of the line is taken apart than is wanted, and no row is made that is longer than the whole answer.
        let wanted = fields.iter().max().and_then(|most| usize::try_from(*most).ok()).unwrap_or(usize::MAX);
        let all: Vec<&str> = line.split(delimiter).take(wanted.min(MOST_FIELDS)).collect();
        let part = |field: &u32| usize::try_from(*field - 1).ok().and_then(|at| all.get(at)).copied();
        let long: usize = fields.iter().filter_map(part).map(str::len).sum();
        if long > answer::MOST_BYTES {
            return Err(FileReason::TooLarge.into());
        }
        let row: Vec<Value> = fields.iter().map(|field| part(field).unwrap_or_default().into()).collect();
        if !rows.push(&Value::Array(row)) {
            break;
        }
    }
    Ok(rows.finish("rows", &[]))
}

/// The most fields of a line that are told apart.
const MOST_FIELDS: usize = 100_000;

/// How lines are put in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Order {
    /// By number, not by text.
    pub(super) numeric: bool,
    /// From high to low.
    pub(super) reverse: bool,
    /// Equal lines once.
    pub(super) unique: bool,
    /// By this field, counted from 1, and what separates fields.
    pub(super) field: Option<(u32, String)>,
}

/// The lines in order. Lines whose keys are equal are in the order of their text.
pub(super) fn sort(text: &str, order: &Order, stop: &Stop) -> Result<FileAnswer, Fault> {
    let field = match &order.field {
        Some((0, _)) => return Err(FileReason::BadArgument.into()),
        Some((_, delimiter)) if delimiter.is_empty() => return Err(FileReason::BadArgument.into()),
        field => field.as_ref(),
    };
    let key = |line: &str| -> (f64, String) {
        let of_field = field.map(|(number, delimiter)| {
            let skip = usize::try_from(number - 1).unwrap_or(usize::MAX);
            line.split(delimiter.as_str()).nth(skip).unwrap_or("").to_owned()
        });
        let number = if order.numeric { leading_number(of_field.as_deref().unwrap_or(line)) } else { 0.0 };
        (number, if order.numeric { String::new() } else { of_field.unwrap_or_default() })
    };
    let mut lines = Vec::new();
    for (number, line) in text.lines().enumerate() {
        if number == MOST_SORTED {
            return Err(FileReason::TooLarge.into());
        }
        if number % STRIDE == 0 {
            stop.check()?;
        }
        lines.push((key(line), line));
    }
    lines.sort_by(|((number, field), line), ((other_number, other_field), other)| {
        let ordering =
            number.total_cmp(other_number).then_with(|| field.cmp(other_field)).then_with(|| line.cmp(other));
        if order.reverse { ordering.reverse() } else { ordering }
    });
    if order.unique {
        lines.dedup_by(|(_, line), (_, other)| line.cmp(&other) == Ordering::Equal);
    }
    let mut sorted = Bounded::new(MOST_ROWS);
    for (_, line) in lines {
        if !sorted.push(&line.into()) {
            break;
        }
    }
    Ok(sorted.finish("lines", &[]))
}

/// The number a text begins with; a text without one comes before every number.
fn leading_number(text: &str) -> f64 {
    let text = text.trim_start();
    let digits = text
        .char_indices()
        .find(|(at, c)| !(c.is_ascii_digit() || *c == '.' || (*at == 0 && matches!(c, '-' | '+'))))
        .map_or(text.len(), |(at, _)| at);
    text.get(..digits).and_then(|number| number.parse().ok()).unwrap_or(f64::NEG_INFINITY)
}
