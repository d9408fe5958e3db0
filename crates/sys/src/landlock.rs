//! Landlock: which files can be opened, told to the kernel once and for all for this process and what it starts.
//!
//! Where the kernel has none, or less of it, that is told; nothing is claimed.

use std::os::fd::OwnedFd;
use std::path::PathBuf;

use landlock::{
    ABI, Access as _, AccessFs, BitFlags, CompatLevel, Compatible as _, PathBeneath, Ruleset,
    RulesetAttr as _, RulesetCreatedAttr as _, RulesetStatus, Scope,
};
use rustix::fs::{FileType, Mode, OFlags};
use rustix::io::Errno;

use crate::{Failed, Step};

/// What can be done below a folder, or with a file.
#[derive(Debug)]
pub struct Opened {
    /// Which.
    pub place: Place,
    /// How much.
    pub how: How,
}

/// A folder or a file that is left open.
#[derive(Debug)]
pub enum Place {
    /// What is at this path, if anything is.
    At(PathBuf),
    /// What this descriptor stands for.
    Held(OwnedFd),
}

/// How much can be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum How {
    /// Reading and executing.
    Read,
    /// Also writing to what is there, devices included, but nothing is made or removed.
    Use,
    /// Everything.
    Write,
}

/// What stands afterwards.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Standing {
    /// The version of Landlock that this kernel has; 0 for none.
    pub version: u8,
    /// Whether everything that was asked for is in force.
    pub whole: bool,
    /// Whether abstract sockets and signals stay within, too.
    pub scoped: bool,
}

/// The newest version whose rules are asked for.
const NEWEST: ABI = ABI::V6;

/// The version of Landlock that this kernel has; 0 for none.
pub fn version() -> u8 {
    const VERSION: libc::c_long = 1;
    let (nothing, zero): (*const libc::c_void, libc::c_long) = (std::ptr::null(), 0);
    // SAFETY: with this flag the call takes no structure and gives a number.
    let version = unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, nothing, zero, VERSION) };
    u8::try_from(version).unwrap_or(0)
}

/// Closes every file to this process and to what it starts, but for these. Needs [`crate::privileges::never_gain`]. A path
/// that is not there opens nothing.
pub fn close_all_but(opened: Vec<Opened>) -> Result<Standing, Failed> {
    let version = version();
    if version == 0 {
        return Ok(Standing { version, whole: false, scoped: false });
    }
    let failed = |_: landlock::RulesetError| Step::RestrictFiles.failed(Errno::INVAL);
    let mut ruleset = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(NEWEST))
        .map_err(failed)?
        .scope(Scope::AbstractUnixSocket | Scope::Signal)
        .map_err(failed)?
        .create()
        .map_err(failed)?;
    for Opened { place, how } in opened {
        let descriptor = match place {
            Place::Held(descriptor) => descriptor,
            Place::At(path) => match rustix::fs::open(path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()) {
                Ok(descriptor) => descriptor,
                Err(_) => continue,
            },
        };
        let found = rustix::fs::fstat(&descriptor).map_err(|errno| Step::RestrictFiles.failed(errno))?;
        let access = how.access() & suitable(FileType::from_raw_mode(found.st_mode));
        ruleset = ruleset.add_rule(PathBeneath::new(descriptor, access)).map_err(failed)?;
    }
    let status = ruleset.restrict_self().map_err(failed)?;
    let whole = matches!(status.ruleset, RulesetStatus::FullyEnforced);
    Ok(Standing { version, whole, scoped: version >= 6 })
}

impl How {
    fn access(self) -> BitFlags<AccessFs> {
        let read = AccessFs::Execute | AccessFs::ReadFile | AccessFs::ReadDir;
        match self {
            Self::Read => read,
            Self::Use => read | AccessFs::WriteFile | AccessFs::Truncate | AccessFs::IoctlDev,
            Self::Write => AccessFs::from_all(NEWEST),
        }
    }
}

/// What can be said of a file and not only of a folder.
fn suitable(kind: FileType) -> BitFlags<AccessFs> {
    if kind.is_dir() { AccessFs::from_all(NEWEST) } else { AccessFs::from_file(NEWEST) }
}
