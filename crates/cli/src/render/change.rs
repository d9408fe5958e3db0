//! What a change would make of a file: what goes and comes, with the numbers of the lines. What stands around it is not
//! shown, for in the files of other programs that is other servers' keys.

use super::compare::{self, Compared};
use super::{bad, faint, good, plain, to_stderr};

/// A line that goes or comes, or the part of it that does.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Changed {
    Gone(usize, String),
    New(usize, String),
}

/// Tells it on stderr.
pub(crate) fn tell(before: &str, now: &str) {
    let Some(lines) = lines(before, now) else {
        to_stderr(&[plain("the change is too long to be shown")]);
        return;
    };
    for line in &lines {
        let (number, sign, text) = match line {
            Changed::Gone(number, text) => (number, bad("- "), text),
            Changed::New(number, text) => (number, good("+ "), text),
        };
        to_stderr(&[faint(&format!("{number:>5} ")), sign, plain(text)]);
    }
}

/// What differs; none where that is too much to compare.
fn lines(before: &str, now: &str) -> Option<Vec<Changed>> {
    let (old, new) = (comparable(before), comparable(now));
    let shorter = old.len().min(new.len());
    let begin = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
    let end = old.iter().rev().zip(new.iter().rev()).take(shorter - begin);
    let end = end.take_while(|(old, new)| old == new).count();
    let middle = |all: &[&str]| all.get(begin..all.len() - end).unwrap_or_default().join("\n");
    let (old_middle, new_middle) = (middle(&old), middle(&new));
    let (mut old_number, mut new_number) = (begin, begin);
    let mut lines = Vec::new();
    for compared in compare::lines(&old_middle, &new_middle)? {
        match compared {
            Compared::Same(_) => {
                old_number += 1;
                new_number += 1;
            }
            Compared::Gone(_) => {
                let text = before.lines().nth(old_number).unwrap_or_default();
                old_number += 1;
                lines.push(Changed::Gone(old_number, text.to_owned()));
            }
            Compared::New(_) => {
                let text = now.lines().nth(new_number).unwrap_or_default();
                new_number += 1;
                lines.push(Changed::New(new_number, text.to_owned()));
            }
        }
    }
    Some(match lines.as_slice() {
        [Changed::Gone(old_number, old), Changed::New(new_number, new)] => {
            within((*old_number, old), (*new_number, new))
        }
        _ => lines,
    })
}

/// The lines without a comma at their end, which comes and goes with what follows.
fn comparable(text: &str) -> Vec<&str> {
    text.lines().map(|line| line.strip_suffix(',').unwrap_or(line)).collect()
}

/// What differs within one line.
fn within((old_number, old): (usize, &str), (new_number, new): (usize, &str)) -> Vec<Changed> {
    let (old, new): (Vec<char>, Vec<char>) = (old.chars().collect(), new.chars().collect());
    let begin = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
    let end = old.iter().rev().zip(new.iter().rev()).take(old.len().min(new.len()) - begin);
    let end = end.take_while(|(old, new)| old == new).count();
    let part = |all: &[char]| {
        let part: String = all.get(begin..all.len() - end).unwrap_or_default().iter().collect();
        let mark = |there: usize| if there > 0 { "…" } else { "" };
        (!part.is_empty()).then(|| format!("{}{part}{}", mark(begin), mark(end)))
    };
    let gone = part(&old).map(|text| Changed::Gone(old_number, text));
    let new = part(&new).map(|text| Changed::New(new_number, text));
    gone.into_iter().chain(new).collect()
}

#[cfg(test)]
mod tests;
