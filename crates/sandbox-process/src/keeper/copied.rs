//! A root that is a copy of an image, for where the kernel lays nothing over anything: every file of it among the sandbox's own, in
//! memory and within their bound.
//!
//! It is counted before the first byte is copied, so that what does not fit is told with what it would need. No link is followed,
//! everything belongs to whoever copies, holes stay holes, and names of one file stay names of one file.

use std::collections::{HashMap, HashSet};
use std::ffi::{CStr, CString};
use std::os::fd::{AsFd as _, OwnedFd};

use bailiwick_sys::beneath::{self, Identity, Kind, Links, Status};
use bailiwick_sys::mounts::Size;
use bailiwick_sys::{Errno, Failed, Step, trees};
use rustix::fs::{Mode, OFlags, SeekFrom};

/// What a file system in memory takes for a piece of a file.
const PAGE: u64 = 4096;
/// From how many bytes on the way that a link leads takes one, too.
const LONG_LINK: u64 = 128;
/// What has to be left for the rest of the root, and for a sandbox that does something.
const SPARE: Size = Size { bytes: 1 << 20, files: 256 };
/// How much is copied at a time.
const PIECE: usize = 256 * 1024;

fn failed(errno: Errno) -> Failed {
    Step::CopyImage.failed(errno)
}

/// What a copy of a tree takes, with what has to be left beside it.
pub(super) fn needs(tree: &OwnedFd) -> Result<Size, Failed> {
    let mut needs = SPARE;
    let mut known = HashSet::new();
    each_folder(tree, |folder, _, entries| {
        for (name, status) in entries {
            // A further name of a file counts like a file there, and has no bytes.
            needs.files = needs.files.saturating_add(1);
            let bytes = match status.kind {
                Kind::File if status.names > 1 && !known.insert(status.identity) => 0,
                Kind::File => taken(folder, name, status)?,
                Kind::Link if status.size >= LONG_LINK => PAGE,
                Kind::Link | Kind::Folder | Kind::Special => 0,
            };
            needs.bytes = needs.bytes.saturating_add(bytes);
        }
        Ok(())
    })?;
    Ok(needs)
}

/// What the data of a file takes.
fn taken(folder: &OwnedFd, name: &CStr, status: &Status) -> Result<u64, Failed> {
    if status.stored >= status.size {
        return Ok(status.size.next_multiple_of(PAGE));
    }
    let file = opened(folder, name, status)?;
    let mut pages = 0_u64;
    pieces(&file, status, |begins, ends| {
        pages = pages.saturating_add(ends.div_ceil(PAGE) - begins / PAGE);
        Ok(())
    })
    .map_err(failed)?;
    Ok(pages.saturating_mul(PAGE))
}

/// Copies a tree into an empty folder.
pub(super) fn copy(tree: &OwnedFd, into: &OwnedFd) -> Result<(), Failed> {
    let mut known: HashMap<Identity, (Vec<u8>, CString)> = HashMap::new();
    let mut buffer = vec![0; PIECE];
    each_folder(tree, |folder, path, entries| {
        let to = beneath::folder(into, path, Links::Never).map_err(failed)?;
        for (name, status) in entries {
            match status.kind {
                Kind::Folder => beneath::make_folder(&to, name).map_err(failed)?,
                Kind::Link => {
                    let target = trees::read_link(folder, name).map_err(failed)?;
                    let target = CString::new(target).map_err(|_| failed(Errno::INVAL))?;
                    trees::make_link(&target, &to, name).map_err(failed)?;
                    trees::set_modified_of(&to, name, status.modified.div_euclid(1000)).map_err(failed)?;
                }
                Kind::File => {
                    if let Some((above, first)) = known.get(&status.identity) {
                        let above = beneath::folder(into, above.as_slice(), Links::Never).map_err(failed)?;
                        trees::add_name((above.as_fd(), first), (to.as_fd(), name)).map_err(failed)?;
                        continue;
                    }
                    copy_file(&opened(folder, name, status)?, status, &to, name, &mut buffer)
                        .map_err(failed)?;
                    if status.names > 1 {
                        known.insert(status.identity, (path.to_vec(), name.clone()));
                    }
                }
                // No image has one: what it would be here is for nobody to guess.
                Kind::Special => return Err(failed(Errno::INVAL)),
            }
        }
        let own = beneath::status(folder).map_err(failed)?;
        beneath::set_permissions(&to, own.permissions).map_err(failed)?;
        trees::set_modified(&to, own.modified.div_euclid(1000)).map_err(failed)
    })
}

