//! The tree that layers are unpacked into: each entry done from a held folder, no link followed on the way, whatever
//! was there before it replaced and never written through.

use std::collections::HashSet;
use std::ffi::{CStr, CString};
use std::io::{self, Read as _};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use bailiwick_sys::beneath::{self, Links};
use bailiwick_sys::{Errno, trees};
use sha2::{Digest as _, Sha256};

use super::LeftOut;
use super::inside::{Inside, joined};
use super::member::{Kind, Member};
use super::packed::unwrapped;
use crate::bounds::Spending;
use crate::manifest::readable;
use crate::{Bounds, ImageError};

/// Folders can be entered by all and written to by nobody but us.
const FOLDER: u32 = 0o755;
/// Why a way is refused.
const THROUGH: &str = "lies behind a link or a file, which no way leads through";

/// A path, by its digest: a million of them fit into memory whatever they are called.
type Seen = [u8; 16];

/// The tree.
pub(super) struct Tree<'a> {
    root: OwnedFd,
    spending: &'a mut Spending,
    left_out: LeftOut,
    layer: usize,
    /// What this layer brought or went through: its own whiteouts do not touch that.
    seen: HashSet<Seen>,
}

impl<'a> Tree<'a> {
    /// Upon an empty folder.
    pub(super) fn new(root: OwnedFd, spending: &'a mut Spending) -> Result<Self, ImageError> {
        beneath::set_permissions(&root, FOLDER).map_err(ImageError::sys("open up the root of an image"))?;
        Ok(Self { root, spending, left_out: LeftOut::default(), layer: 0, seen: HashSet::new() })
    }

    pub(super) fn begin(&mut self, layer: usize) {
        self.layer = layer;
        self.seen.clear();
    }

    pub(super) fn bounds(&self) -> &Bounds {
        self.spending.bounds()
    }

    pub(super) fn left_out(&self) -> LeftOut {
        self.left_out
    }

    fn hostile(&self, path: &[u8], what: &'static str) -> ImageError {
        ImageError::Hostile { layer: self.layer, path: readable(&String::from_utf8_lossy(path)), what }
    }

    /// Does what an entry says.
    pub(super) fn take(&mut self, mut member: Member<'_>) -> Result<(), ImageError> {
        self.spending.entry()?;
        let path =
            Inside::read(&member.path, self.bounds()).map_err(|what| self.hostile(&member.path, what))?;
        let Some((parts, name)) = path.split() else {
            return match member.kind {
                Kind::Folder => Ok(()),
                _ => Err(self.hostile(&member.path, "would be the root itself, and is no folder")),
            };
        };
        if parts.iter().any(|part| part.to_bytes().starts_with(b".wh.")) {
            // In a folder that an old file system kept for itself.
            self.left_out.special += 1;
            return Ok(());
        }
        if let Some(gone) = name.to_bytes().strip_prefix(b".wh.") {
            return self.whiteout(&member, parts, gone);
        }
        if member.kind == Kind::Special {
            self.left_out.special += 1;
            return Ok(());
        }
        self.left_out.attributes += member.attributes;
        let folder = self.folder(&member, parts)?;
        let own = [parts, &[name.to_owned()]].concat();
        self.put(&mut member, folder.as_fd(), name)?;
        self.seen.insert(mark(&joined(&own)));
        Ok(())
    }

    fn put(
        &mut self,
        member: &mut Member<'_>,
        folder: BorrowedFd<'_>,
        name: &CStr,
    ) -> Result<(), ImageError> {
        match member.kind {
            Kind::Folder => put_folder(folder, name),
            Kind::File => self.put_file(member, folder, name),
            Kind::Link => self.put_link(member, folder, name, &member.target),
            Kind::HardLink => self.put_name(member, folder, name),
            Kind::Special => Ok(()),
        }
    }

    fn put_file(
        &mut self,
        member: &mut Member<'_>,
        folder: BorrowedFd<'_>,
        name: &CStr,
    ) -> Result<(), ImageError> {
        const STEP: &str = "write a file of an image";
        self.spending.file(member.size)?;
        clear_place(folder, name)?;
        let mut file = beneath::create(folder, name).map_err(ImageError::sys(STEP))?;
        let mut data = (&mut *member.data).take(member.size);
        let copied = io::copy(&mut data, &mut file).map_err(|error| match error.raw_os_error() {
            Some(_) => ImageError::Io { step: STEP, source: error },
            None => unwrapped("the archive", error),
        })?;
        if copied != member.size {
            return Err(ImageError::malformed("the archive", "it ends in the middle of a file"));
        }
        if member.mode & 0o6000 != 0 {
            self.left_out.set_id += 1;
        }
        beneath::set_permissions(&file, permissions(member.mode)).map_err(ImageError::sys(STEP))?;
        trees::set_modified(&file, member.modified).map_err(ImageError::sys(STEP))
    }

