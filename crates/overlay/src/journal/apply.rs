//! Carrying out a plan: one path after the other, each step such that it can be taken again.
//!
//! A file is written beside its place and takes it in one step, so there is never half of one. Before each step the path
//! must be as the plan saw it, or already be as the plan wants it; anything else is somebody else's, and is left alone.
//! No link of the host is followed.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{CStr, CString};
use std::io::{Read as _, Write as _};
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};

use bailiwick_sys::beneath::{self, Links};
use rustix::fs::{AtFlags, Gid, Uid};
use rustix::io::Errno;
use sha2::{Digest as _, Sha256};

use super::swap::Spot;
use super::{Act, Journal, Left, Op, Owner, Plan, Steps, staged_name};
use crate::content::hex;
use crate::fault::{Doing, Fault};
use crate::host::Found;
use crate::seen::{Kind, Seen};
use crate::{Finding, Host, RelPath};

const BLOCK: usize = 128 << 10;

/// Whether a plan is carried out for the first time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pass {
    /// For the first time: a folder that is there is not ours.
    First,
    /// After a crash: a folder that is there may be ours.
    Again,
}

/// What came of a plan.
#[derive(Debug)]
pub(crate) struct Applied {
    /// What is somebody else's by now, and was left alone.
    pub(crate) left: Vec<Left>,
    /// What is at each path that was written, right after it was.
    pub(crate) written: BTreeMap<RelPath, Option<Seen>>,
}

/// How a path stands to an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stand {
    /// As before it.
    Old,
    /// As after it.
    New,
    /// Neither.
    Other,
}

pub(super) struct Work<'a> {
    host: &'a Host,
    journal: &'a Journal,
    plan: &'a Plan,
    pass: Pass,
    pub(super) steps: &'a mut dyn Steps,
}

/// Whether every path is as a plan saw it; else what is not.
pub(crate) fn stands(host: &Host, plan: &Plan) -> Result<Vec<Left>, Fault> {
    let mut left = Vec::new();
    let mut removed = BTreeSet::new();
    for Op { path, before, act } in &plan.ops {
        if matches!(act, Act::Remove) {
            removed.insert(path);
        }
        // What the plan itself removes before, or makes before it sets a mode, is looked at there.
        let is_later = !matches!(act, Act::Remove)
            && (removed.contains(path) || before.is_none() && matches!(act, Act::Mode { .. }));
        if is_later {
            continue;
        }
        let seen = host.seen(path)?;
        let finding = match (before, seen) {
            (None, None) => None,
            (Some(before), Some(seen)) if seen.is_still(before) => None,
            (Some(_), Some(_)) => Some(Finding::HostChanged),
            (None, Some(_)) => Some(Finding::HostAdded),
            (Some(_), None) => Some(Finding::HostGone),
        };
        left.extend(finding.map(|finding| Left { path: path.clone(), finding }));
    }
    Ok(left)
}

/// Carries out a plan. What is somebody else's by now is left alone and told.
pub(crate) fn apply(
    host: &Host,
    journal: &Journal,
    plan: &Plan,
    pass: Pass,
    steps: &mut dyn Steps,
) -> Result<Applied, Fault> {
    let mut work = Work { host, journal, plan, pass, steps };
    let mut left = Vec::new();
    let mut written = BTreeMap::new();
    let mut touched = BTreeSet::new();
    for (number, op) in plan.ops.iter().enumerate() {
        match work.op(number, op)? {
            None => {
                // Looked at here and not at the end: what somebody else writes in between is not ours.
                written.insert(op.path.clone(), host.seen(&op.path)?);
            }
            Some(finding) => left.push(Left { path: op.path.clone(), finding }),
        }
        touched.extend(op.path.split().map(|(folder, _)| folder));
        if matches!(op.act, Act::Mode { .. }) {
            touched.insert(op.path.clone());
        }
    }
    for folder in touched {
        work.steps.reached("bring a folder to the disk");
        match beneath::folder(host.fd(), folder.to_c().as_c_str(), Links::Never) {
            // It went with what was in it, is a file, is somebody else's by now, or cannot be opened by its new mode.
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP | Errno::ACCESS) => {}
            held => held.and_then(beneath::sync).map_err(Fault::system(Doing::Sync, &folder))?,
        }
    }
    written.retain(|path, _| !left.iter().any(|left| left.path == *path));
    Ok(Applied { left, written })
}

