//! Files of the operator: read with a bound, replaced in one step.
//!
//! This is the only door to the disk outside the gateway, and it must never be used on a guest's behalf. Files of other
//! programs are in [`foreign`].

pub mod foreign;

use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// The largest document that is read.
pub const MOST_BYTES: u64 = 1 << 20;

/// `O_NONBLOCK` on Linux: opening a pipe nobody writes to must not hang.
const NONBLOCK: i32 = 0o4000;
/// `O_NOFOLLOW`: a link in the place of a private file is nobody's.
const NOFOLLOW: i32 = rustix::fs::OFlags::NOFOLLOW.bits().cast_signed();

/// Why a file was not read or written.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// It could not be opened.
    #[error("cannot open {}: {source}", path.display())]
    Open {
        /// The file.
        path: PathBuf,
        /// The system's word.
        source: std::io::Error,
    },
    /// It could not be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's word.
        source: std::io::Error,
    },
    /// It is a folder, a pipe or a device.
    #[error("{} is not a regular file", path.display())]
    NotRegular {
        /// The file.
        path: PathBuf,
    },
    /// Everybody may write to it, so nobody vouches for it.
    #[error("{} can be written by every user of this machine", path.display())]
    WritableByAll {
        /// The file.
        path: PathBuf,
    },
    /// It belongs to somebody else, who could change it at any time.
    #[error("{} belongs to another user", path.display())]
    ForeignOwner {
        /// The file.
        path: PathBuf,
    },
    /// Others can read or write what is its owner's alone.
    #[error("{} can be read or written by other users (mode {mode:03o})", path.display())]
    NotPrivate {
        /// The file.
        path: PathBuf,
        /// Its permissions.
        mode: u32,
    },
    /// It is larger than any document.
    #[error("{} has more than {most} bytes", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// How many it may have.
        most: u64,
    },
    /// It is not text.
    #[error("{} is not UTF-8 text", path.display())]
    NotText {
        /// The file.
        path: PathBuf,
    },
    /// It could not be replaced; what was there before is still there.
    #[error("cannot write {}: {source}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The system's word.
        source: std::io::Error,
    },
}

impl FileError {
    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::WritableByAll { path } => Some(format!("chmod o-w {}", path.display())),
            Self::ForeignOwner { path } => Some(format!("if it is meant: chown $USER {}", path.display())),
            Self::NotPrivate { path, .. } => Some(format!("chmod 600 {}", path.display())),
            Self::NotRegular { .. } => Some("name a file".to_owned()),
            Self::NotText { .. } => Some("save it as UTF-8".to_owned()),
            Self::Write { .. } => Some("check that the folder exists and can be written".to_owned()),
            Self::TooLarge { .. } => Some("shorten it, or check that it is the file you mean".to_owned()),
            Self::Open { source, .. } if source.kind() == std::io::ErrorKind::NotFound => {
                Some("check the name and the working folder".to_owned())
            }
            Self::Open { .. } | Self::Read { .. } => Some("check its permissions".to_owned()),
        }
    }
}

/// Reads a document that a person named; `-` and pipes are fine.
pub fn read_document(path: &Path) -> Result<String, FileError> {
    if path == Path::new("-") {
        return read_text(path, &mut std::io::stdin().lock());
    }
    let mut file = open(path, 0)?;
    if is_folder(&file, path)? {
        return Err(FileError::NotRegular { path: path.to_owned() });
    }
    read_text(path, &mut file)
}

/// The most bytes of a recording.
const MOST_RECORDED: u64 = 256 << 20;

/// Reads a recording that a person named: a document that a program wrote, and may be long.
pub fn read_recording(path: &Path) -> Result<String, FileError> {
    let mut file = open(path, 0)?;
    if is_folder(&file, path)? {
        return Err(FileError::NotRegular { path: path.to_owned() });
    }
    read_bounded(path, &mut file, MOST_RECORDED)
}

/// Opens a file that a person named, to be read piece by piece by somebody who has bounds of their own.
pub fn open_long(path: &Path) -> Result<impl BufRead + use<>, FileError> {
    let file = open(path, 0)?;
    if is_folder(&file, path)? {
        return Err(FileError::NotRegular { path: path.to_owned() });
    }
    Ok(BufReader::new(file))
}

/// Reads a configuration file, if there is one: a regular file that not everybody can write.
pub fn read_config(path: &Path) -> Result<Option<String>, FileError> {
    let mut file = match open(path, NONBLOCK) {
        Ok(file) => file,
        Err(FileError::Open { source, .. })
            if matches!(source.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory) =>
        {
            return Ok(None);
        }
        Err(error) => return Err(error),
    };
    let metadata = file.metadata().map_err(|source| FileError::Read { path: path.to_owned(), source })?;
    if !metadata.is_file() {
        return Err(FileError::NotRegular { path: path.to_owned() });
    }
    let owner = metadata.uid();
    if owner != 0 && owner != rustix::process::geteuid().as_raw() {
        return Err(FileError::ForeignOwner { path: path.to_owned() });
    }
    if metadata.mode() & 0o002 != 0 {
        return Err(FileError::WritableByAll { path: path.to_owned() });
    }
    read_text(path, &mut file).map(Some)
}

/// The largest file that holds one key.
const MOST_KEY: u64 = 4096;

