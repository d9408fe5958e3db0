//! Writing a file beside its place, and into it when all has come: nobody sees a part of it under its name.

use std::ffi::{CString, OsStr};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path, PathBuf};

use bailiwick_sys::{Errno, packets};
use rustix::fs::{AtFlags, Mode, OFlags};

use super::{Trouble, at};

const MAKE: &str = "make the file";
const WRITE: &str = "write the file";

/// How many names are tried for what is not finished.
const TRIES: u32 = 64;

/// A file that is written.
#[derive(Debug)]
pub(crate) struct Write {
    folder: OwnedFd,
    file: OwnedFd,
    mode: Mode,
    name: CString,
    beside: CString,
    is_in_place: bool,
}

impl Write {
    /// Makes the folders above it that are missing, and a file beside its place.
    pub(crate) fn begin(id: u32, path: &str, mode: u32) -> Result<Self, Trouble> {
        let path = Path::new(path);
        let name = last_name(path).map_err(at(MAKE))?;
        let folder = make_folders(path.parent().unwrap_or(Path::new("/")))?;
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mut said = Errno::EXIST;
        for number in 0..TRIES {
            let beside =
                CString::new(format!(".bailiwick-{id}-{number}")).map_err(|_| at(MAKE)(Errno::INVAL))?;
            match rustix::fs::openat(&folder, &beside, flags, Mode::RUSR | Mode::WUSR) {
                Ok(file) => {
                    let mode = Mode::from_raw_mode(mode & 0o777);
                    return Ok(Self { folder, file, mode, name, beside, is_in_place: false });
                }
                Err(Errno::EXIST) => {}
                Err(errno) => {
                    said = errno;
                    break;
                }
            }
        }
        Err(at(MAKE)(said))
    }

    pub(super) fn data(&self, mut bytes: &[u8]) -> Result<(), Trouble> {
        while !bytes.is_empty() {
            let written = packets::write(&self.file, bytes).map_err(at(WRITE))?;
            bytes = bytes.get(written..).unwrap_or_default();
        }
        Ok(())
    }

    pub(super) fn finish(&mut self) -> Result<(), Trouble> {
        rustix::fs::fchmod(&self.file, self.mode).map_err(at(WRITE))?;
        rustix::fs::renameat(&self.folder, &self.beside, &self.folder, &self.name)
            .map_err(at("put the file in its place"))?;
        self.is_in_place = true;
        Ok(())
    }
}

impl Drop for Write {
    fn drop(&mut self) {
        if !self.is_in_place {
            // The guest may have removed it already, and what is left is the guest's own.
            let _gone = rustix::fs::unlinkat(&self.folder, &self.beside, AtFlags::empty());
        }
    }
}

/// The last name of a path, which has to have one.
pub(super) fn last_name(path: &Path) -> Result<CString, Errno> {
    let ends_in_name = matches!(path.components().next_back(), Some(Component::Normal(_)));
    let name = path.file_name().filter(|_| ends_in_name).map(OsStr::as_bytes).ok_or(Errno::ISDIR)?;
    CString::new(name).map_err(|_| Errno::INVAL)
}

/// Opens a folder; where it is not there it is made, with those above it.
pub(super) fn make_folders(path: &Path) -> Result<OwnedFd, Trouble> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    match rustix::fs::open(path, flags, Mode::empty()) {
        Err(Errno::NOENT) => {}
        opened => return opened.map_err(at("open the folder")),
    }
    let mut so_far = PathBuf::new();
    for part in path.components() {
        so_far.push(part);
        let mode = Mode::RWXU | Mode::RGRP | Mode::XGRP | Mode::ROTH | Mode::XOTH;
        match rustix::fs::mkdir(&so_far, mode) {
            // A read-only file system says so before it says that the folder is there.
            Ok(()) | Err(Errno::EXIST | Errno::ROFS | Errno::ACCESS) => {}
            Err(errno) => return Err(at("make the folder")(errno)),
        }
    }
    rustix::fs::open(path, flags, Mode::empty()).map_err(at("make the folder"))
}
