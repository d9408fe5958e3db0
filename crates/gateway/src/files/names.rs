//! Names that a guest may give to a file, and the names that are ours.
//!
//! Names that are there already are shown and opened as they are; only what is created is judged.

use std::ffi::{CStr, CString};

use super::reason::{Fault, FileReason};

/// The longest name a file system takes.
const MOST_BYTES: usize = 255;
const OURS: (&str, &str) = (".bailiwick-", ".part");

/// A name that may be given to something new.
pub(super) fn new_name(name: &str) -> Result<CString, Fault> {
    let plain = !name.is_empty()
        && name.len() <= MOST_BYTES
        && !matches!(name, "." | "..")
        && !name.contains('/')
        && !name.chars().any(misleads)
        && !is_ours(name.as_bytes());
    if !plain {
        return Err(FileReason::BadName.into());
    }
    old_name(name)
}

/// A name as it stands in a path.
pub(super) fn old_name(name: &str) -> Result<CString, Fault> {
    CString::new(name).map_err(|_| FileReason::BadName.into())
}

/// Whether a character in a name makes people read another name, or a terminal do something.
fn misleads(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// A new name for a file that is being written. Nobody can guess it, so nobody can have put something there.
pub(super) fn part() -> Result<CString, Fault> {
    use std::fmt::Write as _;
    let mut name = OURS.0.to_owned();
    for byte in bailiwick_sys::beneath::unguessable()? {
        write!(name, "{byte:02x}").map_err(|_| FileReason::Io)?;
    }
    name.push_str(OURS.1);
    old_name(&name)
}

/// Whether a name is that of a file being written, or of one left over by a crash.
pub(super) fn is_ours(name: &[u8]) -> bool {
    name.strip_prefix(OURS.0.as_bytes())
        .and_then(|rest| rest.strip_suffix(OURS.1.as_bytes()))
        .is_some_and(|middle| middle.len() == 32 && middle.iter().all(u8::is_ascii_hexdigit))
}

/// A name as a guest sees it. Bytes that are no UTF-8 are shown as `U+FFFD`; such a name cannot be asked for.
pub(super) fn shown(name: &CStr) -> String {
    name.to_string_lossy().into_owned()
}