    fn put_link(
        &self,
        member: &Member<'_>,
        folder: BorrowedFd<'_>,
        name: &CStr,
        target: &[u8],
    ) -> Result<(), ImageError> {
        const STEP: &str = "make a link of an image";
        let refused = |what| self.hostile(&member.path, what);
        if target.is_empty() || target.len() > self.bounds().path {
            return Err(refused("is a link that leads nowhere, or by too long a way"));
        }
        let target = CString::new(target).map_err(|_| refused("is a link with a zero byte"))?;
        clear_place(folder, name)?;
        trees::make_link(&target, folder, name).map_err(ImageError::sys(STEP))?;
        trees::set_modified_of(folder, name, member.modified).map_err(ImageError::sys(STEP))
    }

    /// One more name for a file of the tree. A link gets another link that leads to the same place: nobody could tell
    /// them apart, and nothing is followed.
    fn put_name(&self, member: &Member<'_>, folder: BorrowedFd<'_>, name: &CStr) -> Result<(), ImageError> {
        const STEP: &str = "give a file of an image another name";
        let refused = |what| self.hostile(&member.path, what);
        let target = Inside::read(&member.target, self.bounds()).map_err(refused)?;
        let Some((parts, old)) = target.split() else {
            return Err(refused("is another name for the root"));
        };
        let nothing = "is another name for what is not in the image";
        let from = match beneath::folder(&self.root, joined(parts).as_slice(), Links::Never) {
            Ok(from) => from,
            Err(Errno::NOENT) => return Err(refused(nothing)),
            Err(Errno::LOOP | Errno::NOTDIR) => {
                return Err(refused("is another name for what lies behind a link"));
            }
            Err(errno) => return Err(ImageError::sys(STEP)(errno)),
        };
        match beneath::status_of(&from, old).map(|status| (status.kind, status.identity)) {
            Ok((beneath::Kind::File, identity)) => {
                if beneath::status_of(folder, name).is_ok_and(|there| there.identity == identity) {
                    return Ok(());
                }
                clear_place(folder, name)?;
                match trees::add_name((from.as_fd(), old), (folder, name)) {
                    // It lay in the folder whose place its other name took.
                    Err(Errno::NOENT) => Err(refused(nothing)),
                    done => done.map_err(ImageError::sys(STEP)),
                }
            }
            Ok((beneath::Kind::Link, _)) => {
                let target = trees::read_link(&from, old).map_err(ImageError::sys(STEP))?;
                self.put_link(member, folder, name, &target)
            }
            Ok(_) => Err(refused("is another name for a folder")),
            Err(Errno::NOENT) => Err(refused(nothing)),
            Err(errno) => Err(ImageError::sys(STEP)(errno)),
        }
    }

    /// The folder that something goes into, made where it is missing.
    fn folder(&mut self, member: &Member<'_>, parts: &[CString]) -> Result<OwnedFd, ImageError> {
        for depth in 1..=parts.len() {
            self.seen.insert(mark(&joined(parts.get(..depth).unwrap_or_default())));
        }
        if let Some(folder) = self.existing(member, parts)? {
            return Ok(folder);
        }
        let step = ImageError::sys("make a folder of an image");
        let mut folder = beneath::folder(&self.root, c".", Links::Never).map_err(&step)?;
        for part in parts {
            folder = match beneath::folder(&folder, part.as_c_str(), Links::Never) {
                Ok(below) => below,
                Err(Errno::NOENT) => {
                    self.spending.entry()?;
                    put_folder(folder.as_fd(), part)?;
                    beneath::folder(&folder, part.as_c_str(), Links::Never).map_err(&step)?
                }
                Err(Errno::LOOP | Errno::NOTDIR) => return Err(self.hostile(&member.path, THROUGH)),
                Err(errno) => return Err(step(errno)),
            };
        }
        Ok(folder)
    }

    fn existing(&self, member: &Member<'_>, parts: &[CString]) -> Result<Option<OwnedFd>, ImageError> {
        match beneath::folder(&self.root, joined(parts).as_slice(), Links::Never) {
            Ok(folder) => Ok(Some(folder)),
            Err(Errno::NOENT) => Ok(None),
            Err(Errno::LOOP | Errno::NOTDIR) => Err(self.hostile(&member.path, THROUGH)),
            Err(errno) => Err(ImageError::sys("enter a folder of an image")(errno)),
        }
    }

