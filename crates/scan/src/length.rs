//! Too much text, and too much of nothing.

use crate::context::Kind;
use crate::finding::Found;
use crate::rule::Rule;

/// The longest run of white space that layout explains, in characters.
const GAP: usize = 160;

/// The most empty lines that layout explains.
const LINES: usize = 12;

/// Looks at the length of a text and at the gaps in it.
pub(crate) fn look(text: &str, kind: Kind, found: &mut Found) {
    if let Some((at, _)) = text.char_indices().nth(kind.longest()) {
        found.add(Rule::Overlong, at..text.len());
    }
    // Pages turned into text are full of gaps.
    if kind == Kind::Result {
        return;
    }
    let mut gap: Option<(usize, usize, usize)> = None;
    for (at, character) in text.char_indices() {
        if character.is_whitespace() {
            let (start, count, lines) = gap.unwrap_or((at, 0, 0));
            gap = Some((start, count + 1, lines + usize::from(character == '\n')));
        } else if let Some((start, count, lines)) = gap.take()
            && (count > GAP || lines > LINES)
            && !found.add(Rule::LongGap, start..at)
        {
            return;
        }
    }
}