/// Hands every folder of a tree over, those above before those below, with its path and what is in it.
fn each_folder(
    tree: &OwnedFd,
    mut take: impl FnMut(&OwnedFd, &[u8], &[(CString, Status)]) -> Result<(), Failed>,
) -> Result<(), Failed> {
    let mut waiting = vec![b".".to_vec()];
    while let Some(path) = waiting.pop() {
        let folder = beneath::folder(tree, path.as_slice(), Links::Never).map_err(failed)?;
        let (names, _) = beneath::names(&folder, usize::MAX).map_err(failed)?;
        let mut entries = Vec::with_capacity(names.len());
        for name in names {
            let status = beneath::status_of(&folder, &name).map_err(failed)?;
            if status.kind == Kind::Folder {
                waiting.push([path.as_slice(), name.to_bytes()].join(&b'/'));
            }
            entries.push((name, status));
        }
        take(&folder, &path, &entries)?;
    }
    Ok(())
}

/// Opens a file that was looked at, if it still is that file.
fn opened(folder: &OwnedFd, name: &CStr, status: &Status) -> Result<OwnedFd, Failed> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = rustix::fs::openat(folder, name, flags, Mode::empty()).map_err(failed)?;
    let found = beneath::status(&file).map_err(failed)?;
    if (found.identity, found.kind, found.size) != (status.identity, status.kind, status.size) {
        return Err(failed(Errno::STALE));
    }
    Ok(file)
}

fn copy_file(
    from: &OwnedFd,
    status: &Status,
    folder: &OwnedFd,
    name: &CStr,
    buffer: &mut [u8],
) -> Result<(), Errno> {
    let to = beneath::create(folder, name)?;
    pieces(from, status, |begins, ends| {
        let mut at = begins;
        while at < ends {
            let most = usize::try_from(ends - at).unwrap_or(usize::MAX).min(buffer.len());
            let piece = buffer.get_mut(..most).unwrap_or_default();
            let read = rustix::io::pread(from, &mut *piece, at)?;
            let mut rest = piece.get(..read).filter(|read| !read.is_empty()).ok_or(Errno::IO)?;
            while !rest.is_empty() {
                let written = rustix::io::pwrite(&to, rest, at)?;
                rest = rest.get(written..).unwrap_or_default();
                at += written as u64;
            }
        }
        Ok(())
    })?;
    if status.stored < status.size {
        rustix::fs::ftruncate(&to, status.size)?;
    }
    beneath::set_permissions(&to, status.permissions)?;
    trees::set_modified(&to, status.modified.div_euclid(1000))
}

/// Where a file has data, from and to which byte.
fn pieces(
    file: &OwnedFd,
    status: &Status,
    mut take: impl FnMut(u64, u64) -> Result<(), Errno>,
) -> Result<(), Errno> {
    if status.stored >= status.size {
        return take(0, status.size);
    }
    let mut at = 0;
    while at < status.size {
        let begins = match rustix::fs::seek(file, SeekFrom::Data(at)) {
            Ok(begins) => begins,
            // Nothing but a hole is left.
            Err(Errno::NXIO) => return Ok(()),
            Err(errno) => return Err(errno),
        };
        let ends = rustix::fs::seek(file, SeekFrom::Hole(begins))?.min(status.size);
        if ends <= begins {
            return Err(Errno::IO);
        }
        take(begins, ends)?;
        at = ends;
    }
    Ok(())
}
