//! What holds for every set of secrets, every text and every chunking.
//!
//! The alphabets are small and nasty on purpose: values overlap, hold the masks' characters, line breaks
//! and characters of several bytes.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ops::Range;

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};

use super::{redactor, secrets, streamed};
use crate::readings::is_introducer;
use crate::{Redactor, disguise};

/// Texts over one of the alphabets.
fn text(length: Range<usize>) -> impl Strategy<Value = String> {
    let of = |alphabet: &'static str| select(alphabet.chars().collect::<Vec<_>>());
    prop_oneof![
        vec(of("ab"), length.clone()),
        vec(of("*#a"), length.clone()),
        vec(of("*#_~•▀"), length.clone()),
        vec(of("a\n\r\\\"/ "), length.clone()),
        vec(of("é漢😀a•‣"), length.clone()),
        vec(of("abcdef0123456789%+"), length.clone()),
        vec(any::<char>(), length),
    ]
    .prop_map(String::from_iter)
}

/// How a secret gets into a text: as it is, in part, or through an encoder that is not ours where there
/// is one.
#[derive(Clone, Debug)]
enum Piece {
    Noise(String),
    Raw(Index),
    Part(Index, Index, Index),
    Base64(Index, String, String),
    Base64Url(Index, String, String),
    Json(Index),
    Hex(Index),
    Percent(Index),
    Pattern(Index),
}

fn piece() -> impl Strategy<Value = Piece> {
    let index = any::<Index>;
    prop_oneof![
        3 => text(0..6).prop_map(Piece::Noise),
        3 => index().prop_map(Piece::Raw),
        2 => (index(), index(), index()).prop_map(|(secret, from, to)| Piece::Part(secret, from, to)),
        1 => (index(), text(0..4), text(0..4)).prop_map(|(secret, left, right)| Piece::Base64(secret, left, right)),
        1 => (index(), text(0..4), text(0..4)).prop_map(|(secret, left, right)| Piece::Base64Url(secret, left, right)),
        1 => index().prop_map(Piece::Json),
        1 => index().prop_map(Piece::Hex),
        1 => index().prop_map(Piece::Percent),
        2 => index().prop_map(Piece::Pattern),
    ]
}

/// A set of values, and a text that is made to trip over them.
fn case() -> impl Strategy<Value = (Vec<String>, String)> {
    (vec(text(1..14), 1..5), vec(piece(), 0..16)).prop_map(|(values, pieces)| {
        let patterns = patterns(&values);
        let text = pieces.iter().map(|piece| written(piece, &values, &patterns)).collect();
        (values, text)
    })
}

fn written(piece: &Piece, values: &[String], patterns: &[String]) -> String {
    let value = |index: &Index| index.get(values).as_str();
    match piece {
        Piece::Noise(noise) => noise.clone(),
        Piece::Raw(index) => value(index).to_owned(),
        Piece::Part(index, from, to) => {
            let chars: Vec<char> = value(index).chars().collect();
            let (from, to) = (from.index(chars.len()), to.index(chars.len()));
            chars[from.min(to)..=from.max(to)].iter().collect()
        }
        Piece::Base64(index, left, right) => STANDARD.encode(format!("{left}{}{right}", value(index))),
        Piece::Base64Url(index, left, right) => URL_SAFE.encode(format!("{left}{}{right}", value(index))),
        Piece::Json(index) => serde_json::to_string(value(index)).expect("a string is JSON"),
        Piece::Hex(index) => {
            value(index).bytes().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().concat()
        }
        Piece::Percent(index) => {
            value(index).bytes().map(|byte| format!("%{byte:02X}")).collect::<Vec<_>>().concat()
        }
        Piece::Pattern(_) if patterns.is_empty() => String::new(),
        Piece::Pattern(index) => index.get(patterns).clone(),
    }
}

fn patterns(values: &[String]) -> Vec<String> {
    disguise::patterns(&secrets(values)).texts.iter().map(|pattern| pattern.to_string()).collect()
}

/// The slow and obvious way: mark each byte of each occurrence, then mask each run of marked bytes.
fn naive(patterns: &[String], mask: &str, text: &str) -> String {
    let mut marked = vec![false; text.len()];
    for pattern in patterns {
        for at in 0..text.len() {
            if text.as_bytes()[at..].starts_with(pattern.as_bytes()) {
                marked[at..at + pattern.len()].fill(true);
            }
        }
    }
    let mut output = String::new();
    let mut before = false;
    for (at, char) in text.char_indices() {
        match (before, marked[at]) {
            (false, true) => output.push_str(mask),
            (_, false) => output.push(char),
            (true, true) => {}
        }
        before = marked[at];
    }
    output
}

/// The text with nothing in it that an escape can begin with; `escapes` is about those.
fn without_escapes(text: &str) -> String {
    text.replace(|char: char| u8::try_from(char).is_ok_and(is_introducer), ".")
}

/// The text cut at the given places.
pub(super) fn cut<'a>(text: &'a [u8], cuts: &[Index]) -> Vec<&'a [u8]> {
    let places: BTreeSet<usize> = cuts.iter().map(|cut| cut.index(text.len() + 1)).collect();
    let mut from = 0;
    let mut chunks = Vec::new();
    for to in places.into_iter().chain([text.len()]) {
        chunks.push(&text[from..to]);
        from = to;
    }
    chunks
}

