//! The folder of the store: what lies where, how something gets into its place in one step, and who may change it.
//!
//! Everything is written into `staging` first and renamed when it is whole, so whatever instant the power or the process
//! ends at, nothing half has a name. Whoever opens the store sweeps `staging`, unless somebody is at work.

use std::ffi::{CStr, CString};
use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use bailiwick_sys::beneath::{self, Kind, Links, Taken};
use bailiwick_sys::{Errno, trees};

use crate::unpack::remove_tree;
use crate::{Digest, ImageError};

/// The folders, held.
#[derive(Debug)]
pub(crate) struct Places {
    path: PathBuf,
    root: OwnedFd,
    blobs: OwnedFd,
    trees: OwnedFd,
    staging: OwnedFd,
}

/// The right to change the store, until it is dropped.
#[derive(Debug)]
pub(crate) struct Turn {
    _lock: File,
}

impl Places {
    /// Opens the store in a folder, which is made where it is missing.
    pub(crate) fn open(path: &Path) -> Result<Self, ImageError> {
        use std::os::unix::fs::DirBuilderExt as _;
        let step = ImageError::io("make the folder of the images");
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(step)?;
        let root = beneath::hold_itself(path).map_err(ImageError::sys("open the folder of the images"))?;
        let seen = beneath::status(&root).map_err(ImageError::sys("look at the folder of the images"))?;
        if seen.permissions & 0o022 != 0 {
            let why = "others can write to it, so nobody vouches for what is in it; `chmod go-w` it";
            return Err(ImageError::Source { path: path.display().to_string(), why: why.to_owned() });
        }
        let blobs = made(made(root.as_fd(), c"blobs")?.as_fd(), c"sha256")?;
        let trees = made(root.as_fd(), c"trees")?;
        let staging = made(root.as_fd(), c"staging")?;
        let places = Self { path: path.to_owned(), root, blobs, trees, staging };
        match places.turn() {
            Ok(_turn) => places.sweep()?,
            Err(ImageError::Busy) => {}
            Err(error) => return Err(error),
        }
        Ok(places)
    }

    /// Takes the right to change the store; [`ImageError::Busy`] when another process has it.
    pub(crate) fn turn(&self) -> Result<Turn, ImageError> {
        let step = ImageError::sys("take the lock of the images");
        let lock = match beneath::create(&self.root, c"lock") {
            Ok(lock) => lock,
            Err(Errno::EXIST) => {
                let held = beneath::look(&self.root, c"lock", Links::Never).map_err(&step)?;
                beneath::read_again(held).map_err(&step)?.0
            }
            Err(errno) => return Err(step(errno)),
        };
        if beneath::claim(&lock).map_err(step)? { Ok(Turn { _lock: lock }) } else { Err(ImageError::Busy) }
    }

    /// Takes away what somebody left who did not end well. A place that cannot be told from a case-blind one is refused.
    fn sweep(&self) -> Result<(), ImageError> {
        for name in Self::listed(self.staging.as_fd())? {
            self.throw_away(&name)?;
        }
        let step = ImageError::sys("try the folder of the images");
        drop(beneath::create(&self.staging, c"case").map_err(&step)?);
        let blind = beneath::status_of(&self.staging, c"CASE").is_ok();
        beneath::remove(&self.staging, c"case").map_err(step)?;
        if blind {
            let why = "its file system takes `A` and `a` for one name, and images do not";
            return Err(ImageError::Source { path: self.path.display().to_string(), why: why.to_owned() });
        }
        Ok(())
    }

    pub(crate) fn listed(folder: BorrowedFd<'_>) -> Result<Vec<CString>, ImageError> {
        Ok(beneath::names(folder, usize::MAX).map_err(ImageError::sys("list the images"))?.0)
    }

