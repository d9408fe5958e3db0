//! The folders a call works beneath: its workspace and the operator's read roots, each opened once and held.
//!
//! A folder is opened first and looked at then, through its own descriptor: what was looked at is what is used.

use std::os::fd::OwnedFd;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bailiwick_policy::GuestPath;
use bailiwick_sys::{Errno, beneath};

use super::reason::FileReason;

/// The folder below the data folder in which workspaces lie.
pub const WORKSPACES: &str = "workspaces";

/// Why a folder cannot be a root.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum RootError {
    /// It holds our data or config folder, or is one of them.
    #[error("{root} holds {ours}, which no call may read; choose a folder beside it")]
    Holds {
        /// The root, by its real path.
        root: PathBuf,
        /// What it holds.
        ours: PathBuf,
    },
    /// It lies in our data or config folder.
    #[error("{root} lies in {ours}, which no call may read; choose a folder outside it")]
    LiesIn {
        /// The root, by its real path.
        root: PathBuf,
        /// What it lies in.
        ours: PathBuf,
    },
    /// It is on `/proc`, `/sys` or the like.
    #[error("{root} is a view of the kernel, not a folder of files; choose another")]
    KernelView {
        /// The root, by its real path.
        root: PathBuf,
    },
    /// It could not be opened.
    #[error("{root} cannot be opened as a folder: {errno}")]
    Open {
        /// The root, as it was named.
        root: PathBuf,
        /// What the system said.
        errno: Errno,
    },
}

impl RootError {
    /// As a guest is told, which learns nothing of the host.
    pub(super) fn reason(&self) -> FileReason {
        match self {
            Self::Open { errno, .. } => FileReason::from(*errno),
            Self::Holds { .. } | Self::LiesIn { .. } | Self::KernelView { .. } => FileReason::RootRefused,
        }
    }
}

/// Whether a folder may be a read root, by its real path: it holds neither our data folder nor our config folder, and
/// lies in neither, but for the workspaces below the data folder.
pub fn check_root(root: &Path, data: &Path, config: &Path) -> Result<(), RootError> {
    open_root(root, data, config).map(|_| ())
}

/// Opens a read root, unless it is refused.
pub(super) fn open_root(root: &Path, data: &Path, config: &Path) -> Result<OwnedFd, RootError> {
    let failed = |errno| RootError::Open { root: root.to_owned(), errno };
    let held = beneath::hold(root).map_err(failed)?;
    let real = beneath::real_path(&held).map_err(failed)?;
    let identity = beneath::status(&held).map_err(failed)?.identity;
    if beneath::is_kernel_view(&held).map_err(failed)? {
        return Err(RootError::KernelView { root: real });
    }
    for (ours, exempt) in [(data, Some(data.join(WORKSPACES))), (config, None)] {
        let Some((ours, same)) = real_of(ours)? else { continue };
        if ours.starts_with(&real) || same == identity {
            return Err(RootError::Holds { root: real, ours });
        }
        let exempt = exempt.as_deref().map(real_of).transpose()?.flatten();
        let is_exempt =
            exempt.is_some_and(|(exempt, _)| exempt.starts_with(&ours) && real.starts_with(exempt));
        if real.starts_with(&ours) && !is_exempt {
            return Err(RootError::LiesIn { root: real, ours });
        }
    }
    Ok(held)
}

/// The real path of one of our folders, if it is there: what is not there cannot be read.
fn real_of(path: &Path) -> Result<Option<(PathBuf, beneath::Identity)>, RootError> {
    let failed = |errno| RootError::Open { root: path.to_owned(), errno };
    let held = match beneath::hold(path) {
        Ok(held) => held,
        Err(Errno::NOENT | Errno::NOTDIR) => return Ok(None),
        Err(errno) => return Err(failed(errno)),
    };
    let real = beneath::real_path(&held).map_err(failed)?;
    let identity = beneath::status(&held).map_err(failed)?.identity;
    Ok(Some((real, identity)))
}

/// Opens a workspace, and makes it if it is not there. Its last name may not be a link.
pub(super) fn open_workspace(folder: &Path) -> Result<OwnedFd, RootError> {
    let failed = |errno| RootError::Open { root: folder.to_owned(), errno };
    match beneath::hold_itself(folder) {
        Err(Errno::NOENT) => {}
        opened => return opened.map_err(failed),
    }
    std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)
        .map_err(|error| failed(Errno::from_io_error(&error).unwrap_or(Errno::IO)))?;
    beneath::hold_itself(folder).map_err(failed)
}

/// A read root of the operator, held for the length of a call; or why it is not.
#[derive(Debug)]
pub(super) struct ReadRoot {
    pub(super) path: GuestPath,
    pub(super) held: Result<Arc<OwnedFd>, FileReason>,
}

impl ReadRoot {
    /// Opens a root as policy spells it. A root that is refused takes only itself away from the call.
    pub(super) fn open(path: &GuestPath, data: &Path, config: &Path) -> Self {
        let held = open_root(Path::new(&path.to_string()), data, config).map(Arc::new).map_err(|error| {
            tracing::warn!(%error, "a read root is not opened");
            error.reason()
        });
        Self { path: path.clone(), held }
    }
}
