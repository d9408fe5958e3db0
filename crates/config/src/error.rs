//! Why there are no settings.

use std::path::PathBuf;

use bailiwick_document::Problems;

use crate::files::FileError;

/// A fault named after the step that failed.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// A file could not be read or written.
    #[error(transparent)]
    File(#[from] FileError),
    /// A document, variable or flag has mistakes.
    #[error("{0}")]
    Document(Problems),
    /// `--config` names a file that is not there.
    #[error("there is no configuration file {}", path.display())]
    Missing {
        /// The file.
        path: PathBuf,
    },
    /// A setting that no single document is wrong about.
    #[error("{message}")]
    Setting {
        /// What is wrong.
        message: String,
        /// What to do.
        hint: String,
    },
    /// The record of trusted files is damaged.
    #[error("the record of trusted files {} is damaged at line {line}", path.display())]
    Ledger {
        /// The record.
        path: PathBuf,
        /// The line.
        line: usize,
    },
    /// Neither `--data`, `BAILIWICK_DATA` nor a home folder says where data lives.
    #[error("there is no data folder: neither --data nor BAILIWICK_DATA nor HOME is set")]
    NoDataFolder,
}

impl From<Problems> for ConfigError {
    fn from(problems: Problems) -> Self {
        Self::Document(problems)
    }
}

impl ConfigError {
    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::File(error) => error.hint(),
            Self::Setting { hint, .. } => Some(hint.clone()),
            Self::Ledger { .. } => Some("repair or remove it; then trust the files again".to_owned()),
            Self::NoDataFolder => Some("pass --data DIR".to_owned()),
            Self::Document(_) | Self::Missing { .. } => None,
        }
    }
}
