//! Files and directories of the host that are resolved once and then used by descriptor only.
//!
//! A guest may write to a directory that somebody else names a path in, and can exchange a directory for a symbolic link between
//! any two look-ups. So a path is looked up once here, and every check and every mount that follows uses the descriptor. Start
//! at [`HeldFile::beneath`], which opens what callers over the network name; nothing here opens a path twice.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Weak};

use rustix::fs::{CWD, FileType, Mode, OFlags, ResolveFlags, fstat, openat, openat2, readlinkat};
use rustix::io::Errno;

use crate::beneath;

/// How often an opening is tried again when a rename elsewhere made the kernel unsure of the path.
const TRIES: u32 = 4096;
/// The most symbolic links in one path, as the kernel has it.
const MOST_LINKS: u32 = 40;

const HOLD: OFlags = OFlags::PATH.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// A device number and an inode number. While a file is held, no other file has its identity.
pub type Identity = (u64, u64);

/// A file or directory that is held by an `O_PATH` descriptor. Clones share the descriptor.
#[derive(Debug, Clone)]
pub struct HeldFile(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    descriptor: OwnedFd,
    /// The directory that a file was found in; a directory has `..` for that.
    above: Option<OwnedFd>,
    kind: FileType,
    identity: Identity,
    owner: (u32, u32),
}

impl PartialEq for HeldFile {
    /// Whether both are the same file, whatever its names.
    fn eq(&self, other: &Self) -> bool {
        self.identity() == other.identity()
    }
}

impl Eq for HeldFile {}

impl AsFd for HeldFile {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.descriptor.as_fd()
    }
}

/// A file that is held elsewhere, for as long as it is.
#[derive(Debug, Clone)]
pub struct WeakHeldFile(Weak<Inner>);

impl WeakHeldFile {
    /// The file, if it is still held.
    pub fn upgrade(&self) -> Option<HeldFile> {
        self.0.upgrade().map(HeldFile)
    }
}

/// Where symbolic links may lead that [`HeldFile::follow`] finds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Leads {
    /// Anywhere.
    Anywhere,
    /// Only to what lies in the directory that the link lies in.
    Within,
}

/// Why a path could not be held.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unheld {
    /// The system refused a part of it.
    #[error("{}: {errno}", .at.display())]
    System {
        /// The part that was looked up.
        at: PathBuf,
        /// What the system said.
        errno: Errno,
    },
    /// It is not absolute.
    #[error("{} is not an absolute path", .0.display())]
    Relative(PathBuf),
    /// A link leads out of the directory that it lies in.
    #[error("{} is a link out of its folder, to {}; name that if you mean it", .link.display(), .target.display())]
    LeadsOut {
        /// The link.
        link: PathBuf,
        /// Its target, as it is written.
        target: PathBuf,
    },
    /// A link lies below a directory that a guest may write to.
    #[error(
        "{} is a symbolic link, and a sandbox may write to a directory that it lies in; no link is followed there",
        .0.display()
    )]
    Guarded(PathBuf),
}

impl HeldFile {
    /// Holds a path from the root, with no symbolic link in it.
    pub fn open(path: &Path) -> Result<Self, Errno> {
        let root = openat(CWD, "/", HOLD, Mode::empty())?;
        Self::found(&root, path.strip_prefix("/").unwrap_or(path), ResolveFlags::empty())
    }

    /// Holds a path beneath this directory. The kernel follows no symbolic link (`ELOOP`) and never leaves the directory (`EXDEV`).
    pub fn beneath(&self, path: &Path) -> Result<Self, Errno> {
        if path.as_os_str().is_empty() {
            return Ok(self.clone());
        }
        Self::found(self, path, ResolveFlags::BENEATH)
    }

