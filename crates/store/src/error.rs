//! Why something was not read or kept: what happened, to which file, and what to do.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use bailiwick_audit::ChainError;
use bailiwick_types::ErrorCode;

/// A failure of the store. Whatever was acknowledged before is still there.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// A step on the disk failed.
    #[error("cannot {step} {}: {source}", path.display())]
    Disk {
        /// What was being done.
        step: &'static str,
        /// To what.
        path: PathBuf,
        /// The system's word.
        source: Arc<std::io::Error>,
    },
    /// Other users can get at it.
    #[error("{} can be read or written by other users (mode {mode:03o})", path.display())]
    NotPrivate {
        /// The file or folder.
        path: PathBuf,
        /// Its permissions.
        mode: u32,
        /// The permissions it must not have, as `chmod` takes them.
        take_away: &'static str,
    },
    /// It belongs to somebody else.
    #[error("{} belongs to another user", path.display())]
    ForeignOwner {
        /// The file or folder.
        path: PathBuf,
    },
    /// It is a link, or no file of the expected kind.
    #[error("{} is not a {expected}, or is a link to one", path.display())]
    WrongKind {
        /// The file or folder.
        path: PathBuf,
        /// What it should be.
        expected: &'static str,
    },
    /// Somebody else has the store open.
    #[error("{} is open already", path.display())]
    InUse {
        /// The store.
        path: PathBuf,
    },
    /// There is a store, but no key.
    #[error("the key {} of the store is missing", path.display())]
    MissingKey {
        /// Where it should be.
        path: PathBuf,
    },
    /// There is a key, but of another store.
    #[error("the key {} is not the one that the store was written with", path.display())]
    WrongKey {
        /// The key.
        path: PathBuf,
    },
    /// The key has another size than it was given.
    #[error("the key {} is damaged", path.display())]
    DamagedKey {
        /// The key.
        path: PathBuf,
    },
    /// The file is no store, or was damaged.
    #[error("{} is damaged, or not a store: {what}", path.display())]
    Damaged {
        /// The store.
        path: PathBuf,
        /// What was seen.
        what: String,
    },
    /// The file was written by a later version.
    #[error("{} has format {version}, and this version knows formats up to {known}", path.display())]
    NewerFormat {
        /// The store.
        path: PathBuf,
        /// Its format.
        version: i64,
        /// The newest that is known.
        known: i64,
    },
    /// There is no room on the disk. Nothing was changed.
    #[error("there is no room to {step}")]
    NoRoom {
        /// What was being done.
        step: &'static str,
    },
    /// A statement failed. Nothing of its job was kept.
    #[error("cannot {step}: {message}")]
    Sql {
        /// What was being done.
        step: &'static str,
        /// The database's word.
        message: String,
    },
    /// A tool of another id has this name.
    #[error("there is a tool called {name} already")]
    NameTaken {
        /// The name.
        name: String,
    },
    /// The entry cannot be put on the record.
    #[error(transparent)]
    Chain(#[from] ChainError),
    /// A number is larger than the store can keep.
    #[error("{what} is larger than the store can keep")]
    Number {
        /// Which.
        what: &'static str,
    },
    /// A value was changed in the file by something else than us.
    #[error("the value of {key} was changed behind our back")]
    Edited {
        /// The key it is kept under.
        key: String,
    },
    /// Retention may remove only what is signed, and the head it would keep is not right.
    #[error(
        "records up to {seq} cannot be removed: the head for {seq} is not ours, or speaks of another record"
    )]
    NotProvable {
        /// The record.
        seq: u64,
    },
    /// The database gave up a transaction because of another job in it.
    #[error("the write was undone with the one beside it")]
    Undone,
    /// The disk failed to keep what it had taken, so nothing more is acknowledged.
    #[error("the disk failed before, so nothing more is written: {0}")]
    Failed(Arc<StoreError>),
    /// The store is closed.
    #[error("the store is closed")]
    Closed,
    /// A read ended by a panic.
    #[error("the read ended by a panic")]
    Panicked,
    /// The system has no random bytes.
    #[error("cannot get random bytes: {0}")]
    Random(Arc<std::io::Error>),
    /// The thread that writes could not be started.
    #[error("cannot start the thread that writes: {0}")]
    Thread(Arc<std::io::Error>),
}

