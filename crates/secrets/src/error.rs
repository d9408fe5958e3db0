//! Why a secret was not read or kept: what happened, to which file, and what to do. Never a value.

use std::path::PathBuf;

use bailiwick_sys::Failed;
use bailiwick_types::ErrorCode;

use crate::name::SecretName;
use crate::value::ValueError;

/// A failure of the secret store. Whatever it is, the store is as it was before.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SecretsError {
    /// The value cannot be kept.
    #[error(transparent)]
    Value(#[from] ValueError),
    /// A variable that the operator listed holds something that cannot be a secret.
    #[error("the environment variable {name} cannot stand in for a secret: {problem}")]
    Variable {
        /// The variable.
        name: SecretName,
        /// What is wrong with its value.
        problem: ValueError,
    },
    /// A step on the disk failed.
    #[error("cannot {step} {}: {source}", path.display())]
    Disk {
        /// What was being done.
        step: &'static str,
        /// To what.
        path: PathBuf,
        /// The system's word.
        source: std::io::Error,
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
    /// There is a store, but no key.
    #[error("the key of {} is missing: looked at {places}", store.display())]
    MissingKey {
        /// The store.
        store: PathBuf,
        /// Where a key was looked for.
        places: String,
    },
    /// There is a key, but for another store, or for another state of this one.
    #[error("the key in {place} is not the one that {} was written with", store.display())]
    WrongKey {
        /// The store.
        store: PathBuf,
        /// Where the key is.
        place: String,
    },
    /// The key is damaged.
    #[error("the key in {place} is damaged")]
    DamagedKey {
        /// Where the key is.
        place: String,
    },
    /// The store was changed by something else than us, or cut short.
    #[error("{} is damaged: {what}", path.display())]
    Damaged {
        /// The store.
        path: PathBuf,
        /// What was seen.
        what: &'static str,
    },
    /// The file was written by a later version.
    #[error("{} has format {version}, which this version does not know", path.display())]
    NewerFormat {
        /// The file.
        path: PathBuf,
        /// Its format.
        version: u8,
    },
    /// The store is full.
    #[error("the store holds {most} secrets, and not more")]
    TooMany {
        /// The bound.
        most: usize,
    },
    /// The values together are larger than the store may be.
    #[error("the store would have more than {most} bytes")]
    TooLarge {
        /// The bound.
        most: u64,
    },
    /// There is no such secret in the store.
    #[error("there is no secret called {name} in the store")]
    NotThere {
        /// The name.
        name: SecretName,
    },
    /// The new value is the old one.
    #[error("the new value of {name} is the one it has")]
    Unchanged {
        /// The name.
        name: SecretName,
    },
    /// There is no store whose key could be changed.
    #[error("there is no store yet, so there is no key to change")]
    NoStore,
    /// The keyring did not answer, or said no.
    #[error("the keyring cannot be used: {what}")]
    Keyring {
        /// Its word.
        what: String,
    },
    /// The system has no random bytes.
    #[error("cannot get random bytes: {0}")]
    Random(#[source] std::io::Error),
    /// The cipher refused to seal.
    #[error("cannot encrypt the store")]
    Seal,
    /// The process could not be kept from being dumped, so it holds no secret.
    #[error("cannot {}: {}", .0.step.says(), .0.errno)]
    Hide(#[from] Failed),
}

impl SecretsError {
    /// The code of the closed list.
    pub const fn code(&self) -> ErrorCode {
        match self {
            Self::Value(_)
            | Self::Variable { .. }
            | Self::NotPrivate { .. }
            | Self::ForeignOwner { .. }
            | Self::WrongKind { .. }
            | Self::Unchanged { .. }
            | Self::TooMany { .. }
            | Self::TooLarge { .. } => ErrorCode::InvalidInput,
            Self::NotThere { .. } | Self::NoStore => ErrorCode::NotFound,
            Self::NewerFormat { .. } => ErrorCode::Unsupported,
            Self::Disk { .. }
            | Self::MissingKey { .. }
            | Self::WrongKey { .. }
            | Self::DamagedKey { .. }
            | Self::Damaged { .. }
            | Self::Keyring { .. }
            | Self::Random(_)
            | Self::Hide(_) => ErrorCode::Unavailable,
            Self::Seal => ErrorCode::Internal,
        }
    }

    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            Self::Value(problem) => problem.hint().to_owned(),
            Self::Variable { .. } => "change the variable, or take its name out of secrets.env".to_owned(),
            Self::Disk { .. } => "check that the data folder exists and can be written".to_owned(),
            Self::NotPrivate { path, take_away, .. } => {
                format!(
                    "chmod {take_away} {}; if others may have read the key, give every secret a new value",
                    path.display()
                )
            }
            Self::ForeignOwner { path } => {
                format!("run as its owner, or if it is meant: chown $USER {}", path.display())
            }
            Self::WrongKind { path, .. } => {
                format!("look at it, and move it away: ls -ld {}", path.display())
            }
            Self::MissingKey { store, .. } | Self::WrongKey { store, .. } => format!(
                "put the key back from a backup; without it the values are lost, and to begin anew: mv {0} {0}.old",
                store.display()
            ),
            Self::DamagedKey { .. } => "put the key back from a backup".to_owned(),
            Self::Damaged { path, .. } => format!(
                "put {} back from a backup; without one the values are lost, and to begin anew: mv {0} {0}.old",
                path.display()
            ),
            Self::NewerFormat { .. } => {
                "use the version of bailiwick that wrote it, or a later one".to_owned()
            }
            Self::TooMany { .. } | Self::TooLarge { .. } => {
                "remove what is not used: bailiwick secret rm NAME".to_owned()
            }
            Self::NotThere { name } => {
                format!("bailiwick secret list tells the names; to add it: bailiwick secret set {name}")
            }
            Self::Unchanged { .. } => "get a new value from whoever gave out the old one".to_owned(),
            Self::NoStore => "the first `bailiwick secret set NAME` makes both".to_owned(),
            Self::Keyring { .. } => {
                "unlock the keyring, or run in the session where it was used before".to_owned()
            }
            Self::Random(_) | Self::Seal | Self::Hide(_) => return None,
        })
    }
}