    fn found(root: &impl AsFd, path: &Path, how: ResolveFlags) -> Result<Self, Errno> {
        let how = how | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
        let (parent, name) = match (path.parent(), path.file_name()) {
            (Some(parent), Some(name)) => (parent, name),
            // The directory itself.
            _ if path.as_os_str().is_empty() => {
                return Self::of(resolve(root, OsStr::new("."), HOLD, how)?, None);
            }
            _ => return Err(Errno::INVAL),
        };
        let parent = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
        // Without NOFOLLOW a link at the end is `ELOOP` too.
        let above =
            resolve(root, parent.as_os_str(), OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, how)?;
        let found = resolve(&above, name, OFlags::PATH | OFlags::CLOEXEC, how | ResolveFlags::BENEATH)?;
        Self::of(found, Some(above))
    }

    /// Holds a path from the root and follows symbolic links, each once. A link below one of the `guarded` directories is never
    /// followed: a guest may have put it there.
    ///
    /// Every name is opened alone, in a directory that is held, so a name that changes meanwhile leads nowhere else.
    pub fn follow(path: &Path, leads: Leads, guarded: &[Self]) -> Result<Self, Unheld> {
        Walk { held: Vec::new(), leads, guarded, links: 0 }.go(path)
    }

    /// Holds what a descriptor stands for.
    fn of(descriptor: OwnedFd, above: Option<OwnedFd>) -> Result<Self, Errno> {
        let found = fstat(&descriptor)?;
        let kind = FileType::from_raw_mode(found.st_mode);
        Ok(Self(Arc::new(Inner {
            descriptor,
            above: above.filter(|_| !kind.is_dir()),
            kind,
            identity: (found.st_dev, found.st_ino),
            owner: (found.st_uid, found.st_gid),
        })))
    }

    /// The file for as long as somebody else holds it.
    pub fn downgrade(&self) -> WeakHeldFile {
        WeakHeldFile(Arc::downgrade(&self.0))
    }

    /// Whether it is a directory.
    pub fn is_directory(&self) -> bool {
        self.0.kind.is_dir()
    }

    /// Whether it is a regular file.
    pub fn is_file(&self) -> bool {
        self.0.kind.is_file()
    }

    /// Its device and inode number.
    pub fn identity(&self) -> Identity {
        self.0.identity
    }

    /// Its user and group.
    pub fn owner(&self) -> (u32, u32) {
        self.0.owner
    }

    /// Its path now. For messages, and for checks beside those by identity: what has a path now may have another one next.
    pub fn real_path(&self) -> Result<PathBuf, Errno> {
        beneath::real_path(self)
    }

    /// Opens the directory for listing.
    pub fn list(&self) -> Result<OwnedFd, Errno> {
        beneath::list_again(self)
    }

    /// Another descriptor of the same file, to be handed to another process.
    pub fn descriptor(&self) -> Result<OwnedFd, Errno> {
        rustix::io::fcntl_dupfd_cloexec(self, 3)
    }

    /// Whether it is this directory or lies in it, by the identity of every directory above it.
    pub fn is_within(&self, directory: &Self) -> Result<bool, Errno> {
        if self == directory {
            return Ok(true);
        }
        let mut here = match &self.0.above {
            Some(above) => rustix::io::fcntl_dupfd_cloexec(above, 3)?,
            None => openat(self, "..", HOLD | OFlags::DIRECTORY, Mode::empty())?,
        };
        loop {
            let found = identity(&here)?;
            if found == directory.identity() {
                return Ok(true);
            }
            let above = openat(&here, "..", HOLD | OFlags::DIRECTORY, Mode::empty())?;
            if identity(&above)? == found && beneath::real_path(&above)? == beneath::real_path(&here)? {
                return Ok(false);
            }
            here = above;
        }
    }
}

fn identity(file: &impl AsFd) -> Result<Identity, Errno> {
    fstat(file).map(|found| (found.st_dev, found.st_ino))
}

