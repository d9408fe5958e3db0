//! The walk over what a sandbox left: each entry is compared with what the host has at its path.
//!
//! The host's folder is looked at by path where the sandbox left something, and is listed only beneath a folder that the
//! sandbox removed or made anew. It never follows a link, opens nothing but files and folders, and does not recurse.

use std::collections::BTreeSet;

use bailiwick_sys::beneath::{self, Links};

use crate::baseline::{Baseline, Ours};
use crate::change::{Bound, Bounds, Change, Changes, Finding, Node, Skipped, Target, What, Why};
use crate::content::{self, Budget};
use crate::fault::{Doing, Fault};
use crate::host::Found;
use crate::links::leads_out;
use crate::seen::{Kind, Seen};
use crate::select::{Place, Selection};
use crate::upper::{Entry, Folder, Upper};
use crate::{Host, RelPath, sensitive};

/// The longest path that is looked at: what a system call takes, with room for a name beside it.
const LONGEST: usize = 3800;

/// What the host has where an entry's folder is.
#[derive(Debug, Clone, Copy)]
enum Under {
    /// A folder. The sandbox does not see what is in it when it is hidden.
    Here { folder: Seen, hidden: bool },
    /// No folder.
    Nothing,
}

/// What came of reading something of the sandbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Read {
    /// All of it; `same` when the host's file has the same bytes.
    Whole { same: bool },
    /// It is more than may be read.
    TooLarge,
    /// It changed meanwhile.
    StillWritten,
    /// There is no content.
    Nothing,
}

#[derive(Debug)]
enum At {
    /// The sandbox left something; `marked` when files of its folder can be marks.
    Upper { under: Under, marked: bool },
    /// Only the host has something there, and the sandbox has removed it with a folder.
    HostOnly { under: Under },
}

/// A walk.
#[derive(Debug)]
pub(crate) struct Walk<'a> {
    pub(crate) host: &'a Host,
    pub(crate) upper: &'a Upper,
    pub(crate) since: &'a Baseline,
    pub(crate) selection: &'a Selection,
    pub(crate) bounds: Bounds,
}

/// What a walk has gathered and what it may still spend.
#[derive(Debug)]
struct State {
    out: Changes,
    open: Vec<(RelPath, At)>,
    entries: usize,
    paths: usize,
    read: Budget,
}

