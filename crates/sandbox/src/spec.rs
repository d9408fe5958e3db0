//! What is asked for: an environment, who may be reached from it, and how much it may use.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use bailiwick_types::CorrelationId;

use crate::{Limits, PathError, SandboxPath, Snapshot};

/// Which files a sandbox begins with.
#[derive(Debug, Clone, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Image {
    /// The host's own programs, read-only.
    #[default]
    Host,
    /// Another one, by its name or path. Which there are is for backends to say.
    Named(String),
}

/// What can be reached over the network.
#[derive(Debug, Clone, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Network {
    /// Nothing.
    #[default]
    None,
    /// These hosts: `name`, or `name:port`.
    Allow(Vec<String>),
    /// The usual forges of code, on 443.
    Git,
    /// Any public host.
    Full,
    /// The host's own network: no wall at all.
    Host,
}

/// A folder or file of the host inside of a sandbox.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Mount {
    /// Where it is on the host. Whether it may be mounted was decided by whoever made this.
    pub from: PathBuf,
    /// Where it is inside.
    pub to: SandboxPath,
    /// Whether it can be written to.
    pub writable: bool,
}

/// For how long a sandbox lives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Ttl {
    /// While nothing runs in it and nobody uses it.
    pub idle: Duration,
    /// At most.
    pub absolute: Duration,
}

impl Default for Ttl {
    fn default() -> Self {
        Self { idle: Duration::from_secs(10 * 60), absolute: Duration::from_secs(24 * 60 * 60) }
    }
}

/// What a sandbox is to be.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SandboxSpec {
    /// Which files it begins with.
    pub image: Image,
    /// The state of files that it begins with.
    pub snapshot: Option<Snapshot>,
    /// Variables of every command in it, beside PATH, HOME, LANG and TMPDIR.
    pub env: BTreeMap<String, String>,
    /// What of the host is in it.
    pub mounts: Vec<Mount>,
    /// What it can reach.
    pub network: Network,
    /// How much it may use.
    pub limits: Limits,
    /// Where commands begin; made if it is not there.
    pub workdir: SandboxPath,
    /// Ports inside that may be exposed.
    pub expose: Vec<u16>,
    /// What it is marked with.
    pub labels: BTreeMap<String, String>,
    /// What caused it.
    pub correlation: Option<CorrelationId>,
    /// For how long it lives.
    pub ttl: Ttl,
}

/// Why a spec is none.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SpecError {
    /// A variable whose name is not one.
    #[error("`{0}` cannot be the name of a variable: it is empty, or has `=` or a NUL in it")]
    VariableName(String),
    /// A variable whose value is not one.
    #[error("the value of `{0}` has a NUL in it")]
    VariableValue(String),
    /// Variables that are too long together.
    #[error("the variables take {bytes} bytes, and at most {most} are taken")]
    Variables {
        /// What they take.
        bytes: usize,
        /// The bound.
        most: usize,
    },
    /// A path that is none.
    #[error(transparent)]
    Path(#[from] PathError),
    /// A mount that would cover what a sandbox needs.
    #[error("nothing can be mounted at `{0}`: the sandbox has its own there")]
    MountPlace(String),
    /// Two mounts at one place.
    #[error("two mounts at `{0}`")]
    MountTwice(String),
    /// A host that is no host.
    #[error("`{host}` is not a host that can be allowed: {why}")]
    Host {
        /// What was given.
        host: String,
        /// Why not.
        why: String,
    },
    /// A time to live of nothing.
    #[error("a sandbox needs some time to live: {0} is zero")]
    Ttl(&'static str),
}

impl SandboxSpec {
    /// A sandbox with these limits, the host's programs, no network, and nothing of the host's files.
    pub fn new(limits: Limits) -> Self {
        Self {
            image: Image::Host,
            snapshot: None,
            env: BTreeMap::new(),
            mounts: Vec::new(),
            network: Network::None,
            limits,
            workdir: SandboxPath::work(),
            expose: Vec::new(),
            labels: BTreeMap::new(),
            correlation: None,
            ttl: Ttl::default(),
        }
    }

    /// Whether anything is asked for that this demand is about.
    pub fn asks_for(&self, demand: crate::Demand) -> bool {
        match demand {
            crate::Demand::Network => self.network != Network::Host,
            crate::Demand::Processes => self.limits.processes.value > 0,
            _ => true,
        }
    }
}
