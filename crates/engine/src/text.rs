//! Cutting text and counting places in it.

/// As much of the beginning as fits into so many bytes, never cut inside a character.
pub(crate) fn head_of(text: &str, bytes: usize) -> &str {
    let mut end = bytes.min(text.len());
    while !text.is_char_boundary(end) {
        end = end.saturating_sub(1);
    }
    text.get(..end).unwrap_or_default()
}

/// The engine counts columns in bytes; people and editors in UTF-16 units. Both count from 1.
pub(crate) fn column_of(source: &str, line: u32, byte_column: u32) -> u32 {
    let wanted = usize::try_from(line.saturating_sub(1)).unwrap_or(usize::MAX);
    let before = usize::try_from(byte_column.saturating_sub(1)).unwrap_or(usize::MAX);
    let Some(text) = lines(source).nth(wanted) else { return byte_column };
    if text.is_ascii() {
        return byte_column;
    }
    let units: usize = head_of(text, before).chars().map(char::len_utf16).sum();
    u32::try_from(units).unwrap_or(u32::MAX).saturating_add(1)
}

/// The place just behind the last character.
pub(crate) fn end_of(source: &str) -> (u32, u32) {
    let count = lines(source).count().max(1);
    let last = lines(source).last().unwrap_or_default();
    let units: usize = last.chars().map(char::len_utf16).sum();
    (u32::try_from(count).unwrap_or(u32::MAX), u32::try_from(units).unwrap_or(u32::MAX).saturating_add(1))
}

/// Lines as JavaScript counts them.
fn lines(source: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(source);
    std::iter::from_fn(move || {
        let text = rest?;
        let Some((at, end)) =
            text.char_indices().find(|(_, c)| matches!(c, '\n' | '\r' | '\u{2028}' | '\u{2029}'))
        else {
            rest = None;
            return Some(text);
        };
        let (line, behind) = text.split_at_checked(at).unwrap_or((text, ""));
        let width = if behind.starts_with("\r\n") { 2 } else { end.len_utf8() };
        rest = behind.get(width..);
        Some(line)
    })
}
