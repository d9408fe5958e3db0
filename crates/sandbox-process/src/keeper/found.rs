//! What a jail mounts of the host's: the copies that the keeper made of held descriptors as root, or the held files themselves.

use std::collections::BTreeMap;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::path::Path;

use bailiwick_sys::held::HeldFile;
use bailiwick_sys::mounts::{self, Less};
use bailiwick_sys::{Errno, Failed, Step};

/// What may be mounted of the host's, by its place inside.
#[derive(Clone, Copy)]
pub(super) struct Found<'a> {
    /// Mounts that have no name yet.
    pub(super) copies: &'a BTreeMap<String, OwnedFd>,
    /// Descriptors of the host's mount namespace.
    pub(super) held: &'a BTreeMap<String, OwnedFd>,
}

impl<'a> Found<'a> {
    /// A mount of what is held for a place. `root` is where the host's files are now, `from` where it was on the host.
    ///
    /// Only mounts of this mount namespace can be copied in it. So where there is no copy by the keeper, the path is opened once
    /// more here, without any link, and taken only if it leads to the very file that is held.
    pub(super) fn mount(
        self,
        place: &str,
        (root, from): (&Path, &str),
        less: Less,
    ) -> Result<OwnedFd, Failed> {
        let changed = |errno| Step::ChangedMeanwhile.failed(errno);
        if let Some(copy) = self.copies.get(place) {
            return copy.try_clone().map_err(|_| changed(Errno::MFILE));
        }
        let held = self.held(place)?;
        let rest = Path::new(from.trim_start_matches('/'));
        let again =
            HeldFile::open(root).and_then(|root| root.beneath(rest)).map_err(|errno| match errno {
                Errno::ACCESS | Errno::PERM => Step::BindMount.failed(errno),
                errno => changed(errno),
            })?;
        let found = rustix::fs::fstat(held).map_err(changed)?;
        if again.identity() != (found.st_dev, found.st_ino) {
            return Err(changed(Errno::STALE));
        }
        mounts::copy(&again, less)
    }

    /// The descriptor that is held for a place.
    pub(super) fn held(self, place: &str) -> Result<BorrowedFd<'a>, Failed> {
        self.held.get(place).map(OwnedFd::as_fd).ok_or_else(|| Step::ChangedMeanwhile.failed(Errno::BADF))
    }
}