fn mask_of(redactor: &Redactor, patterns: &[String]) -> String {
    patterns.first().map(|pattern| redactor.redact(pattern).into_owned()).unwrap_or_default()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn redacted_text_never_contains_a_secret_or_a_disguise((values, text) in case()) {
        let redactor = redactor(&values);
        let output = redactor.redact(&text);
        for value in values.iter().filter(|value| value.chars().count() >= disguise::EXACT_FROM) {
            prop_assert!(!output.contains(value.as_str()), "{value:?} in {output:?}");
        }
        for pattern in patterns(&values) {
            prop_assert!(!output.contains(&pattern), "{pattern:?} in {output:?}");
        }
        prop_assert_eq!(redactor.redact(&output), output.as_ref(), "redacting twice changes nothing");
    }

    #[test]
    fn exactly_the_occurrences_are_masked((values, text) in case()) {
        let (redactor, patterns, text) = (redactor(&values), patterns(&values), without_escapes(&text));
        let expect = naive(&patterns, &mask_of(&redactor, &patterns), &text);
        prop_assert_eq!(redactor.redact(&text), expect);
    }

    #[test]
    fn a_long_text_read_in_lanes_is_masked_like_a_short_one((values, text) in case(), shift in 0_usize..64) {
        let (redactor, patterns, text) = (redactor(&values), patterns(&values), without_escapes(&text));
        let text = format!("{}{}", " ".repeat(shift), text.repeat(600 / text.len().max(1) + 1));
        let expect = naive(&patterns, &mask_of(&redactor, &patterns), &text);
        prop_assert_eq!(redactor.redact(&text), expect);
    }

    #[test]
    fn the_compact_automaton_finds_the_same((values, text) in case(), cuts in vec(any::<Index>(), 0..8)) {
        let compact = Redactor::with_table_limit(&secrets(&values), 0).expect("the values can be redacted");
        let expect = redactor(&values).redact(&text).into_owned();
        prop_assert_eq!(compact.redact(&text), expect.as_str());
        let chunks = cut(text.as_bytes(), &cuts);
        prop_assert_eq!(streamed(compact.stream(), chunks), expect.as_bytes());
    }

    #[test]
    fn a_stream_gives_what_one_shot_gives_however_it_is_cut(
        (values, text) in case(),
        repeats in select(vec![1_usize, 1, 1, 40]),
        cuts in vec(any::<Index>(), 0..12),
    ) {
        let redactor = redactor(&values);
        let text = text.repeat(repeats);
        let expect = redactor.redact(&text);
        let chunks = cut(text.as_bytes(), &cuts);
        prop_assert_eq!(streamed(redactor.stream(), chunks), expect.as_bytes());
        prop_assert_eq!(streamed(redactor.stream(), text.as_bytes().chunks(1)), expect.as_bytes());
        prop_assert_eq!(redactor.redact_bytes(text.as_bytes()), expect.as_bytes());
    }

    #[test]
    fn a_stream_never_holds_more_than_the_longest_pattern_in_escapes((values, text) in case(), size in 1_usize..20) {
        let longest = patterns(&values).iter().map(String::len).max().unwrap_or(1);
        let (mut stream, mut out) = (redactor(&values).stream(), Vec::new());
        for chunk in text.as_bytes().chunks(size) {
            stream.push(chunk, &mut out);
            prop_assert!(stream.held() < 6 * longest + 12, "a character and an escape take 12 bytes at most here");
        }
    }

    #[test]
    fn bytes_cut_within_a_character_are_masked_all_the_same((values, text) in case(), from in any::<Index>()) {
        // Not UTF-8 at its beginning, if the cut falls within a character.
        let bytes = &text.as_bytes()[from.index(text.len() + 1)..];
        let redactor = redactor(&values);
        let output = redactor.redact_bytes(bytes);
        for pattern in patterns(&values) {
            prop_assert!(!output.windows(pattern.len()).any(|window| window == pattern.as_bytes()));
        }
    }

    #[test]
    fn text_without_secrets_is_unchanged(values in vec(text(4..14), 1..5), noise in text(0..200)) {
        prop_assume!(!patterns(&values).iter().any(|pattern| noise.contains(pattern)));
        let redactor = redactor(&values);
        prop_assert!(matches!(redactor.redact(&noise), Cow::Borrowed(same) if same == noise));
        prop_assert_eq!(streamed(redactor.stream(), noise.as_bytes().chunks(7)), noise.as_bytes());
    }

    #[test]
    fn base64_of_a_secret_keeps_no_bit_of_it(
        value in "[A-Za-z0-9_-]{8,40}",
        left in vec(any::<u8>(), 0..9),
        right in vec(any::<u8>(), 0..9),
    ) {
        let bytes = [left.as_slice(), value.as_bytes(), right.as_slice()].concat();
        let (first, end) = (left.len() * 8 / 6, ((left.len() + value.len()) * 8).div_ceil(6));
        for encoded in [STANDARD.encode(&bytes), URL_SAFE.encode(&bytes)] {
            // Where nothing follows, the padding would tell how long it was.
            let rest = if right.is_empty() { "" } else { &encoded[end..] };
            let expect = format!("{}***{rest}", &encoded[..first]);
            prop_assert_eq!(redactor(&[value.as_str()]).redact(&encoded), expect);
        }
    }
}
