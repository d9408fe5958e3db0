//! Journals: what a commit is about to write, on the disk before the first byte of the folder changes.
//!
//! A journal is a folder. Under the name `staging-ID` it is being filled, and the host's folder is untouched: it is dropped
//! when found. One rename makes it `ready-ID`: from then on the commit is carried out, by whoever finds it. Another makes it
//! `done-ID`, which is only still to be taken away. Whoever works on one has claimed it.

mod apply;
mod recover;
mod stage;
mod swap;

use std::ffi::CString;
use std::fs::DirBuilder;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::Path;

use bailiwick_sys::beneath::{self, Links, Taken};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

pub(crate) use apply::{Applied, Pass, apply, stands};
pub(crate) use recover::finish;
pub use recover::{Ended, Recovered, recover};
pub(crate) use stage::stage;

use crate::fault::{Doing, Fault};
use crate::seen::{Moment, Seen};
use crate::{Finding, RelPath};

/// Where a commit is, told at every point between two changes of the disk. It does nothing; tests end the process there.
pub trait Steps {
    /// This step is reached.
    fn reached(&mut self, step: &'static str);
}

impl Steps for () {
    fn reached(&mut self, _step: &'static str) {}
}

/// The folder that holds journals: ours alone, outside of every folder that is committed to.
#[derive(Debug)]
pub struct Journals {
    held: OwnedFd,
}

/// Everything that a commit does.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Plan {
    pub(crate) version: u32,
    /// The path of the host's folder.
    pub(crate) folder: Vec<u8>,
    /// Which folder that is.
    pub(crate) inode: u64,
    /// When it was made, where that is known.
    pub(crate) born: Option<Moment>,
    /// In the order in which it is done.
    pub(crate) ops: Vec<Op>,
}

/// The version of plans that is written and read here.
pub(crate) const VERSION: u32 = 1;

/// One thing that is done to one path.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Op {
    pub(crate) path: RelPath,
    /// What must be there.
    pub(crate) before: Option<Seen>,
    pub(crate) act: Act,
}

/// What is done.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) enum Act {
    Remove,
    Folder { owner: Option<Owner> },
    File { staged: usize, size: u64, sha256: String, mode: u32, owner: Option<Owner> },
    Link { target: Vec<u8>, owner: Option<Owner> },
    Mode { mode: u32 },
}

/// Whom something belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Owner {
    pub(crate) user: u32,
    pub(crate) group: u32,
}

/// Something that was not written because somebody else was there first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Left {
    /// Where.
    pub path: RelPath,
    /// What was found.
    pub finding: Finding,
}

/// A journal that is claimed.
#[derive(Debug)]
pub(crate) struct Journal {
    pub(crate) id: String,
    pub(crate) held: OwnedFd,
}

impl Journals {
    /// Holds the folder of journals, and makes it when it is not there.
    ///
    /// # Errors
    /// When it can neither be opened nor made.
    pub fn open(path: &Path) -> Result<Self, Fault> {
        let root = RelPath::root();
        match DirBuilder::new().mode(0o700).create(path) {
            Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => {
                return Err(Fault::io(Doing::MakeJournal, &root)(error));
            }
            _ => {}
        }
        let held = beneath::hold_itself(path).map_err(Fault::system(Doing::MakeJournal, &root))?;
        Ok(Self { held })
    }

    /// Drops one that [`recover`] keeps, by somebody's word: what it says and was not written yet, never will be.
    /// `false` when there is none, or somebody works on it.
    ///
    /// # Errors
    /// When it cannot be taken away.
    pub fn abandon(&self, id: &str) -> Result<bool, Fault> {
        let root = RelPath::root();
        let removing = Fault::system(Doing::RemoveJournal, &root);
        if id.contains('/') {
            return Ok(false);
        }
        let journal = match self.claim(State::Ready, id) {
            Ok(Some(journal)) => journal,
            Ok(None) | Err(Errno::NOENT) => return Ok(false),
            Err(errno) => return Err(removing(errno)),
        };
        self.advance(&journal, State::Ready, State::Done).map_err(&removing)?;
        self.remove(&journal, State::Done).map_err(&removing)?;
        Ok(true)
    }

    /// Begins one.
    fn begin(&self) -> Result<Journal, Errno> {
        let id = crate::content::hex(&beneath::unguessable()?);
        let name = named(State::Staging, &id)?;
        beneath::make_folder(&self.held, &name)?;
        self.claim(State::Staging, &id)?.ok_or(Errno::BUSY)
    }

    /// Takes hold of one, unless somebody works on it.
    fn claim(&self, state: State, id: &str) -> Result<Option<Journal>, Errno> {
        let held = beneath::folder(&self.held, named(state, id)?.as_c_str(), Links::Never)?;
        Ok(beneath::claim(&held)?.then(|| Journal { id: id.to_owned(), held }))
    }

    /// Moves one on, in one step. It is on the disk after [`Journals::sync`].
    pub(crate) fn advance(&self, journal: &Journal, from: State, to: State) -> Result<(), Errno> {
        let (from, to) = (named(from, &journal.id)?, named(to, &journal.id)?);
        let held = self.held.as_fd();
        beneath::rename((held, &from), (held, &to), Taken::Refuse)
    }

    /// Waits until the names of journals are on the disk.
    pub(crate) fn sync(&self) -> Result<(), Fault> {
        beneath::sync(&self.held).map_err(Fault::system(Doing::Sync, &RelPath::root()))
    }

    /// Takes one away.
    pub(crate) fn remove(&self, journal: &Journal, state: State) -> Result<(), Errno> {
        for name in beneath::names(&journal.held, usize::MAX)?.0 {
            beneath::remove(&journal.held, &name)?;
        }
        beneath::remove_folder(&self.held, &named(state, &journal.id)?)
    }
}

/// How far a journal is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    Staging,
    Ready,
    Done,
}

impl State {
    const ALL: [(Self, &'static str); 3] =
        [(Self::Staging, "staging-"), (Self::Ready, "ready-"), (Self::Done, "done-")];
}

fn named(state: State, id: &str) -> Result<CString, Errno> {
    let prefix = State::ALL.into_iter().find(|(one, _)| *one == state).map_or("", |(_, prefix)| prefix);
    CString::new(format!("{prefix}{id}")).map_err(|_| Errno::INVAL)
}

/// The name that staged content has.
fn staged_name(number: usize) -> Result<CString, Errno> {
    CString::new(format!("{number}")).map_err(|_| Errno::INVAL)
}

/// The name of the plan.
const PLAN: &std::ffi::CStr = c"plan.json";
