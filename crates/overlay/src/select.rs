//! Which changes are meant: all of them, or those at and beneath some paths.

use crate::RelPath;

/// Which changes are meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Selection {
    /// Every one.
    All,
    /// Those at these paths and beneath them.
    Paths(Vec<RelPath>),
}

/// How a path stands to a selection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// It is meant.
    In,
    /// Something beneath it is meant.
    Above,
    /// Neither.
    Beside,
}

impl Selection {
    /// How a path stands to it.
    pub(crate) fn place(&self, path: &RelPath) -> Place {
        match self {
            Self::All => Place::In,
            Self::Paths(paths) if paths.iter().any(|one| path.is_within(one)) => Place::In,
            Self::Paths(paths) if paths.iter().any(|one| one.is_within(path)) => Place::Above,
            Self::Paths(_) => Place::Beside,
        }
    }

    /// A path that was chosen and at which there is none of these.
    pub(crate) fn missing<'a>(&self, mut found: impl FnMut(&RelPath) -> bool + 'a) -> Option<RelPath> {
        match self {
            Self::All => None,
            Self::Paths(paths) => paths.iter().find(|path| !found(path)).cloned(),
        }
    }
}
