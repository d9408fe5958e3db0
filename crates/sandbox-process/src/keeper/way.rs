//! The way to a place in the new root, made where it is missing. It is gone by descriptors, and a link on it is refused: part of
//! it may lie in a folder that others write to.

use std::os::fd::OwnedFd;
use std::path::{Component, Path};

use bailiwick_sys::{Errno, Failed, Step};
use rustix::fs::{CWD, FileType, Mode, OFlags, fstat, mkdirat, openat};

const FOLDER: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
const FILE: OFlags = OFlags::PATH.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// Opens the place at an absolute path: a folder, or else a file.
pub(super) fn to(path: &Path, is_folder: bool) -> Result<OwnedFd, Failed> {
    let failed = |errno| Step::MakePlace.failed(errno);
    let mut here = openat(CWD, "/", FOLDER, Mode::empty()).map_err(failed)?;
    let mut names = path.components().filter_map(|part| match part {
        Component::Normal(name) => Some(name),
        _ => None,
    });
    let last = names.next_back().ok_or_else(|| failed(Errno::INVAL))?;
    for name in names {
        here = folder(&here, Path::new(name)).map_err(failed)?;
    }
    let end = if is_folder { folder(&here, Path::new(last)) } else { file(&here, Path::new(last)) };
    end.map_err(failed)
}

fn folder(above: &OwnedFd, name: &Path) -> Result<OwnedFd, Errno> {
    match openat(above, name, FOLDER, Mode::empty()) {
        Err(Errno::NOENT) => {}
        opened => return opened,
    }
    match mkdirat(above, name, Mode::from_raw_mode(0o755)) {
        Ok(()) | Err(Errno::EXIST) => openat(above, name, FOLDER, Mode::empty()),
        Err(errno) => Err(errno),
    }
}

fn file(above: &OwnedFd, name: &Path) -> Result<OwnedFd, Errno> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    match openat(above, name, flags, Mode::from_raw_mode(0o644)) {
        Ok(_) | Err(Errno::EXIST | Errno::ROFS) => {}
        Err(errno) => return Err(errno),
    }
    let file = openat(above, name, FILE, Mode::empty())?;
    match FileType::from_raw_mode(fstat(&file)?.st_mode) {
        FileType::RegularFile => Ok(file),
        FileType::Symlink => Err(Errno::LOOP),
        _ => Err(Errno::EXIST),
    }
}
