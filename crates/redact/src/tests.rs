//! What is masked, what is left, and what never shows; the properties behind it are in `properties`.

mod escapes;
mod properties;

use std::borrow::Cow;

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use zeroize::ZeroizeOnDrop;

use crate::{RedactStream, Redactor, RedactorError, Secret};

fn secrets<S: AsRef<str>>(values: &[S]) -> Vec<Secret> {
    values.iter().map(|value| Secret::new(value.as_ref().to_owned())).collect()
}

fn redactor<S: AsRef<str>>(values: &[S]) -> Redactor {
    Redactor::new(&secrets(values)).expect("the values can be redacted")
}

/// Every way in: text, bytes, a stream in chunks of each small size.
#[track_caller]
fn check(values: &[&str], text: &str, expect: &str) {
    let redactor = redactor(values);
    assert_eq!(redactor.redact(text), expect);
    assert_eq!(redactor.redact_bytes(text.as_bytes()), expect.as_bytes());
    for size in 1..=text.len().clamp(1, 40) {
        assert_eq!(
            streamed(redactor.stream(), text.as_bytes().chunks(size)),
            expect.as_bytes(),
            "chunks of {size}"
        );
    }
}

#[track_caller]
fn check_unchanged(values: &[&str], text: &str) {
    check(values, text, text);
    assert!(matches!(redactor(values).redact(text), Cow::Borrowed(_)), "an unchanged text is not copied");
}

/// The whole text is a disguise of the value, so nothing but a mask is left of it.
#[track_caller]
fn check_disguise(value: &str, disguise: &str) {
    check(&[value], &format!("<{disguise}>"), "<***>");
}

fn streamed(mut stream: RedactStream, chunks: impl IntoIterator<Item: AsRef<[u8]>>) -> Vec<u8> {
    let mut out = Vec::new();
    for chunk in chunks {
        stream.push(chunk.as_ref(), &mut out);
    }
    stream.finish(&mut out);
    out
}

#[test]
fn a_value_is_masked_where_it_stands() {
    check(&["hunter22"], "password: hunter22.", "password: ***.");
    check(&["hunter22"], "hunter22", "***");
    check(&["hunter22"], "hunter22 and hunter22", "*** and ***");
    check(&["pässwörd"], "ist pässwörd!", "ist ***!");
}

#[test]
fn text_without_a_value_is_unchanged() {
    check_unchanged(&["hunter22"], "");
    check_unchanged(&["hunter22"], "hunter2 hunter hunter2 2");
    check_unchanged(&[], "hunter22");
    check_unchanged(&["hunter22"], "hunter2");
}

#[test]
fn values_that_overlap_leave_no_remains() {
    check(&["abcd", "cdef"], "xabcdefx", "x***x");
    check(&["abcd", "bcde", "cdef"], "abcdefabcdef", "***");
    check(&["abcdefgh", "cdef"], "xcdefx abcdefgh", "x***x ***");
    check(&["abab"], "xabababax", "x***ax");
    check(&["bcde", "ghij", "abcdefghijk"], "abcdefghijk abcdefghij", "*** a***f***");
}

#[test]
fn a_value_within_another_leaves_no_remains_wherever_a_long_text_is_divided() {
    for before in 0..120 {
        let (before, after) = (".".repeat(before), ".".repeat(400 - before));
        let text = format!("{before}0123456789abcdef{after}");
        let expect = format!("{before}***{after}");
        assert_eq!(redactor(&["0123456789abcdef", "789a"]).redact(&text), expect);
    }
}

#[test]
fn values_side_by_side_become_one_mask() {
    check(&["abcd", "wxyz"], "abcdwxyz", "***");
    check(&["abcd", "wxyz"], "abcd wxyz", "*** ***");
}

#[test]
fn a_value_is_masked_from_four_characters_on() {
    check(&["abcd"], "abcd", "***");
    check_unchanged(&["abc"], "abc");
    check(&["äöüß"], "äöüß", "***");
    check_unchanged(&["äöü"], "äöü");
}

#[test]
fn values_too_short_are_counted() {
    let count = |values: &[&str]| redactor(values).too_short();
    assert_eq!(count(&[]), 0);
    assert_eq!(count(&["abcd", "äöüß"]), 0);
    assert_eq!(count(&["abc", "", "äöü", "abcd"]), 3);
    assert_eq!(count(&["a long line\nx\n"]), 0, "a short line of a long value is no short value");
}

#[test]
fn disguises_are_masked_from_eight_characters_on() {
    check(&["hunter22"], "68756e7465723232", "***");
    check_unchanged(&["hunter2"], "68756e74657232");
    check_unchanged(&["hunter2"], "aHVudGVyMg==");
}