impl StoreError {
    pub(crate) fn disk(step: &'static str, path: &Path, source: impl Into<std::io::Error>) -> Self {
        Self::Disk { step, path: path.to_owned(), source: Arc::new(source.into()) }
    }

    /// Turns the database's word into ours.
    pub(crate) fn sql(step: &'static str, path: &Path) -> impl Fn(rusqlite::Error) -> Self {
        move |error| match error.sqlite_error_code() {
            Some(rusqlite::ErrorCode::DatabaseCorrupt | rusqlite::ErrorCode::NotADatabase) => {
                Self::Damaged { path: path.to_owned(), what: error.to_string() }
            }
            Some(rusqlite::ErrorCode::DiskFull) => Self::NoRoom { step },
            _ => Self::Sql { step, message: error.to_string() },
        }
    }

    /// The code of the closed list.
    pub const fn code(&self) -> ErrorCode {
        match self {
            Self::NotPrivate { .. }
            | Self::ForeignOwner { .. }
            | Self::WrongKind { .. }
            | Self::Number { .. }
            | Self::Chain(_) => ErrorCode::InvalidInput,
            Self::NameTaken { .. } => ErrorCode::Conflict,
            Self::NewerFormat { .. } => ErrorCode::Unsupported,
            Self::Disk { .. }
            | Self::InUse { .. }
            | Self::MissingKey { .. }
            | Self::WrongKey { .. }
            | Self::DamagedKey { .. }
            | Self::Damaged { .. }
            | Self::NoRoom { .. }
            | Self::Edited { .. }
            | Self::NotProvable { .. }
            | Self::Undone
            | Self::Failed(_)
            | Self::Closed
            | Self::Random(_)
            | Self::Thread(_) => ErrorCode::Unavailable,
            Self::Sql { .. } | Self::Panicked => ErrorCode::Internal,
        }
    }

    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            Self::Disk { .. } => "check that the data folder exists and can be written".to_owned(),
            Self::NotPrivate { path, take_away, .. } => {
                format!("chmod {take_away} {}, and ask who may have written to it", path.display())
            }
            Self::ForeignOwner { path } => {
                format!("run as its owner, or if it is meant: chown $USER {}", path.display())
            }
            Self::WrongKind { path, .. } => {
                format!("look at it, and move it away: ls -ld {}", path.display())
            }
            Self::InUse { .. } => "use the server that runs, or wait until the other command ends".to_owned(),
            Self::MissingKey { path } | Self::WrongKey { path } | Self::DamagedKey { path } => format!(
                "put {} back from a backup; without it the record cannot be continued, and to begin anew move the data \
                 folder away",
                path.display()
            ),
            Self::Damaged { path, .. } => {
                format!(
                    "nothing was written over; put {} back from a backup, or move it away",
                    path.display()
                )
            }
            Self::NewerFormat { .. } => {
                "use the version of bailiwick that wrote it, or a later one".to_owned()
            }
            Self::NoRoom { .. } => "make room on the disk of the data folder, and try again".to_owned(),
            Self::NameTaken { .. } => "choose another name, or rename the other tool".to_owned(),
            Self::Edited { .. } => "find out who writes to the data folder".to_owned(),
            Self::NotProvable { .. } => "bailiwick audit verify names the first bad record".to_owned(),
            Self::Undone => "try again".to_owned(),
            Self::Failed(_) => "check the disk, and start again".to_owned(),
            Self::Chain(_)
            | Self::Number { .. }
            | Self::Sql { .. }
            | Self::Closed
            | Self::Panicked
            | Self::Random(_)
            | Self::Thread(_) => return None,
        })
    }
}

/// Why a job was not done. Nothing of it was kept, unless it says otherwise.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WriteError<E> {
    /// The job itself said no.
    #[error("{0}")]
    Job(E),
    /// The job ended by a panic.
    #[error("the write ended by a panic")]
    Panicked,
    /// The store failed.
    #[error("{0}")]
    Store(StoreError),
}

impl PartialEq for StoreError {
    /// By what they say: the system's errors cannot be compared otherwise.
    fn eq(&self, other: &Self) -> bool {
        self.to_string() == other.to_string()
    }
}

impl Eq for StoreError {}

impl WriteError<StoreError> {
    /// The store's error, where the job has no errors of its own.
    pub fn into_store(self) -> StoreError {
        match self {
            Self::Job(error) | Self::Store(error) => error,
            Self::Panicked => StoreError::Panicked,
        }
    }
}
