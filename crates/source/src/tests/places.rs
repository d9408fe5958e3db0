use bailiwick_types::Location;

use crate::Lines;

#[test]
fn a_place_counts_lines_and_characters_from_one() {
    #[track_caller]
    fn check(text: &str, offset: usize, line: u32, column: u32) {
        assert_eq!(Lines::new(text).location(offset), Location { line, column });
    }
    check("", 0, 1, 1);
    check("", 99, 1, 1);
    check("abc", 2, 1, 3);
    check("abc", 3, 1, 4);
    check("abc", 99, 1, 4);
    check("a\nb", 1, 1, 2);
    check("a\nb", 2, 2, 1);
    check("a\r\nb", 2, 1, 3);
    check("a\r\nb", 3, 2, 1);
    check("a\rb", 2, 2, 1);
    check("a\n\rb", 3, 3, 1);
    check("a\u{2028}b", 4, 2, 1);
    check("a\u{2029}b", 4, 2, 1);
    check("é😀x", 6, 1, 3);
    // Inside a character.
    check("é😀x", 4, 1, 2);
    check("\n\n\n", 3, 4, 1);
    check("a\u{0}b", 2, 1, 3);
}
