//! Why a figure could not be measured.

use std::path::PathBuf;

use bailiwick::policy::Conflicts;
use bailiwick::{CallError, RunError, StartError};
use bailiwick_config::ConfigError;
use bailiwick_core::Refusal;
use bailiwick_document::Problems;

/// A failure of the whole run: no figure is printed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    #[error("cannot measure {what}: {source}")]
    Measure { what: &'static str, source: std::io::Error },
    #[error(
        "{} is no program: build it with cargo build -p bailiwick-cli, or name one with --program",
        .0.display()
    )]
    NoProgram(PathBuf),
    #[error("cannot find the directory of this program: {0}")]
    OwnPath(#[source] std::io::Error),
    #[error("cannot start the runtime: {0}")]
    Tokio(#[source] std::io::Error),
    #[error("cannot read the environment: {0}")]
    Environment(#[source] std::io::Error),
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error("{0}")]
    Document(#[from] Problems),
    #[error("{0}")]
    Conflicts(#[from] Conflicts),
    #[error(transparent)]
    Start(#[from] StartError),
    #[error(transparent)]
    Run(#[from] RunError),
    #[error(transparent)]
    Refused(#[from] Refusal),
}

impl From<CallError> for Failure {
    fn from(error: CallError) -> Self {
        Self::Run(error.into())
    }
}
