//! What is asked for: an environment, who may be reached from it, and how much it may use.
//!
//! A spec comes from strangers, so everything in it is bounded, and [`SandboxSpec::check`] says all that is wrong with one
//! before anything is made. It must never be changed to fit: what does not fit is refused.

use std::collections::BTreeMap;
use std::time::Duration;

use bailiwick_types::CorrelationId;

use crate::{
    Demand, Held, Limits, LimitsError, Mount, Network, Overlay, PathError, SandboxPath, SealedSecret,
    Snapshot,
};

mod check;

pub use check::{MOST_ENVIRONMENT, MOST_LABELS, MOST_PORTS, MOST_TTL, check_environment};

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

/// For how long a sandbox lives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Ttl {
    /// While nothing runs in it and nobody uses it.
    #[serde(rename = "idleMs", with = "check::milliseconds")]
    pub idle: Duration,
    /// At most.
    #[serde(rename = "absoluteMs", with = "check::milliseconds")]
    pub absolute: Duration,
}

impl Default for Ttl {
    fn default() -> Self {
        Self { idle: Duration::from_mins(10), absolute: Duration::from_hours(24) }
    }
}

/// What a sandbox is to be.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct SandboxSpec {
    /// Which files it begins with.
    pub image: Image,
    /// The state of files that it begins with.
    pub snapshot: Option<Snapshot>,
    /// Variables of every command in it, beside PATH, HOME, LANG and TMPDIR.
    pub env: BTreeMap<String, String>,
    /// What of the host is in it, outer ones first. A text holds no descriptor, so none is read from one.
    #[serde(skip_deserializing)]
    pub mounts: Vec<Held<Mount>>,
    /// Folders of the host that it sees as if it could change them.
    #[serde(skip_deserializing)]
    pub overlays: Vec<Held<Overlay>>,
    /// What it can reach.
    pub network: Network,
    /// Secrets that its commands use and never see.
    pub secrets: Vec<SealedSecret>,
    /// How much it may use.
    pub limits: Limits,
    /// Where commands begin; made if it is not there.
    pub workdir: SandboxPath,
    /// Whether it may be reset and used again by somebody else: how it is at birth is remembered then.
    pub warm: bool,
    /// Ports inside that may be exposed.
    pub expose: Vec<u16>,
    /// What it is marked with.
    pub labels: BTreeMap<String, String>,
    /// What caused it.
    pub correlation: Option<CorrelationId>,
    /// For how long it lives.
    pub ttl: Ttl,
    /// Whether its user on the host must be used by nothing else (`sandbox.require` names `uid`).
    pub separate_uid: bool,
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
    /// A variable that is too long.
    #[error("the variable `{name}` takes {bytes} bytes, and the longest that the system takes has {most}")]
    VariableTooLong {
        /// Which.
        name: String,
        /// What it takes.
        bytes: usize,
        /// The bound.
        most: usize,
    },
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
    /// A limit that is none.
    #[error(transparent)]
    Limits(#[from] LimitsError),
    /// A mount that is none.
    #[error("`{text}` cannot be mounted: {why}")]
    MountText {
        /// What was given.
        text: String,
        /// Why not.
        why: String,
    },
    /// A mount that would cover what a sandbox needs.
    #[error("nothing can be mounted at `{0}`: the sandbox has its own there")]
    MountPlace(String),
    /// Two mounts at one place.
    #[error("two mounts at `{0}`")]
    MountTwice(String),
    /// A mount that a later one would hide.
    #[error("the mount at `{outer}` would hide the one at `{inner}`: name the outer one first")]
    MountHidden {
        /// The one that would be hidden.
        inner: String,
        /// By this one.
        outer: String,
    },
    /// Not a network.
    #[error("`{0}` is not a network; write none, allow:HOST[:PORT],HOST…, git, full or host")]
    Network(String),
    /// An empty list of hosts.
    #[error("no host is named; nothing at all is the network `none`")]
    NoHosts,
    /// A host that is no host.
    #[error("`{host}` is not a host that can be allowed: {why}")]
    Host {
        /// What was given.
        host: String,
        /// Why not.
        why: String,
    },
    /// A secret that is none.
    #[error("`{0}` is not a secret that commands can use; write VARIABLE=SECRET@HOST[,HOST…]:HEADER")]
    SecretText(String),
    /// Two secrets in one variable.
    #[error("two secrets in the variable `{0}`")]
    SecretTwice(String),
    /// Secrets where nothing could put them in.
    #[error("secrets are put in on the way to their hosts, and with the network `{0}` there is no such way")]
    SecretsWithoutWayOut(&'static str),
    /// More than is taken.
    #[error("there are {given} {what}, and at most {most} are taken")]
    TooMany {
        /// Of what.
        what: &'static str,
        /// How many there are.
        given: usize,
        /// The bound.
        most: usize,
    },
    /// A place where no command can begin.
    #[error("commands cannot begin in `{0}`: what is there is the kernel's or the sandbox's own")]
    Workdir(String),
    /// A port that is none, or twice.
    #[error("the port {port} cannot be exposed: {why}")]
    Port {
        /// Which.
        port: u16,
        /// Why not.
        why: &'static str,
    },
    /// A label that is none.
    #[error("`{label}` cannot be a label: {why}")]
    Label {
        /// What was given.
        label: String,
        /// Why not.
        why: &'static str,
    },
    /// An image that is none.
    #[error("`{image}` cannot be the name of an image: {why}")]
    Image {
        /// What was given.
        image: String,
        /// Why not.
        why: &'static str,
    },
    /// A time to live of nothing.
    #[error("a sandbox needs some time to live: {0} is zero")]
    Ttl(&'static str),
    /// A time to live that is longer than a sandbox is kept.
    #[error("a sandbox lives for at most {most}: {what} is more", most = check::most_ttl())]
    TtlTooLong {
        /// Which of the two.
        what: &'static str,
    },
}

impl Default for SandboxSpec {
    fn default() -> Self {
        Self::new(Limits::default())
    }
}

impl SandboxSpec {
    /// A sandbox with these limits, the host's programs, no network, and nothing of the host's files.
    pub fn new(limits: Limits) -> Self {
        Self {
            image: Image::Host,
            snapshot: None,
            env: BTreeMap::new(),
            mounts: Vec::new(),
            overlays: Vec::new(),
            network: Network::None,
            secrets: Vec::new(),
            limits,
            workdir: SandboxPath::work(),
            warm: false,
            expose: Vec::new(),
            labels: BTreeMap::new(),
            correlation: None,
            ttl: Ttl::default(),
            separate_uid: false,
        }
    }

    /// Whether there is no sandbox where this demand is not held: walls always, limits where they were typed, and what the
    /// operator requires.
    pub const fn insists_on(&self, demand: Demand) -> bool {
        match demand {
            Demand::Uid => self.separate_uid,
            _ => demand.is_wall() || self.limits.is_demanded(demand),
        }
    }

    /// Whether anything is asked for that this demand is about.
    pub fn asks_for(&self, demand: Demand) -> bool {
        match demand {
            Demand::Network => self.network != Network::Host,
            Demand::Processes => self.limits.processes.value > 0,
            _ => true,
        }
    }
}
