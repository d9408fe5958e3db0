//! What a sandbox changed, as it is told: a list of changes, what stands against each, and what was left out.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;

use crate::seen::Seen;
use crate::sensitive::Sensitive;
use crate::{Kind, RelPath};

/// How much is looked at in one go. A guest made what is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// Changes, and what is skipped: 100 000.
    pub entries: usize,
    /// Bytes of all paths together: 64 MiB.
    pub paths: usize,
    /// How deep folders lie in each other: 128.
    pub depth: usize,
    /// Bytes that are read to compare and to hash: 1 GiB.
    pub read: u64,
}

impl Default for Bounds {
    fn default() -> Self {
        Self { entries: 100_000, paths: 64 << 20, depth: 128, read: 1 << 30 }
    }
}

/// Which bound was met.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase", tag = "bound", content = "most")]
pub enum Bound {
    /// Changes.
    Entries(usize),
    /// Bytes of paths.
    Paths(usize),
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Entries(most) => write!(f, "{most} entries"),
            Self::Paths(most) => write!(f, "{most} bytes of paths"),
        }
    }
}

/// What is at a path, on one side.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Node {
    /// What it is.
    pub kind: Kind,
    /// Who may read, write and execute. A link has none of its own.
    pub mode: u32,
    /// How long it is.
    pub size: u64,
    /// Where a link leads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<Target>,
    /// The hash of a file of the sandbox, in hex; none when it was too much to read, or changed meanwhile.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
}

/// Where a link leads, of any bytes; as text it is written like a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target(pub(crate) Vec<u8>);

impl Target {
    /// Its bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&crate::path::quoted(b"", &self.0))
    }
}

impl Serialize for Target {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// What happened to a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum What {
    /// It was not there.
    Added,
    /// It is no longer there.
    Removed,
    /// Its content is another, and maybe its mode.
    Changed,
    /// Only its mode is another.
    ModeChanged,
    /// It is something else than it was.
    TypeChanged,
}

/// What stands against writing a change to the folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Finding {
    /// The host's file changed since the sandbox began.
    HostChanged,
    /// The host has something there that it did not have when the sandbox began.
    HostAdded,
    /// The host had something there when the sandbox began, and has no longer.
    HostGone,
    /// The folder changed since, and what was in it at the begin is not known.
    Unknown,
    /// Another file system is mounted there.
    Mounted,
    /// A link that leads out of the folder, or may.
    LeadsOut,
    /// Its owner cannot be kept by who we are.
    NotOwned,
    /// The folder it is in cannot be written by who we are.
    NotWritable,
    /// It lies deeper than is looked at.
    TooDeep,
    /// It is larger than what is read in one go.
    TooLarge,
    /// It changed while it was read.
    StillWritten,
    /// It is not what was reviewed.
    NotReviewed,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::HostChanged => "changed on the host meanwhile",
            Self::HostAdded => "added on the host meanwhile",
            Self::HostGone => "removed on the host meanwhile",
            Self::Unknown => "its folder changed on the host meanwhile, and what was in it is not known",
            Self::Mounted => "another file system is mounted there on the host",
            Self::LeadsOut => "the link leads out of the folder",
            Self::NotOwned => "it belongs to somebody else on the host",
            Self::NotWritable => "its folder on the host cannot be written",
            Self::TooDeep => "it lies deeper than is looked at",
            Self::TooLarge => "it is larger than what is read in one go",
            Self::StillWritten => "it is still being written",
            Self::NotReviewed => "it is not what was reviewed",
        })
    }
}

/// One change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Change {
    /// Where.
    pub path: RelPath,
    /// What happened.
    pub what: What,
    /// What the host has there now.
    pub before: Option<Node>,
    /// What the sandbox has there.
    pub after: Option<Node>,
    /// Why a reviewer should look twice.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sensitive: Vec<Sensitive>,
    /// What stands against writing it to the folder.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Finding>,
    /// What the host's side was seen to be when this was found.
    #[serde(skip)]
    pub(crate) host: Option<Seen>,
}

impl Change {
    /// What this change comes to, in one word that is the same as long as the change is.
    pub(crate) fn mark(&self) -> String {
        match &self.after {
            None => "removed".to_owned(),
            Some(Node { kind, mode, size, target, sha256 }) => {
                let content = sha256.as_deref().unwrap_or_default();
                let target = target.as_ref().map(ToString::to_string).unwrap_or_default();
                format!("{kind:?} {mode:o} {size} {content} {target}")
            }
        }
    }
}

/// Why something of the sandbox is not in the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Why {
    /// A pipe, a socket or a device: never opened, never written to the host.
    Special,
    /// It cannot be opened by who we are.
    Unreadable,
    /// Something else took its place while it was looked at.
    StillWritten,
    /// It lies deeper than is looked at.
    TooDeep,
    /// It carries a mark of overlayfs that a mount like ours never makes.
    UnknownMark,
    /// Another file system is mounted there on the host.
    Mounted,
}

/// Something of the sandbox that is not in the list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Skipped {
    /// Where.
    pub path: RelPath,
    /// Why.
    pub why: Why,
}

/// What a sandbox changed.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Changes {
    /// By path.
    pub changes: Vec<Change>,
    /// What cannot be told or taken over, by path.
    pub skipped: Vec<Skipped>,
    /// The bound at which looking ended, if there was more.
    pub left_out: Option<Bound>,
}

impl Changes {
    /// What a reviewer has seen: given to a commit, it writes nothing that has become something else since.
    pub fn reviewed(&self) -> Reviewed {
        Reviewed(self.changes.iter().map(|change| (change.path.clone(), change.mark())).collect())
    }
}

/// What a reviewer has seen of each change.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Reviewed(BTreeMap<RelPath, String>);

impl Reviewed {
    pub(crate) fn has(&self, change: &Change) -> bool {
        self.0.get(&change.path).is_some_and(|mark| *mark == change.mark())
    }
}
