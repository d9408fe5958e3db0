//! What keeps this crate from doing what it was asked: the step that failed, or the rule that says no.

use std::fmt;

use rustix::io::Errno;

use crate::{Change, RelPath};

/// What was being done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Doing {
    /// Holding the folder.
    HoldFolder,
    /// Looking at a file of the folder.
    LookAtHost,
    /// Reading a file of the folder.
    ReadHost,
    /// Looking at what the sandbox left.
    LookAtUpper,
    /// Reading what the sandbox left.
    ReadUpper,
    /// Removing what the sandbox left.
    Discard,
    /// Making a journal.
    MakeJournal,
    /// Writing to a journal.
    WriteJournal,
    /// Reading a journal.
    ReadJournal,
    /// Taking a journal away.
    RemoveJournal,
    /// Writing to the folder.
    Write,
    /// Removing from the folder.
    Remove,
    /// Setting a mode or an owner in the folder.
    SetMode,
    /// Waiting for the disk.
    Sync,
}

impl fmt::Display for Doing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::HoldFolder => "open the folder",
            Self::LookAtHost => "look in the folder at",
            Self::ReadHost => "read from the folder",
            Self::LookAtUpper => "look in the sandbox at",
            Self::ReadUpper => "read from the sandbox",
            Self::Discard => "discard",
            Self::MakeJournal => "make a journal for",
            Self::WriteJournal => "write to the journal",
            Self::ReadJournal => "read from the journal",
            Self::RemoveJournal => "take away the journal of",
            Self::Write => "write to the folder",
            Self::Remove => "remove from the folder",
            Self::SetMode => "set mode and owner of",
            Self::Sync => "bring to the disk",
        })
    }
}

/// What went wrong.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    /// The system said no.
    #[error("cannot {doing} {path}: {errno}")]
    System {
        /// What was being done.
        doing: Doing,
        /// To what.
        path: RelPath,
        /// What the system said.
        errno: Errno,
    },
    /// A file changed while it was read.
    #[error("{path} is still being written; wait until the command has ended, then try again")]
    StillWritten {
        /// Which.
        path: RelPath,
    },
    /// A path was chosen that nothing was changed at.
    #[error("nothing was changed at {path}; `diff` lists what was")]
    NoSuchChange {
        /// Which.
        path: RelPath,
    },
    /// There is more than is looked at in one go.
    #[error("more was changed than is looked at in one go ({bound}); choose paths, or raise the bound")]
    TooMuch {
        /// The bound that was met.
        bound: crate::Bound,
    },
    /// Something stands against it; nothing was written.
    #[error("{} of the chosen changes cannot be written, so none was; the first is {}", .0.len(), first(.0))]
    Refused(Vec<Change>),
    /// Writing failed on the way. What is written stays, and the journal is kept, so that the rest can follow.
    #[error("{fault}; some of it may be written: the journal {id} is kept, and the next recovery carries on")]
    Halfway {
        /// The journal.
        id: String,
        /// What failed.
        #[source]
        fault: Box<Fault>,
    },
    /// A path whose folder was made anew cannot be discarded alone.
    #[error("{path} is gone because {folder} was made anew; discard {folder}")]
    Implied {
        /// Which.
        path: RelPath,
        /// The folder to choose.
        folder: RelPath,
    },
    /// A journal does not hold what it says; the folder was left as it is.
    #[error("the journal {id} does not hold what it says: {why}")]
    Damaged {
        /// Which.
        id: String,
        /// What is wrong with it.
        why: &'static str,
    },
}

fn first(refused: &[Change]) -> String {
    refused.first().map_or_else(String::new, |change| {
        let findings: Vec<_> = change.findings.iter().map(ToString::to_string).collect();
        format!("{}: {}", change.path, findings.join(", "))
    })
}

impl Fault {
    pub(crate) fn system(doing: Doing, path: &RelPath) -> impl Fn(Errno) -> Self + '_ {
        move |errno| Self::System { doing, path: path.clone(), errno }
    }

    pub(crate) fn io(doing: Doing, path: &RelPath) -> impl Fn(std::io::Error) -> Self + '_ {
        move |error| Self::System {
            doing,
            path: path.clone(),
            errno: Errno::from_io_error(&error).unwrap_or(Errno::IO),
        }
    }
}
