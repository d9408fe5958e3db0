//! The tree under check, in memory: what every rule works on. Paths are
//! relative to the root, with `/` between the names, whatever the platform.

use std::collections::BTreeMap;

/// The files of a workspace that a chore looks at.
#[derive(Debug, Default)]
pub(crate) struct Tree {
    files: BTreeMap<String, Content>,
}

/// What was found at a path.
#[derive(Debug)]
pub(crate) enum Content {
    /// The file's text.
    Text(String),
    /// There is a file or folder, but no text could be had from it.
    Unreadable {
        /// Why not.
        why: String,
    },
}

impl Tree {
    /// Puts what was found at `path` into the tree.
    pub(crate) fn insert(&mut self, path: impl Into<String>, content: Content) {
        self.files.insert(path.into(), content);
    }

    /// Every path with what was found there, in the order of the paths.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &Content)> {
        self.files.iter().map(|(path, content)| (path.as_str(), content))
    }

    /// How many files there are.
    pub(crate) fn len(&self) -> usize {
        self.files.len()
    }
}
