//! Paths as a guest writes them, made plain without looking at any disk.
//!
//! This is the policy's view: `.` and `..` are worked out by name alone, and what would climb above its start
//! does not exist. Links are the gateway's business; it opens the plain path beneath a held folder.

/// A plain path: no `.`, no `..`, no empty parts.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GuestPath {
    absolute: bool,
    parts: Vec<String>,
}

/// Why a text is not a path that policy can speak about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PathError {
    /// Empty.
    #[error("the path is empty")]
    Empty,
    /// Longer than any real path.
    #[error("the path is longer than {} bytes", GuestPath::MAX_BYTES)]
    TooLong,
    /// A NUL byte.
    #[error("the path holds a NUL")]
    Nul,
    /// `..` leads out of the start.
    #[error("the path climbs above its start with `..`")]
    Climbs,
}

/// The folder a granted path lies beneath.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Root {
    /// The call's own workspace; the only place for writing.
    Workspace,
    /// A folder the operator opened for reading.
    ReadRoot(GuestPath),
}

impl GuestPath {
    /// The longest path that is read.
    pub const MAX_BYTES: usize = 4096;

    /// Reads a path.
    pub fn parse(text: &str) -> Result<Self, PathError> {
        if text.is_empty() {
            return Err(PathError::Empty);
        }
        if text.len() > Self::MAX_BYTES {
            return Err(PathError::TooLong);
        }
        if text.contains('\0') {
            return Err(PathError::Nul);
        }
        let mut parts: Vec<String> = Vec::new();
        for part in text.split('/') {
            match part {
                "" | "." => {}
                ".." => {
                    if parts.pop().is_none() {
                        return Err(PathError::Climbs);
                    }
                }
                name => parts.push(name.to_owned()),
            }
        }
        Ok(Self { absolute: text.starts_with('/'), parts })
    }

    /// Whether it starts at `/` and not at the workspace.
    pub const fn is_absolute(&self) -> bool {
        self.absolute
    }

    /// The folder that holds it; none above its start.
    pub fn folder(&self) -> Option<Self> {
        let (_, above) = self.parts.split_last()?;
        Some(Self { absolute: self.absolute, parts: above.to_vec() })
    }

    /// Whether it is where paths start: the workspace itself, or `/`.
    pub const fn is_start(&self) -> bool {
        self.parts.is_empty()
    }

    /// Whether `other` is this folder or lies below it.
    pub fn contains(&self, other: &Self) -> bool {
        self.absolute == other.absolute && other.parts.starts_with(&self.parts)
    }

    /// The part of `other` below this folder, as a relative path.
    pub fn below(&self, other: &Self) -> Option<Self> {
        if !self.contains(other) {
            return None;
        }
        let parts = other.parts.get(self.parts.len()..)?.to_vec();
        Some(Self { absolute: false, parts })
    }

    /// The deepest folder that holds both, if they start at the same place.
    pub fn common_folder(&self, other: &Self) -> Option<Self> {
        if self.absolute != other.absolute {
            return None;
        }
        let parts =
            self.parts.iter().zip(&other.parts).take_while(|(a, b)| a == b).map(|(a, _)| a.clone()).collect();
        Some(Self { absolute: self.absolute, parts })
    }
}

impl std::fmt::Display for GuestPath {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (self.absolute, self.parts.is_empty()) {
            (true, _) => write!(f, "/{}", self.parts.join("/")),
            (false, true) => f.write_str("."),
            (false, false) => f.write_str(&self.parts.join("/")),
        }
    }
}
