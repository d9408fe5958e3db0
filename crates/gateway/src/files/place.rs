//! Where a granted access leads: a held folder, and a plain path beneath it.
//!
//! For reading, links are followed as long as they stay beneath the root, and beneath the base path where there is
//! one. For changing, none is followed, neither on the way nor at the end. The kernel sees to both in the step that
//! opens. Nothing here is made without the policy's `Checked`.

use std::ffi::CString;
use std::os::fd::{AsFd as _, OwnedFd};
use std::sync::Arc;

use bailiwick_policy::{Checked, FileAccess, FileOp, GuestPath, Root};
use bailiwick_sys::Errno;
use bailiwick_sys::beneath::{self, Kind, Links, Status};

use super::reason::{Fault, FileReason};
use super::root::ReadRoot;
use super::walk::DEEPEST;
use super::{Stop, names};

/// The largest file that is read or written.
pub(super) const MOST_BYTES: u64 = 10 << 20;
const BLOCK: usize = 256 << 10;

/// A place that a guest may go to.
#[derive(Debug)]
pub(super) struct Spot {
    root: Arc<OwnedFd>,
    in_workspace: bool,
    /// The folder that confines, as a path from the root, and the path from there.
    base: Option<(String, String)>,
    /// The plain path from the root.
    path: String,
    /// The path as the guest knows it.
    shown: String,
}

impl Spot {
    /// The place of a granted access. `base` is the base path of the policy that granted it.
    pub(super) fn of(
        granted: &Checked<FileAccess>,
        base: Option<&GuestPath>,
        workspace: &Arc<OwnedFd>,
        roots: &[ReadRoot],
    ) -> Result<Self, Fault> {
        let access = granted.get();
        let below = access.below();
        let (root, in_workspace, base_below, shown) = match access.root() {
            Root::Workspace => (Arc::clone(workspace), true, base.cloned(), below.to_string()),
            Root::ReadRoot(path) => {
                let root = roots.iter().find(|root| root.path == *path).ok_or(FileReason::NotFound)?;
                let shown = join(&path.to_string(), &below.to_string());
                // A root that lies in the base path is confinement enough.
                (
                    Arc::clone(root.held.as_ref().map_err(|reason| *reason)?),
                    false,
                    base.and_then(|base| path.below(base)),
                    shown,
                )
            }
        };
        let base = match base_below {
            None => None,
            Some(base) => {
                let rest = base.below(below).ok_or(FileReason::LeadsOut)?;
                Some((base.to_string(), rest.to_string()))
            }
        };
        let spot = Self { root, in_workspace, base, path: below.to_string(), shown };
        if spot.depth() > DEEPEST {
            return Err(FileReason::TooDeep.into());
        }
        if spot.parts().any(|part| names::is_ours(part.as_bytes())) {
            let read = access.op() == FileOp::Read;
            return Err(if read { FileReason::NotFound } else { FileReason::BadName }.into());
        }
        Ok(spot)
    }

    /// The path as the guest knows it.
    pub(super) fn shown(&self) -> &str {
        &self.shown
    }

    /// The names on the way from the root.
    pub(super) fn parts(&self) -> impl Iterator<Item = &str> {
        self.path.split('/').filter(|part| *part != ".")
    }

    /// How deep below its root it lies.
    pub(super) fn depth(&self) -> usize {
        self.parts().count()
    }

    /// The folder everything lies beneath.
    pub(super) const fn root(&self) -> &Arc<OwnedFd> {
        &self.root
    }

    /// Whether a file there may be read: in a workspace, only one that has no name elsewhere.
    ///
    /// A guest cannot make a hard link, so one in a workspace was made by somebody on the host, and may be a file that
    /// the guest should not see. A read root is the operator's, who opened it with all that is in it.
    pub(super) const fn admits(&self, status: &Status) -> bool {
        !self.in_workspace || status.names <= 1
    }

    /// Gets hold of what is there, for reading.
    pub(super) fn look(&self, links: Links) -> Result<OwnedFd, Fault> {
        let (held, path) = self.start()?;
        Ok(beneath::look(held.as_ref().unwrap_or(&self.root), path, links)?)
    }

    /// Opens the folder that is there, for reading.
    pub(super) fn folder(&self) -> Result<OwnedFd, Fault> {
        let (held, path) = self.start()?;
        Ok(beneath::folder(held.as_ref().unwrap_or(&self.root), path, Links::Beneath)?)
    }

    /// The folder that confines, if it is not the root, and the path from there.
    fn start(&self) -> Result<(Option<OwnedFd>, &str), Errno> {
        match &self.base {
            None => Ok((None, &self.path)),
            Some((base, rest)) => Ok((Some(beneath::folder(&self.root, base.as_str(), Links::Never)?), rest)),
        }
    }

    /// Opens the folder above, for a change, and gives the last name. No link is followed, so this cannot leave the
    /// base path either.
    pub(super) fn parent(&self) -> Result<(OwnedFd, CString), Fault> {
        if self.depth() == 0 {
            return Err(FileReason::IsTheRoot.into());
        }
        let (above, name) = self.path.rsplit_once('/').unwrap_or((".", &self.path));
        Ok((beneath::folder(&self.root, above, Links::Never)?, names::old_name(name)?))
    }

    /// Reads the whole file that is there.
    pub(super) fn read(&self, stop: &Stop) -> Result<Vec<u8>, Fault> {
        let held = self.look(Links::Beneath)?;
        self.read_held(&held, stop)
    }

    /// Reads the whole file that is there, through no link.
    pub(super) fn read_itself(&self, stop: &Stop) -> Result<Vec<u8>, Fault> {
        let (parent, name) = self.parent()?;
        let held = beneath::look(parent.as_fd(), &*name, Links::Never)?;
        self.read_held(&held, stop)
    }

    fn read_held(&self, held: &OwnedFd, stop: &Stop) -> Result<Vec<u8>, Fault> {
        let (file, status) = match beneath::status(held)?.kind {
            Kind::File => beneath::read_again(held)?,
            Kind::Folder => return Err(FileReason::IsAFolder.into()),
            Kind::Link => return Err(FileReason::Link.into()),
            Kind::Special => return Err(FileReason::SpecialFile.into()),
        };
        if !self.admits(&status) {
            return Err(FileReason::HardLinked.into());
        }
        read_whole(file, &status, stop)
    }
}

/// Reads a file to its end, if that is not too far.
pub(super) fn read_whole(mut file: std::fs::File, status: &Status, stop: &Stop) -> Result<Vec<u8>, Fault> {
    use std::io::Read as _;
    if status.size > MOST_BYTES {
        return Err(FileReason::TooLarge.into());
    }
    let mut content = Vec::with_capacity(usize::try_from(status.size).unwrap_or(0));
    loop {
        stop.check()?;
        let block = u64::try_from(BLOCK).unwrap_or(u64::MAX);
        if (&mut file).take(block).read_to_end(&mut content)? == 0 {
            return Ok(content);
        }
        // It may have grown since it was looked at.
        if u64::try_from(content.len()).is_ok_and(|length| length > MOST_BYTES) {
            return Err(FileReason::TooLarge.into());
        }
    }
}

/// A guest's path, and what lies below it.
pub(super) fn join(path: &str, below: &str) -> String {
    match (path, below) {
        (path, ".") => path.to_owned(),
        (".", below) => below.to_owned(),
        (path, below) if path.ends_with('/') => format!("{path}{below}"),
        (path, below) => format!("{path}/{below}"),
    }
}
