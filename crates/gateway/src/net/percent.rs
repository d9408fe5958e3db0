//! Percent signs, both ways.

use std::fmt::Write as _;

/// With every percent-encoded byte undone; a percent sign without two digits stays.
pub(super) fn decode(bytes: &[u8]) -> Vec<u8> {
    let digit = |byte: Option<&u8>| byte.and_then(|byte| char::from(*byte).to_digit(16));
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        let byte = match (first, digit(after.first()), digit(after.get(1))) {
            (b'%', Some(high), Some(low)) => {
                rest = after.get(2..).unwrap_or_default();
                u8::try_from(high * 16 + low).unwrap_or(*first)
            }
            _ => *first,
        };
        decoded.push(byte);
    }
    decoded
}

/// With everything encoded that is not a letter, a digit or one of `-._~`.
pub(super) fn encode(text: &str) -> String {
    text.bytes().fold(String::with_capacity(text.len()), |mut encoded, byte| {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~') {
            encoded.push(char::from(byte));
        } else {
            // Writing to a string does not fail.
            let _ = write!(encoded, "%{byte:02X}");
        }
        encoded
    })
}
