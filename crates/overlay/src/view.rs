//! A sandbox's view of a folder: both halves and what is known of its begin.

use std::os::fd::OwnedFd;

use crate::baseline::{Baseline, Names};
use crate::change::{Bounds, Changes};
use crate::commit::{self, Commit, Committed};
use crate::diff::{self, Diff, DiffBounds};
use crate::discard;
use crate::fault::Fault;
use crate::host::Host;
use crate::journal::{Journals, Steps};
use crate::original::{self, Original};
use crate::path::RelPath;
use crate::select::Selection;
use crate::upper::Upper;
use crate::walk::Walk;

/// A sandbox's view of a folder.
#[derive(Debug)]
pub struct View {
    host: Host,
    upper: Upper,
    since: Baseline,
}

impl View {
    /// The view of a folder whose changes are in the folder `upper`, as overlayfs writes it with `userxattr`.
    pub fn new(host: Host, upper: OwnedFd, since: Baseline) -> Self {
        Self { host, upper: Upper(upper), since }
    }

    /// The host's folder.
    pub const fn host(&self) -> &Host {
        &self.host
    }

    /// The names that the folder held at the begin are known now.
    pub fn know(&mut self, names: Names) {
        self.since.know(names);
    }

    /// What the sandbox changed, by path; of the chosen paths only, with the folders that they need.
    ///
    /// # Errors
    /// When the folder or what the sandbox left cannot be looked at.
    pub fn changes(&self, selection: &Selection, bounds: Bounds) -> Result<Changes, Fault> {
        let Self { host, upper, since } = self;
        Walk { host, upper, since, selection, bounds }.changes()
    }

    /// Changes with their content.
    ///
    /// # Errors
    /// When something cannot be read.
    pub fn diff(&self, changes: &Changes, bounds: DiffBounds) -> Result<Diff, Fault> {
        diff::diff(&self.host, &self.upper, changes, bounds)
    }

    /// Writes changes to the host's folder: all that are chosen, or none. Chosen are paths with all that is beneath them;
    /// folders that they need come along.
    ///
    /// # Errors
    /// [`Fault::Refused`] with everything that stands against it. Only with [`Fault::Halfway`] (a full disk) may something
    /// have been written: [`crate::recover`] carries on then. What it writes is not known to this view as its own.
    pub fn commit(
        &mut self,
        commit: &Commit<'_>,
        journals: &Journals,
        steps: &mut dyn Steps,
    ) -> Result<Committed, Fault> {
        let Self { host, upper, since } = self;
        commit::commit((host, upper, since), commit, journals, steps)
    }

    /// What the host has at a path now, if that is at most so many bytes.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn original(&self, path: &RelPath, most: u64) -> Result<Original, Fault> {
        original::original(&self.host, path, most)
    }

    /// Drops changes, so that the sandbox would see the host's folder again.
    ///
    /// Only for a folder on top that **nobody has mounted**: the caller's word. Where it is mounted, the sandbox as a whole
    /// has to go instead.
    ///
    /// # Errors
    /// When there is nothing at a chosen path, or only its folder can be dropped.
    pub fn discard(&self, selection: &Selection) -> Result<(), Fault> {
        discard::discard(&self.upper, selection)
    }
}
