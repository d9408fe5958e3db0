//! What went wrong, in the author's terms: positions of the author's code, frames of the author's functions, and never
//! a word of ours.
#![expect(clippy::unnecessary_box_returns, reason = "a trouble travels as an error, which should be small")]

use bailiwick_types::Location;
use bailiwick_wire::{Trouble, TroubleKind};

use crate::text::{column_of, end_of, head_of};

/// The name that the author's code has in frames.
pub(crate) const AUTHOR: &std::ffi::CStr = c"code";

/// The most bytes of a message, and of a stack.
const LONGEST: usize = 8 * 1024;

/// The frames of the author's code.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Frames {
    /// One frame a line, each with four blanks before it.
    pub(crate) text: String,
    /// Where the topmost one is.
    pub(crate) location: Option<Location>,
}

/// Keeps the frames of the author's code, with columns as people count them.
pub(crate) fn author_frames(stack: &str, source: &str) -> Frames {
    let mut frames = Frames::default();
    for line in stack.lines() {
        let Some((function, line_number, byte_column)) = frame(line.trim()) else { continue };
        let column = column_of(source, line_number, byte_column);
        frames.location.get_or_insert(Location { line: line_number, column });
        if !frames.text.is_empty() {
            frames.text.push('\n');
        }
        let place = format!("code:{line_number}:{column}");
        frames.text.push_str("    at ");
        match function {
            Some(function) => frames.text.extend([function, " (", &place, ")"]),
            None => frames.text.push_str(&place),
        }
        if frames.text.len() > LONGEST {
            break;
        }
    }
    frames.text.truncate(head_of(&frames.text, LONGEST).len());
    frames
}

/// Takes `at NAME (code:LINE:COLUMN)` or `at code:LINE:COLUMN` apart; nothing when it is no frame of the author's.
fn frame(line: &str) -> Option<(Option<&str>, u32, u32)> {
    let rest = line.strip_prefix("at ")?;
    let (function, place) = match rest.strip_suffix(')').and_then(|inner| inner.rsplit_once(" (")) {
        Some((function, place)) => (Some(function), place),
        None => (None, rest),
    };
    let (line, column) = place.strip_prefix("code:")?.split_once(':')?;
    let line = line.parse::<u32>().ok().filter(|line| *line > 0)?;
    Some((function, line, column.parse().ok()?))
}

/// What the engine says when its stack is full.
pub(crate) fn is_overflow(message: &str) -> bool {
    message == "Maximum call stack size exceeded" || message == "stack overflow"
}

/// What the engine says when something was to be called or read that is not there.
fn is_about_a_member(message: &str) -> bool {
    message == "not a function"
        || message.starts_with("cannot read property '") && message.ends_with("' of undefined")
}

/// The dotted name at a place of the source: `safety.fs.readText`. Whether it is a name of ours is not known here.
fn member_at(source: &str, at: Location) -> Option<&str> {
    let line = source.lines().nth(usize::try_from(at.line).ok()?.checked_sub(1)?)?;
    let column = usize::try_from(at.column).ok()?.checked_sub(1)?;
    let place = line.char_indices().nth(column).map_or(line.len(), |(place, _)| place);
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$' | '.');
    // The place may be at either end of the name, or right behind it.
    let start = line.get(..place)?.rfind(|c| !is_part(c)).map_or(0, |before| before + 1);
    let rest = line.get(start..)?.trim_start_matches(|c| !is_part(c));
    let name = rest.get(..rest.find(|c| !is_part(c)).unwrap_or(rest.len()))?;
    Some(name).filter(|name| name.contains('.') && name.len() <= 100)
}

/// A trouble without a place.
pub(crate) fn trouble(kind: TroubleKind, message: impl Into<String>) -> Box<Trouble> {
    let message = message.into();
    let message = head_of(&message, LONGEST).to_owned();
    Box::new(Trouble { kind, message, location: None, stack: None, missing: None, refusal: None })
}

/// What was thrown and not caught.
pub(crate) fn thrown(class: Option<&str>, message: &str, frames: Frames, source: &str) -> Box<Trouble> {
    let shown = match class {
        Some(class) if message.is_empty() => class.to_owned(),
        Some(class) => format!("{class}: {}", head_of(message, LONGEST)),
        None => message.to_owned(),
    };
    let kind = match class {
        // Code can throw the same by itself, and then deceives its own author only.
        Some("RangeError" | "InternalError") if is_overflow(message) => TroubleKind::Stack,
        // A string longer than the engine can hold is larger than any memory limit.
        Some("InternalError") if message == "string too long" => TroubleKind::Memory,
        _ => TroubleKind::Threw,
    };
    let mut trouble = trouble(kind, shown);
    trouble.missing = match class {
        Some("ReferenceError") => message.strip_suffix(" is not defined").map(str::to_owned),
        Some("TypeError") if message == "eval is not supported" => Some("eval".to_owned()),
        Some("TypeError") if is_about_a_member(message) => {
            frames.location.and_then(|at| member_at(source, at)).map(str::to_owned)
        }
        _ => None,
    };
    trouble.location = frames.location;
    trouble.stack = (!frames.text.is_empty()).then_some(frames.text);
    trouble
}

/// What the compiler said about the author's code. A place behind its end is our wrapper's; it becomes the end.
pub(crate) fn syntax(message: &str, stack: &str, source: &str) -> Box<Trouble> {
    let place = stack.lines().find_map(|line| {
        let place = line.trim().strip_prefix("at ")?.strip_prefix("code:")?;
        let (line, column) = place.split_once(':')?;
        Some((line.parse::<i64>().ok()?, column.parse::<u32>().ok()?))
    });
    let (last_line, last_column) = end_of(source);
    let location = match place {
        Some((line, _)) if line < 1 => {
            return trouble(
                TroubleKind::Validation,
                format!("the name of a parameter or static cannot be a variable's: {message}"),
            );
        }
        Some((line, column)) => {
            let line = u32::try_from(line).unwrap_or(u32::MAX);
            let column = column_of(source, line, column);
            if (line, column) > (last_line, last_column) {
                Some(Location { line: last_line, column: last_column })
            } else {
                Some(Location { line, column })
            }
        }
        None => None,
    };
    let mut trouble = if is_overflow(message) {
        trouble(TroubleKind::Stack, "the code is nested too deep")
    } else {
        trouble(TroubleKind::Syntax, format!("SyntaxError: {message}"))
    };
    trouble.location = location;
    trouble
}
