//! A commit: chosen changes become a plan, the plan a journal, and the journal is carried out.
//!
//! Everything that can stand against a change is looked for before the first byte is written; if anything does, nothing is
//! written at all. The host's folder is touched by [`crate::journal`] only.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::ffi::OsStrExt as _;

use bailiwick_sys::beneath::{self, Links};
use rustix::fs::{Access, AtFlags, StatVfsMountFlags};
use serde::Serialize;

use crate::baseline::{Baseline, Ours};
use crate::change::{Bounds, Change, Changes, Finding, Node, Reviewed, Skipped, What};
use crate::fault::{Doing, Fault};
use crate::journal::{self, Act, Applied, Journals, Left, Op, Owner, Pass, Plan, State, Steps};
use crate::seen::{Kind, Seen};
use crate::select::Selection;
use crate::upper::Upper;
use crate::walk::Walk;
use crate::{Host, RelPath};

/// What is done with links that lead out of the folder, or may.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LinksOut {
    /// They stand against a commit.
    #[default]
    Refuse,
    /// They are written like any.
    Write,
}

/// What is committed, and how.
#[derive(Debug, Clone)]
pub struct Commit<'a> {
    /// Which changes.
    pub selection: Selection,
    /// How much is looked at.
    pub bounds: Bounds,
    /// Links that lead out.
    pub links_out: LinksOut,
    /// What a reviewer has seen; what has become something else since is not written.
    pub reviewed: Option<&'a Reviewed>,
}

impl Default for Commit<'_> {
    fn default() -> Self {
        Self {
            selection: Selection::All,
            bounds: Bounds::default(),
            links_out: LinksOut::Refuse,
            reviewed: None,
        }
    }
}

/// What a commit did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Committed {
    /// The changes that are in the folder now.
    pub written: Vec<RelPath>,
    /// What somebody else changed in the moment of writing, and was left alone.
    pub left: Vec<Left>,
    /// What of the sandbox cannot be taken over.
    pub skipped: Vec<Skipped>,
}

/// Commits.
pub(crate) fn commit(
    (host, upper, since): (&Host, &Upper, &mut Baseline),
    commit: &Commit<'_>,
    journals: &Journals,
    steps: &mut dyn Steps,
) -> Result<Committed, Fault> {
    let Commit { selection, bounds, links_out, reviewed } = commit;
    let walk = Walk { host, upper, since, selection, bounds: *bounds };
    let Changes { mut changes, skipped, left_out } = walk.changes()?;
    if let Some(bound) = left_out {
        return Err(Fault::TooMuch { bound });
    }
    if let Some(path) = selection.missing(|chosen| changes.iter().any(|change| change.path.is_within(chosen)))
    {
        return Err(Fault::NoSuchChange { path });
    }
    let mut places = Places::new(host)?;
    for change in &mut changes {
        if *links_out == LinksOut::Write {
            change.findings.retain(|finding| *finding != Finding::LeadsOut);
        }
        if reviewed.is_some_and(|reviewed| !reviewed.has(change)) {
            change.findings.push(Finding::NotReviewed);
        }
        let finding = places.finding(change)?;
        change.findings.extend(finding);
    }
    let plan = plan(host, &mut places, &changes)?;
    changes.retain(|change| !change.findings.is_empty());
    if !changes.is_empty() {
        return Err(Fault::Refused(changes));
    }
    if plan.ops.is_empty() {
        return Ok(Committed { written: Vec::new(), left: Vec::new(), skipped });
    }
    let Applied { left, written } = carry_out((host, upper, since), &plan, journals, steps)?;
    Ok(Committed { written: written.into_keys().collect(), left, skipped })
}

