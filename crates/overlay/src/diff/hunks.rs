//! Two texts as hunks of lines with three lines of context. Pure.
//!
//! A line ends at `\n` and nowhere else, as git has it.

use std::fmt::Write as _;
use std::time::Instant;

use similar::{Algorithm, DiffOp, capture_diff_slices_deadline, group_diff_ops};

use super::{Body, Side};

const CONTEXT: usize = 3;

/// The lines of a part.
pub(super) fn body(old: &Side, new: &Side, deadline: Instant) -> Body {
    let (old, new) = match (text(old), text(new)) {
        (Err(why), _) | (_, Err(why)) => return why,
        (Ok(old), Ok(new)) => (old, new),
    };
    let (old, new) = (lines(old), lines(new));
    let ops = capture_diff_slices_deadline(Algorithm::Myers, &old, &new, Some(deadline));
    let mut hunks = String::new();
    let (mut added, mut removed) = (0, 0);
    for group in group_diff_ops(ops, CONTEXT) {
        let (Some(first), Some(last)) = (group.first(), group.last()) else { continue };
        let (from, to) =
            (first.old_range().start..last.old_range().end, first.new_range().start..last.new_range().end);
        // Writing to a text cannot fail.
        let _ = writeln!(hunks, "@@ -{} +{} @@", range(&from), range(&to));
        for op in &group {
            let (goes, comes) = match op {
                DiffOp::Equal { .. } => {
                    write(&mut hunks, ' ', old.get(op.old_range()));
                    continue;
                }
                _ => (op.old_range(), op.new_range()),
            };
            removed += goes.len();
            added += comes.len();
            write(&mut hunks, '-', old.get(goes));
            write(&mut hunks, '+', new.get(comes));
        }
    }
    Body::Text { hunks, added, removed }
}

/// A side as text: nothing is an empty one.
fn text(side: &Side) -> Result<&str, Body> {
    match side {
        Side::Nothing => Ok(""),
        Side::None(why) => Err(why.clone()),
        Side::Bytes(bytes) => {
            str::from_utf8(bytes).ok().filter(|text| !text.contains('\0')).ok_or(Body::Binary)
        }
    }
}

fn lines(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

/// Where lines are: from one, and an empty range stands after the line before it.
fn range(lines: &std::ops::Range<usize>) -> String {
    let start = if lines.is_empty() { lines.start } else { lines.start + 1 };
    format!("{start},{}", lines.len())
}

fn write(hunks: &mut String, sign: char, lines: Option<&[&str]>) {
    for line in lines.unwrap_or_default() {
        hunks.push(sign);
        hunks.push_str(line);
        if !line.ends_with('\n') {
            hunks.push_str("\n\\ No newline at end of file\n");
        }
    }
}
