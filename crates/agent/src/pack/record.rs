//! One record of a pack: a length, a letter, and fields of fixed order. Numbers are little-endian, texts have their length
//! before them.

use std::ffi::{CStr, CString};

use rustix::fs::{Stat, Timespec};

use super::LONGEST_RECORD;

/// Permissions and the time of the last change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Meta {
    pub(super) mode: u32,
    pub(super) seconds: i64,
    pub(super) nanoseconds: u32,
}

impl Meta {
    /// What a pack keeps of an entry. What would make somebody another user is not among it.
    pub(super) fn of(stat: &Stat) -> Self {
        let nanoseconds = u32::try_from(stat.st_mtime_nsec).unwrap_or(0);
        Self { mode: stat.st_mode & 0o1777, seconds: stat.st_mtime, nanoseconds }
    }

    pub(super) fn time(&self) -> Timespec {
        Timespec { tv_sec: self.seconds, tv_nsec: self.nanoseconds.into() }
    }
}

/// A record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Record<'a> {
    /// What follows is below the folder of this number.
    Root(u16),
    /// Into a folder.
    Enter(CString),
    /// Out of it, or out of the root; only now are its permissions known to be of no harm.
    Leave(Meta),
    /// A file begins.
    File(CString, Meta, u64),
    /// Data of the file, at this place.
    Data(u64, &'a [u8]),
    /// The file is complete.
    Close,
    /// A symbolic link, and what it says.
    Link(CString, Meta, CString),
    /// Another name of a file that came before: below this root, by this path.
    Again(CString, u16, &'a [u8]),
    /// A pipe with a name.
    Pipe(CString, Meta),
    /// Nothing follows.
    End,
}

impl<'a> Record<'a> {
    /// Puts the record behind others; says no to one that is too long.
    #[must_use]
    pub(super) fn write(&self, into: &mut Vec<u8>) -> bool {
        let begin = into.len();
        into.extend_from_slice(&[0; 4]);
        let mut fields = Fields(into);
        match self {
            Self::Root(number) => fields.letter(b'r').number(&number.to_le_bytes()),
            Self::Enter(name) => fields.letter(b'd').text(name.to_bytes()),
            Self::Leave(meta) => fields.letter(b'u').meta(meta),
            Self::File(name, meta, size) => {
                fields.letter(b'f').text(name.to_bytes()).meta(meta).number(&size.to_le_bytes())
            }
            Self::Data(offset, bytes) => fields.letter(b'b').number(&offset.to_le_bytes()).number(bytes),
            Self::Close => fields.letter(b'c'),
            Self::Link(name, meta, target) => {
                fields.letter(b'l').text(name.to_bytes()).meta(meta).text(target.to_bytes())
            }
            Self::Again(name, root, path) => {
                fields.letter(b'h').text(name.to_bytes()).number(&root.to_le_bytes()).number(path)
            }
            Self::Pipe(name, meta) => fields.letter(b'p').text(name.to_bytes()).meta(meta),
            Self::End => fields.letter(b'e'),
        };
        let length = into.len() - begin - 4;
        let Ok(said) = u32::try_from(length) else { return false };
        for (place, byte) in into.iter_mut().skip(begin).zip(said.to_le_bytes()) {
            *place = byte;
        }
        length <= LONGEST_RECORD
    }

    /// Reads what follows the length. Anything that is not exactly a record is nothing.
    pub(super) fn read(bytes: &'a [u8]) -> Option<Self> {
        let mut rest = Rest(bytes);
        let [letter] = rest.array()?;
        let record = match letter {
            b'r' => Self::Root(u16::from_le_bytes(rest.array()?)),
            b'd' => Self::Enter(rest.name()?),
            b'u' => Self::Leave(rest.meta()?),
            b'f' => Self::File(rest.name()?, rest.meta()?, u64::from_le_bytes(rest.array()?)),
            b'b' => Self::Data(u64::from_le_bytes(rest.array()?), rest.all()),
            b'c' => Self::Close,
            b'l' => Self::Link(rest.name()?, rest.meta()?, CString::new(rest.text()?).ok()?),
            b'h' => Self::Again(rest.name()?, u16::from_le_bytes(rest.array()?), rest.all()),
            b'p' => Self::Pipe(rest.name()?, rest.meta()?),
            b'e' => Self::End,
            _ => return None,
        };
        rest.0.is_empty().then_some(record)
    }
}

/// A name of one entry: no way up, no path.
pub(super) fn name(bytes: &[u8]) -> Option<CString> {
    let is_name = !matches!(bytes, b"" | b"." | b"..") && !bytes.contains(&b'/') && bytes.len() <= 255;
    if is_name { CString::new(bytes).ok() } else { None }
}

struct Fields<'a>(&'a mut Vec<u8>);

impl Fields<'_> {
    fn letter(&mut self, letter: u8) -> &mut Self {
        self.0.push(letter);
        self
    }

    fn number(&mut self, bytes: &[u8]) -> &mut Self {
        self.0.extend_from_slice(bytes);
        self
    }

    fn text(&mut self, bytes: &[u8]) -> &mut Self {
        // Names and targets are far shorter; a longer one would be refused where it is read.
        let length = u16::try_from(bytes.len()).unwrap_or(u16::MAX);
        self.number(&length.to_le_bytes()).number(bytes)
    }

    fn meta(&mut self, meta: &Meta) -> &mut Self {
        self.number(&meta.mode.to_le_bytes())
            .number(&meta.seconds.to_le_bytes())
            .number(&meta.nanoseconds.to_le_bytes())
    }
}

struct Rest<'a>(&'a [u8]);

impl<'a> Rest<'a> {
    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (found, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*found)
    }

    fn text(&mut self) -> Option<&'a [u8]> {
        let length = usize::from(u16::from_le_bytes(self.array()?));
        let (found, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(found)
    }

    fn name(&mut self) -> Option<CString> {
        name(self.text()?)
    }

    fn all(&mut self) -> &'a [u8] {
        std::mem::take(&mut self.0)
    }

    fn meta(&mut self) -> Option<Meta> {
        let mode = u32::from_le_bytes(self.array()?);
        let seconds = i64::from_le_bytes(self.array()?);
        let nanoseconds = u32::from_le_bytes(self.array()?);
        let is_one = mode & !0o1777 == 0 && nanoseconds < 1_000_000_000;
        is_one.then_some(Meta { mode, seconds, nanoseconds })
    }
}

/// The names of a path, each of them checked.
pub(super) fn names(path: &[u8]) -> Option<Vec<CString>> {
    path.split(|byte| *byte == b'/').map(name).collect()
}

/// Joins a name to the path of its folder.
pub(super) fn under(folder: &[u8], name: &CStr) -> Vec<u8> {
    let mut path = folder.to_vec();
    if !path.is_empty() {
        path.push(b'/');
    }
    path.extend_from_slice(name.to_bytes());
    path
}
