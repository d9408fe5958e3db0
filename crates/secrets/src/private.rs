//! Folders and files that are ours alone: opened without following a link, looked at once open, replaced in one step.
//!
//! It must never read or write through a path that another user could have bent. Apart from the operator's files
//! (`bailiwick_config::files`) this is a door to the disk of its own, because secrets need the held folder and the lock.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, FileType, FlockOperation, Mode, OFlags, Stat};
use rustix::io::Errno;
use zeroize::Zeroizing;

use crate::error::SecretsError;

/// What others may do with a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Others {
    /// Nothing.
    Nothing,
    /// Look, and nothing else.
    Look,
}

/// A folder, held open. Closing it gives its lock back.
#[derive(Debug)]
pub(crate) struct Folder {
    path: PathBuf,
    held: OwnedFd,
}

/// Who else waits while a folder is locked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lock {
    /// Writers.
    Reading,
    /// Everybody.
    Writing,
}

impl Folder {
    /// Opens a folder that is there.
    pub(crate) fn open(path: &Path, others: Others) -> Result<Option<Self>, SecretsError> {
        let mut flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        if others == Others::Nothing {
            flags |= OFlags::NOFOLLOW;
        }
        let held = match rustix::fs::open(path, flags, Mode::empty()) {
            Ok(held) => held,
            Err(Errno::NOENT) => return Ok(None),
            Err(Errno::NOTDIR | Errno::LOOP) => {
                return Err(SecretsError::WrongKind { path: path.to_owned(), expected: "folder" });
            }
            Err(errno) => return Err(disk("open", path, errno)),
        };
        let stat = rustix::fs::fstat(&held).map_err(|errno| disk("look at", path, errno))?;
        let forbidden = match others {
            Others::Nothing => 0o077,
            // In a folder with the sticky bit nobody moves what is not theirs.
            Others::Look if stat.st_mode & 0o1000 != 0 => 0,
            Others::Look => 0o022,
        };
        let root_will_do = others == Others::Look;
        refuse_others(path, &stat, forbidden, root_will_do)?;
        Ok(Some(Self { path: path.to_owned(), held }))
    }

    /// Opens a folder, and makes it first where it is not there.
    pub(crate) fn make(path: &Path, others: Others) -> Result<Self, SecretsError> {
        if let Some(folder) = Self::open(path, others)? {
            return Ok(folder);
        }
        std::fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(path)
            .map_err(|source| SecretsError::Disk { step: "make", path: path.to_owned(), source })?;
        let gone = || disk("open", path, Errno::NOENT);
        Self::open(path, others)?.ok_or_else(gone)
    }

    /// Waits until nobody is in the way.
    pub(crate) fn lock(&self, lock: Lock) -> Result<(), SecretsError> {
        let operation = match lock {
            Lock::Reading => FlockOperation::LockShared,
            Lock::Writing => FlockOperation::LockExclusive,
        };
        loop {
            match rustix::fs::flock(&self.held, operation) {
                Err(Errno::INTR) => {}
                other => return other.map_err(|errno| disk("lock", &self.path, errno)),
            }
        }
    }

    /// Its path.
    #[cfg(feature = "keyring")]
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The path of a file in it.
    pub(crate) fn path_of(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Reads a file that is ours alone; none where there is none.
    pub(crate) fn read(&self, name: &str, most: u64) -> Result<Option<Zeroizing<Vec<u8>>>, SecretsError> {
        let path = self.path_of(name);
        // Opening a pipe nobody writes to must not hang.
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = match rustix::fs::openat(&self.held, name, flags, Mode::empty()) {
            Ok(file) => file,
            Err(Errno::NOENT) => return Ok(None),
            Err(Errno::LOOP | Errno::NXIO) => return Err(SecretsError::WrongKind { path, expected: "file" }),
            Err(errno) => return Err(disk("open", &path, errno)),
        };
        let stat = rustix::fs::fstat(&file).map_err(|errno| disk("look at", &path, errno))?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
            return Err(SecretsError::WrongKind { path, expected: "file" });
        }
        refuse_others(&path, &stat, 0o077, false)?;
        let size = u64::try_from(stat.st_size).unwrap_or(u64::MAX);
        if size > most {
            return Err(SecretsError::Damaged { path, what: "it is larger than it can be" });
        }
        // With all the room it needs, so that no growth leaves a copy behind.
        let room = usize::try_from(size).unwrap_or(0).saturating_add(1);
        let mut bytes = Zeroizing::new(Vec::with_capacity(room));
        File::from(file).take(room as u64).read_to_end(&mut bytes).map_err(|source| SecretsError::Disk {
            step: "read",
            path: path.clone(),
            source,
        })?;
        if bytes.len() as u64 != size {
            return Err(SecretsError::Damaged { path, what: "it changed while it was read" });
        }
        Ok(Some(bytes))
    }

    /// Puts bytes in the place of a file. A crash leaves the old or the new one, never a part. Only under the lock: the
    /// name on the way is the same for all.
    pub(crate) fn replace(&self, name: &str, bytes: &[u8]) -> Result<(), SecretsError> {
        let path = self.path_of(name);
        let failed = |errno| disk("write", &path, errno);
        let on_the_way = format!("{name}.new");
        // What a crash left.
        match rustix::fs::unlinkat(&self.held, &on_the_way, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => {}
            Err(errno) => return Err(failed(errno)),
        }
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file =
            rustix::fs::openat(&self.held, &on_the_way, flags, Mode::RUSR | Mode::WUSR).map_err(failed)?;
        // The mask of the process may have taken more away than it should.
        rustix::fs::fchmod(&file, Mode::RUSR | Mode::WUSR).map_err(failed)?;
        let mut file = File::from(file);
        file.write_all(bytes).and_then(|()| file.sync_all()).map_err(|source| SecretsError::Disk {
            step: "write",
            path: path.clone(),
            source,
        })?;
        rustix::fs::renameat(&self.held, &on_the_way, &self.held, name).map_err(failed)?;
        // The new name is safe only once its folder is.
        rustix::fs::fsync(&self.held).map_err(failed)
    }
}

fn disk(step: &'static str, path: &Path, errno: Errno) -> SecretsError {
    SecretsError::Disk { step, path: path.to_owned(), source: errno.into() }
}

fn refuse_others(path: &Path, stat: &Stat, forbidden: u32, root_will_do: bool) -> Result<(), SecretsError> {
    let ours = stat.st_uid == rustix::process::geteuid().as_raw();
    let fit = ours || (root_will_do && stat.st_uid == 0);
    if !fit {
        return Err(SecretsError::ForeignOwner { path: path.to_owned() });
    }
    let mode = stat.st_mode & 0o777;
    if mode & forbidden != 0 {
        let take_away = if forbidden == 0o022 { "go-w" } else { "go=" };
        return Err(SecretsError::NotPrivate { path: path.to_owned(), mode, take_away });
    }
    Ok(())
}