#[test]
fn base64_is_masked_in_each_alignment() {
    // The characters at the seams hold bits of the value too.
    check(&["hunter22"], &STANDARD.encode("hunter22"), "***");
    check(&["hunter22"], &STANDARD.encode("hunter22!"), "***h");
    check(&["hunter22"], &STANDARD.encode(":hunter22"), "O***");
    check(&["hunter22"], &STANDARD.encode("a:hunter22"), "YT***");
    check(&["hunter22"], &STANDARD.encode("ab:hunter22"), "YWI6***");
    check(&["hunter22"], &STANDARD.encode("user:hunter22@host"), "dXNlcj***Bob3N0");
}

#[test]
fn base64url_is_masked() {
    let value = "~~~???>>>ÿÿÿ";
    check(&[value], &STANDARD.encode(value), "***");
    check(&[value], &URL_SAFE_NO_PAD.encode(value), "***");
    assert_ne!(STANDARD.encode(value), URL_SAFE_NO_PAD.encode(value), "the value tells the two apart");
}

#[test]
fn hex_is_masked_in_both_cases() {
    check_disguise("jklmnop/", "6a6b6c6d6e6f702f");
    check_disguise("jklmnop/", "6A6B6C6D6E6F702F");
}

#[test]
fn percent_encodings_are_masked() {
    let value = "p w/d!*~+'é";
    // encodeURIComponent, strict RFC 3986, URLSearchParams, Python's urlencode.
    check_disguise(value, "p%20w%2Fd!*~%2B'%C3%A9");
    check_disguise(value, "p%20w%2fd!*~%2b'%c3%a9");
    check_disguise(value, "p%20w%2Fd%21%2A~%2B%27%C3%A9");
    check_disguise(value, "p%20w%2fd%21%2a~%2b%27%c3%a9");
    check_disguise(value, "p+w%2Fd%21*%7E%2B%27%C3%A9");
    check_disguise(value, "p+w%2fd%21*%7e%2b%27%c3%a9");
    check_disguise(value, "p+w%2Fd%21%2A~%2B%27%C3%A9");
    // encodeURI, a URL's path, a URL's query.
    check_disguise(value, "p%20w/d!*~+'%C3%A9");
    check_disguise(r#"p w"d{}?"#, "p%20w%22d%7B%7D%3F");
    check_disguise(r#"p w"d{}'?"#, "p%20w%22d{}%27?");
    // Every byte.
    check_disguise(value, "%70%20%77%2F%64%21%2A%7E%2B%27%C3%A9");
    check_disguise(value, "%70%20%77%2f%64%21%2a%7e%2b%27%c3%a9");
}

#[test]
fn json_escapes_are_masked() {
    let value = "a\"b\\c/d\n\t\u{1f}é😀";
    let usual = serde_json::to_string(value).expect("a string is JSON");
    check(&[value], &usual, "\"***\"");
    check_disguise(value, r#"a\"b\\c/d\n\t\u001fé😀"#);
    check_disguise(value, r#"a\"b\\c/d\n\t\u001Fé😀"#);
    check_disguise(value, r#"a\"b\\c\/d\n\t\u001fé😀"#);
    check_disguise(value, r#"a\"b\\c/d\n\t\u001f\u00e9\ud83d\ude00"#);
    check_disguise(value, r#"a\"b\\c/d\n\t\u001F\u00E9\uD83D\uDE00"#);
    check_disguise(value, r#"a\"b\\c\/d\n\t\u001f\u00e9\ud83d\ude00"#);
    check_disguise(value, r#"a\"b\\c\/d\n\t\u001F\u00E9\uD83D\uDE00"#);
    check_disguise("a<b>c&de", r"a\u003cb\u003ec\u0026de");
}

#[test]
fn what_a_console_shows_of_a_text_within_an_object_is_masked() {
    check_disguise("a\"b\\c'd\te", r#"a"b\\c'd\te"#);
    check_disguise("a\"b\\c'd\te", r#"a"b\\c\'d\te"#);
    check_disguise("a\"b\\c\u{1}\u{85}d", r#"a"b\\c\x01\x85d"#);
}

#[test]
fn each_line_of_a_value_is_a_value() {
    let value = "first line\r\nsecond line\nabc\nfour";
    check(&[value], value, "***");
    check(&[value], "<first line> <second line>", "<***> <***>");
    check(&[value], "<abc> <four>", "<abc> <***>");
    check(&[value], "7365636f6e64206c696e65", "***");
    check(&["lonely line\n"], "<lonely line>", "<***>");
}

#[test]
fn the_mask_never_completes_a_value() {
    // With `***` in the place of the second value the first would stand there.
    check(&["ab***", "hunter22"], "abhunter22", "ab###");
    check(&["*****", "hunter22"], "**hunter22", "**###");
    check(&["****"], "a*******b", "a###b");
}

#[test]
fn bytes_that_are_no_text_are_left_alone() {
    let redactor = redactor(&["hunter22"]);
    assert_eq!(redactor.redact_bytes(b"\xff\x00hunter22\xfe"), b"\xff\x00***\xfe".as_slice());
}

#[test]
fn a_stream_lets_out_what_can_no_longer_match() {
    let mut stream = redactor(&["hunter22", "terrible"]).stream();
    let mut out = Vec::new();
    for (chunk, expect) in [
        ("say hun", "say "),
        ("te", "say "),
        ("r", "say "),
        ("ri", "say hun"),
        ("bly", "say hunterribly"),
        ("hunter22", "say hunterribly***"),
        ("!", "say hunterribly***!"),
    ] {
        stream.push(chunk.as_bytes(), &mut out);
        assert_eq!(String::from_utf8_lossy(&out), expect, "after {chunk:?}");
    }
    stream.finish(&mut out);
    assert_eq!(out, b"say hunterribly***!");
}

#[test]
fn a_stream_holds_less_than_the_longest_pattern_however_long_the_text() {
    // Each byte written may begin, continue or end a value.
    let redactor = redactor(&["aaaa", "aaaab", "abaab"]);
    for text in ["aaaaaaaaaab", "ab", "aaab", "hunter22"] {
        let (mut stream, mut out) = (redactor.stream(), Vec::new());
        for byte in text.bytes().cycle().take(10_000) {
            stream.push(&[byte], &mut out);
            assert!(stream.held() < 5, "{} bytes of {text:?} held", stream.held());
        }
    }
}

#[test]
fn an_endless_secret_becomes_one_mask() {
    let (mut stream, mut out) = (redactor(&["aaaa"]).stream(), Vec::new());
    for _ in 0..1000 {
        stream.push(b"aaaaa", &mut out);
        assert_eq!((stream.held(), out.as_slice()), (0, b"***".as_slice()));
    }
    stream.push(b"b", &mut out);
    stream.finish(&mut out);
    assert_eq!(out, b"***b");
}

#[test]
fn the_beginning_of_a_value_at_the_end_of_a_cut_text_is_masked() {
    let redactor = redactor(&["hunter22", "äöü-long-value"]);
    for (text, expect) in [
        ("say hunter2", "say ***"),
        ("say h", "say ***"),
        ("say hunter22", "say ***"),
        ("say hunter22h", "say ***"),
        ("say hunter22 and aHVudGVy", "say *** and ***"),
        ("ist ä", "ist ***"),
        ("say hunter!", "say hunter!"),
        ("", ""),
    ] {
        assert_eq!(redactor.redact_cut(text), expect, "{text}");
    }
    assert_eq!(Redactor::default().redact_cut("hunter2"), "hunter2");
}

#[test]
fn the_beginning_of_a_long_value_is_masked_where_a_message_cut_its_end_off() {
    let value = "0123456789abcdefghijklmnopqrstuvwxyz-".repeat(2);
    let shown = value.get(..63).expect("ASCII");
    check(&[&value], &format!("'{shown}' of null"), &format!("'***{}' of null", &shown[60..]));
    check_unchanged(&[&value], &shown[..59]);
    check(&[&value], &value, "***");
}

#[test]
fn a_value_pasted_into_a_url_is_masked_although_its_question_mark_ends_the_path() {
    check(&["{half}?{half}"], "http://a.test/%7Bhalf%7D?{half}", "http://a.test/***");
}

#[test]
fn an_unfinished_value_is_let_out_at_the_end() {
    check_unchanged(&["hunter22"], "so far: hunter2");
}

#[test]
fn a_set_too_large_for_an_automaton_is_refused() {
    let huge = "x".repeat(1 << 20);
    let error = Redactor::new(&secrets(&[huge])).expect_err("a megabyte is too much");
    assert!(matches!(error, RedactorError::SumPatterns { .. }), "{error}");
}

#[test]
fn a_private_key_is_masked_although_its_table_would_be_large() {
    let line = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj";
    let key = (10..100).map(|row| format!("{row}{line}\n")).collect::<Vec<_>>().concat();
    let redactor = redactor(&[key.as_str()]);
    assert_eq!(redactor.redact(&format!("[{key}]")), "[***]");
    assert_eq!(redactor.redact(&format!("[31{line}]")), "[***]");
    assert_eq!(redactor.redact(&format!("[{}]", STANDARD.encode(&key))), "[***]");
}

#[test]
fn nothing_shows_a_value() {
    let values = secrets(&["hunter22"]);
    let redactor = Redactor::new(&values).expect("the values can be redacted");
    let mut stream = redactor.stream();
    stream.push(b"hunter2", &mut Vec::new());
    assert_eq!(format!("{values:?}"), "[Secret(***)]");
    for shown in [format!("{redactor:#?}"), format!("{stream:#?}")] {
        assert!(!shown.contains("hunter") && !shown.contains("104"), "{shown}");
    }
}

#[test]
fn a_secret_wipes_itself() {
    fn wiped_on_drop<T: ZeroizeOnDrop>() {}
    wiped_on_drop::<Secret>();
}

#[test]
fn a_clone_shares_what_was_learnt_and_outlives_the_original() {
    let original = redactor(&["hunter22"]);
    let clone = original.clone();
    drop(original);
    assert_eq!(clone.redact("hunter22"), "***");
}