    pub(crate) fn blobs(&self) -> BorrowedFd<'_> {
        self.blobs.as_fd()
    }

    pub(crate) fn trees(&self) -> BorrowedFd<'_> {
        self.trees.as_fd()
    }

    /// Where the root of a tree is for the rest of the machine.
    pub(crate) fn root_of(&self, chain: &Digest) -> PathBuf {
        self.path.join("trees").join(chain.hex()).join("root")
    }

    /// A new file in staging.
    pub(crate) fn stage_file(&self) -> Result<(CString, File), ImageError> {
        let name = fresh()?;
        let file =
            beneath::create(&self.staging, &name).map_err(ImageError::sys("begin a file of an image"))?;
        Ok((name, file))
    }

    /// A new folder in staging.
    pub(crate) fn stage_folder(&self) -> Result<(CString, OwnedFd), ImageError> {
        let name = fresh()?;
        let folder = made(self.staging.as_fd(), &name)?;
        Ok((name, folder))
    }

    /// Gives something that was staged, and is whole, its place.
    pub(crate) fn settle(
        &self,
        staged: &CStr,
        folder: BorrowedFd<'_>,
        name: &CStr,
    ) -> Result<(), ImageError> {
        let step = ImageError::sys("put a part of an image in its place");
        let moved = beneath::rename((self.staging.as_fd(), staged), (folder, name), Taken::Replace);
        moved.map_err(&step)?;
        beneath::sync(folder).map_err(step)
    }

    /// Takes something out of its place, at once, and then removes it.
    pub(crate) fn remove(&self, folder: BorrowedFd<'_>, name: &CStr) -> Result<(), ImageError> {
        let gone = fresh()?;
        let moved = beneath::rename((folder, name), (self.staging.as_fd(), &gone), Taken::Refuse);
        moved.map_err(ImageError::sys("take a part of an image out of its place"))?;
        self.throw_away(&gone)
    }

    /// Removes what is staged.
    pub(crate) fn throw_away(&self, staged: &CStr) -> Result<(), ImageError> {
        let step = ImageError::sys("remove what was left of an image");
        match beneath::status_of(&self.staging, staged) {
            Err(Errno::NOENT) => Ok(()),
            Err(errno) => Err(step(errno)),
            Ok(there) if there.kind == Kind::Folder => remove_tree(self.staging.as_fd(), staged),
            Ok(_) => beneath::remove(&self.staging, staged).map_err(step),
        }
    }

    /// Everything that was written is on the disk after this.
    pub(crate) fn sync_all(&self) -> Result<(), ImageError> {
        trees::sync_all(&self.root).map_err(ImageError::sys("wait until an image is on the disk"))
    }

    /// Reads a small file of the store; none when there is no such file.
    pub(crate) fn small(
        folder: BorrowedFd<'_>,
        name: &CStr,
        most: u64,
    ) -> Result<Option<Vec<u8>>, ImageError> {
        let Some((file, _)) = read(folder, name)? else { return Ok(None) };
        let mut bytes = Vec::new();
        file.take(most + 1).read_to_end(&mut bytes).map_err(ImageError::io("read a part of an image"))?;
        if bytes.len() as u64 > most {
            return Err(ImageError::malformed(
                "a part of an image in the store",
                format!("it has more than {most} bytes"),
            ));
        }
        Ok(Some(bytes))
    }

    /// Puts a small file in its place in one step.
    pub(crate) fn replace(
        &self,
        folder: BorrowedFd<'_>,
        name: &CStr,
        bytes: &[u8],
    ) -> Result<(), ImageError> {
        let (staged, mut file) = self.stage_file()?;
        file.write_all(bytes).map_err(ImageError::io("write a part of an image"))?;
        beneath::sync(&file).map_err(ImageError::sys("write a part of an image"))?;
        self.settle(&staged, folder, name)
    }

    /// The folder of the store itself.
    pub(crate) fn root(&self) -> BorrowedFd<'_> {
        self.root.as_fd()
    }
}

/// A regular file, and its length.
pub(crate) fn read(folder: BorrowedFd<'_>, name: &CStr) -> Result<Option<(File, u64)>, ImageError> {
    let step = ImageError::sys("read a part of an image");
    match beneath::look(folder, name, Links::Never) {
        Err(Errno::NOENT) => Ok(None),
        Err(errno) => Err(step(errno)),
        Ok(held) => {
            let (file, status) = beneath::read_again(held).map_err(step)?;
            Ok(Some((file, status.size)))
        }
    }
}

/// A folder of ours, made where it is missing.
pub(crate) fn made(folder: BorrowedFd<'_>, name: &CStr) -> Result<OwnedFd, ImageError> {
    let step = ImageError::sys("make a folder of the store");
    match beneath::make_folder(folder, name) {
        Ok(()) | Err(Errno::EXIST) => beneath::folder(folder, name, Links::Never).map_err(step),
        Err(errno) => Err(step(errno)),
    }
}

/// A name that nothing has.
fn fresh() -> Result<CString, ImageError> {
    let bytes = beneath::unguessable().map_err(ImageError::sys("make a name up"))?;
    name(&crate::digest::hex(&bytes))
}

/// A word of ours as the name of a file.
pub(crate) fn name(word: &str) -> Result<CString, ImageError> {
    CString::new(word).map_err(|_| ImageError::malformed("a name in the store", "it has a zero byte"))
}
