//! Answers that are lists: bounded in how many, and in how long they are as JSON.

use serde_json::{Map, Value};

use super::reason::{Fault, FileReason};
use bailiwick_types::FileAnswer;

/// The longest answer, as JSON.
pub(super) const MOST_BYTES: usize = 16 << 20;

/// Items as JSON text, until there are too many or they are too long.
#[derive(Debug)]
pub(super) struct Bounded {
    text: String,
    count: usize,
    most: usize,
    full: bool,
    truncated: bool,
}

impl Bounded {
    /// Nothing yet, and at most so many.
    pub(super) fn new(most: usize) -> Self {
        Self { text: "[".to_owned(), count: 0, most, full: false, truncated: false }
    }

    /// Adds an item, or notes that there was no room for it.
    pub(super) fn push(&mut self, item: &Value) -> bool {
        let item = item.to_string();
        if self.full || self.count >= self.most || self.text.len() + item.len() + 256 > MOST_BYTES {
            (self.full, self.truncated) = (true, true);
            return false;
        }
        if self.count > 0 {
            self.text.push(',');
        }
        self.text.push_str(&item);
        self.count += 1;
        true
    }

    /// Notes that there is more than was looked at.
    pub(super) fn truncate(&mut self) {
        self.truncated = true;
    }

    /// Whether an item was turned away.
    pub(super) const fn is_full(&self) -> bool {
        self.full
    }

    /// `{name: [items], truncated}`, and whatever else belongs to it.
    pub(super) fn finish(self, name: &str, more: &[(&str, u64)]) -> FileAnswer {
        use std::fmt::Write as _;
        let Self { text, truncated, .. } = self;
        let mut answer = format!("{{\"{name}\":{text}],\"truncated\":{truncated}");
        for (key, value) in more {
            // Writing into a text does not fail.
            let _ = write!(answer, ",\"{key}\":{value}");
        }
        answer.push('}');
        FileAnswer::Json(answer)
    }
}

/// A single value as an answer.
pub(super) fn json(value: &Value) -> Result<FileAnswer, Fault> {
    let text = value.to_string();
    if text.len() > MOST_BYTES {
        return Err(FileReason::TooLarge.into());
    }
    Ok(FileAnswer::Json(text))
}

/// An object with one number.
pub(super) fn number(name: &str, value: u64) -> Result<FileAnswer, Fault> {
    json(&Value::Object(Map::from_iter([(name.to_owned(), value.into())])))
}

/// `null`, where there is nothing to say but that it was done.
pub(super) fn nothing() -> FileAnswer {
    FileAnswer::Json("null".to_owned())
}
