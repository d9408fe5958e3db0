//! What overlayfs writes into the folder that holds a sandbox's changes, read without believing a word.
//!
//! The format is the kernel's, with `userxattr` and without `redirect_dir`, `metacopy` and `index`. What such a mount never
//! writes is not guessed at: it is skipped, and said to be. No link is followed, and nothing but files and folders is opened.

use std::ffi::CString;
use std::fs::File;
use std::os::fd::{AsFd as _, OwnedFd};

use bailiwick_sys::beneath::{self, Links};
use rustix::io::Errno;

use crate::RelPath;
use crate::fault::{Doing, Fault};
use crate::host::{self, Found};
use crate::seen::{Kind, Seen};

/// The folder that holds a sandbox's changes.
#[derive(Debug)]
pub(crate) struct Upper(pub(crate) OwnedFd);

/// What is at a path of it.
#[derive(Debug)]
pub(crate) enum Entry {
    /// Nothing: it went away while it was looked at.
    Nothing,
    /// A mark that something was removed.
    Removed,
    /// A file.
    File(File, Seen),
    /// A folder.
    Folder(Folder, Seen),
    /// A link and where it leads.
    Link(Vec<u8>),
    /// A pipe, a socket, a device.
    Special,
    /// A file or a folder that cannot be opened by who we are.
    Unreadable,
    /// Something that carries a mark which our mounts never make.
    UnknownMark,
}

/// A folder of it, opened.
#[derive(Debug)]
pub(crate) struct Folder {
    held: OwnedFd,
    /// Whether it hides what the host has there.
    pub(crate) opaque: bool,
    /// Whether files in it can be marks by an attribute.
    pub(crate) has_marked_files: bool,
}

impl Folder {
    /// Its names, at most so many, by their bytes; and whether there are more.
    pub(crate) fn names(&self, most: usize) -> Result<(Vec<CString>, bool), Errno> {
        let (mut names, more) = beneath::names(&self.held, most)?;
        names.sort_unstable();
        Ok((names, more))
    }
}

impl Upper {
    /// What is at a path. `marked` says that its folder may hold marks by an attribute.
    pub(crate) fn entry(&self, path: &RelPath, marked: bool) -> Result<Entry, Fault> {
        match self.try_entry(path, marked) {
            Err(Errno::ACCESS | Errno::PERM) => Ok(Entry::Unreadable),
            // Something else has taken its place between two looks.
            Err(Errno::STALE) => Err(Fault::StillWritten { path: path.clone() }),
            entry => entry.map_err(Fault::system(Doing::LookAtUpper, path)),
        }
    }

    fn try_entry(&self, path: &RelPath, marked: bool) -> Result<Entry, Errno> {
        let (held, seen) = match host::look(self.0.as_fd(), path)? {
            Found::This(held, seen) => (held, seen),
            Found::Nothing => return Ok(Entry::Nothing),
            Found::Mount => return Ok(Entry::UnknownMark),
        };
        if seen.whiteout {
            return Ok(Entry::Removed);
        }
        match seen.kind {
            Kind::Special => Ok(Entry::Special),
            Kind::Link => Ok(Entry::Link(beneath::target(held)?.into_bytes())),
            Kind::Folder => self.folder(path, seen),
            Kind::File => {
                let (file, _) = beneath::read_again(held)?;
                if marked && beneath::attribute(&file, c"user.overlay.whiteout", 1)?.is_some() {
                    return Ok(Entry::Removed);
                }
                if beneath::attribute(&file, c"user.overlay.metacopy", 1)?.is_some() {
                    return Ok(Entry::UnknownMark);
                }
                Ok(Entry::File(file, seen))
            }
        }
    }

    fn folder(&self, path: &RelPath, seen: Seen) -> Result<Entry, Errno> {
        let held = beneath::folder(&self.0, path.to_c().as_c_str(), Links::Never)?;
        if Seen::of(&held)?.inode != seen.inode {
            return Err(Errno::STALE);
        }
        if beneath::attribute(&held, c"user.overlay.redirect", 1)?.is_some() {
            return Ok(Entry::UnknownMark);
        }
        let opaque = beneath::attribute(&held, c"user.overlay.opaque", 1)?;
        let folder = Folder {
            held,
            // The folder that was mounted cannot be one, whatever is written on it.
            opaque: opaque.as_deref() == Some(b"y") && !path.is_root(),
            has_marked_files: opaque.as_deref() == Some(b"x"),
        };
        Ok(Entry::Folder(folder, seen))
    }
}
