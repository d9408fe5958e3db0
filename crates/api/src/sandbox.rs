//! Sandboxes: what somebody wants, the ones that are kept, their snapshots and their files.

use std::collections::BTreeMap;
use std::path::PathBuf;

use bailiwick_core::sandboxes::{self as inner, Limit, SandboxPath};
use bailiwick_types::{CorrelationId, Receipt, SandboxId, SnapshotId, Tier};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::schema;
use crate::shape::{Across, across_by_from, shape, words};

/// A sandbox that somebody wants. What it does not say is as the operator's settings say.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct SandboxWish {
    /// What people call it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The backend that has to be used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backend: Option<String>,
    /// The weakest wall, where that is above the operator's floor.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<schema::Tier>)]
    pub tier: Option<Tier>,
    /// The preset of its limits: `minimal`, `standard`, `dev`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preset: Option<String>,
    /// Limits that differ from the preset.
    pub limits: SandboxLimits,
    /// The image that it begins with; the host's own programs without.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub image: Option<String>,
    /// What it can reach: `none`, `allow:host[:port],…`, `git`, `full`, `host`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub network: Option<String>,
    /// What of the host is in it: only what lies under a folder that the operator listed.
    pub mounts: Vec<Mount>,
    /// Folders of the host that it sees as if it could change them; under the same rule.
    pub overlays: Vec<Overlay>,
    /// Ports inside that may be exposed.
    pub expose: Vec<u16>,
    /// Variables of every command in it.
    pub env: BTreeMap<String, String>,
    /// Where commands begin.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub workdir: Option<SandboxPath>,
    /// The snapshot that it begins with, by its id or the beginning of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub snapshot: Option<String>,
    /// What it is marked with.
    pub labels: BTreeMap<String, String>,
    /// How long it lives while nobody uses it: `5m`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idle: Option<String>,
    /// How long it lives at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub absolute: Option<String>,
    /// What caused it; the header `x-correlation-id` where it is not said here.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, min_length = 1, max_length = 128)]
    pub correlation_id: Option<CorrelationId>,
}

/// Limits of a sandbox, as they are typed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct SandboxLimits {
    /// Cores: `0.5`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu: Option<String>,
    /// Memory of its processes and its own files together: `64MiB`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<String>,
    /// Its own files, which count within memory: `256MiB`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disk: Option<String>,
    /// How long one command may run: `30s`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout: Option<String>,
    /// Processes at once: `64`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub processes: Option<String>,
    /// What is kept or told of each stream of a command: `1MiB`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
}

impl From<SandboxLimits> for BTreeMap<Limit, String> {
    fn from(limits: SandboxLimits) -> Self {
        let SandboxLimits { cpu, memory, disk, timeout, processes, output } = limits;
        let all = [
            (Limit::Cpu, cpu),
            (Limit::Memory, memory),
            (Limit::Disk, disk),
            (Limit::Timeout, timeout),
            (Limit::Processes, processes),
            (Limit::Output, output),
        ];
        all.into_iter().filter_map(|(limit, text)| Some((limit, text?))).collect()
    }
}

impl From<BTreeMap<Limit, String>> for SandboxLimits {
    fn from(limits: BTreeMap<Limit, String>) -> Self {
        let mut all = Self::default();
        for (limit, text) in limits {
            let place = match limit {
                Limit::Cpu => &mut all.cpu,
                Limit::Memory => &mut all.memory,
                Limit::Disk => &mut all.disk,
                Limit::Timeout => &mut all.timeout,
                Limit::Processes => &mut all.processes,
                Limit::Output => &mut all.output,
            };
            *place = Some(text);
        }
        all
    }
}

/// A folder or file of the host inside of a sandbox.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Mount {
    /// Where it is on the host.
    #[schema(value_type = String)]
    pub from: PathBuf,
    /// Where it is inside.
    #[schema(value_type = String)]
    pub to: SandboxPath,
    /// Whether it can be written to.
    #[serde(default)]
    pub writable: bool,
}

impl Across<inner::Mount> for Mount {
    fn across(self) -> inner::Mount {
        let Self { from, to, writable } = self;
        inner::Mount { from, to, writable }
    }
}

impl Across<Mount> for inner::Mount {
    fn across(self) -> Mount {
        let Self { from, to, writable } = self;
        Mount { from, to, writable }
    }
}

/// A folder of the host that a sandbox sees as if it could change it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Overlay {
    /// Where it is on the host.
    #[schema(value_type = String)]
    pub from: PathBuf,
    /// Where it is inside.
    #[schema(value_type = String)]
    pub to: SandboxPath,
}

impl Across<inner::Overlay> for Overlay {
    fn across(self) -> inner::Overlay {
        let Self { from, to } = self;
        inner::Overlay { from, to }
    }
}

impl Across<Overlay> for inner::Overlay {
    fn across(self) -> Overlay {
        let Self { from, to } = self;
        Overlay { from, to }
    }
}

impl From<SandboxWish> for inner::SandboxWish {
    fn from(wish: SandboxWish) -> Self {
        let SandboxWish {
            name,
            backend,
            tier,
            preset,
            limits,
            image,
            network,
            mounts,
            overlays,
            expose,
            env,
            workdir,
            snapshot,
            labels,
            idle,
            absolute,
            correlation_id,
        } = wish;
        Self {
            name,
            backend,
            tier,
            preset,
            limits: limits.into(),
            image,
            network,
            mounts: mounts.across(),
            overlays: overlays.across(),
            expose,
            env,
            workdir,
            snapshot,
            labels,
            idle,
            absolute,
            correlation: correlation_id,
            // Neither is anything for a wire: a secret is lent by the operator's own user, and changes are taken by a person.
            secrets: Vec::new(),
            commit: false,
        }
    }
}

