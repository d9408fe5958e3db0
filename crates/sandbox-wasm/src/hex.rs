//! Bytes as the text that names are made of.

use std::fmt::Write as _;

/// Two digits for each byte.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        // A string takes whatever is written to it.
        let _always = write!(text, "{byte:02x}");
        text
    })
}
