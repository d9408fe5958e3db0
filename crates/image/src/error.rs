//! Why an image was not taken: what happened, which rule or bound, what to do. A layer that breaks a rule is told by its
//! number and by the name that broke it.

use bailiwick_sandbox::SandboxError;
use bailiwick_types::ErrorCode;

use crate::Digest;

/// What went wrong.
#[derive(Debug, thiserror::Error)]
pub enum ImageError {
    /// A name that no image can have.
    #[error("`{name}` is no name of an image: {why}")]
    Name {
        /// As it was given.
        name: String,
        /// Which rule it breaks.
        why: &'static str,
    },
    /// There is no such image.
    #[error("there is no image `{0}` here")]
    NotFound(String),
    /// Another process changes the store.
    #[error("another process is changing the images; only one does at a time")]
    Busy,
    /// A layer that tries something it has no business with. Nothing of it is kept.
    #[error("layer {layer} is refused: `{path}` {what}")]
    Hostile {
        /// Which layer, from 1.
        layer: usize,
        /// The name in it, made readable.
        path: String,
        /// What it tries.
        what: &'static str,
    },
    /// More than a bound allows.
    #[error("the image has {what} than {most}, which is the most that is taken")]
    Bound {
        /// What there is too much of.
        what: &'static str,
        /// The bound.
        most: u64,
    },
    /// The store is full.
    #[error("the images would take more than {most} bytes, which is all they may")]
    Full {
        /// What they may take.
        most: u64,
    },
    /// Content that is not what its digest says.
    #[error("{what} has the digest {found}, and should have {expected}")]
    Digest {
        /// What it is.
        what: String,
        /// What it should be.
        expected: Digest,
        /// What it is.
        found: Digest,
    },
    /// Content that is not as long as it was declared.
    #[error("{what} has {found} bytes, and {declared} were declared")]
    Size {
        /// What it is.
        what: String,
        /// As declared.
        declared: u64,
        /// As found; one more than declared when there was more.
        found: u64,
    },
    /// Something that cannot be read as what it should be.
    #[error("{what} cannot be read: {why}")]
    Malformed {
        /// What it is.
        what: String,
        /// What is wrong with it.
        why: String,
    },
    /// Sound, and not done here.
    #[error("{0}")]
    Unsupported(String),
    /// Nothing in it runs on this machine.
    #[error("the image has nothing for linux/{wanted}; it has {found}")]
    Platform {
        /// This machine's architecture.
        wanted: &'static str,
        /// What there is.
        found: String,
    },
    /// A registry that did not give what was asked for.
    #[error("{host}: {why}")]
    Registry {
        /// Whom we asked.
        host: String,
        /// What went wrong.
        why: String,
        /// Whose fault that is.
        fault: Fault,
    },
    /// A credential helper that told nothing.
    #[error("{0}")]
    Helper(String),
    /// A file of the operator's that could not be used.
    #[error("{path}: {why}")]
    Source {
        /// Which.
        path: String,
        /// Why.
        why: String,
    },
    /// A step of ours failed.
    #[error("cannot {step}: {source}")]
    Io {
        /// Which step.
        step: &'static str,
        /// What the system said.
        source: std::io::Error,
    },
}

/// Whose fault it is that a registry gave nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// It could not be reached, or broke off.
    Unreachable,
    /// It has no such image.
    Missing,
    /// It wants other credentials.
    Unauthorized,
    /// It asked for something that is never done, or answered what nobody could take.
    Misbehaved,
}

impl ImageError {
    /// Its code.
    pub const fn code(&self) -> ErrorCode {
        match self {
            Self::Name { .. } => ErrorCode::InvalidInput,
            Self::NotFound(_) | Self::Registry { fault: Fault::Missing, .. } => ErrorCode::NotFound,
            Self::Busy => ErrorCode::Busy,
            Self::Hostile { .. } | Self::Digest { .. } | Self::Size { .. } | Self::Malformed { .. } => {
                ErrorCode::Validation
            }
            Self::Bound { .. } | Self::Full { .. } => ErrorCode::DiskLimit,
            Self::Unsupported(_) | Self::Platform { .. } => ErrorCode::Unsupported,
            Self::Registry { fault: Fault::Unauthorized, .. } | Self::Helper(_) => ErrorCode::Unauthorized,
            Self::Registry { fault: Fault::Misbehaved, .. } => ErrorCode::NetDenied,
            Self::Registry { fault: Fault::Unreachable, .. } => ErrorCode::NetFailed,
            Self::Source { .. } => ErrorCode::FsFailed,
            Self::Io { .. } => ErrorCode::Internal,
        }
    }

    /// What to do next, where that is known.
    pub fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::Name { .. } => "a name looks like `debian:12` or `registry.example/team/tool:1.0`",
            Self::NotFound(_) => {
                "`bailiwick image ls` tells which there are; `image pull` and `image import` bring more"
            }
            Self::Busy => "wait until it is done, then try again",
            Self::Hostile { .. } => "nothing of it was kept; get the image from somebody you trust",
            Self::Bound { .. } => "take a smaller image",
            Self::Full { .. } => {
                "remove images (`bailiwick image rm`), or let them take more (`images.most` in bailiwick.toml)"
            }
            Self::Digest { .. } | Self::Size { .. } => {
                "it was damaged or exchanged on its way; nothing of it was kept. Get it again"
            }
            Self::Helper(_) => "~/.docker/config.json names it; mend it, or log in without one",
            Self::Registry { fault: Fault::Missing, .. } => "look at its name and tag",
            Self::Registry { fault: Fault::Unauthorized, .. } => {
                "log in with `docker login` (~/.docker/config.json is read), or look at the name"
            }
            _ => return None,
        };
        Some(hint.to_owned())
    }

    pub(crate) fn io(step: &'static str) -> impl Fn(std::io::Error) -> Self {
        move |source| Self::Io { step, source }
    }

    pub(crate) fn sys(step: &'static str) -> impl Fn(bailiwick_sys::Errno) -> Self {
        move |errno| Self::Io { step, source: errno.into() }
    }

    pub(crate) fn malformed(what: impl Into<String>, why: impl Into<String>) -> Self {
        Self::Malformed { what: what.into(), why: why.into() }
    }
}

impl From<ImageError> for SandboxError {
    fn from(error: ImageError) -> Self {
        match error {
            ImageError::Busy => Self::Busy(error.to_string()),
            error => Self::File { path: "image".to_owned(), why: error.to_string(), code: error.code() },
        }
    }
}