/// Stages a plan, marks it ready, carries it out, and remembers what it left.
fn carry_out(
    (host, upper, since): (&Host, &Upper, &mut Baseline),
    plan: &Plan,
    journals: &Journals,
    steps: &mut dyn Steps,
) -> Result<Applied, Fault> {
    let journal = journal::stage(journals, upper, plan, steps)?;
    let root = RelPath::root();
    // Staging takes its time. Whoever changed something meanwhile is found here, while nothing is written yet.
    let stands = journal::stands(host, plan);
    if !matches!(&stands, Ok(moved) if moved.is_empty()) {
        journals.remove(&journal, State::Staging).map_err(Fault::system(Doing::RemoveJournal, &root))?;
        return Err(Fault::Refused(stands?.into_iter().map(refusal).collect()));
    }
    let mut folders = BTreeSet::new();
    for (folder, _) in plan.ops.iter().filter_map(|op| op.path.split()) {
        if let Some(seen) = host.seen(&folder)?
            && !since.is_changed(&folder, &seen)
        {
            folders.insert(folder);
        }
    }
    steps.reached("mark the journal ready");
    journals
        .advance(&journal, State::Staging, State::Ready)
        .map_err(Fault::system(Doing::WriteJournal, &root))?;
    let applied = journals
        .sync()
        .and_then(|()| journal::apply(host, &journal, plan, Pass::First, steps))
        .and_then(|applied| journal::finish(journals, &journal, steps).map(|()| applied))
        .map_err(|fault| Fault::Halfway { id: journal.id.clone(), fault: Box::new(fault) })?;
    let mut ours = applied.written.clone();
    // Only folders that nobody else had touched: what came to the others by somebody else must stay visible.
    for folder in folders {
        let seen = host.seen(&folder)?;
        ours.insert(folder, seen);
    }
    for (path, seen) in ours {
        since.left_by_us(path, seen.map_or(Ours::Nothing, Ours::This));
    }
    Ok(applied)
}

fn refusal(Left { path, finding }: Left) -> Change {
    Change {
        path,
        what: What::Changed,
        before: None,
        after: None,
        sensitive: Vec::new(),
        findings: vec![finding],
        host: None,
    }
}

/// The folders that are written to, and who we are to them.
struct Places<'a> {
    host: &'a Host,
    is_read_only: bool,
    is_root: bool,
    user: u32,
    groups: Vec<u32>,
    known: BTreeMap<RelPath, Option<(Seen, bool)>>,
}

impl<'a> Places<'a> {
    fn new(host: &'a Host) -> Result<Self, Fault> {
        let root = RelPath::root();
        let looking = Fault::system(Doing::LookAtHost, &root);
        let mount = rustix::fs::fstatvfs(host.fd()).map_err(&looking)?;
        let user = rustix::process::geteuid();
        let supplementary = rustix::process::getgroups().map_err(&looking)?;
        let groups = supplementary.into_iter().chain([rustix::process::getegid()]);
        Ok(Self {
            host,
            is_read_only: mount.f_flag.contains(StatVfsMountFlags::RDONLY),
            is_root: user.is_root(),
            user: user.as_raw(),
            groups: groups.map(rustix::fs::Gid::as_raw).collect(),
            known: BTreeMap::new(),
        })
    }

    /// A folder of the host, and whether names in it can be made and removed by us; nothing when it is not there.
    fn folder(&mut self, path: &RelPath) -> Result<Option<(Seen, bool)>, Fault> {
        if let Some(known) = self.known.get(path) {
            return Ok(*known);
        }
        let seen = self.host.seen(path)?.filter(|seen| seen.kind == Kind::Folder);
        let found = match seen {
            None => None,
            Some(seen) => {
                let writable = beneath::folder(self.host.fd(), path.to_c().as_c_str(), Links::Never)
                    .and_then(|held| {
                        rustix::fs::accessat(held, c".", Access::WRITE_OK | Access::EXEC_OK, AtFlags::EACCESS)
                    });
                Some((seen, writable.is_ok()))
            }
        };
        self.known.insert(path.clone(), found);
        Ok(found)
    }

