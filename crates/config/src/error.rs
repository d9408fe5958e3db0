//! Why there are no settings.

use std::path::PathBuf;

use bailiwick_document::Problems;
use bailiwick_policy::Conflicts;

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
    /// Settings that no single document is wrong about.
    #[error("{}", messages(.0))]
    Settings(Vec<SettingProblem>),
    /// Profiles that contradict each other.
    #[error("{0}")]
    Profiles(Conflicts),
    /// A file that a guest may have written was named as configuration.
    #[error("{} cannot be configuration: {why}", path.display())]
    NotConfiguration {
        /// The file.
        path: PathBuf,
        /// Why not.
        why: String,
    },
    /// The record of trusted files is damaged.
    #[error("the record of trusted files {} is damaged at line {line}", path.display())]
    Ledger {
        /// The record.
        path: PathBuf,
        /// The line.
        line: usize,
    },
    /// Neither a home folder nor `XDG_CONFIG_HOME` says where the operator's files live.
    #[error("there is no configuration folder: neither HOME nor XDG_CONFIG_HOME is set")]
    NoConfigFolder,
}

/// One thing wrong with the settings as a whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingProblem {
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub hint: String,
}

fn messages(problems: &[SettingProblem]) -> String {
    problems.iter().map(|problem| problem.message.as_str()).collect::<Vec<_>>().join("\n")
}

impl ConfigError {
    /// One thing wrong with the settings.
    pub(crate) fn setting(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::Settings(vec![SettingProblem { message: message.into(), hint: hint.into() }])
    }
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
            Self::Settings(problems) => problems.first().map(|problem| problem.hint.clone()),
            Self::NotConfiguration { .. } => Some("move it to a folder that no guest writes to".to_owned()),
            Self::Ledger { .. } => Some("repair or remove it; then trust the files again".to_owned()),
            Self::NoConfigFolder => Some("set HOME".to_owned()),
            Self::Document(_) | Self::Missing { .. } | Self::Profiles(_) => None,
        }
    }
}
