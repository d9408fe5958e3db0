//! Filling a journal: everything that will be written is copied from the sandbox and hashed before anything is.

use std::io::Write as _;
use std::os::fd::AsFd as _;

use bailiwick_sys::beneath;
use sha2::{Digest as _, Sha256};

use super::{Act, Journal, Journals, PLAN, Plan, State, Steps, staged_name};
use crate::RelPath;
use crate::content::{self, hex};
use crate::fault::{Doing, Fault};
use crate::upper::{Entry, Upper};

/// Makes a journal of a plan, which is on the disk when this returns. When it fails, none is left.
pub(crate) fn stage(
    journals: &Journals,
    upper: &Upper,
    plan: &Plan,
    steps: &mut dyn Steps,
) -> Result<Journal, Fault> {
    let root = RelPath::root();
    let journal = journals.begin().map_err(Fault::system(Doing::MakeJournal, &root))?;
    match fill(&journal, upper, plan, steps) {
        Ok(()) => Ok(journal),
        Err(fault) => {
            // What cannot be taken away now is dropped at the next start; the fault is what has to be told.
            let _ = journals.remove(&journal, State::Staging);
            Err(fault)
        }
    }
}

fn fill(journal: &Journal, upper: &Upper, plan: &Plan, steps: &mut dyn Steps) -> Result<(), Fault> {
    for op in &plan.ops {
        if let Act::File { staged, sha256, .. } = &op.act {
            steps.reached("stage a file");
            copy(journal, upper, (&op.path, *staged, sha256), steps)?;
        }
    }
    let root = RelPath::root();
    let writing = Fault::io(Doing::WriteJournal, &root);
    steps.reached("write the plan");
    let text = serde_json::to_vec(plan).map_err(|error| writing(error.into()))?;
    let mut file = beneath::create(&journal.held, PLAN).map_err(|errno| writing(errno.into()))?;
    file.write_all(&text).and_then(|()| file.sync_all()).map_err(&writing)?;
    steps.reached("bring the journal to the disk");
    beneath::sync(&journal.held).map_err(Fault::system(Doing::Sync, &root))
}

fn copy(
    journal: &Journal,
    upper: &Upper,
    (path, staged, sha256): (&RelPath, usize, &str),
    steps: &mut dyn Steps,
) -> Result<(), Fault> {
    let writing = Fault::io(Doing::WriteJournal, path);
    // Files that are marks are no changes, so there are none among these.
    let Entry::File(file, seen) = upper.entry(path, false)? else {
        return Err(Fault::StillWritten { path: path.clone() });
    };
    let name = staged_name(staged).map_err(|errno| writing(errno.into()))?;
    let mut copy = beneath::create(journal.held.as_fd(), &name).map_err(|errno| writing(errno.into()))?;
    let mut hash = Sha256::new();
    content::each(&file, &seen, path, |piece| {
        hash.update(piece);
        steps.reached("write a piece of a staged file");
        copy.write_all(piece).map_err(&writing)
    })?;
    copy.sync_all().map_err(&writing)?;
    if hex(&hash.finalize()) == *sha256 { Ok(()) } else { Err(Fault::StillWritten { path: path.clone() }) }
}