impl Work<'_> {
    fn op(&mut self, number: usize, op: &Op) -> Result<Option<Finding>, Fault> {
        let path = &op.path;
        let (parent, name) = match self.host.parent(path) {
            Ok(parent) => parent,
            // The way to it went with it; or it is somebody else's by now.
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP | Errno::XDEV) => {
                return Ok((!matches!(op.act, Act::Remove)).then_some(Finding::HostChanged));
            }
            Err(errno) => return Err(Fault::system(Doing::LookAtHost, path)(errno)),
        };
        let beside = CString::new(format!(".bailiwick-{}-{number}", self.journal.id)).unwrap_or_default();
        let place = Spot { parent: parent.as_fd(), name: &name, beside: &beside, path };
        if self.pass == Pass::Again
            && let Some(finding) = self.tidy(op, &place)?
        {
            return Ok(Some(finding));
        }
        match self.stand(op)? {
            Stand::New => return Ok(None),
            Stand::Other => return self.other(op),
            Stand::Old => {}
        }
        self.steps.reached("begin a step");
        let done = match &op.act {
            Act::Remove => self.remove(op, &place),
            Act::Folder { owner } => make_folder(&parent, &name, *owner, path),
            Act::Mode { mode } => self.set_mode(op, *mode),
            Act::Link { target, owner } => {
                link(&parent, &beside, target, *owner, path)?;
                self.take_place(op, &place)
            }
            Act::File { .. } => {
                self.write(op, &parent, &beside)?;
                self.take_place(op, &place)
            }
        };
        self.steps.reached("end a step");
        done
    }

    /// How the path of an operation stands to it.
    pub(super) fn stand(&self, op: &Op) -> Result<Stand, Fault> {
        let (held, seen) = match self.host.look(&op.path)? {
            Found::Mount => return Ok(Stand::Other),
            Found::Nothing => {
                return Ok(match (&op.act, &op.before) {
                    (Act::Remove, _) => Stand::New,
                    (Act::Mode { .. }, _) | (_, Some(_)) => Stand::Other,
                    (_, None) => Stand::Old,
                });
            }
            Found::This(held, seen) => (held, seen),
        };
        match (&op.act, &op.before) {
            // A folder that the plan itself has made.
            (Act::Mode { .. }, None) => {
                return Ok(if seen.kind == Kind::Folder { Stand::Old } else { Stand::Other });
            }
            (Act::Mode { mode }, Some(before))
                if seen.inode == before.inode && seen.kind == before.kind && seen.permissions() == *mode =>
            {
                return Ok(Stand::New);
            }
            (_, Some(before)) if seen.is_still(before) => return Ok(Stand::Old),
            _ => {}
        }
        let is_new = match &op.act {
            Act::Remove | Act::Mode { .. } => false,
            Act::Folder { .. } => seen.kind == Kind::Folder && self.pass == Pass::Again,
            Act::Link { target, .. } => {
                seen.kind == Kind::Link
                    && beneath::target(&held).map_err(Fault::system(Doing::LookAtHost, &op.path))?.as_bytes()
                        == target.as_slice()
            }
            Act::File { size, sha256, mode, .. } => {
                seen.kind == Kind::File
                    && seen.size == *size
                    && seen.permissions() == *mode
                    && self.hash(&op.path)?.as_ref() == Some(sha256)
            }
        };
        Ok(if is_new { Stand::New } else { Stand::Other })
    }

    fn hash(&self, path: &RelPath) -> Result<Option<String>, Fault> {
        let Some(mut file) = self.host.read(path)? else { return Ok(None) };
        let mut hash = Sha256::new();
        let mut block = vec![0; BLOCK];
        loop {
            let length = file.read(&mut block).map_err(Fault::io(Doing::ReadHost, path))?;
            if length == 0 {
                return Ok(Some(hex(&hash.finalize())));
            }
            hash.update(block.get(..length).unwrap_or_default());
        }
    }

    /// Something else is there. It is ours when a later operation of the plan has made it.
    fn other(&self, op: &Op) -> Result<Option<Finding>, Fault> {
        if matches!(op.act, Act::Remove) {
            let later =
                self.plan.ops.iter().filter(|one| one.path == op.path && !matches!(one.act, Act::Remove));
            for one in later {
                if self.stand(one)? == Stand::New {
                    return Ok(None);
                }
            }
        }
        let added = op.before.is_none() && !matches!(op.act, Act::Mode { .. });
        Ok(Some(if added { Finding::HostAdded } else { Finding::HostChanged }))
    }

    /// Sets the mode of what the plan saw: it is looked at once more, and the mode is set on what was looked at. A folder that the plan
    /// itself has made was not seen before.
    fn set_mode(&self, op: &Op, mode: u32) -> Result<Option<Finding>, Fault> {
        let path = &op.path;
        let Found::This(held, seen) = self.host.look(path)? else { return Ok(Some(Finding::HostGone)) };
        let is_what_was_seen = match &op.before {
            Some(before) => seen.is_still(before),
            None => seen.kind == Kind::Folder,
        };
        if !is_what_was_seen {
            return Ok(Some(Finding::HostChanged));
        }
        // A folder's own bits for who inherits and who may remove are the host's; a file's are nobody's.
        let kept = if seen.kind == Kind::Folder { seen.mode & 0o7000 } else { 0 };
        // Opened before, since the mode may take that right from us. Where it cannot be, the disk is not waited for.
        let file = if seen.kind == Kind::File { beneath::read_again(&held).ok() } else { None };
        beneath::set_mode(held, kept | mode & 0o777).map_err(Fault::system(Doing::SetMode, path))?;
        if let Some((file, _)) = file {
            beneath::sync(file).map_err(Fault::system(Doing::Sync, path))?;
        }
        Ok(None)
    }

    /// Writes staged content beside its place.
    fn write(&mut self, op: &Op, parent: &OwnedFd, beside: &CStr) -> Result<(), Fault> {
        let Act::File { staged, size, sha256, mode, owner } = &op.act else { return Ok(()) };
        let path = &op.path;
        let writing = Fault::io(Doing::Write, path);
        let from = staged_name(*staged)
            .and_then(|name| beneath::look(&self.journal.held, name.as_c_str(), Links::Never))
            .and_then(beneath::read_again)
            .map_err(Fault::system(Doing::ReadJournal, path))?;
        let mut from = from.0.take(size.saturating_add(1));
        let mut file = beneath::create(parent, beside).map_err(Fault::system(Doing::Write, path))?;
        let mut hash = Sha256::new();
        let mut block = vec![0; BLOCK];
        loop {
            let length = from.read(&mut block).map_err(Fault::io(Doing::ReadJournal, path))?;
            if length == 0 {
                break;
            }
            let piece = block.get(..length).unwrap_or_default();
            hash.update(piece);
            self.steps.reached("write a piece beside its place");
            file.write_all(piece).map_err(&writing)?;
        }
        if hex(&hash.finalize()) != *sha256 {
            clear(parent.as_fd(), beside).map_err(Fault::system(Doing::Remove, path))?;
            return Err(Fault::Damaged {
                id: self.journal.id.clone(),
                why: "staged content has another hash",
            });
        }
        let setting = Fault::system(Doing::SetMode, path);
        if let Some(Owner { user, group }) = owner
            && Seen::of(&file).is_ok_and(|seen| (seen.user, seen.group) != (*user, *group))
        {
            let (user, group) = (Uid::from_raw(*user), Gid::from_raw(*group));
            rustix::fs::fchown(&file, Some(user), Some(group)).map_err(&setting)?;
        }
        beneath::set_permissions(&file, *mode).map_err(&setting)?;
        beneath::sync(&file).map_err(Fault::system(Doing::Sync, path))
    }
}