impl From<inner::SandboxWish> for SandboxWish {
    fn from(wish: inner::SandboxWish) -> Self {
        let inner::SandboxWish {
            name,
            backend,
            tier,
            preset,
            limits,
            image,
            network,
            mounts,
            overlays,
            expose,
            env,
            workdir,
            snapshot,
            labels,
            idle,
            absolute,
            correlation,
            secrets: _,
            commit: _,
        } = wish;
        Self {
            name,
            backend,
            tier,
            preset,
            limits: limits.into(),
            image,
            network,
            mounts: mounts.across(),
            overlays: overlays.across(),
            expose,
            env,
            workdir,
            snapshot,
            labels,
            idle,
            absolute,
            correlation_id: correlation,
        }
    }
}

shape! {
    /// A sandbox in a list.
    SandboxLine of inner::SandboxLine {
        /// Its id.
        #[schema(value_type = schema::Uuid)]
        id: SandboxId,
        /// What people call it.
        name: Option<String>,
        /// Its backend.
        backend: String,
        /// How strong that is.
        #[schema(value_type = schema::Tier)]
        tier: Tier,
        /// `runs`, `idle`, `asleep`, `gone`.
        state: String,
        /// Commands that run in it through the server.
        running: u32,
        /// What it can reach.
        network: String,
        /// Who made it.
        by: String,
        /// When it was made, RFC 3339.
        created_at: String,
        /// When it was last used.
        used_at: String,
        /// When it ends if nobody uses it before.
        ends_at: String,
    }
}

/// A page of sandboxes, the oldest first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SandboxPage {
    /// The sandboxes.
    pub sandboxes: Vec<SandboxLine>,
    /// Give this as `after` for the next page; null on the last.
    pub next: Option<String>,
}

shape! {
    /// What commands used.
    #[derive(Copy)]
    ExecUsage of inner::ExecUsage {
        /// Wall-clock time in milliseconds.
        wall_ms: f64,
        /// CPU time in milliseconds.
        cpu_ms: f64,
        /// The most memory that was held, in bytes.
        memory_peak: u64,
        /// How many processes there were.
        processes: u64,
    }
}

/// A sandbox in full.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SandboxView {
    /// As in a list.
    #[serde(flatten)]
    pub line: SandboxLine,
    /// What it was made from; of variables only the names.
    #[schema(value_type = Object)]
    pub spec: Value,
    /// What was demanded, and what holds it.
    #[schema(value_type = schema::Receipt)]
    pub receipt: Receipt,
    /// What a preset wanted and nothing here holds.
    pub warnings: Vec<String>,
    /// What it has used; null where it cannot tell.
    pub usage: Option<ExecUsage>,
    /// What it is tied to.
    #[schema(value_type = Option<String>)]
    pub correlation_id: Option<CorrelationId>,
}

impl From<inner::SandboxView> for SandboxView {
    fn from(view: inner::SandboxView) -> Self {
        let inner::SandboxView { line, spec, receipt, warnings, usage, correlation_id } = view;
        Self { line: line.into(), spec, receipt, warnings, usage: usage.across(), correlation_id }
    }
}

impl From<SandboxView> for inner::SandboxView {
    fn from(view: SandboxView) -> Self {
        let SandboxView { line, spec, receipt, warnings, usage, correlation_id } = view;
        Self { line: line.into(), spec, receipt, warnings, usage: usage.across(), correlation_id }
    }
}

across_by_from!(SandboxView, inner::SandboxView);

/// Another sandbox that begins with the state of one's files.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Fork {
    /// What people call it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

/// A snapshot: the state of a sandbox's files, from which others can begin.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SnapshotLine {
    /// Its id.
    #[schema(value_type = schema::Uuid)]
    pub id: SnapshotId,
    /// The backend that keeps it and can start from it.
    pub backend: String,
    /// How much it takes, in bytes.
    pub bytes: u64,
    /// The sandbox it was taken of.
    #[schema(value_type = schema::Uuid)]
    pub of: SandboxId,
    /// When, RFC 3339.
    pub created_at: String,
}

impl From<inner::SnapshotLine> for SnapshotLine {
    fn from(line: inner::SnapshotLine) -> Self {
        let inner::SnapshotLine { snapshot: inner::Snapshot { id, backend, bytes }, of, created_at } = line;
        Self { id, backend, bytes, of, created_at }
    }
}

impl From<SnapshotLine> for inner::SnapshotLine {
    fn from(line: SnapshotLine) -> Self {
        let SnapshotLine { id, backend, bytes, of, created_at } = line;
        Self { snapshot: inner::Snapshot { id, backend, bytes }, of, created_at }
    }
}

/// A page of snapshots, by id.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SnapshotPage {
    /// The snapshots.
    pub snapshots: Vec<SnapshotLine>,
    /// Give this as `after` for the next page; null on the last.
    pub next: Option<String>,
}

words! {
    /// What an entry of a folder is.
    EntryKind of inner::EntryKind {
        /// A file.
        File,
        /// A folder.
        Folder,
        /// A symbolic link.
        Link,
        /// Something else.
        Other,
    }
}

shape! {
    /// What a folder holds.
    #[derive(Eq)]
    Entry of inner::Entry {
        /// Its name; bytes that are no text are shown as `\u{fffd}`.
        name: String,
        /// What it is.
        kind: EntryKind,
        /// Its length, for files.
        bytes: u64,
        /// Its permissions.
        mode: u32,
    }
}

/// What is in a folder, by name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Entries {
    /// Each of it.
    pub entries: Vec<Entry>,
}
