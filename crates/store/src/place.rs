//! The data folder and the files in it: ours alone, no link, opened before anything is believed.
//!
//! It must never make a file that others can read, nor use one that others could have written. This is a door to the
//! disk of its own beside `bailiwick_config::files`, because the store holds its folder and appends to files in it.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bailiwick_audit::Keys;
use bailiwick_sys::clock;
use rustix::fs::{FileType, Mode, OFlags, Stat};
use rustix::io::Errno;
use zeroize::Zeroizing;

use crate::error::StoreError;

/// The database.
pub(crate) const STORE: &str = "store.db";
/// What the database writes beside itself.
pub(crate) const WAL: &str = "store.db-wal";
const SHM: &str = "store.db-shm";
/// The seed of the keys.
pub(crate) const KEY: &str = "audit.key";
/// The witness in the folder itself.
pub(crate) const HEADS: &str = "audit.heads";

/// The data folder, held open.
#[derive(Debug)]
pub(crate) struct Place {
    path: PathBuf,
    held: OwnedFd,
}

impl Place {
    /// Opens the folder, and makes it first where it is not there.
    pub(crate) fn open(path: &Path) -> Result<Self, StoreError> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let open = || rustix::fs::open(path, flags, Mode::empty());
        let held = match open() {
            Err(Errno::NOENT) => {
                std::fs::DirBuilder::new()
                    .recursive(true)
                    .mode(0o700)
                    .create(path)
                    .map_err(|source| StoreError::disk("make", path, source))?;
                open()
            }
            other => other,
        };
        let held = match held {
            Ok(held) => held,
            Err(Errno::NOTDIR | Errno::LOOP) => {
                return Err(StoreError::WrongKind { path: path.to_owned(), expected: "folder" });
            }
            Err(errno) => return Err(StoreError::disk("open", path, errno)),
        };
        let stat = rustix::fs::fstat(&held).map_err(|errno| StoreError::disk("look at", path, errno))?;
        refuse_others(path, &stat, 0o022)?;
        // The database takes a path; its folders may be links, but not ours.
        let path = std::fs::canonicalize(path).map_err(|source| StoreError::disk("look at", path, source))?;
        Ok(Self { path, held })
    }

    /// The path of a file in it.
    pub(crate) fn path_of(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Looks at the database and what lies beside it, and makes the database where there is none. The database itself
    /// gives what it writes beside it the permissions of this file.
    pub(crate) fn prepare_database(&self) -> Result<(), StoreError> {
        for name in [WAL, SHM] {
            self.open_file(name, OFlags::RDONLY)?;
        }
        match self.open_file(STORE, OFlags::RDONLY)? {
            Some(_) => Ok(()),
            None => self.make_file(STORE).map(drop),
        }
    }

    /// Opens a file that the database has made, to have it written to the disk.
    pub(crate) fn database_log(&self) -> Result<File, StoreError> {
        let gone = || StoreError::disk("open", &self.path_of(WAL), Errno::NOENT);
        self.open_file(WAL, OFlags::RDONLY)?.ok_or_else(gone)
    }

    /// Opens a file to append to, and makes it first where it is not there.
    pub(crate) fn appended(&self, name: &str) -> Result<File, StoreError> {
        let how = OFlags::RDWR | OFlags::APPEND;
        if let Some(file) = self.open_file(name, how)? {
            return Ok(file);
        }
        drop(self.make_file(name)?);
        let gone = || StoreError::disk("open", &self.path_of(name), Errno::NOENT);
        self.open_file(name, how)?.ok_or_else(gone)
    }

    /// Opens a file that is ours alone; none where there is none.
    pub(crate) fn open_file(&self, name: &str, how: OFlags) -> Result<Option<File>, StoreError> {
        let path = self.path_of(name);
        // Opening a pipe nobody writes to must not hang.
        let flags = how | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = match rustix::fs::openat(&self.held, name, flags, Mode::empty()) {
            Ok(file) => file,
            Err(Errno::NOENT) => return Ok(None),
            Err(Errno::LOOP | Errno::NXIO | Errno::ISDIR) => {
                return Err(StoreError::WrongKind { path, expected: "file" });
            }
            Err(errno) => return Err(StoreError::disk("open", &path, errno)),
        };
        let stat = rustix::fs::fstat(&file).map_err(|errno| StoreError::disk("look at", &path, errno))?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
            return Err(StoreError::WrongKind { path, expected: "file" });
        }
        refuse_others(&path, &stat, 0o077)?;
        Ok(Some(File::from(file)))
    }

    /// Makes a file that is not there.
    fn make_file(&self, name: &str) -> Result<File, StoreError> {
        let path = self.path_of(name);
        let failed = |errno| StoreError::disk("make", &path, errno);
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = rustix::fs::openat(&self.held, name, flags, Mode::RUSR | Mode::WUSR).map_err(failed)?;
        // The mask of the process may have taken more away than it should.
        rustix::fs::fchmod(&file, Mode::RUSR | Mode::WUSR).map_err(failed)?;
        // A name is safe only once its folder is.
        rustix::fs::fsync(&self.held).map_err(failed)?;
        Ok(File::from(file))
    }

    /// The keys, if there is a file for them.
    pub(crate) fn keys(&self) -> Result<Option<Keys>, StoreError> {
        let path = self.path_of(KEY);
        let Some(mut file) = self.open_file(KEY, OFlags::RDONLY)? else { return Ok(None) };
        let mut bytes = Zeroizing::new(Vec::with_capacity(33));
        Read::by_ref(&mut file)
            .take(33)
            .read_to_end(&mut bytes)
            .map_err(|source| StoreError::disk("read", &path, source))?;
        let damaged = || StoreError::DamagedKey { path: path.clone() };
        let seed: Zeroizing<[u8; 32]> = Zeroizing::new(bytes.as_slice().try_into().map_err(|_| damaged())?);
        Keys::from_seed(&seed).map(Some).map_err(|_| damaged())
    }

    /// Makes a key. It is on the disk, whole and under its name, before anything is sealed with it.
    pub(crate) fn make_keys(&self) -> Result<Keys, StoreError> {
        let path = self.path_of(KEY);
        let failed = |errno: Errno| StoreError::disk("make", &path, errno);
        let mut seed = Zeroizing::new([0; 32]);
        clock::random(seed.as_mut_slice()).map_err(|errno| StoreError::Random(Arc::new(errno.into())))?;
        let on_the_way = format!("{KEY}.new");
        // What a crash left.
        match rustix::fs::unlinkat(&self.held, &on_the_way, rustix::fs::AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => {}
            Err(errno) => return Err(failed(errno)),
        }
        let mut file = self.make_file(&on_the_way)?;
        file.write_all(seed.as_slice())
            .and_then(|()| file.sync_all())
            .map_err(|source| StoreError::disk("write", &path, source))?;
        rustix::fs::renameat(&self.held, &on_the_way, &self.held, KEY).map_err(failed)?;
        rustix::fs::fsync(&self.held).map_err(failed)?;
        Keys::from_seed(&seed).map_err(|_| StoreError::DamagedKey { path: path.clone() })
    }
}

/// Refuses what belongs to somebody else, or gives others more than it may.
pub(crate) fn refuse_others(path: &Path, stat: &Stat, forbidden: u32) -> Result<(), StoreError> {
    if stat.st_uid != rustix::process::geteuid().as_raw() {
        return Err(StoreError::ForeignOwner { path: path.to_owned() });
    }
    let mode = stat.st_mode & 0o777;
    if mode & forbidden != 0 {
        let take_away = if forbidden == 0o022 { "go-w" } else { "go=" };
        return Err(StoreError::NotPrivate { path: path.to_owned(), mode, take_away });
    }
    Ok(())
}