fn make_folder(
    parent: &OwnedFd,
    name: &CStr,
    owner: Option<Owner>,
    path: &RelPath,
) -> Result<Option<Finding>, Fault> {
    match beneath::make_folder(parent, name) {
        Ok(()) => {}
        Err(Errno::EXIST) => return Ok(Some(Finding::HostAdded)),
        Err(errno) => return Err(Fault::system(Doing::Write, path)(errno)),
    }
    own(parent, name, owner, path)?;
    Ok(None)
}

fn link(
    parent: &OwnedFd,
    beside: &CStr,
    target: &[u8],
    owner: Option<Owner>,
    path: &RelPath,
) -> Result<(), Fault> {
    rustix::fs::symlinkat(target, parent, beside).map_err(Fault::system(Doing::Write, path))?;
    own(parent, beside, owner, path)
}

fn own(parent: &OwnedFd, name: &CStr, owner: Option<Owner>, path: &RelPath) -> Result<(), Fault> {
    let Some(Owner { user, group }) = owner else { return Ok(()) };
    let (user, group) = (Uid::from_raw(user), Gid::from_raw(group));
    rustix::fs::chownat(parent, name, Some(user), Some(group), AtFlags::SYMLINK_NOFOLLOW)
        .map_err(Fault::system(Doing::SetMode, path))
}

/// Takes away what is beside a place, if anything is.
pub(super) fn clear(parent: BorrowedFd<'_>, beside: &CStr) -> Result<(), Errno> {
    match beneath::remove(parent, beside) {
        Err(Errno::NOENT) => Ok(()),
        removed => removed,
    }
}
