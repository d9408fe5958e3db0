//! Why a command did not do its job, as the types it came from. Rendering is elsewhere.

use std::path::PathBuf;

use bailiwick_config::ConfigError;
use bailiwick_config::files::FileError;
use bailiwick_document::Problems;
use bailiwick_policy::{Conflicts, QueryError};
use bailiwick_types::{ErrorCode, IdError};

/// A failure of a command.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error(transparent)]
    File(#[from] FileError),
    #[error("{0}")]
    Document(#[from] Problems),
    #[error("{0}")]
    Conflicts(#[from] Conflicts),
    #[error(transparent)]
    Query(#[from] QueryError),
    #[error(transparent)]
    Name(#[from] IdError),
    #[error("cannot tell the working folder: {0}")]
    WorkingFolder(#[source] std::io::Error),
    #[error("`{path}` is not a folder's own configuration: it must be named bailiwick.toml")]
    NotAFolderFile { path: PathBuf },
    #[error("cannot find {path}: {source}")]
    Find { path: PathBuf, source: std::io::Error },
    #[error("cannot make the manual page: {0}")]
    Manual(#[source] std::io::Error),
}

impl Failure {
    /// The code of the closed list.
    pub(crate) fn code(&self) -> ErrorCode {
        match self {
            Self::Config(ConfigError::File(FileError::Write { .. }))
            | Self::File(FileError::Write { .. }) => ErrorCode::Internal,
            Self::Conflicts(_) => ErrorCode::Conflict,
            Self::Config(ConfigError::Ledger { .. }) | Self::WorkingFolder(_) | Self::Manual(_) => {
                ErrorCode::Internal
            }
            Self::File(FileError::Open { .. })
            | Self::Find { .. }
            | Self::Config(ConfigError::Missing { .. }) => ErrorCode::NotFound,
            Self::Config(_)
            | Self::File(_)
            | Self::Document(_)
            | Self::Query(_)
            | Self::Name(_)
            | Self::NotAFolderFile { .. } => ErrorCode::InvalidInput,
        }
    }

    /// What to do next.
    pub(crate) fn hint(&self) -> Option<String> {
        match self {
            Self::Config(error) => error.hint(),
            Self::File(error) => error.hint(),
            Self::Query(error) => Some(error.hint.clone()),
            Self::NotAFolderFile { .. } => Some("the operator's own files need no trust".to_owned()),
            Self::Find { .. } => Some("check the name and the working folder".to_owned()),
            Self::Document(_)
            | Self::Conflicts(_)
            | Self::Name(_)
            | Self::WorkingFolder(_)
            | Self::Manual(_) => None,
        }
    }
}