impl Walk<'_> {
    /// Walks.
    pub(crate) fn changes(&self) -> Result<Changes, Fault> {
        let Bounds { entries, paths, depth: _, read } = self.bounds;
        let mut state =
            State { out: Changes::default(), open: Vec::new(), entries, paths, read: Budget(read) };
        let root = RelPath::root();
        let folder = Seen::of(self.host.fd()).map_err(Fault::system(Doing::LookAtHost, &root))?;
        match self.upper.entry(&root, false)? {
            Entry::Folder(upper, _) => {
                self.enter(&root, &upper, Under::Here { folder, hidden: false }, &mut state)?;
            }
            _ => state.out.skipped.push(Skipped { path: root, why: Why::Unreadable }),
        }
        while let Some((path, at)) = state.open.pop() {
            match at {
                At::Upper { under, marked } => self.entry(&path, under, marked, &mut state)?,
                At::HostOnly { under } => self.gone(&path, under, &mut state)?,
            }
        }
        Ok(state.out)
    }

    fn is_too_deep(&self, path: &RelPath) -> bool {
        path.depth() > self.bounds.depth || path.as_bytes().len() > LONGEST
    }

    /// Puts the entries of a folder on the list, those that only the host has included.
    fn enter(&self, path: &RelPath, folder: &Folder, under: Under, state: &mut State) -> Result<(), Fault> {
        let listing = Fault::system(Doing::LookAtUpper, path);
        let (names, more) = folder.names(self.bounds.entries).map_err(listing)?;
        if more {
            state.out.left_out = Some(Bound::Entries(self.bounds.entries));
        }
        let marked = folder.has_marked_files;
        let names: BTreeSet<Vec<u8>> = names.into_iter().map(std::ffi::CString::into_bytes).collect();
        let mut all: Vec<_> =
            names.iter().map(|name| (path.join(name), At::Upper { under, marked })).collect();
        if let Under::Here { hidden: true, .. } = under {
            let theirs = self.host_names(path, state)?;
            let removed = theirs.into_iter().filter(|name| !names.contains(name));
            all.extend(removed.map(|name| (path.join(&name), At::HostOnly { under })));
        }
        self.open(all, state);
        Ok(())
    }

    fn host_names(&self, path: &RelPath, state: &mut State) -> Result<Vec<Vec<u8>>, Fault> {
        let fault = Fault::system(Doing::LookAtHost, path);
        let folder = beneath::folder(self.host.fd(), path.to_c().as_c_str(), Links::Never).map_err(&fault)?;
        let (names, more) = beneath::names(folder, self.bounds.entries).map_err(&fault)?;
        if more {
            state.out.left_out = Some(Bound::Entries(self.bounds.entries));
        }
        Ok(names.into_iter().map(std::ffi::CString::into_bytes).collect())
    }

    /// Puts entries on the list so that they are taken in their order, as far as the bounds go.
    fn open(&self, mut all: Vec<(RelPath, At)>, state: &mut State) {
        all.retain(|(path, _)| self.selection.place(path) != Place::Beside);
        all.sort_unstable_by(|(one, _), (other, _)| other.cmp(one));
        for (path, at) in all {
            let (Some(entries), Some(paths)) =
                (state.entries.checked_sub(1), state.paths.checked_sub(path.as_bytes().len()))
            else {
                let by_count = state.entries == 0;
                let Bounds { entries, paths, .. } = self.bounds;
                state.out.left_out =
                    Some(if by_count { Bound::Entries(entries) } else { Bound::Paths(paths) });
                return;
            };
            (state.entries, state.paths) = (entries, paths);
            state.open.push((path, at));
        }
    }

    /// Something that the sandbox left.
    fn entry(&self, path: &RelPath, under: Under, marked: bool, state: &mut State) -> Result<(), Fault> {
        let skip = |state: &mut State, why| state.out.skipped.push(Skipped { path: path.clone(), why });
        if self.is_too_deep(path) {
            skip(state, Why::TooDeep);
            return Ok(());
        }
        let host = match under {
            Under::Nothing => None,
            Under::Here { .. } => match self.host.look(path)? {
                Found::Mount => {
                    skip(state, Why::Mounted);
                    return Ok(());
                }
                Found::Nothing => None,
                Found::This(held, seen) => Some((held, seen)),
            },
        };
        let seen = host.as_ref().map(|(_, seen)| *seen);
        let before = host.as_ref().map(|(held, seen)| node_of_host(held, seen, path)).transpose()?;
        let entry = match self.upper.entry(path, marked) {
            Err(Fault::StillWritten { .. }) => {
                skip(state, Why::StillWritten);
                return Ok(());
            }
            entry => entry?,
        };
        match entry {
            // The sandbox goes on: it has removed it since its folder was read.
            Entry::Nothing => {}
            Entry::Special => skip(state, Why::Special),
            Entry::Unreadable => skip(state, Why::Unreadable),
            Entry::UnknownMark => skip(state, Why::UnknownMark),
            Entry::Removed => self.removed(path, under, seen.zip(before), state)?,
            Entry::Link(target) => {
                let after = Node {
                    kind: Kind::Link,
                    mode: 0o777,
                    size: u64::try_from(target.len()).unwrap_or(u64::MAX),
                    target: Some(Target(target)),
                    sha256: None,
                };
                self.now(path, under, seen, (before, after, Read::Nothing), state)?;
            }
            Entry::File(file, theirs) => {
                let (after, read) = self.file(path, &file, &theirs, seen.as_ref(), state)?;
                self.now(path, under, seen, (before, after, read), state)?;
            }
            Entry::Folder(folder, theirs) => {
                let hidden = folder.opaque || matches!(under, Under::Here { hidden: true, .. });
                let inside = match seen {
                    Some(folder) if folder.kind == Kind::Folder => Under::Here { folder, hidden },
                    _ => Under::Nothing,
                };
                self.now(path, under, seen, (before, node(&theirs), Read::Nothing), state)?;
                self.enter(path, &folder, inside, state)?;
            }
        }
        Ok(())
    }

    /// Reads a file of the sandbox: what it is, and whether the host's has the same bytes.
    fn file(
        &self,
        path: &RelPath,
        file: &std::fs::File,
        seen: &Seen,
        host: Option<&Seen>,
        state: &mut State,
    ) -> Result<(Node, Read), Fault> {
        let mut after = node(seen);
        let may_be_same = host.is_some_and(|host| host.kind == Kind::File && host.size == seen.size);
        let theirs = if may_be_same { self.host.read(path)? } else { None };
        if !state.read.take(seen.size) {
            return Ok((after, Read::TooLarge));
        }
        match content::compare(file, seen, theirs.as_ref(), path) {
            Ok(compared) => {
                after.sha256 = Some(compared.sha256);
                Ok((after, Read::Whole { same: compared.same }))
            }
            Err(Fault::StillWritten { .. }) => Ok((after, Read::StillWritten)),
            Err(fault) => Err(fault),
        }
    }

    /// The sandbox has something there.
    fn now(
        &self,
        path: &RelPath,
        under: Under,
        host: Option<Seen>,
        (before, after, read): (Option<Node>, Node, Read),
        state: &mut State,
    ) -> Result<(), Fault> {
        let same = read == Read::Whole { same: true };
        let what = match &before {
            None => What::Added,
            Some(before) if before.kind != after.kind => What::TypeChanged,
            Some(before) => match after.kind {
                Kind::Link if before.target == after.target => return Ok(()),
                Kind::Folder if before.mode == after.mode => return Ok(()),
                Kind::File if same && before.mode == after.mode => return Ok(()),
                Kind::Folder => What::ModeChanged,
                Kind::File if same => What::ModeChanged,
                Kind::Link | Kind::File | Kind::Special => What::Changed,
            },
        };
        let is_meant = match self.selection.place(path) {
            Place::In => true,
            // What is beneath cannot be without it.
            Place::Above => after.kind == Kind::Folder && what != What::ModeChanged,
            Place::Beside => false,
        };
        if is_meant {
            let mut findings = self.findings(path, under, host.as_ref());
            if let Some(Target(target)) = &after.target
                && leads_out(path.depth(), target)
            {
                findings.push(Finding::LeadsOut);
            }
            findings.extend(match read {
                Read::TooLarge => Some(Finding::TooLarge),
                Read::StillWritten => Some(Finding::StillWritten),
                Read::Whole { .. } | Read::Nothing => None,
            });
            push(path, what, host, (before, Some(after.clone())), findings, state);
        }
        let folder = host.filter(|host| host.kind == Kind::Folder && after.kind != Kind::Folder);
        folder.map_or(Ok(()), |folder| self.gone_with(path, folder, state))
    }

    /// The sandbox has removed what was there.
    fn removed(
        &self,
        path: &RelPath,
        under: Under,
        host: Option<(Seen, Node)>,
        state: &mut State,
    ) -> Result<(), Fault> {
        let Some((seen, before)) = host else {
            // Overlayfs marks only what the host has. It is gone since: by us, or by somebody else.
            let by_us = matches!(self.since.ours(path), Some(Ours::Nothing));
            let hidden = matches!(under, Under::Here { hidden: true, .. });
            if !by_us && !hidden && self.selection.place(path) == Place::In {
                push(path, What::Removed, None, (None, None), vec![Finding::HostGone], state);
            }
            return Ok(());
        };
        if self.selection.place(path) == Place::In {
            let findings = self.findings(path, under, Some(&seen));
            push(path, What::Removed, Some(seen), (Some(before), None), findings, state);
        }
        if seen.kind == Kind::Folder { self.gone_with(path, seen, state) } else { Ok(()) }
    }

    /// Everything in a folder of the host that the sandbox removed.
    fn gone_with(&self, path: &RelPath, folder: Seen, state: &mut State) -> Result<(), Fault> {
        let under = Under::Here { folder, hidden: true };
        let names = self.host_names(path, state)?;
        self.open(names.iter().map(|name| (path.join(name), At::HostOnly { under })).collect(), state);
        Ok(())
    }

    /// Something of the host that went with a folder.
    fn gone(&self, path: &RelPath, under: Under, state: &mut State) -> Result<(), Fault> {
        let (held, seen) = match self.host.look(path)? {
            Found::This(held, seen) => (held, seen),
            Found::Nothing => return Ok(()),
            Found::Mount => {
                push(path, What::Removed, None, (None, None), vec![Finding::Mounted], state);
                return Ok(());
            }
        };
        let too_deep = seen.kind == Kind::Folder && self.is_too_deep(path);
        if self.selection.place(path) == Place::In {
            let mut findings = self.findings(path, under, Some(&seen));
            findings.extend(too_deep.then_some(Finding::TooDeep));
            let before = node_of_host(&held, &seen, path)?;
            push(path, What::Removed, Some(seen), (Some(before), None), findings, state);
        }
        if seen.kind == Kind::Folder && !too_deep { self.gone_with(path, seen, state) } else { Ok(()) }
    }

    /// What the host did meanwhile.
    fn findings(&self, path: &RelPath, under: Under, host: Option<&Seen>) -> Vec<Finding> {
        // Where the host has no folder, the folder itself says what there is to say.
        let Under::Here { folder, .. } = under else { return Vec::new() };
        let Some((parent, _)) = path.split() else { return Vec::new() };
        let finding = match host {
            Some(host) => self.since.of_present(path, host, &parent),
            None => self.since.of_missing(path, (&parent, &folder)),
        };
        finding.into_iter().collect()
    }
}

fn push(
    path: &RelPath,
    what: What,
    host: Option<Seen>,
    (before, after): (Option<Node>, Option<Node>),
    findings: Vec<Finding>,
    state: &mut State,
) {
    let sensitive = sensitive::of(path, before.as_ref(), after.as_ref());
    state.out.changes.push(Change { path: path.clone(), what, before, after, sensitive, findings, host });
}

fn node(seen: &Seen) -> Node {
    // How long a folder is says nothing.
    let size = if seen.kind == Kind::Folder { 0 } else { seen.size };
    Node { kind: seen.kind, mode: seen.permissions(), size, target: None, sha256: None }
}

fn node_of_host(held: &std::os::fd::OwnedFd, seen: &Seen, path: &RelPath) -> Result<Node, Fault> {
    let mut node = node(seen);
    if seen.kind == Kind::Link {
        let target = beneath::target(held).map_err(Fault::system(Doing::LookAtHost, path))?;
        node.target = Some(Target(target.into_bytes()));
    }
    Ok(node)
}
