//! The entries of an archive, one after the other: names of all lengths, within bounds, and never two readings of one.
//!
//! Long names (GNU, PAX) are read here and not by the crate `tar`, which would hold as much of them in memory as an
//! archive cares to send.

use std::io::Read;

use tar::{Archive, EntryType, Header};

use super::packed::unwrapped;
use crate::{Bounds, ImageError};

/// The most bytes that describe one entry.
const MOST_WORDS: u64 = 1024 * 1024;

/// What an entry is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    File,
    Folder,
    Link,
    HardLink,
    /// A device, a pipe, or something that nobody knows.
    Special,
}

/// One entry.
pub(crate) struct Member<'a> {
    pub(crate) path: Vec<u8>,
    pub(crate) kind: Kind,
    /// Where a link leads.
    pub(crate) target: Vec<u8>,
    pub(crate) mode: u32,
    pub(crate) modified: i64,
    pub(crate) size: u64,
    /// How many extended attributes it has.
    pub(crate) attributes: u64,
    pub(crate) data: &'a mut dyn Read,
}

/// What was said ahead of an entry.
#[derive(Default)]
struct Ahead {
    path: Option<Vec<u8>>,
    target: Option<Vec<u8>>,
    size: Option<u64>,
    modified: Option<i64>,
    attributes: u64,
}

const WHAT: &str = "the archive";

/// Hands each entry to a function, in order.
pub(crate) fn each(
    reader: &mut impl Read,
    bounds: &Bounds,
    mut take: impl FnMut(Member<'_>) -> Result<(), ImageError>,
) -> Result<(), ImageError> {
    let broken = |error| unwrapped(WHAT, error);
    let mut archive = Archive::new(reader);
    let mut ahead = Ahead::default();
    let mut said = 0;
    for entry in archive.entries().map_err(broken)?.raw(true) {
        let mut entry = entry.map_err(broken)?;
        let header = entry.header().clone();
        match header.entry_type() {
            EntryType::GNULongName => ahead.path = Some(long(&mut entry, bounds, ahead.path.is_some())?),
            EntryType::GNULongLink => ahead.target = Some(long(&mut entry, bounds, ahead.target.is_some())?),
            EntryType::XHeader => ahead.pax(&words(&mut entry)?)?,
            EntryType::XGlobalHeader => {
                let mut global = Ahead::default();
                global.pax(&words(&mut entry)?)?;
                if global.path.is_some() || global.target.is_some() || global.size.is_some() {
                    return Err(ImageError::malformed(WHAT, "one name or size for all of its files"));
                }
            }
            _ => {
                let ahead = std::mem::take(&mut ahead);
                said = 0;
                take(member(&header, ahead, &mut entry)?)?;
                continue;
            }
        }
        said += 1;
        if said > 16 {
            return Err(ImageError::malformed(WHAT, "too many words ahead of one entry"));
        }
    }
    if said > 0 {
        return Err(ImageError::malformed(WHAT, "it ends where an entry was announced"));
    }
    Ok(())
}

fn member<'a>(header: &Header, ahead: Ahead, data: &'a mut dyn Read) -> Result<Member<'a>, ImageError> {
    let number = |error: std::io::Error| ImageError::malformed(WHAT, error.to_string());
    let path = ahead.path.unwrap_or_else(|| header.path_bytes().into_owned());
    let target = ahead.target.or_else(|| header.link_name_bytes().map(std::borrow::Cow::into_owned));
    let size = header.entry_size().map_err(number)?;
    if ahead.size.is_some_and(|said| said != size) {
        return Err(ImageError::malformed(WHAT, "two sizes are said of one file"));
    }
    let kind = match header.entry_type() {
        // In the oldest archives a folder is a file whose name ends so.
        EntryType::Regular | EntryType::Continuous if path.ends_with(b"/") && size == 0 => Kind::Folder,
        EntryType::Regular | EntryType::Continuous => Kind::File,
        EntryType::Directory => Kind::Folder,
        EntryType::Symlink => Kind::Link,
        EntryType::Link => Kind::HardLink,
        EntryType::GNUSparse => return Err(holes()),
        _ => Kind::Special,
    };
    Ok(Member {
        path,
        kind,
        target: target.unwrap_or_default(),
        mode: header.mode().map_err(number)?,
        modified: match ahead.modified {
            Some(modified) => modified,
            None => i64::try_from(header.mtime().map_err(number)?).unwrap_or_default(),
        },
        size,
        attributes: ahead.attributes,
        data,
    })
}

