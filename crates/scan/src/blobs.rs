//! Encoded data: long runs of base64 and hex, and what short ones say when they are read.
//!
//! Hashes, ids, addresses and paths are not blobs. Only one layer of encoding is taken off.

use std::ops::Range;

use base64::Engine as _;
use base64::alphabet::{STANDARD, URL_SAFE};
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

use crate::context::Kind;
use crate::finding::Found;
use crate::rule::Rule;

/// The shortest run that could spell an order.
const SHORTEST: usize = 20;

/// The most of a run that is read.
const READ: usize = 4096;

/// Lines of a wrapped blob are at least this long.
const WRAPPED: usize = 48;

/// Lengths of hashes in hex: of 16 to 64 bytes.
const HASHES: [usize; 6] = [32, 40, 56, 64, 96, 128];

const LENIENT: GeneralPurposeConfig = GeneralPurposeConfig::new()
    .with_decode_padding_mode(DecodePaddingMode::Indifferent)
    .with_decode_allow_trailing_bits(true);

/// Looks for blobs; what a short run spells is given to `read`, which says what it found in it.
pub(crate) fn look(text: &str, kind: Kind, found: &mut Found, mut read: impl FnMut(&str) -> Vec<Rule>) {
    let mut blobs_wanted = true;
    let mut from = 0;
    while let Some(run) = next_run(text, from) {
        from = run.end;
        let encoded = text.get(run.clone()).unwrap_or_default();
        if blobs_wanted && is_blob(encoded, kind) {
            blobs_wanted = found.add(Rule::EncodedBlob, run.clone());
        }
        for rule in spelled(encoded).iter().flat_map(|spelled| read(spelled)) {
            found.add(rule, run.clone());
        }
    }
}

const fn is_digit(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'-' | b'_' | b'=')
}

/// The next run of digits that is long enough, lines of a wrapped one taken together.
fn next_run(text: &str, from: usize) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let mut at = from;
    while at < bytes.len() {
        let start = at + bytes.get(at..)?.iter().position(|b| is_digit(*b))?;
        let mut end = line_end(bytes, start);
        let mut line = end - start;
        while line >= WRAPPED {
            let next =
                end + bytes.get(end..)?.iter().take(3).take_while(|b| matches!(b, b'\r' | b'\n')).count();
            let next_end = line_end(bytes, next);
            if next == end || next_end == next {
                break;
            }
            // A word below a blob belongs to it or not; its last line is shorter than the others.
            line = next_end - next;
            end = next_end;
        }
        if end - start >= SHORTEST {
            return Some(start..end);
        }
        at = end;
    }
    None
}

fn line_end(bytes: &[u8], from: usize) -> usize {
    from + bytes.get(from..).unwrap_or_default().iter().take_while(|b| is_digit(**b)).count()
}

fn is_blob(run: &str, kind: Kind) -> bool {
    let digits: Vec<u8> = run.bytes().filter(|b| !b.is_ascii_whitespace()).collect();
    let count = |wanted: fn(&u8) -> bool| digits.iter().filter(|b| wanted(b)).count();
    if digits.iter().all(u8::is_ascii_hexdigit) {
        let only_one = digits.windows(2).all(|pair| matches!(pair, [a, b] if a == b));
        return digits.len() >= kind.blob() && !HASHES.contains(&digits.len()) && !only_one;
    }
    // Words, names and paths have one case, few figures, or many signs between.
    let signs = count(|b| matches!(b, b'/' | b'-' | b'_' | b'='));
    let capitals = count(u8::is_ascii_uppercase);
    let small = count(u8::is_ascii_lowercase);
    let figures = count(u8::is_ascii_digit);
    digits.len() >= kind.blob()
        && signs * 12 < digits.len()
        && capitals * 10 > digits.len()
        && small * 10 > digits.len()
        && (figures * 40 > digits.len() || signs > 0)
}

/// The texts that a run spells: as hex, as base64, as base64url.
fn spelled(run: &str) -> Vec<String> {
    let mut digits: Vec<u8> = run.bytes().filter(|b| !b.is_ascii_whitespace()).take(READ).collect();
    while digits.last() == Some(&b'=') {
        digits.pop();
    }
    let mut texts = Vec::new();
    if digits.iter().all(u8::is_ascii_hexdigit) {
        texts.extend(readable(&from_hex(&digits)));
    }
    // A whole number of bytes, whatever was cut off.
    if digits.len() % 4 == 1 {
        digits.pop();
    }
    for alphabet in [&STANDARD, &URL_SAFE] {
        if let Ok(bytes) = GeneralPurpose::new(alphabet, LENIENT).decode(&digits) {
            texts.extend(readable(&bytes));
            break;
        }
    }
    texts
}

fn from_hex(digits: &[u8]) -> Vec<u8> {
    digits
        .chunks_exact(2)
        .filter_map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok())
        .collect()
}

/// Bytes that are a text of printable characters, but for what was cut off at the end.
fn readable(bytes: &[u8]) -> Option<String> {
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) if error.error_len().is_none() => {
            std::str::from_utf8(bytes.get(..error.valid_up_to())?).ok()?
        }
        Err(_) => return None,
    };
    let fine = |c: char| !c.is_control() || matches!(c, '\n' | '\r' | '\t');
    (!text.is_empty() && text.chars().all(fine)).then(|| text.to_owned())
}
