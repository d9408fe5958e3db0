//! What is served: folders and files of the host, each by a name.

use std::ffi::CStr;
use std::os::fd::{AsFd as _, OwnedFd};
use std::path::Path;

use bailiwick_sys::Errno;
use bailiwick_sys::beneath::{self, Links};
use bailiwick_sys::held::HeldFile;
use rustix::fs::{AtFlags, Mode, OFlags, Statx, StatxFlags};

/// Whose what is served is, as the machine sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Owner {
    /// As on the host; what the sandbox's user may not read is not read for it.
    AsItIs,
    /// All of it is the sandbox's user's.
    Sandbox,
}

/// Something that is served.
#[derive(Debug)]
pub(crate) struct Share {
    pub(crate) name: String,
    held: OwnedFd,
    pub(crate) writable: bool,
    pub(crate) owner: Owner,
    /// Whether the host changes it seldom enough that it is not asked again for a while.
    pub(crate) steady: bool,
}

impl Share {
    /// Holds a folder or a file of the host. The last name of its path is no link.
    pub(crate) fn hold(
        name: String,
        from: &Path,
        writable: bool,
        owner: Owner,
        steady: bool,
    ) -> std::io::Result<Self> {
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let held = rustix::fs::open(from, flags, Mode::empty())?;
        Ok(Self { name, held, writable, owner, steady })
    }

    /// Serves what is held already.
    pub(crate) fn of(name: String, source: &HeldFile, writable: bool) -> Result<Self, Errno> {
        let (held, owner) = (source.descriptor()?, Owner::AsItIs);
        Ok(Self { name, held, writable, owner, steady: false })
    }

    /// Gets hold of what is at a path in it.
    pub(crate) fn look(&self, path: &CStr) -> Result<OwnedFd, Errno> {
        if path.is_empty() {
            return rustix::io::fcntl_dupfd_cloexec(&self.held, 3);
        }
        beneath::look(self.held.as_fd(), path, Links::Itself)
    }
}

/// What is known of something that is held.
pub(crate) fn look_at(held: &OwnedFd) -> Result<Statx, Errno> {
    rustix::fs::statx(held, c"", AtFlags::EMPTY_PATH, StatxFlags::BASIC_STATS)
}

/// Everything that one machine is served, and for whom.
#[derive(Debug)]
pub(crate) struct Shares {
    pub(crate) list: Vec<Share>,
    /// On whose behalf files of the host are opened and made: user and group.
    pub(crate) user: (u32, u32),
    /// Who that is inside.
    pub(crate) inside: (u32, u32),
    /// Whether this process may make files somebody else's.
    pub(crate) as_root: bool,
}

/// What somebody wants of a file: the bits of one group of its permissions.
pub(crate) const READ: u32 = 4;
pub(crate) const WRITE: u32 = 2;
pub(crate) const ENTER: u32 = 1;

impl Shares {
    /// Whose something is said to be inside.
    pub(crate) fn owner(&self, share: &Share, found: &Statx) -> (u32, u32) {
        let (user, group) = (found.stx_uid, found.stx_gid);
        match share.owner {
            Owner::Sandbox => self.inside,
            Owner::AsItIs if !share.writable => (user, group),
            Owner::AsItIs => (
                if user == self.user.0 { self.inside.0 } else { user },
                if group == self.user.1 { self.inside.1 } else { group },
            ),
        }
    }

    /// Whether the sandbox's user may do this with it.
    pub(crate) fn may(&self, share: &Share, found: &Statx, wanted: u32) -> Result<(), Errno> {
        if share.owner == Owner::Sandbox {
            return Ok(());
        }
        let mode = u32::from(found.stx_mode);
        // For root only where there is something of root's to be written to: nothing else of root's is read for a guest.
        let (user, group) = if share.writable || self.user.0 != 0 { self.user } else { self.inside };
        let shift = match (found.stx_uid == user, found.stx_gid == group) {
            (true, _) => 6,
            (false, true) => 3,
            (false, false) => 0,
        };
        if (mode >> shift) & wanted == wanted { Ok(()) } else { Err(Errno::ACCESS) }
    }
}
