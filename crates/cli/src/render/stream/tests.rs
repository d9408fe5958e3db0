use super::cleaned;

#[track_caller]
fn check(pieces: &[&[u8]], shown: &str) {
    let (mut rest, mut all) = (Vec::new(), String::new());
    for piece in pieces {
        rest.extend_from_slice(piece);
        all.push_str(&cleaned(&mut rest));
    }
    assert_eq!(all, shown);
}

#[test]
fn what_would_move_the_cursor_is_written_out() {
    check(&[b"plain\n\ttext"], "plain\n\ttext");
    check(&[b"\x1b[2Jgone\rover"], "\\u{1b}[2Jgone\\u{d}over");
    check(&["\u{9b}31m \u{202e}".as_bytes()], "\\u{9b}31m \\u{202e}");
}

#[test]
fn a_character_that_comes_in_two_pieces_is_one() {
    check(&[b"a\xc3", b"\xa4b"], "aäb");
    check(&[b"a\xff\xfeb", b"\xf0\x9f", b"\x98\x80"], "a\u{fffd}\u{fffd}b😀");
}
