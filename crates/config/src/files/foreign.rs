//! A file that belongs to another program, changed for a person who said so.
//!
//! What it held is kept beside it, its permissions stay, and a link in its place stays a link: what it points at is
//! changed. What somebody else wrote after it was read is never written over, nor is a file that was made read-only,
//! belongs to another user or can be written by everybody.

use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use super::{FileError, NOFOLLOW, NONBLOCK, Readers, Replacement, create, open, read_bounded};

/// The largest file that is changed. Some programs keep their whole history beside their settings.
const MOST_FOREIGN: u64 = 32 << 20;
/// How many copies of one moment are kept.
const MOST_KEPT: u32 = 100;

/// Why a file of another program was not read or changed.
#[derive(Debug, thiserror::Error)]
pub enum ForeignError {
    /// As any file.
    #[error(transparent)]
    File(#[from] FileError),
    /// Somebody wrote to it since it was read.
    #[error("{} has changed since it was read; nothing was written", path.display())]
    Changed {
        /// The file.
        path: PathBuf,
    },
    /// Its owner made it read-only.
    #[error("{} is read-only", path.display())]
    ReadOnly {
        /// The file.
        path: PathBuf,
    },
    /// A link out of the folder it was looked for in.
    #[error("{} leads out of its folder, to {}", path.display(), real.display())]
    LeadsOut {
        /// The file as it was named.
        path: PathBuf,
        /// Where it leads.
        real: PathBuf,
    },
    /// A link to nothing.
    #[error("{} is a link that leads nowhere", path.display())]
    DeadLink {
        /// The link.
        path: PathBuf,
    },
}

impl ForeignError {
    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::File(error) => error.hint(),
            Self::Changed { .. } => Some("end the program that writes to it, and do it again".to_owned()),
            Self::ReadOnly { path } => Some(format!("if it is meant: chmod u+w {}", path.display())),
            Self::LeadsOut { real, .. } => {
                Some(format!("if it is meant, name that file: --file {}", real.display()))
            }
            Self::DeadLink { .. } => Some("remove the link, or make the file it points at".to_owned()),
        }
    }
}

/// How far a link may lead.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Links<'a> {
    /// Anywhere: the folders are the person's own.
    Anywhere,
    /// Within this folder, which may hold what a stranger wrote.
    Within(&'a Path),
}

/// A file as it was read, or its free place.
#[derive(Debug)]
pub struct Foreign {
    named: PathBuf,
    real: PathBuf,
    before: Option<Before>,
}

#[derive(Debug, PartialEq, Eq)]
struct Before {
    text: String,
    mode: u32,
}

impl Foreign {
    /// Reads it, if it is there.
    pub fn read(path: &Path, links: Links<'_>) -> Result<Self, ForeignError> {
        let real = resolved(path)?;
        if let Links::Within(folder) = links {
            let folder = resolved(folder)?;
            if !real.starts_with(&folder) {
                return Err(ForeignError::LeadsOut { path: path.to_owned(), real });
            }
        }
        let before = read(&real)?;
        Ok(Self { named: path.to_owned(), real, before })
    }

    /// What it holds.
    pub fn text(&self) -> Option<&str> {
        self.before.as_ref().map(|before| before.text.as_str())
    }

    /// Where it really is.
    pub fn real(&self) -> &Path {
        &self.real
    }

    /// Whether a link leads to it.
    pub fn is_linked(&self) -> bool {
        self.named.symlink_metadata().is_ok_and(|metadata| metadata.is_symlink())
    }

    /// Puts this text in its place, in one step, if it is still as it was read. Gives the copy of what was there, which
    /// only its owner can read.
    pub fn replace(&self, text: &str, moment: &str) -> Result<Option<PathBuf>, ForeignError> {
        if self.before.as_ref().is_some_and(|before| before.mode & 0o200 == 0) {
            return Err(ForeignError::ReadOnly { path: self.real.clone() });
        }
        let kept = match &self.before {
            Some(before) => Some(self.keep(before, moment)?),
            None => None,
        };
        match (self.write(text), kept) {
            (Ok(()), kept) => Ok(kept),
            (Err(error), Some(kept)) => {
                // What it is a copy of is still there.
                let _left_behind = std::fs::remove_file(kept);
                Err(error)
            }
            (Err(error), None) => Err(error),
        }
    }

