//! What counts as a key: pieces of bytes, by a clock of the test's own.

use std::time::{Duration, Instant};

use super::{Key, Sieve};

/// Pieces as they are read, each with how long after the one before it came and whether more was there already.
#[track_caller]
fn check(pieces: &[(u64, &[u8], bool)], expected: &[Key]) {
    let mut sieve = Sieve::default();
    let mut at = Instant::now();
    let mut keys = Vec::new();
    for (after, bytes, goes_on) in pieces {
        at += Duration::from_millis(*after);
        keys.extend(sieve.take(bytes, at, *goes_on));
    }
    assert_eq!(keys, expected, "{pieces:?}");
}

#[test]
fn one_key_at_a_time_is_a_key() {
    check(&[(0, b"y", false)], &[Key::Char('y')]);
    check(&[(0, b"j", false), (5, b"j", false)], &[Key::Char('j'), Key::Char('j')]);
    check(&[(0, b"\x1b[B", false), (5, b"y", false)], &[Key::Down, Key::Char('y')]);
    check(&[(0, b"\x03", false)], &[Key::End]);
}

#[test]
fn what_comes_in_one_piece_or_right_behind_it_is_no_key() {
    check(&[(0, b"xy", false)], &[]);
    check(&[(0, &[b'x'; 256], true), (0, b"y", false)], &[]);
    // However late the rest is read: it was there at once.
    check(&[(0, &[b'x'; 256], true), (900, b"y", false)], &[]);
    check(&[(0, b"y", true), (0, b"y", false)], &[]);
    check(&[(0, b"xx", false), (99, b"y", false)], &[]);
    check(&[(0, b"xx", false), (60, b"x", false), (60, b"y", false)], &[]);
    check(&[(0, b"xx", false), (100, b"y", false)], &[Key::Char('y')]);
}

#[test]
fn what_is_pasted_is_no_key() {
    check(&[(0, b"\x1b[200~y\x1b[201~", false)], &[]);
    check(&[(0, b"\x1b[200~", false), (500, b"y", false), (500, b"\x1b[201~", false)], &[]);
    check(&[(0, b"\x1b[200~x\x1b[2", false), (500, b"01~", false), (50, b"y", false)], &[]);
    check(&[(0, b"\x1b[20", false), (500, b"0~", false), (500, b"y", false)], &[]);
    check(&[(0, b"\x1b[200~x\x1b[201~", false), (500, b"y", false)], &[Key::Char('y')]);
    // One that never ends can still be left.
    check(&[(0, b"\x1b[200~x", false), (500, b"\x03", false)], &[Key::End]);
}
