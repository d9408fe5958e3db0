//! What of a long text is shown.

use super::{BYTES, LINES, Piece, excerpt};

/// How many lines there are before and behind what is left out, and how many bytes that is.
#[track_caller]
fn check(lines: &[&str], expected: (usize, Option<(usize, usize)>)) {
    let kinds: Vec<((), &str)> = lines.iter().map(|line| ((), *line)).collect();
    let pieces = excerpt(&kinds);
    let cut = pieces.iter().position(|piece| matches!(piece, Piece::LeftOut(_)));
    let found = match cut.map(|at| (at, pieces.get(at))) {
        Some((at, Some(Piece::LeftOut(bytes)))) => (at, Some((*bytes, pieces.len() - at - 1))),
        _ => (pieces.len(), None),
    };
    assert_eq!(found, expected, "{} lines", lines.len());
    let shown = |piece: &Piece<'_, ()>| match piece {
        Piece::Text((), line) => line.len(),
        Piece::LeftOut(bytes) => *bytes,
    };
    let all: usize = lines.iter().map(|line| line.len()).sum();
    assert_eq!(pieces.iter().map(shown).sum::<usize>(), all, "every byte is shown or counted");
}

#[test]
fn a_text_that_fits_is_whole() {
    check(&[], (0, None));
    check(&["{", "}"], (2, None));
    check(&["x"; 2 * LINES], (2 * LINES, None));
    check(&["x".repeat(2 * BYTES).as_str()], (1, None));
}

#[test]
fn a_text_that_is_too_long_is_cut_in_the_middle_and_told_how_much() {
    check(&["x"; 2 * LINES + 7], (LINES, Some((7, LINES))));
    check(&["x".repeat(7 << 20).as_str()], (1, Some(((7 << 20) - 2 * BYTES, 1))));
    check(&["a", "x".repeat(7 << 20).as_str(), "b"], (2, Some(((7 << 20) + 2 - 2 * BYTES, 2))));
    // Where a character is cut it is left out.
    let wide = "€".repeat(BYTES);
    check(&[&wide], (1, Some((3 * BYTES - 2 * (BYTES - BYTES % 3), 1))));
}
