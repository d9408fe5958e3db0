//! Where an offset is in a text, as people count. It knows nothing of tokens.

use bailiwick_types::Location;

/// The lines of a text.
///
/// A line ends where ECMAScript says so: at `\n`, `\r\n`, `\r`, U+2028 and U+2029. Lines and columns count from 1, and
/// a column is a Unicode scalar value.
#[derive(Debug, Clone)]
pub struct Lines<'t> {
    text: &'t str,
    starts: Vec<usize>,
}

/// Whether a character ends a line.
pub(crate) const fn ends_line(character: char) -> bool {
    matches!(character, '\n' | '\r' | '\u{2028}' | '\u{2029}')
}

impl<'t> Lines<'t> {
    /// The lines of `text`.
    pub fn new(text: &'t str) -> Self {
        let mut starts = vec![0];
        let mut characters = text.char_indices().peekable();
        while let Some((at, character)) = characters.next() {
            let is_first_of_pair =
                character == '\r' && characters.peek().is_some_and(|(_, next)| *next == '\n');
            if ends_line(character) && !is_first_of_pair {
                starts.push(at + character.len_utf8());
            }
        }
        Self { text, starts }
    }

    /// The place of the character at a byte offset. An offset inside a character is the character's; one behind the
    /// text is the place behind its last character.
    pub fn location(&self, offset: usize) -> Location {
        let mut offset = offset.min(self.text.len());
        while !self.text.is_char_boundary(offset) {
            offset -= 1;
        }
        let line = self.starts.partition_point(|start| *start <= offset).max(1);
        let start = self.starts.get(line - 1).copied().unwrap_or_default();
        let before = self.text.get(start..offset).unwrap_or_default().chars().count();
        Location { line: count(line), column: count(before + 1) }
    }
}

fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
