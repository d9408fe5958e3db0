//! At a start: what an earlier commit left is dropped if it had not begun to write, and carried out if it had.

use std::io::Read as _;
use std::os::unix::ffi::OsStringExt as _;
use std::path::PathBuf;

use bailiwick_sys::beneath::{self, Links};
use serde::Serialize;

use super::{Journal, Journals, Left, PLAN, Pass, Plan, State, Steps, VERSION, apply};
use crate::fault::{Doing, Fault};
use crate::seen::Seen;
use crate::{Host, RelPath};

/// The longest plan that is read.
const LONGEST: u64 = 512 << 20;

/// How a journal ended.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase", tag = "ended")]
pub enum Ended {
    /// Nothing had been written: it was dropped.
    RolledBack,
    /// Everything is written now, but what is somebody else's by now.
    RolledForward {
        /// The folder.
        folder: PathBuf,
        /// What was left alone.
        left: Vec<Left>,
    },
    /// It could not be carried out, and is kept for the next start.
    Kept {
        /// Why.
        why: String,
    },
}

/// A journal that an earlier process left.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Recovered {
    /// Which.
    pub id: String,
    /// How it ended.
    #[serde(flatten)]
    pub ended: Ended,
}

/// Ends every journal that nobody works on. To be called before anything else is committed.
///
/// # Errors
/// When the journals cannot be listed or taken away. One that cannot be carried out is kept, and told.
pub fn recover(journals: &Journals, steps: &mut dyn Steps) -> Result<Vec<Recovered>, Fault> {
    let root = RelPath::root();
    let (names, _) =
        beneath::names(&journals.held, usize::MAX).map_err(Fault::system(Doing::ReadJournal, &root))?;
    let mut all = Vec::new();
    for name in names {
        let Some((state, id)) = name.to_str().ok().and_then(|name| {
            State::ALL.into_iter().find_map(|(state, prefix)| Some((state, name.strip_prefix(prefix)?)))
        }) else {
            continue;
        };
        let claimed = journals.claim(state, id).map_err(Fault::system(Doing::ReadJournal, &root))?;
        let Some(journal) = claimed else { continue };
        let removing = Fault::system(Doing::RemoveJournal, &root);
        let ended = match state {
            State::Staging => {
                journals.remove(&journal, state).map_err(removing)?;
                Some(Ended::RolledBack)
            }
            State::Done => {
                journals.remove(&journal, state).map_err(removing)?;
                None
            }
            State::Ready => Some(match forward(&journal, steps) {
                Ok((folder, left)) => {
                    finish(journals, &journal, steps)?;
                    Ended::RolledForward { folder, left }
                }
                Err(fault) => Ended::Kept { why: fault.to_string() },
            }),
        };
        all.extend(ended.map(|ended| Recovered { id: id.to_owned(), ended }));
    }
    Ok(all)
}

/// What a journal says has been done: it goes.
pub(crate) fn finish(journals: &Journals, journal: &Journal, steps: &mut dyn Steps) -> Result<(), Fault> {
    let root = RelPath::root();
    let removing = Fault::system(Doing::RemoveJournal, &root);
    steps.reached("mark the journal done");
    journals.advance(journal, State::Ready, State::Done).map_err(&removing)?;
    journals.sync()?;
    steps.reached("take the journal away");
    journals.remove(journal, State::Done).map_err(&removing)
}

fn forward(journal: &Journal, steps: &mut dyn Steps) -> Result<(PathBuf, Vec<Left>), Fault> {
    let damaged = |why| Fault::Damaged { id: journal.id.clone(), why };
    let root = RelPath::root();
    let (file, _) = beneath::look(&journal.held, PLAN, Links::Never)
        .and_then(beneath::read_again)
        .map_err(Fault::system(Doing::ReadJournal, &root))?;
    let mut text = Vec::new();
    file.take(LONGEST).read_to_end(&mut text).map_err(Fault::io(Doing::ReadJournal, &root))?;
    let plan: Plan = serde_json::from_slice(&text).map_err(|_| damaged("its plan cannot be read"))?;
    if plan.version != VERSION {
        return Err(damaged("its plan has a version that is not known here"));
    }
    let folder = PathBuf::from(std::ffi::OsString::from_vec(plan.folder.clone()));
    let host = Host::open(&folder)?;
    let looking = Fault::system(Doing::LookAtHost, &root);
    let (seen, born) = (Seen::of(host.fd()).map_err(&looking)?, Seen::born(host.fd()).map_err(&looking)?);
    if (seen.inode, born) != (plan.inode, plan.born) {
        return Err(damaged("another folder has taken the place of the one it is for"));
    }
    let applied = apply(&host, journal, &plan, Pass::Again, steps)?;
    Ok((folder, applied.left))
}
