//! What a change would make of a file: the lines that go and come, with their numbers. The lines around them are not
//! shown: in other programs' files they hold other people's keys.

use super::compare::{self, Compared};
use super::{Span, bad, faint, good, plain, to_stderr};

/// A line that goes or comes.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Line<'a> {
    number: usize,
    compared: Compared<'a>,
}

/// Tells it on stderr.
pub(crate) fn tell(before: &str, now: &str) {
    let Some(lines) = lines(before, now) else {
        to_stderr(&[plain("the change is too long to be shown")]);
        return;
    };
    for Line { number, compared } in &lines {
        let number = format!("{number:>5} ");
        let line: [Span<'_>; 2] = match compared {
            Compared::Gone(text) => [bad("- "), plain(text)],
            Compared::New(text) => [good("+ "), plain(text)],
            Compared::Same(_) => continue,
        };
        let [sign, text] = line;
        to_stderr(&[faint(&number), sign, text]);
    }
}

/// What differs; none where that is too much to compare.
fn lines<'a>(before: &'a str, now: &'a str) -> Option<Vec<Line<'a>>> {
    let (old, new): (Vec<&str>, Vec<&str>) = (before.lines().collect(), now.lines().collect());
    let shorter = old.len().min(new.len());
    let begin = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
    let end = old.iter().rev().zip(new.iter().rev()).take(shorter - begin);
    let end = end.take_while(|(old, new)| old == new).count();
    let middle = |all: &[&'a str]| all.get(begin..all.len() - end).unwrap_or_default().join("\n");
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
                if let Some(text) = old.get(old_number) {
                    lines.push(Line { number: old_number + 1, compared: Compared::Gone(text) });
                }
                old_number += 1;
            }
            Compared::New(_) => {
                if let Some(text) = new.get(new_number) {
                    lines.push(Line { number: new_number + 1, compared: Compared::New(text) });
                }
                new_number += 1;
            }
        }
    }
    Some(lines)
}

#[cfg(test)]
mod tests;
