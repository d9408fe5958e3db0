//! Why there is no sandbox, or why it did not do what was asked: what happened, which rule, what to do next.

use bailiwick_types::{ErrorCode, SandboxId, Tier};

use crate::{CommandError, LimitsError, NoneFits, PathError, SpecError};

/// What went wrong.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum SandboxError {
    /// The spec is not one.
    #[error(transparent)]
    Spec(#[from] SpecError),
    /// The command is not one.
    #[error(transparent)]
    Command(#[from] CommandError),
    /// A limit is not one.
    #[error(transparent)]
    Limits(#[from] LimitsError),
    /// A path is not one.
    #[error(transparent)]
    Path(#[from] PathError),
    /// Something that is demanded is not held here.
    #[error("the backend `{backend}` does not hold what is demanded: {}", unheld.join("; "))]
    Unenforceable {
        /// Which backend.
        backend: String,
        /// Each demand, and what there is of it.
        unheld: Vec<String>,
        /// What would hold it.
        fix: String,
    },
    /// No backend is good enough.
    #[error(transparent)]
    NoneFits(#[from] NoneFits),
    /// There is no backend of that name.
    #[error("there is no backend `{name}`; there {}", existing(known))]
    NoBackend {
        /// What was asked for.
        name: String,
        /// Those that there are.
        known: Vec<String>,
    },
    /// The backend cannot be used.
    #[error("the backend `{backend}` cannot be used: {reason}")]
    Unavailable {
        /// Which.
        backend: String,
        /// Why.
        reason: String,
        /// What would help.
        fix: Option<String>,
    },
    /// The backend does not do that.
    #[error("the backend `{backend}` does not offer {what}")]
    Unsupported {
        /// Which.
        backend: String,
        /// What.
        what: String,
    },
    /// A mount that may not be.
    #[error("`{path}` cannot be mounted: {why}")]
    Mount {
        /// What was to be mounted.
        path: String,
        /// Why not.
        why: String,
    },
    /// An image that has to be copied into a sandbox, and does not fit.
    #[error(
        "the image `{image}` does not fit: it has to be copied ({why}), which takes {bytes} bytes and {files} files, and the sandbox may have {disk} bytes and {most} files"
    )]
    NoRoom {
        /// Which image.
        image: String,
        /// Why it has to be copied.
        why: String,
        /// What it needs.
        bytes: u64,
        /// How many files it needs.
        files: u64,
        /// What there is.
        disk: u64,
        /// How many files there can be.
        most: u64,
        /// The disk that would do.
        enough: u64,
    },
    /// A file that is not there, or not what it should be.
    #[error("`{path}`: {why}")]
    File {
        /// Which.
        path: String,
        /// What the system said.
        why: String,
        /// Which code that is: `FS_FAILED`, `NOT_FOUND`, `DISK_LIMIT`, `OUTPUT_LIMIT`.
        code: ErrorCode,
    },
    /// The sandbox is gone.
    #[error("the sandbox {id} is gone: {why}")]
    Gone {
        /// Which.
        id: SandboxId,
        /// Why.
        why: String,
    },
    /// There is no snapshot of that id.
    #[error("there is no snapshot `{0}`")]
    NoSnapshot(String),
    /// Too many at once.
    #[error("{0}")]
    Busy(String),
    /// Another machine refuses, or does not answer as it should.
    #[error("{by}: {message}")]
    Elsewhere {
        /// Which.
        by: String,
        /// The code it told.
        code: ErrorCode,
        /// What it said.
        message: String,
        /// What would help.
        fix: Option<String>,
    },
    /// A step of ours failed.
    #[error("{step}: {reason}")]
    Failed {
        /// Which step.
        step: String,
        /// What the system said.
        reason: String,
    },
}

impl SandboxError {
    /// Its code.
    pub const fn code(&self) -> ErrorCode {
        match self {
            Self::Spec(_) | Self::Command(_) | Self::Limits(_) | Self::Path(_) => ErrorCode::InvalidInput,
            Self::Unenforceable { .. } | Self::NoneFits(_) => ErrorCode::Unenforceable,
            Self::Unavailable { .. } => ErrorCode::Unavailable,
            Self::Unsupported { .. } => ErrorCode::Unsupported,
            Self::Mount { .. } => ErrorCode::FsDenied,
            Self::File { code, .. } | Self::Elsewhere { code, .. } => *code,
            Self::NoRoom { .. } => ErrorCode::DiskLimit,
            Self::Gone { .. } | Self::NoSnapshot(_) | Self::NoBackend { .. } => ErrorCode::NotFound,
            Self::Busy(_) => ErrorCode::Busy,
            Self::Failed { .. } => ErrorCode::Internal,
        }
    }

    /// What to do next, where that is known.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Unenforceable { fix, .. } => Some(fix.clone()),
            Self::Unavailable { fix, .. } | Self::Elsewhere { fix, .. } => fix.clone(),
            Self::NoneFits(none) => Some(none.hint()),
            Self::NoRoom { enough, .. } => Some(format!(
                "give it more (`--disk {}MiB`, and `--memory` for that and for its commands), take a smaller image, or a kernel with overlayfs",
                enough.div_ceil(1024 * 1024)
            )),
            _ => None,
        }
    }
}

fn existing(known: &[String]) -> String {
    match known {
        [] => "is none at all".to_owned(),
        [one] => format!("is `{one}`"),
        many => format!("are `{}`", many.join("`, `")),
    }
}

/// The floor below which nothing is picked.
pub type Floor = Tier;
