//! Texts of strangers, as a person may be shown them: what would move the cursor, reorder what is read or show as nothing
//! is written out.

/// Whether a character shows as itself. Controls move the cursor, directional marks reorder what is read, and what shows
/// as nothing makes two texts look alike.
pub fn is_harmless(c: char) -> bool {
    (!c.is_control() || c == '\t') && !reorders(c) && !shows_as_nothing(c)
}

/// The text with everything else written out.
pub fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if is_harmless(c) {
            shown.push(c);
        } else {
            shown.extend(c.escape_unicode());
        }
    }
    shown
}

fn reorders(c: char) -> bool {
    matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

fn shows_as_nothing(c: char) -> bool {
    let is_joiner =
        matches!(c, '\u{ad}' | '\u{34f}' | '\u{200b}'..='\u{200d}' | '\u{2060}'..='\u{206f}' | '\u{feff}');
    let is_filler =
        matches!(c, '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{2800}' | '\u{3164}' | '\u{ffa0}');
    let is_variation = matches!(c, '\u{180b}'..='\u{180f}' | '\u{fe00}'..='\u{fe0f}');
    // Annotations, marks of music, tags and variations beyond the first plane.
    let is_other =
        matches!(c, '\u{fff0}'..='\u{fffb}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}');
    is_joiner || is_filler || is_variation || is_other
}