/// Reads a file that is this user's alone, if there is one: a regular file, no link, that nobody else can read.
pub fn read_private(path: &Path) -> Result<Option<String>, FileError> {
    let mut file = match open(path, NONBLOCK | NOFOLLOW) {
        Ok(file) => file,
        Err(FileError::Open { source, .. }) if source.kind() == std::io::ErrorKind::NotFound => {
            return Ok(None);
        }
        Err(error) => return Err(error),
    };
    let metadata = file.metadata().map_err(|source| FileError::Read { path: path.to_owned(), source })?;
    if !metadata.is_file() {
        return Err(FileError::NotRegular { path: path.to_owned() });
    }
    if metadata.uid() != rustix::process::geteuid().as_raw() {
        return Err(FileError::ForeignOwner { path: path.to_owned() });
    }
    let mode = metadata.mode() & 0o777;
    if mode & 0o077 != 0 {
        return Err(FileError::NotPrivate { path: path.to_owned(), mode });
    }
    read_bounded(path, &mut file, MOST_KEY).map(Some)
}

/// Who may read a file that is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Readers {
    /// Its owner alone: keys, records, settings.
    Owner,
    /// Everybody: manual pages, documents.
    Everybody,
}

impl Readers {
    const fn mode(self) -> u32 {
        match self {
            Self::Owner => 0o600,
            Self::Everybody => 0o644,
        }
    }
}

/// Puts a text in the place of a file. A crash leaves the old or the new one, never a part.
pub fn replace(path: &Path, text: &str, readers: Readers) -> Result<(), FileError> {
    let mut replacement = Replacement::begin(path, readers)?;
    replacement.write(text)?;
    replacement.take_its_place()
}

/// Puts a text into a file that is not there yet. What is there, or comes meanwhile, stays as it is.
pub fn create(path: &Path, text: &str, readers: Readers) -> Result<(), FileError> {
    let mut replacement = Replacement::begin(path, readers)?;
    replacement.write(text)?;
    replacement.take_a_free_place()
}

/// A file that is written piece by piece beside its place. Dropped before it takes that, it leaves nothing behind.
#[derive(Debug)]
pub struct Replacement {
    temporary: tempfile::NamedTempFile,
    path: PathBuf,
}

impl Replacement {
    /// Begins with nothing; the folder is made if it is not there.
    pub fn begin(path: &Path, readers: Readers) -> Result<Self, FileError> {
        Self::with_mode(path, readers.mode())
    }

    fn with_mode(path: &Path, mode: u32) -> Result<Self, FileError> {
        let write = |source| FileError::Write { path: path.to_owned(), source };
        let folder = folder_of(path);
        std::fs::DirBuilder::new().recursive(true).create(folder).map_err(write)?;
        let temporary = tempfile::NamedTempFile::new_in(folder).map_err(write)?;
        let permissions = std::fs::Permissions::from_mode(mode);
        temporary.as_file().set_permissions(permissions).map_err(write)?;
        Ok(Self { temporary, path: path.to_owned() })
    }

    /// Adds a text.
    pub fn write(&mut self, text: &str) -> Result<(), FileError> {
        let Self { temporary, path } = self;
        temporary.write_all(text.as_bytes()).map_err(|source| FileError::Write { path: path.clone(), source })
    }

    /// Takes the place of what is there.
    pub fn take_its_place(self) -> Result<(), FileError> {
        self.take(|temporary, path| temporary.persist(path).map(drop).map_err(|error| error.error))
    }

    /// Takes the place where nothing is.
    pub fn take_a_free_place(self) -> Result<(), FileError> {
        self.take(|temporary, path| temporary.persist_noclobber(path).map(drop).map_err(|error| error.error))
    }

    fn take(
        self,
        persist: impl FnOnce(tempfile::NamedTempFile, &Path) -> std::io::Result<()>,
    ) -> Result<(), FileError> {
        let Self { temporary, path } = self;
        let write = |source| FileError::Write { path: path.clone(), source };
        temporary.as_file().sync_all().map_err(write)?;
        persist(temporary, &path).map_err(write)?;
        // The new name is safe only once its folder is.
        open(folder_of(&path), 0)?.sync_all().map_err(write)
    }
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn open(path: &Path, flags: i32) -> Result<File, FileError> {
    OpenOptions::new()
        .read(true)
        .custom_flags(flags)
        .open(path)
        .map_err(|source| FileError::Open { path: path.to_owned(), source })
}

fn is_folder(file: &File, path: &Path) -> Result<bool, FileError> {
    let metadata = file.metadata().map_err(|source| FileError::Read { path: path.to_owned(), source })?;
    Ok(metadata.is_dir())
}

fn read_text(path: &Path, from: &mut impl Read) -> Result<String, FileError> {
    read_bounded(path, from, MOST_BYTES)
}

fn read_bounded(path: &Path, from: &mut impl Read, most: u64) -> Result<String, FileError> {
    let mut bytes = Vec::new();
    let mut bounded = from.take(most + 1);
    bounded.read_to_end(&mut bytes).map_err(|source| FileError::Read { path: path.to_owned(), source })?;
    if bytes.len() as u64 > most {
        return Err(FileError::TooLarge { path: path.to_owned(), most });
    }
    String::from_utf8(bytes).map_err(|_| FileError::NotText { path: path.to_owned() })
}

#[cfg(test)]
mod tests;
