//! Mounts and overlays whose source on the host is held by a descriptor.
//!
//! A [`Mount`] is text: its path may lead elsewhere by the time that it is mounted. A [`Held`] one was resolved once; every check
//! looks at its descriptor, and every backend mounts that descriptor. A backend takes nothing else.

use std::ops::Deref;

use bailiwick_sys::held::HeldFile;

use crate::{Mount, Overlay, SandboxError};

/// A mount or an overlay with the descriptor of its source. Its `from` is where the source was when it was held, and is for
/// messages: nothing is looked up by it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Held<T> {
    asked: T,
    source: HeldFile,
    is_guests: bool,
}

impl<T> Held<T> {
    /// What is mounted.
    pub const fn source(&self) -> &HeldFile {
        &self.source
    }

    /// Whether its name lies in a directory that a guest may write to, so that the name can stand for something else at any time.
    pub const fn is_guests(&self) -> bool {
        self.is_guests
    }

    /// The same, with a name that lies in a directory that a guest may write to, or does not.
    #[must_use]
    pub fn named_by_guests(self, is_guests: bool) -> Self {
        Self { is_guests, ..self }
    }

    /// As it was asked for.
    pub const fn asked(&self) -> &T {
        &self.asked
    }
}

impl<T> Deref for Held<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.asked
    }
}

impl<T: std::fmt::Display> std::fmt::Display for Held<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.asked.fmt(f)
    }
}

impl<T: serde::Serialize> serde::Serialize for Held<T> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.asked.serialize(serializer)
    }
}

impl Held<Mount> {
    /// A mount of a file or directory that is held.
    pub fn mount(mut mount: Mount, source: HeldFile) -> Result<Self, SandboxError> {
        let refused = |why: String| refusal(&mount.from, why);
        if !source.is_directory() && !source.is_file() {
            return Err(refused("it is neither a file nor a folder".to_owned()));
        }
        mount.from = source.real_path().map_err(|errno| refused(errno.to_string()))?;
        Ok(Self { asked: mount, source, is_guests: false })
    }

    /// The same source as an overlay.
    pub fn into_overlay(self) -> Result<Held<Overlay>, SandboxError> {
        let Self { asked: Mount { from, to, writable: _ }, source, is_guests } = self;
        if !source.is_directory() {
            return Err(refusal(&from, "it is not a folder".to_owned()));
        }
        Ok(Held { asked: Overlay { from, to }, source, is_guests })
    }
}

impl Mount {
    /// Holds a path that no guest can change, such as this program's own, or one that the embedding program vouches for. No
    /// symbolic link in it is followed. Whether it may be mounted is not checked here.
    pub fn open_by_name(self) -> Result<Held<Self>, SandboxError> {
        let source = HeldFile::open(&self.from).map_err(|errno| refusal(&self.from, unheld(errno)))?;
        Held::mount(self, source)
    }
}

impl Overlay {
    /// Holds a path as [`Mount::open_by_name`] does.
    pub fn open_by_name(self) -> Result<Held<Self>, SandboxError> {
        let Self { from, to } = self;
        Mount { from, to, writable: true }.open_by_name()?.into_overlay()
    }
}

/// Why a path without links could not be held.
fn unheld(errno: bailiwick_sys::Errno) -> String {
    match errno {
        bailiwick_sys::Errno::LOOP => "there is a symbolic link on the way".to_owned(),
        errno => errno.to_string(),
    }
}

fn refusal(path: &std::path::Path, why: String) -> SandboxError {
    SandboxError::Mount { path: bailiwick_types::shortened(&path.to_string_lossy()), why }
}
