//! A text that is painted over and keeps its shape: a character becomes a blank or another character, and none is
//! added or taken away. Line breaks stay, whatever is painted over them.

use std::collections::{BTreeMap, HashSet};

use oxc_span::Span;

use crate::lines::ends_line;

/// What will be painted over a text.
#[derive(Debug)]
pub(crate) struct Canvas<'t> {
    text: &'t str,
    blanks: Vec<Span>,
    marks: BTreeMap<u32, char>,
    wholes: HashSet<u32>,
}

impl<'t> Canvas<'t> {
    pub(crate) fn new(text: &'t str) -> Self {
        Self { text, blanks: Vec::new(), marks: BTreeMap::new(), wholes: HashSet::new() }
    }

    /// Makes each character of a span a blank.
    pub(crate) fn blank(&mut self, span: Span) {
        if span.start < span.end {
            self.blanks.push(span);
        }
    }

    /// Blanks something that stood as a whole, and leaves a `;` where it began, so that its neighbours stay apart.
    pub(crate) fn erase(&mut self, span: Span) {
        self.blank(span);
        self.mark(span.start, ';');
        self.wholes.insert(span.start);
    }

    /// Whether what begins at an offset was erased as a whole.
    pub(crate) fn is_erased(&self, start: u32) -> bool {
        self.wholes.contains(&start)
    }

    /// Where the first blank is.
    pub(crate) fn first_blank(&self) -> Option<u32> {
        self.blanks.iter().map(|blank| blank.start).min()
    }

    /// Whether an offset is within something blank.
    pub(crate) fn is_blank(&self, offset: u32) -> bool {
        self.blanks.iter().any(|blank| blank.start <= offset && offset < blank.end)
    }

    /// Puts a character in the place of the one that begins at an offset.
    pub(crate) fn mark(&mut self, at: u32, character: char) {
        self.marks.insert(at, character);
    }

    /// Blanks a span and writes a text of ASCII into the first line of it that has room. Says whether one had.
    #[must_use]
    pub(crate) fn write(&mut self, span: Span, text: &str) -> bool {
        self.blank(span);
        let inside = self.text.get(span.start as usize..span.end as usize).unwrap_or_default();
        let mut places: Vec<u32> = Vec::new();
        for (at, character) in (span.start..).zip(inside.bytes()).filter(|(at, _)| self.is_boundary(*at)) {
            if self.is_line_break(at, character) {
                places.clear();
                continue;
            }
            places.push(at);
            if places.len() == text.len() {
                self.marks.extend(places.into_iter().zip(text.chars()));
                return true;
            }
        }
        false
    }

    fn is_boundary(&self, at: u32) -> bool {
        self.text.is_char_boundary(at as usize)
    }

    fn is_line_break(&self, at: u32, first: u8) -> bool {
        match first {
            b'\n' | b'\r' => true,
            // U+2028 and U+2029 begin with this byte, and nothing shorter does.
            0xe2 => self.text.get(at as usize..).and_then(|rest| rest.chars().next()).is_some_and(ends_line),
            _ => false,
        }
    }

    /// The painted text, as far as it is inside a span.
    pub(crate) fn render(mut self, span: Span) -> String {
        self.blanks.sort_unstable_by_key(|blank| blank.start);
        let inside = self.text.get(span.start as usize..span.end as usize).unwrap_or_default();
        let mut painted = String::with_capacity(inside.len());
        let mut blanks = self.blanks.iter().peekable();
        let mut blank_until = 0;
        for (at, character) in inside.char_indices() {
            let at = span.start.saturating_add(u32::try_from(at).unwrap_or(u32::MAX));
            while let Some(blank) = blanks.next_if(|blank| blank.start <= at) {
                blank_until = blank.end.max(blank_until);
            }
            let painted_over = if at < blank_until { ' ' } else { character };
            let mark = self.marks.get(&at).copied();
            painted.push(if ends_line(character) { character } else { mark.unwrap_or(painted_over) });
        }
        painted
    }
}
