//! Changes of a folder, as a diff lists them.

use utoipa::ToSchema;

/// What was changed of a folder.
#[derive(Debug, ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct FolderChanges {
    /// By path.
    pub changes: Vec<FolderChange>,
    /// What cannot be told or taken over, by path.
    pub skipped: Vec<SkippedChange>,
    /// The bound at which looking ended, if there was more.
    #[schema(required)]
    pub left_out: Option<ChangeBound>,
}

/// One change.
#[derive(Debug, ToSchema)]
pub struct FolderChange {
    /// Where, from the folder on.
    pub path: String,
    /// `added`, `removed`, `changed`, `modeChanged`, `typeChanged`.
    pub what: String,
    /// What the folder has there now.
    #[schema(required)]
    pub before: Option<ChangedNode>,
    /// What the sandbox has there.
    #[schema(required)]
    pub after: Option<ChangedNode>,
    /// Why a reviewer should look twice: `git`, `shellStart`, `build`, `editor`, `pipeline`, `access`, `executable`.
    #[schema(required = false)]
    pub sensitive: Vec<String>,
    /// What stands against writing it to the folder: `hostChanged`, `hostAdded`, `hostGone`, `leadsOut`, …
    #[schema(required = false)]
    pub findings: Vec<String>,
}

/// What is at a path, on one side.
#[derive(Debug, ToSchema)]
pub struct ChangedNode {
    /// `file`, `folder`, `link`, `special`.
    pub kind: String,
    /// Its permissions.
    pub mode: u32,
    /// Its length.
    pub size: u64,
    /// Where a link leads.
    #[schema(nullable = false)]
    pub target: Option<String>,
    /// The hash of a file of the sandbox, in hex.
    #[schema(nullable = false)]
    pub sha256: Option<String>,
}

/// Something that is not among the changes.
#[derive(Debug, ToSchema)]
pub struct SkippedChange {
    /// Where.
    pub path: String,
    /// Why: `special`, `unreadable`, `stillWritten`, `tooDeep`, `unknownMark`, `mounted`.
    pub why: String,
}

/// A bound that was met.
#[derive(Debug, ToSchema)]
pub struct ChangeBound {
    /// Of what: `entries`, or `paths` for the bytes of paths.
    pub bound: String,
    /// The most of it.
    pub most: u64,
}