    /// Takes away what lower layers have there. What this layer brought itself stays, whichever came first.
    fn whiteout(&mut self, member: &Member<'_>, parts: &[CString], gone: &[u8]) -> Result<(), ImageError> {
        if gone == b".wh..opq" {
            let folder = self.folder(member, parts)?;
            return self.clear(&folder, &joined(parts));
        }
        if gone.starts_with(b".wh.") {
            // What an old file system kept for itself.
            self.left_out.special += 1;
            return Ok(());
        }
        if matches!(gone, b"" | b"." | b"..") {
            return Err(self.hostile(&member.path, "would take away what is no file of the image"));
        }
        let Some(folder) = self.existing(member, parts)? else { return Ok(()) };
        let name =
            CString::new(gone).map_err(|_| self.hostile(&member.path, "has a zero byte in its name"))?;
        let path = joined(&[parts, std::slice::from_ref(&name)].concat());
        self.clear_one(folder.as_fd(), &name, &path)
    }

    fn clear(&self, folder: &OwnedFd, path: &[u8]) -> Result<(), ImageError> {
        for name in names(folder)? {
            let below =
                if path == b"." { name.to_bytes().to_vec() } else { [path, name.to_bytes()].join(&b'/') };
            self.clear_one(folder.as_fd(), &name, &below)?;
        }
        Ok(())
    }

    fn clear_one(&self, folder: BorrowedFd<'_>, name: &CStr, path: &[u8]) -> Result<(), ImageError> {
        if !self.seen.contains(&mark(path)) {
            return clear_place(folder, name);
        }
        match beneath::folder(folder, name, Links::Never) {
            Ok(own) => self.clear(&own, path),
            Err(Errno::NOENT | Errno::LOOP | Errno::NOTDIR) => Ok(()),
            Err(errno) => Err(ImageError::sys("enter a folder of an image")(errno)),
        }
    }
}

fn mark(path: &[u8]) -> Seen {
    let mut short = [0; 16];
    for (to, from) in short.iter_mut().zip(Sha256::digest(path)) {
        *to = from;
    }
    short
}

/// What others may do with a file: read what its owner may read, run what its owner may run, write nothing. We can
/// always read and write it ourselves.
fn permissions(mode: u32) -> u32 {
    let readable = mode & 0o400 != 0;
    let runnable = readable && mode & 0o100 != 0;
    0o600 | if readable { 0o044 } else { 0 } | if runnable { 0o111 } else { 0 }
}

fn put_folder(folder: BorrowedFd<'_>, name: &CStr) -> Result<(), ImageError> {
    let step = ImageError::sys("make a folder of an image");
    match beneath::status_of(folder, name) {
        Ok(there) if there.kind == beneath::Kind::Folder => return Ok(()),
        Ok(_) => beneath::remove(folder, name).map_err(&step)?,
        Err(Errno::NOENT) => {}
        Err(errno) => return Err(step(errno)),
    }
    beneath::make_folder(folder, name).map_err(&step)?;
    let made = beneath::folder(folder, name, Links::Never).map_err(&step)?;
    beneath::set_permissions(made, FOLDER).map_err(&step)
}

/// Takes away whatever has this name, with everything in it.
fn clear_place(folder: BorrowedFd<'_>, name: &CStr) -> Result<(), ImageError> {
    match beneath::status_of(folder, name) {
        Err(Errno::NOENT) => Ok(()),
        Err(errno) => Err(ImageError::sys("look at a file of an image")(errno)),
        Ok(there) if there.kind == beneath::Kind::Folder => remove_tree(folder, name),
        Ok(_) => beneath::remove(folder, name).map_err(ImageError::sys("remove a file of an image")),
    }
}

/// Removes a folder and everything in it. Links go themselves.
pub(crate) fn remove_tree(folder: BorrowedFd<'_>, name: &CStr) -> Result<(), ImageError> {
    let step = ImageError::sys("remove a folder of an image");
    let inner = beneath::folder(folder, name, Links::Never).map_err(&step)?;
    for below in names(&inner)? {
        clear_place(inner.as_fd(), &below)?;
    }
    beneath::remove_folder(folder, name).map_err(step)
}

fn names(folder: &OwnedFd) -> Result<Vec<CString>, ImageError> {
    let listed = beneath::names(folder, usize::MAX).map_err(ImageError::sys("list a folder of an image"))?;
    Ok(listed.0)
}
