//! What is kept is the end, what is dropped is counted, and no character is cut in two.

use super::{Piece, Ring};

#[track_caller]
fn check(ring: &Ring, from: u64, most: usize, expected: (&str, u64, u64, bool)) {
    let Piece { bytes, dropped, next, is_more } = ring.read(from, most, true);
    assert_eq!((String::from_utf8_lossy(&bytes).as_ref(), dropped, next, is_more), expected, "from {from}");
}

#[test]
fn the_last_bytes_are_kept_and_the_dropped_ones_counted() {
    let mut ring = Ring::new(4);
    check(&ring, 0, 10, ("", 0, 0, false));
    ring.push(b"ab");
    check(&ring, 0, 10, ("ab", 0, 2, false));
    ring.push(b"cde");
    check(&ring, 0, 10, ("bcde", 1, 5, false));
    check(&ring, 2, 10, ("cde", 0, 5, false));
    check(&ring, 2, 2, ("cd", 0, 4, true));
    ring.push(b"0123456789");
    check(&ring, 5, 10, ("6789", 6, 15, false));
    // A place that nobody was given gives nothing and drops nothing.
    check(&ring, 99, 10, ("", 0, 15, false));
    ring.push(b"");
    check(&ring, 15, 10, ("", 0, 15, false));
}

#[test]
fn a_character_waits_until_all_of_it_is_there() {
    let mut ring = Ring::new(16);
    let text = "a\u{e9}".as_bytes();
    ring.push(&text[..2]);
    check(&ring, 0, 10, ("a", 0, 1, false));
    check(&ring, 1, 10, ("", 0, 1, false));
    ring.push(&text[2..]);
    check(&ring, 1, 10, ("\u{e9}", 0, 3, false));
    // One that is cut by the reader's bound is given whole the next time.
    check(&ring, 0, 2, ("a", 0, 1, true));
    // At the end nothing waits.
    let mut ring = Ring::new(16);
    ring.push(&text[..2]);
    assert_eq!(ring.read(0, 10, false).next, 2);
}