fn resolve(root: &impl AsFd, path: &OsStr, flags: OFlags, how: ResolveFlags) -> Result<OwnedFd, Errno> {
    let mut tries = 0;
    loop {
        match openat2(root, path, flags, Mode::empty(), how) {
            Err(Errno::AGAIN | Errno::INTR) if tries < TRIES => tries += 1,
            opened => return opened,
        }
    }
}

/// A walk down a path, one name at a time.
struct Walk<'a> {
    /// The directories that lead to where the walk is, the root first.
    held: Vec<HeldFile>,
    leads: Leads,
    guarded: &'a [HeldFile],
    links: u32,
}

/// What a walk has to do next.
enum Next {
    /// Look this name up.
    Name(OsString),
    /// Go to the directory above.
    Up,
    /// What a link led to is reached: it has to lie in this directory.
    Reached { within: Identity, link: PathBuf, target: PathBuf },
}

impl Walk<'_> {
    fn go(mut self, path: &Path) -> Result<HeldFile, Unheld> {
        let system = |at: &Path| {
            let at = at.to_owned();
            move |errno| Unheld::System { at, errno }
        };
        let root = openat(CWD, "/", HOLD, Mode::empty())
            .and_then(|root| HeldFile::of(root, None))
            .map_err(system(Path::new("/")))?;
        if !path.is_absolute() {
            return Err(Unheld::Relative(path.to_owned()));
        }
        self.held.push(root);
        let mut next: VecDeque<Next> = steps(path).collect();
        // Where the walk is by name, for messages only.
        let mut at = PathBuf::from("/");
        while let Some(step) = next.pop_front() {
            match step {
                Next::Up => {
                    if self.held.len() > 1 {
                        self.held.pop();
                        at.pop();
                    }
                }
                Next::Reached { within, link, target } => {
                    if !self.held.iter().any(|held| held.identity() == within) {
                        return Err(Unheld::LeadsOut { link, target });
                    }
                }
                Next::Name(name) => {
                    let place = at.join(&name);
                    let found = self.look(&name).map_err(system(&place))?;
                    if !found.0.kind.is_symlink() {
                        self.held.push(found);
                        at = place;
                        continue;
                    }
                    let target = self.target(&found, &place)?;
                    let here = self.held.last().map_or((0, 0), HeldFile::identity);
                    if self.leads == Leads::Within {
                        next.push_front(Next::Reached { within: here, link: place, target: target.clone() });
                    }
                    if target.is_absolute() {
                        self.held.truncate(1);
                        at = PathBuf::from("/");
                    }
                    steps(&target).rev().for_each(|step| next.push_front(step));
                }
            }
        }
        self.held.pop().ok_or_else(|| Unheld::Relative(path.to_owned()))
    }

    /// Opens a name in the directory where the walk is.
    fn look(&self, name: &OsStr) -> Result<HeldFile, Errno> {
        let here = self.held.last().filter(|here| here.is_directory()).ok_or(Errno::NOTDIR)?;
        let found = openat(here, name, HOLD, Mode::empty())?;
        HeldFile::of(found, Some(here.descriptor()?))
    }

    /// The target of a link, if it may be followed.
    fn target(&mut self, link: &HeldFile, place: &Path) -> Result<PathBuf, Unheld> {
        if self.held.iter().any(|held| self.guarded.contains(held)) {
            return Err(Unheld::Guarded(place.to_owned()));
        }
        self.links += 1;
        let target =
            if self.links > MOST_LINKS { Err(Errno::LOOP) } else { readlinkat(link, c"", Vec::new()) };
        let target = target.map_err(|errno| Unheld::System { at: place.to_owned(), errno })?;
        Ok(PathBuf::from(OsString::from_vec(target.into_bytes())))
    }
}

/// The steps of a path.
fn steps(path: &Path) -> impl DoubleEndedIterator<Item = Next> + '_ {
    path.components().filter_map(|part| match part {
        Component::Normal(name) => Some(Next::Name(name.to_owned())),
        Component::ParentDir => Some(Next::Up),
        _ => None,
    })
}

#[cfg(test)]
mod tests;
