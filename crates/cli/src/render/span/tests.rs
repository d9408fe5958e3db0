//! What a stranger's text looks like.

use super::plain;

fn shown(text: &str) -> String {
    let mut bytes = Vec::new();
    plain(text).write_plain(&mut bytes);
    String::from_utf8(bytes).expect("text")
}

#[track_caller]
fn check(text: &str, expected: &str) {
    assert_eq!(shown(text), expected, "{text:?}");
    // The same where it is broken into lines, and painted again.
    let mut bytes = Vec::new();
    for part in plain(text).parts(7, 0) {
        part.write_plain(&mut bytes);
    }
    assert_eq!(String::from_utf8(bytes).expect("text"), expected, "{text:?} in parts");
}

#[test]
fn what_hides_or_reorders_is_made_visible() {
    let ranges = [
        '\u{61c}'..='\u{61c}',
        '\u{ad}'..='\u{ad}',
        '\u{180e}'..='\u{180e}',
        '\u{200b}'..='\u{200f}',
        '\u{2028}'..='\u{202e}',
        '\u{2060}'..='\u{206f}',
        '\u{feff}'..='\u{feff}',
        '\u{fff9}'..='\u{fffb}',
        '\u{3164}'..='\u{3164}',
        '\u{115f}'..='\u{1160}',
        '\u{2800}'..='\u{2800}',
        '\u{fe00}'..='\u{fe0f}',
        '\u{e0000}'..='\u{e007f}',
        '\u{e0100}'..='\u{e01ef}',
    ];
    for c in ranges.into_iter().flatten() {
        check(&format!("a{c}b"), &format!("a\\u{{{:x}}}b", u32::from(c)));
    }
}

#[test]
fn ordinary_text_of_any_language_stays() {
    for text in [
        "plain",
        "e\u{301}te\u{301}",
        "Việt Nam",
        "日本語",
        "ไม่เป็นไร",
        "नमस्ते",
        "עברית",
        "한글",
        "🦀",
        "a\u{fffd}",
    ] {
        check(text, text);
    }
}

#[test]
fn a_heap_of_marks_on_one_character_is_made_visible() {
    let heap = format!("a{}b", "\u{301}".repeat(6));
    check(&heap, &format!("a{}\\u{{301}}\\u{{301}}b", "\u{301}".repeat(4)));
    let each = "a\u{301}\u{302}\u{303}\u{304}".repeat(5);
    check(&each, &each);
}
