//! Why a command did not do its job, as the types it came from. Rendering is elsewhere.

use std::path::PathBuf;

use bailiwick::{CallError, RunError, StartError};
use bailiwick_config::ConfigError;
use bailiwick_config::files::FileError;
use bailiwick_config::files::foreign::ForeignError;
use bailiwick_core::Refusal;
use bailiwick_document::Problems;
use bailiwick_http::ServeError;
use bailiwick_policy::{Conflicts, QueryError};
use bailiwick_secrets::{NameError, SecretsError};
use bailiwick_types::{ErrorCode, IdError, ProfileName};

use crate::commands::mcp::EditError;

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
    #[error("the document names the profile `{own}`, and --profile names `{flag}`")]
    TwoProfiles { own: ProfileName, flag: ProfileName },
    #[error("both documents are `-`, but there is only one stdin")]
    TwiceStdin,
    #[error("`{path}` will never be read as configuration: it lies where tools or commands write")]
    NeverConfiguration { path: PathBuf },
    #[error("cannot make the manual page: {0}")]
    Manual(#[source] std::io::Error),
    #[error("{0}")]
    Start(#[from] StartError),
    #[error("{0}")]
    Run(#[from] RunError),
    #[error("cannot start the runtime: {0}")]
    Tokio(#[source] std::io::Error),
    #[error("{message}")]
    Argument { message: String, hint: String },
    #[error("{message}")]
    Waits { message: String, hint: String },
    #[error("cannot measure {what}: {source}")]
    Measure { what: &'static str, source: std::io::Error },
    #[error(transparent)]
    Secrets(#[from] SecretsError),
    #[error(transparent)]
    SecretName(#[from] NameError),
    #[error("there is no data folder: neither --data, BAILIWICK_DATA nor HOME says where it is")]
    NoDataFolder,
    #[error("the tool refers to secrets that are not set: {}", names.join(", "))]
    MissingSecrets { names: Vec<String> },
    #[error("{path} is no recording: {source}")]
    Recording { path: PathBuf, source: bailiwick::RecordingError },
    #[error(
        "the call could not be recorded: a limit ended it before it could tell how it went, or it moved more than 64 MiB"
    )]
    NotRecorded,
    #[error("{0}")]
    Declined(&'static str),
    #[error("cannot use the terminal: {0}")]
    Terminal(#[source] std::io::Error),
    #[error("cannot read stdin: {0}")]
    Stdin(#[source] std::io::Error),
    #[error(transparent)]
    Refused(#[from] Refusal),
    #[error("cannot look into {path}: {source}")]
    Folder { path: PathBuf, source: std::io::Error },
    #[error("cannot hear signals: {0}")]
    Signals(#[source] std::io::Error),
    #[error(transparent)]
    Serve(#[from] ServeError),
    #[error(transparent)]
    Foreign(#[from] ForeignError),
    #[error("{}: {source}", file.display())]
    Edit { file: PathBuf, source: EditError },
    #[error(transparent)]
    Pipe(#[from] bailiwick_mcp::PipeError),
    #[error("the data folder's owner answered something else than was asked: {0}")]
    StrangeReply(&'static str),
}

impl From<CallError> for Failure {
    fn from(error: CallError) -> Self {
        Self::Run(error.into())
    }
}

impl Failure {
    /// The code of the closed list.
    pub(crate) fn code(&self) -> ErrorCode {
        match self {
            Self::File(error)
            | Self::Config(ConfigError::File(error))
            | Self::Foreign(ForeignError::File(error)) => file_code(error),
            Self::Conflicts(_)
            | Self::Config(ConfigError::Profiles(_))
            | Self::Foreign(ForeignError::Changed { .. }) => ErrorCode::Conflict,
            Self::Document(_) | Self::Config(ConfigError::Document(_) | ConfigError::Settings(_)) => {
                ErrorCode::Validation
            }
            Self::Config(ConfigError::Ledger { .. }) | Self::WorkingFolder(_) | Self::Manual(_) => {
                ErrorCode::Internal
            }
            Self::Start(error) => error.code(),
            Self::Run(error) => error.code(),
            Self::Secrets(error) => error.code(),
            Self::Declined(_) => ErrorCode::ApprovalDeclined,
            Self::Refused(refusal) => refusal.code,
            Self::StrangeReply(_) | Self::Pipe(bailiwick_mcp::PipeError::Fault) => ErrorCode::Internal,
            Self::Serve(error) => serve_code(error),
            Self::Folder { source, .. } if source.kind() != std::io::ErrorKind::NotFound => {
                ErrorCode::InvalidInput
            }
            Self::MissingSecrets { .. } => ErrorCode::MissingSecret,
            Self::NotRecorded => ErrorCode::Unavailable,
            Self::Tokio(_) | Self::Measure { .. } | Self::Stdin(_) | Self::Terminal(_) | Self::Signals(_) => {
                ErrorCode::Unavailable
            }
            Self::Waits { .. } => ErrorCode::Unsupported,
            Self::Find { .. } | Self::Folder { .. } | Self::Config(ConfigError::Missing { .. }) => {
                ErrorCode::NotFound
            }
            Self::Config(ConfigError::NoConfigFolder | ConfigError::NotConfiguration { .. })
            | Self::Pipe(bailiwick_mcp::PipeError::Beginning(_))
            | Self::Query(_)
            | Self::Recording { .. }
            | Self::Name(_)
            | Self::TwoProfiles { .. }
            | Self::TwiceStdin
            | Self::SecretName(_)
            | Self::NoDataFolder
            | Self::Foreign(_)
            | Self::Edit { .. }
            | Self::Argument { .. }
            | Self::NeverConfiguration { .. }
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
            Self::Find { .. } | Self::Folder { .. } => {
                Some("check the name and the working folder".to_owned())
            }
            Self::Refused(refusal) => refusal.hint.clone(),
            Self::TwoProfiles { .. } => Some("leave out --profile, or name the same".to_owned()),
            Self::TwiceStdin => Some("put one of them into a file".to_owned()),
            Self::NeverConfiguration { .. } => Some("trusting it would change nothing".to_owned()),
            Self::Argument { hint, .. } | Self::Waits { hint, .. } => Some(hint.clone()),
            Self::Start(error) => Some(error.hint().to_owned()),
            Self::Run(RunError::Call(error)) => Some(error.hint().to_owned()),
            Self::Secrets(error) => error.hint(),
            Self::SecretName(_) => Some("for example GITHUB_TOKEN".to_owned()),
            Self::MissingSecrets { names } => {
                names.first().map(|name| format!("set it: bailiwick secret set {name}"))
            }
            Self::Recording { .. } => Some("make one with run --record FILE".to_owned()),
            Self::NotRecorded => Some("raise the limit that ended it, or have it ask for less".to_owned()),
            Self::NoDataFolder => Some("name one: --data DIR".to_owned()),
            Self::Serve(error) => Some(error.hint()),
            Self::Pipe(bailiwick_mcp::PipeError::Beginning(_)) => {
                Some("a client of MCP starts it and speaks to it: bailiwick mcp config CLIENT".to_owned())
            }
            Self::Foreign(error) => error.hint(),
            Self::Edit { source, .. } => Some(source.hint()),
            Self::Declined(_)
            | Self::Terminal(_)
            | Self::Document(_)
            | Self::Conflicts(_)
            | Self::Name(_)
            | Self::WorkingFolder(_)
            | Self::Run(_)
            | Self::Tokio(_)
            | Self::Measure { .. }
            | Self::Stdin(_)
            | Self::Signals(_)
            | Self::Pipe(_)
            | Self::StrangeReply(_)
            | Self::Manual(_) => None,
        }
    }
}

fn serve_code(error: &ServeError) -> ErrorCode {
    match error {
        ServeError::Bind { .. } | ServeError::Listener(_) => ErrorCode::Unavailable,
        ServeError::TlsFile(error) | ServeError::Addresses(error) => file_code(error),
        ServeError::Tls { .. } | ServeError::Tokens(_) => ErrorCode::InvalidInput,
        ServeError::Open { .. } => ErrorCode::Forbidden,
        ServeError::Metrics => ErrorCode::Internal,
    }
}

fn file_code(error: &FileError) -> ErrorCode {
    match error {
        FileError::Open { source, .. } if source.kind() == std::io::ErrorKind::NotFound => {
            ErrorCode::NotFound
        }
        // The machine does not let us; what was typed may be fine.
        FileError::Write { .. } => ErrorCode::Unavailable,
        FileError::Open { .. }
        | FileError::Read { .. }
        | FileError::NotRegular { .. }
        | FileError::NotPrivate { .. }
        | FileError::WritableByAll { .. }
        | FileError::ForeignOwner { .. }
        | FileError::TooLarge { .. }
        | FileError::NotText { .. } => ErrorCode::InvalidInput,
    }
}
