//! Pieces of a line: a style, and text whose control characters are made visible.

use anstyle::{AnsiColor, Style};
use bailiwick_types::{RiskLevel, is_harmless};
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// A styled piece of a line.
#[derive(Debug, Clone)]
pub(crate) struct Span<'a> {
    style: Style,
    text: std::borrow::Cow<'a, str>,
}

impl Span<'_> {
    /// Writes it with its style; the stream strips the style where there is no terminal.
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.style.render().to_string().as_bytes());
        self.write_plain(out);
        out.extend_from_slice(self.style.render_reset().to_string().as_bytes());
    }

    /// Writes it without its style.
    pub(crate) fn write_plain(&self, out: &mut Vec<u8>) {
        let mut marks = Marks::default();
        for c in self.text.chars() {
            push_visible(c, &mut marks, out);
        }
    }

    /// The same, with text of its own.
    pub(crate) fn into_owned(self) -> Span<'static> {
        Span { style: self.style, text: self.text.into_owned().into() }
    }

    /// The same style for each part of a text that is visible already.
    pub(super) fn parts(&self, columns: usize, first: usize) -> Vec<Span<'static>> {
        let mut parts = vec![String::new()];
        let mut used = first;
        let mut bytes = Vec::new();
        let mut marks = Marks::default();
        for c in self.text.chars() {
            bytes.clear();
            push_visible(if c == '\t' { ' ' } else { c }, &mut marks, &mut bytes);
            for shown in String::from_utf8_lossy(&bytes).chars() {
                let width = shown.width().unwrap_or(1);
                if used + width > columns {
                    parts.push(String::new());
                    used = 0;
                }
                used += width;
                if let Some(part) = parts.last_mut() {
                    part.push(shown);
                }
            }
        }
        parts.into_iter().map(|text| Span { style: self.style, text: text.into() }).collect()
    }

    /// How many columns it takes.
    pub(super) fn width(&self) -> usize {
        let mut bytes = Vec::new();
        self.write_plain(&mut bytes);
        String::from_utf8_lossy(&bytes).width()
    }
}

/// The most marks on one character; more of them paint over the lines around it.
const MOST_MARKS: usize = 4;

/// How many characters that take no column of their own came one after another.
#[derive(Default)]
struct Marks(usize);

impl Marks {
    fn are_few(&mut self, c: char) -> bool {
        self.0 = if c.width() == Some(0) { self.0 + 1 } else { 0 };
        self.0 <= MOST_MARKS
    }
}

fn push_visible(c: char, marks: &mut Marks, out: &mut Vec<u8>) {
    if marks.are_few(c) && is_harmless(c) {
        out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
    } else {
        out.extend_from_slice(c.escape_unicode().to_string().as_bytes());
    }
}

fn styled(style: Style, text: &str) -> Span<'_> {
    Span { style, text: text.into() }
}

/// Plain text.
pub(crate) fn plain(text: &str) -> Span<'_> {
    styled(Style::new(), text)
}

/// What the eye should find first.
pub(crate) fn strong(text: &str) -> Span<'_> {
    styled(Style::new().bold(), text)
}

/// What may be overlooked.
pub(crate) fn faint(text: &str) -> Span<'_> {
    styled(Style::new().dimmed(), text)
}

/// A yes.
pub(crate) fn good(text: &str) -> Span<'_> {
    styled(AnsiColor::Green.on_default().bold(), text)
}

/// A careful.
pub(crate) fn warning(text: &str) -> Span<'_> {
    styled(AnsiColor::Yellow.on_default().bold(), text)
}

/// A no.
pub(crate) fn bad(text: &str) -> Span<'_> {
    styled(AnsiColor::Red.on_default().bold(), text)
}

/// A risk level in its colour.
pub(crate) fn level(level: RiskLevel) -> Span<'static> {
    match level {
        RiskLevel::L0 | RiskLevel::L1 => good(level.name()),
        RiskLevel::L2 | RiskLevel::L3 => warning(level.name()),
        RiskLevel::L4 | RiskLevel::L5 => bad(level.name()),
    }
}

#[cfg(test)]
mod tests;
