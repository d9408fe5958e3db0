//! What a sandbox changed of folders under its overlays, shown, taken and dropped; and its ports.

use std::path::PathBuf;

use bailiwick_core::sandboxes::{self as inner, SandboxPath};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::schema;
use crate::shape::shape;

/// Which changes are written to the host's folder. What says nothing means all of them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Commit {
    /// The overlay, by its place inside; not needed where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub at: Option<SandboxPath>,
    /// Paths as the diff shows them, with all that is in them; none for everything.
    pub paths: Vec<String>,
    /// Take links that lead out of the folder, too.
    pub links_out: bool,
}

impl From<Commit> for inner::ReviewWish {
    fn from(commit: Commit) -> Self {
        let Commit { at, paths, links_out } = commit;
        Self { at, paths, links_out, patch_bytes: None }
    }
}

impl From<inner::ReviewWish> for Commit {
    fn from(wish: inner::ReviewWish) -> Self {
        // How much is shown is nothing for what is taken.
        let inner::ReviewWish { at, paths, links_out, patch_bytes: _ } = wish;
        Self { at, paths, links_out }
    }
}

/// Which changes are dropped. What says nothing means all of them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Discard {
    /// The overlay, by its place inside; not needed where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub at: Option<SandboxPath>,
    /// Paths as the diff shows them, with all that is in them; none for everything.
    pub paths: Vec<String>,
}

impl From<Discard> for inner::ReviewWish {
    fn from(discard: Discard) -> Self {
        let Discard { at, paths } = discard;
        Self { at, paths, links_out: false, patch_bytes: None }
    }
}

impl From<inner::ReviewWish> for Discard {
    fn from(wish: inner::ReviewWish) -> Self {
        // Neither is anything for what is dropped.
        let inner::ReviewWish { at, paths, links_out: _, patch_bytes: _ } = wish;
        Self { at, paths }
    }
}

shape! {
    /// What a sandbox changed of a folder.
    Shown of inner::Shown {
        /// The host's folder.
        #[schema(value_type = String)]
        from: PathBuf,
        /// Where it is inside.
        #[schema(value_type = String)]
        to: SandboxPath,
        /// Each change, with what stands against it.
        #[schema(value_type = schema::FolderChanges)]
        changes: Value,
        /// As a patch.
        patch: String,
        /// How many changes there are.
        count: usize,
        /// Changes that cannot be taken, one line each.
        conflicts: Vec<String>,
        /// Changes at which a reviewer should look twice, one line each.
        sensitive: Vec<String>,
    }
}

shape! {
    /// What became of changes.
    #[derive(Eq)]
    Landed of inner::Landed {
        /// The host's folder.
        #[schema(value_type = String)]
        from: PathBuf,
        /// Paths whose changes were taken, or dropped.
        done: Vec<String>,
        /// What was left as it is, and why, one line each.
        left: Vec<String>,
    }
}

/// A port that is to be exposed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Expose {
    /// The port inside, which the sandbox was made with: `expose`.
    pub port: u16,
}

/// A port of the server's own loopback that leads to a port inside of a sandbox.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExposedPort {
    /// The port inside.
    pub port: u16,
    /// The port of the server's machine.
    pub host_port: u16,
    /// Where it is reached on that machine: `127.0.0.1` and the port.
    pub address: String,
}

impl From<inner::ExposedPort> for ExposedPort {
    fn from(exposed: inner::ExposedPort) -> Self {
        let inner::ExposedPort { port, host_port } = exposed;
        Self { port, host_port, address: format!("127.0.0.1:{host_port}") }
    }
}

impl From<ExposedPort> for inner::ExposedPort {
    fn from(exposed: ExposedPort) -> Self {
        // The address follows from the port.
        let ExposedPort { port, host_port, address: _ } = exposed;
        Self { port, host_port }
    }
}

/// The ports of a sandbox that are exposed, by the port inside.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExposedPorts {
    /// Each of them.
    pub ports: Vec<ExposedPort>,
}