    fn keep(&self, before: &Before, moment: &str) -> Result<PathBuf, ForeignError> {
        let mut number = 1;
        loop {
            let more = if number == 1 { String::new() } else { format!("-{number}") };
            let mut name = self.named.clone().into_os_string();
            name.push(format!(".bailiwick-backup-{moment}{more}"));
            let path = PathBuf::from(name);
            match create(&path, &before.text, Readers::Owner) {
                Ok(()) => return Ok(path),
                Err(FileError::Write { source, .. })
                    if source.kind() == ErrorKind::AlreadyExists && number < MOST_KEPT =>
                {
                    number += 1;
                }
                Err(error) => return Err(error.into()),
            }
        }
    }

    fn write(&self, text: &str) -> Result<(), ForeignError> {
        let mode = self.before.as_ref().map_or(Readers::Owner.mode(), |before| before.mode);
        let mut replacement = Replacement::with_mode(&self.real, mode)?;
        replacement.write(text)?;
        // On the disk first, so that little time passes between the look and the step.
        let failed = |source| FileError::Write { path: self.real.clone(), source };
        replacement.temporary.as_file().sync_all().map_err(failed)?;
        let changed = || ForeignError::Changed { path: self.named.clone() };
        if resolved(&self.named)? != self.real || read(&self.real)? != self.before {
            return Err(changed());
        }
        if self.before.is_some() {
            return Ok(replacement.take_its_place()?);
        }
        replacement.take_a_free_place().map_err(|error| match error {
            FileError::Write { source, .. } if source.kind() == ErrorKind::AlreadyExists => changed(),
            error => error.into(),
        })
    }
}

/// Where a path really leads: through every link, also where the end of it is not there yet.
fn resolved(path: &Path) -> Result<PathBuf, ForeignError> {
    let failed = |source| FileError::Open { path: path.to_owned(), source };
    let mut rest = Vec::new();
    let mut here = path;
    loop {
        match here.symlink_metadata() {
            Ok(found) => {
                let real = match here.canonicalize() {
                    Err(error) if error.kind() == ErrorKind::NotFound && found.is_symlink() => {
                        return Err(ForeignError::DeadLink { path: here.to_owned() });
                    }
                    real => real.map_err(failed)?,
                };
                return Ok(rest.iter().rev().fold(real, |real, name| real.join(name)));
            }
            Err(error) if error.kind() == ErrorKind::NotFound => {
                let (Some(name), Some(above)) = (here.file_name(), here.parent()) else {
                    return Err(failed(error).into());
                };
                rest.push(name);
                here = above;
            }
            Err(error) => return Err(failed(error).into()),
        }
    }
}

fn read(real: &Path) -> Result<Option<Before>, FileError> {
    let mut file = match open(real, NONBLOCK | NOFOLLOW) {
        Ok(file) => file,
        Err(FileError::Open { source, .. }) if source.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let metadata = file.metadata().map_err(|source| FileError::Read { path: real.to_owned(), source })?;
    if !metadata.is_file() {
        return Err(FileError::NotRegular { path: real.to_owned() });
    }
    if metadata.uid() != rustix::process::geteuid().as_raw() {
        return Err(FileError::ForeignOwner { path: real.to_owned() });
    }
    if metadata.mode() & 0o002 != 0 {
        return Err(FileError::WritableByAll { path: real.to_owned() });
    }
    let text = read_bounded(real, &mut file, MOST_FOREIGN)?;
    Ok(Some(Before { text, mode: metadata.mode() & 0o777 }))
}

#[cfg(test)]
mod tests;
