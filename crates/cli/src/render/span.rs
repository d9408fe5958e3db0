//! Pieces of a line: a style, and text whose control characters are made visible.

use anstyle::{AnsiColor, Style};
use bailiwick_types::RiskLevel;

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
        for c in self.text.chars() {
            if is_harmless(c) {
                out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
            } else {
                out.extend_from_slice(c.escape_unicode().to_string().as_bytes());
            }
        }
        out.extend_from_slice(self.style.render_reset().to_string().as_bytes());
    }
}

/// Whether a character shows as itself. Controls move the cursor, and directional marks reorder what is read.
pub(super) fn is_harmless(c: char) -> bool {
    (!c.is_control() || c == '\t')
        && !matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
        && !matches!(c, '\u{e0000}'..='\u{e007f}')
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
