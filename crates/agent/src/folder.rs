//! The names in a folder, read in pieces and kept close together.

use std::ffi::CStr;
use std::mem::MaybeUninit;
use std::os::fd::AsFd;

use bailiwick_sys::Errno;
use rustix::fs::{Mode, OFlags, RawDir};

/// How much of a folder is read in one piece.
const PIECE: usize = 16 * 1024;

/// Names, one behind the other.
#[derive(Debug, Default)]
pub(crate) struct Names {
    /// Each with the zero that ends it.
    bytes: Vec<u8>,
    at: usize,
}

impl Names {
    /// Takes the next.
    pub(crate) fn next(&mut self) -> Option<&CStr> {
        let rest = self.bytes.get(self.at..)?;
        let name = CStr::from_bytes_until_nul(rest).ok()?;
        self.at += name.to_bytes_with_nul().len();
        Some(name)
    }

    /// How much memory they take.
    pub(crate) fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Puts one behind the others.
    pub(crate) fn push(&mut self, name: &CStr) {
        self.bytes.extend_from_slice(name.to_bytes_with_nul());
    }
}

/// Opens a folder to read it, without following a link at its end.
pub(crate) fn open(at: impl AsFd, name: &CStr) -> Result<std::os::fd::OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::openat(at, name, flags, Mode::empty())
}

/// Goes through a folder from where its descriptor is, as long as `each` says so.
pub(crate) fn each(
    folder: impl AsFd,
    mut each: impl FnMut(&CStr) -> Result<bool, Errno>,
) -> Result<(), Errno> {
    let mut piece = [MaybeUninit::uninit(); PIECE];
    let mut entries = RawDir::new(folder, &mut piece);
    while let Some(entry) = entries.next() {
        let entry = entry?;
        let name = entry.file_name();
        if !matches!(name.to_bytes(), b"." | b"..") && !each(name)? {
            break;
        }
    }
    Ok(())
}

/// All names of a folder, up to so many bytes of them.
pub(crate) fn names(folder: impl AsFd, most: usize) -> Result<Names, Errno> {
    let mut names = Names::default();
    each(folder, |name| {
        names.push(name);
        if names.len() > most { Err(Errno::TOOBIG) } else { Ok(true) }
    })?;
    Ok(names)
}
