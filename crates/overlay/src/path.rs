//! A path beneath a folder, of any bytes, and its one form as text.
//!
//! A guest chooses these names. None leads anywhere but down: no name is empty, `.` or `..`, and none is absolute. As text
//! a path is what git writes: plain, or within quotes where it holds what could mislead a reader.

use std::cmp::Ordering;
use std::ffi::CString;
use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A path beneath a folder. They are ordered so that a folder comes right before what is in it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct RelPath(Vec<u8>);

/// Why a text is no path beneath a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NoPath {
    /// It begins at the root, or goes up.
    #[error("a path here lies beneath its folder: no `/` in front, no `..`")]
    Out,
    /// It holds a byte that no name has.
    #[error("no name holds a NUL")]
    Nul,
    /// A quotation that does not end, or an escape that nobody writes.
    #[error("a path within quotes is written as git writes it")]
    Quoting,
}

impl RelPath {
    /// The folder itself.
    pub const fn root() -> Self {
        Self(Vec::new())
    }

    /// A path of these bytes. `.` and empty names are left out.
    ///
    /// # Errors
    /// When it begins at the root, goes up, or holds a NUL.
    pub fn of(bytes: &[u8]) -> Result<Self, NoPath> {
        if bytes.contains(&0) {
            return Err(NoPath::Nul);
        }
        if bytes.first() == Some(&b'/') {
            return Err(NoPath::Out);
        }
        let mut path = Vec::with_capacity(bytes.len());
        for name in bytes.split(|byte| *byte == b'/') {
            match name {
                b"" | b"." => {}
                b".." => return Err(NoPath::Out),
                name => {
                    if !path.is_empty() {
                        path.push(b'/');
                    }
                    path.extend_from_slice(name);
                }
            }
        }
        Ok(Self(path))
    }

    /// A path as text: plain, or within quotes as git writes it.
    ///
    /// # Errors
    /// When it is no path beneath a folder.
    pub fn parse(text: &str) -> Result<Self, NoPath> {
        match text.strip_prefix('"') {
            None => Self::of(text.as_bytes()),
            Some(rest) => Self::of(&unquoted(rest).ok_or(NoPath::Quoting)?),
        }
    }

    /// A name in this folder. The kernel gave it, so it is one name.
    pub(crate) fn join(&self, name: &[u8]) -> Self {
        let mut path = Vec::with_capacity(self.0.len() + 1 + name.len());
        path.extend_from_slice(&self.0);
        if !path.is_empty() {
            path.push(b'/');
        }
        path.extend_from_slice(name);
        Self(path)
    }

    /// Its bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Whether it is the folder itself.
    pub fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    /// Its names, from the top.
    pub fn names(&self) -> impl Iterator<Item = &[u8]> {
        self.0.split(|byte| *byte == b'/').filter(|name| !name.is_empty())
    }

    /// How many names it has.
    pub fn depth(&self) -> usize {
        self.names().count()
    }

    /// The folder it is in, and its last name. The root is in none.
    pub fn split(&self) -> Option<(Self, &[u8])> {
        if self.is_root() {
            return None;
        }
        match self.0.iter().rposition(|byte| *byte == b'/') {
            None => Some((Self::root(), &self.0)),
            Some(at) => Some((Self(self.0.get(..at)?.to_vec()), self.0.get(at + 1..)?)),
        }
    }

    /// Whether it is this folder or lies beneath it.
    pub fn is_within(&self, folder: &Self) -> bool {
        folder.is_root()
            || self
                .0
                .strip_prefix(folder.0.as_slice())
                .is_some_and(|rest| rest.first().is_none_or(|byte| *byte == b'/'))
    }

    /// As a system call takes it. The folder itself is `.`.
    pub(crate) fn to_c(&self) -> CString {
        if self.is_root() {
            return c".".to_owned();
        }
        // No path here holds a NUL; were it otherwise, this would name nothing that exists.
        CString::new(self.0.clone()).unwrap_or_default()
    }
}

impl Ord for RelPath {
    fn cmp(&self, other: &Self) -> Ordering {
        self.names().cmp(other.names())
    }
}

impl PartialOrd for RelPath {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for RelPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_root() {
            return f.write_str(".");
        }
        f.write_str(&quoted(b"", &self.0))
    }
}

impl Serialize for RelPath {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for RelPath {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).map_err(serde::de::Error::custom)
    }
}

/// Bytes with something in front (`a/`), as git would write them: in quotes when a reader could be misled.
pub(crate) fn quoted(before: &[u8], bytes: &[u8]) -> String {
    let all = [before, bytes].concat();
    match str::from_utf8(&all) {
        Ok(text) if is_plain(text) => text.to_owned(),
        _ => in_quotes(&all),
    }
}

/// The same for a line where a blank could end the name.
pub(crate) fn quoted_word(before: &[u8], bytes: &[u8]) -> String {
    if bytes.contains(&b' ') { in_quotes(&[before, bytes].concat()) } else { quoted(before, bytes) }
}

fn is_plain(text: &str) -> bool {
    !text.chars().any(|c| c == '"' || c == '\\' || misleads(c))
        && !text.starts_with(' ')
        && !text.ends_with(' ')
}

fn in_quotes(all: &[u8]) -> String {
    let mut out = String::from('"');
    for chunk in all.utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                '"' => out.push_str("\\\""),
                '\\' => out.push_str("\\\\"),
                '\n' => out.push_str("\\n"),
                '\t' => out.push_str("\\t"),
                '\r' => out.push_str("\\r"),
                c if misleads(c) => octal(&mut out, c.encode_utf8(&mut [0; 4]).as_bytes()),
                c => out.push(c),
            }
        }
        octal(&mut out, chunk.invalid());
    }
    out.push('"');
    out
}

fn octal(out: &mut String, bytes: &[u8]) {
    for byte in bytes {
        for shift in [6, 3, 0] {
            out.push(char::from(b'0' + (byte >> shift & 7)));
        }
        // The backslash goes in front of the three digits.
        out.insert(out.len() - 3, '\\');
    }
}

/// Whether a character acts on a terminal, or cannot be seen, or turns the direction of what follows.
fn misleads(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}')
        || matches!(c, '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

/// What stands between the quotes, the first of which is taken off.
fn unquoted(text: &str) -> Option<Vec<u8>> {
    let mut bytes = text.strip_suffix('"')?.bytes();
    let mut out = Vec::new();
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' => return None,
            b'\\' => out.push(match bytes.next()? {
                b'n' => b'\n',
                b't' => b'\t',
                b'r' => b'\r',
                b'a' => 7,
                b'b' => 8,
                b'v' => 11,
                b'f' => 12,
                same @ (b'"' | b'\\') => same,
                first @ b'0'..=b'3' => {
                    let mut value = first - b'0';
                    for _ in 0..2 {
                        let digit = bytes.next().filter(u8::is_ascii_digit)?.checked_sub(b'0')?;
                        value = value.checked_mul(8)?.checked_add(digit).filter(|_| digit < 8)?;
                    }
                    value
                }
                _ => return None,
            }),
            byte => out.push(byte),
        }
    }
    Some(out)
}