    /// What our rights have against a change.
    fn finding(&mut self, change: &Change) -> Result<Option<Finding>, Fault> {
        let Some((parent, _)) = change.path.split() else { return Ok(None) };
        // A folder that is made with it is ours.
        let Some((folder, writable)) = self.folder(&parent)? else { return Ok(None) };
        if self.is_read_only || (!writable && change.what != What::ModeChanged) {
            return Ok(Some(Finding::NotWritable));
        }
        let Some(host) = change.host.filter(|_| !self.is_root) else { return Ok(None) };
        let is_foreign = host.user != self.user;
        let sticks = folder.mode & 0o1000 != 0 && is_foreign && folder.user != self.user;
        if change.what != What::ModeChanged && sticks {
            return Ok(Some(Finding::NotWritable));
        }
        // What takes its place has to belong to the same, and only an owner sets a mode.
        let keeps_owner = change.after.is_some();
        let foreign = is_foreign || !self.groups.contains(&host.group);
        Ok((keeps_owner && foreign).then_some(Finding::NotOwned))
    }

    /// Whom something new at a path is to belong to: the owner of the folder that holds it. Only root can give.
    fn heir(&mut self, path: &RelPath) -> Result<Option<Owner>, Fault> {
        let mut at = path.clone();
        while self.is_root
            && let Some((parent, _)) = at.split()
        {
            if let Some((Seen { user, group, .. }, _)) = self.folder(&parent)? {
                return Ok(Some(Owner { user, group }));
            }
            at = parent;
        }
        Ok(None)
    }
}

/// What has to be done for changes: removals from below, then folders from above, then content, then folders' modes.
fn plan(host: &Host, places: &mut Places<'_>, changes: &[Change]) -> Result<Plan, Fault> {
    let (mut removals, mut folders, mut content, mut modes) = (vec![], vec![], vec![], vec![]);
    let mut staged = 0;
    for Change { path, what, before, after, host: seen, .. } in changes {
        let op = |before: Option<Seen>, act| Op { path: path.clone(), before, act };
        let mut seen = *seen;
        let kind = |node: &Option<Node>| node.as_ref().map(|node| node.kind);
        let (was, is) = (kind(before), kind(after));
        let is_in_the_way =
            is.is_none() || (was != is && (was == Some(Kind::Folder) || is == Some(Kind::Folder)));
        if was.is_some() && is_in_the_way {
            removals.push(op(seen.take(), Act::Remove));
        }
        let Some(after) = after else { continue };
        let owner = match seen {
            Some(Seen { user, group, .. }) => Some(Owner { user, group }),
            None => places.heir(path)?,
        };
        let mode = after.mode & 0o777;
        match after.kind {
            Kind::Folder if seen.is_some() => modes.push(op(seen, Act::Mode { mode })),
            Kind::Folder => {
                folders.push(op(None, Act::Folder { owner }));
                modes.push(op(None, Act::Mode { mode }));
            }
            // A mode belongs to all names of a file: with more than one, this name gets a file of its own.
            Kind::File if *what == What::ModeChanged && seen.is_some_and(|seen| seen.names == 1) => {
                content.push(op(seen, Act::Mode { mode }));
            }
            Kind::File => {
                let sha256 = after.sha256.clone().unwrap_or_default();
                content.push(op(seen, Act::File { staged, size: after.size, sha256, mode, owner }));
                staged += 1;
            }
            Kind::Link => {
                let target = after.target.as_ref().map(|target| target.as_bytes().to_vec());
                content.push(op(seen, Act::Link { target: target.unwrap_or_default(), owner }));
            }
            Kind::Special => {}
        }
    }
    removals.reverse();
    modes.reverse();
    let root = RelPath::root();
    let looking = Fault::system(Doing::LookAtHost, &root);
    Ok(Plan {
        version: journal::VERSION,
        folder: host.path().as_os_str().as_bytes().to_vec(),
        inode: Seen::of(host.fd()).map_err(&looking)?.inode,
        born: Seen::born(host.fd()).map_err(&looking)?,
        ops: [removals, folders, content, modes].concat(),
    })
}
