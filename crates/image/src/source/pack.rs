//! A folder becomes a layer: every file of it in one archive, in order, so that the same folder is the same image.
//!
//! The folder is the operator's, and what is in it may still be changed by others meanwhile: each file is opened from a
//! held folder, no link is followed, and a file that changes while it is read ends the import.

use std::collections::HashMap;
use std::ffi::{CString, OsStr};
use std::io::{self, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::sync::Arc;

use bailiwick_sys::beneath::{self, Identity, Kind, Links, Status};
use bailiwick_sys::{Errno, trees};
use tar::{Builder, EntryType, Header};

use super::{Place, at_fault, layer};
use crate::ImageError;
use crate::bounds::Spending;
use crate::manifest::Descriptor;
use crate::progress::{Phase, Steps, Watcher};
use crate::store::{Arriving, Places};
use crate::unpack::unwrapped;

/// Copies a folder into the store.
pub(super) fn pack(
    place: &Place,
    places: &Arc<Places>,
    spending: &mut Spending,
    watcher: &Watcher,
) -> Result<Descriptor, ImageError> {
    let root = place.list()?;
    let steps = Steps::new(watcher, Phase::Reading, None);
    let (most, depth) = (spending.bounds().entries, spending.bounds().depth);
    let arriving = Arriving::begin(places, "the folder", None)?;
    let mut packing = Packing {
        root,
        path: &place.path,
        archive: Builder::new(Into { arriving, spending, steps }),
        linked: HashMap::new(),
        left: most,
        most,
        depth,
    };
    packing.all()?;
    let into = packing.archive.into_inner().map_err(|error| unwrapped("the folder", error))?;
    let (digest, size) = into.arriving.keep(None)?;
    Ok(layer(digest, size))
}

/// A blob as something to write to.
pub(super) struct Into<'a> {
    pub(super) arriving: Arriving,
    pub(super) spending: &'a mut Spending,
    pub(super) steps: Steps,
}

impl Write for Into<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.arriving.take(bytes, self.spending).map_err(io::Error::other)?;
        self.steps.add(bytes.len() as u64);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

struct Packing<'a, 'b> {
    root: OwnedFd,
    path: &'a Path,
    archive: Builder<Into<'b>>,
    /// Files with several names, by the first of them.
    linked: HashMap<Identity, Vec<u8>>,
    left: u64,
    most: u64,
    depth: usize,
}

impl Packing<'_, '_> {
    fn fault(&self, below: &[u8], why: impl std::fmt::Display) -> ImageError {
        at_fault(&self.path.join(OsStr::from_bytes(below)), why.to_string())
    }

    /// Folder by folder, without recursion.
    fn all(&mut self) -> Result<(), ImageError> {
        let mut waiting = vec![Vec::new()];
        while let Some(folder) = waiting.pop() {
            let from: &[u8] = if folder.is_empty() { b"." } else { &folder };
            let held = match beneath::folder(&self.root, from, Links::Never) {
                Ok(held) => held,
                // Something else is mounted there: a /proc, a /dev.
                Err(Errno::XDEV) => continue,
                Err(errno) => return Err(self.fault(&folder, errno)),
            };
            let listed = beneath::names(&held, usize::try_from(self.left).unwrap_or(usize::MAX));
            let (mut names, more) = listed.map_err(|errno| self.fault(&folder, errno))?;
            if more || folder.split(|byte| *byte == b'/').count() >= self.depth {
                return Err(ImageError::Bound { what: "more files, or deeper ones,", most: self.most });
            }
            self.left -= names.len() as u64;
            names.sort();
            for name in names {
                let path = if folder.is_empty() {
                    name.to_bytes().to_vec()
                } else {
                    [&folder, name.to_bytes()].join(&b'/')
                };
                if self.one(&held, &name, &path)? == Kind::Folder {
                    waiting.push(path);
                }
            }
        }
        Ok(())
    }

    fn one(&mut self, folder: &OwnedFd, name: &CString, path: &[u8]) -> Result<Kind, ImageError> {
        if name.to_bytes().starts_with(b".wh.") {
            return Err(
                self.fault(path, "in an image a name that begins with `.wh.` takes a file away; rename it")
            );
        }
        let status = beneath::status_of(folder, name).map_err(|errno| self.fault(path, errno))?;
        let own = Path::new(OsStr::from_bytes(path));
        let broken = |error| unwrapped("the folder", error);
        match status.kind {
            Kind::Folder => {
                let mut header = header(EntryType::Directory, &status);
                self.archive.append_data(&mut header, own, io::empty()).map_err(broken)?;
            }
            Kind::Link => {
                let target = trees::read_link(folder, name).map_err(|errno| self.fault(path, errno))?;
                let mut header = header(EntryType::Symlink, &status);
                self.archive.append_link(&mut header, own, OsStr::from_bytes(&target)).map_err(broken)?;
            }
            Kind::File => self.file(folder, name, path, own)?,
            Kind::Special => {}
        }
        Ok(status.kind)
    }

    fn file(&mut self, folder: &OwnedFd, name: &CString, path: &[u8], own: &Path) -> Result<(), ImageError> {
        let held = beneath::look(folder.as_fd(), name.as_c_str(), Links::Never);
        let (file, status) = held.and_then(beneath::read_again).map_err(|errno| self.fault(path, errno))?;
        let broken = |error| unwrapped("the folder", error);
        if status.names > 1 {
            if let Some(first) = self.linked.get(&status.identity) {
                let mut header = header(EntryType::Link, &status);
                return self.archive.append_link(&mut header, own, OsStr::from_bytes(first)).map_err(broken);
            }
            self.linked.insert(status.identity, path.to_vec());
        }
        let mut header = header(EntryType::Regular, &status);
        header.set_size(status.size);
        let mut data = Exact { file, left: status.size };
        self.archive.append_data(&mut header, own, &mut data).map_err(broken)?;
        if data.left != 0 {
            return Err(self.fault(path, "it became shorter while it was copied"));
        }
        Ok(())
    }
}

/// As many bytes as were promised, and no more.
struct Exact {
    file: std::fs::File,
    left: u64,
}

impl io::Read for Exact {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let most = usize::try_from(self.left).unwrap_or(usize::MAX).min(buffer.len());
        let read = self.file.read(buffer.get_mut(..most).unwrap_or_default())?;
        self.left = self.left.saturating_sub(read as u64);
        Ok(read)
    }
}

fn header(kind: EntryType, status: &Status) -> Header {
    let mut header = Header::new_gnu();
    header.set_entry_type(kind);
    header.set_mode(status.permissions);
    header.set_mtime(u64::try_from(status.modified / 1000).unwrap_or_default());
    header.set_size(0);
    header
}