fn holes() -> ImageError {
    ImageError::Unsupported(
        "files stored with holes are not read; make the archive without them (no `--sparse`)".to_owned(),
    )
}

/// A name of GNU's kind.
fn long(entry: &mut impl Read, bounds: &Bounds, is_second: bool) -> Result<Vec<u8>, ImageError> {
    if is_second {
        return Err(ImageError::malformed(WHAT, "two names are said of one entry"));
    }
    let mut name = Vec::new();
    let most = bounds.path as u64 + 2;
    entry.take(most).read_to_end(&mut name).map_err(|error| unwrapped(WHAT, error))?;
    while name.last() == Some(&0) {
        name.pop();
    }
    Ok(name)
}

fn words(entry: &mut impl Read) -> Result<Vec<u8>, ImageError> {
    let mut words = Vec::new();
    entry.take(MOST_WORDS + 1).read_to_end(&mut words).map_err(|error| unwrapped(WHAT, error))?;
    if words.len() as u64 > MOST_WORDS {
        return Err(ImageError::Bound { what: "more words about one file", most: MOST_WORDS });
    }
    Ok(words)
}

impl Ahead {
    /// Records of PAX: `length key=value\n`, where the length counts all of it.
    fn pax(&mut self, mut words: &[u8]) -> Result<(), ImageError> {
        let broken = || ImageError::malformed(WHAT, "a record about an entry is none");
        while !words.is_empty() {
            let space = words.iter().position(|byte| *byte == b' ').ok_or_else(broken)?;
            let digits = words.get(..space).and_then(|digits| std::str::from_utf8(digits).ok());
            let length: usize = digits.and_then(|digits| digits.parse().ok()).ok_or_else(broken)?;
            let record = words.get(space + 1..length).ok_or_else(broken)?;
            let record = record.strip_suffix(b"\n").ok_or_else(broken)?;
            let equals = record.iter().position(|byte| *byte == b'=').ok_or_else(broken)?;
            let (key, value) = record.split_at(equals);
            self.record(key, value.get(1..).unwrap_or_default())?;
            words = words.get(length..).unwrap_or_default();
        }
        Ok(())
    }

    fn record(&mut self, key: &[u8], value: &[u8]) -> Result<(), ImageError> {
        let broken = || ImageError::malformed(WHAT, "a number about an entry is none");
        let text = || std::str::from_utf8(value).map_err(|_| broken());
        match key {
            b"path" => set(&mut self.path, value.to_vec()),
            b"linkpath" => set(&mut self.target, value.to_vec()),
            b"size" => set(&mut self.size, text()?.parse().map_err(|_| broken())?),
            b"mtime" => {
                let whole = text()?.split('.').next().unwrap_or_default();
                self.modified = Some(whole.parse().map_err(|_| broken())?);
                Ok(())
            }
            key if key.starts_with(b"GNU.sparse.") => Err(holes()),
            key if key.starts_with(b"SCHILY.xattr.") || key.starts_with(b"LIBARCHIVE.xattr.") => {
                self.attributes += 1;
                Ok(())
            }
            _ => Ok(()),
        }
    }
}

fn set<T>(place: &mut Option<T>, value: T) -> Result<(), ImageError> {
    if place.replace(value).is_some() {
        return Err(ImageError::malformed(WHAT, "something is said twice of one entry"));
    }
    Ok(())
}
