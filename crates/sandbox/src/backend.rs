//! Who makes sandboxes. Adding a backend is implementing [`Backend`]; nobody who calls has to know.

use std::pin::Pin;
use std::time::Duration;

use bailiwick_types::{Tier, WallStatus, Wallpart};

use crate::{Command, Demand, Limits, Sandbox, SandboxError, SandboxSpec};

/// Something that takes its time.
pub type Doing<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// How long a backend may look at the machine, unless it says otherwise.
pub const PROBE_DEADLINE: Duration = Duration::from_secs(10);

/// Where a sandbox runs. It says nothing about how strong its wall is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Location {
    /// On this host.
    Here,
    /// On another one.
    Remote,
}

impl std::fmt::Display for Location {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Here => "here",
            Self::Remote => "on another host",
        })
    }
}

/// What a backend was seen to be able to do, here and now.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Probe {
    /// Whether it can be used.
    pub availability: Available,
    /// What it holds on this machine: one part for each [`crate::Demand`], by its name.
    pub enforces: Vec<Wallpart>,
    /// What it found: versions, mechanisms.
    pub found: Vec<String>,
}

impl Probe {
    /// Of a backend that cannot be used: it holds nothing.
    pub fn unusable(reason: String, fix: Option<String>, found: Vec<String>) -> Self {
        let absent = |demand: &Demand| Wallpart {
            demand: demand.name().to_owned(),
            mechanism: "no sandbox could be made".to_owned(),
            status: WallStatus::Absent,
        };
        let enforces = Demand::ALL.iter().map(absent).collect();
        Self { availability: Available::No { reason, fix }, enforces, found }
    }
}

/// Whether a backend can be used.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Available {
    /// It was seen to run.
    Yes,
    /// It was not.
    No {
        /// Why.
        reason: String,
        /// What would help.
        fix: Option<String>,
    },
}

/// A kind of wall, and how sandboxes behind it are made.
pub trait Backend: Send + Sync + std::fmt::Debug {
    /// Its name: `process`.
    fn id(&self) -> &str;
    /// How strong its wall is; the weakest, where that was not found out yet.
    fn tier(&self) -> Tier;
    /// The strongest that its wall may turn out to be. That of another machine is what that machine says when it is asked.
    fn may_be(&self) -> Tier {
        self.tier()
    }
    /// Where its sandboxes run.
    fn location(&self) -> Location {
        Location::Here
    }
    /// The backend of the highest priority is preferred where nobody asks for one; those here come before those elsewhere.
    fn priority(&self) -> u32;
    /// Looks what it can do here and now, by doing it. The first look may take its time; later ones are remembered.
    fn probe(&self) -> Doing<'_, Probe>;
    /// How long that look may take before it counts as none. Longer than usual only where the operator asked for what is slow.
    fn patience(&self) -> Duration {
        PROBE_DEADLINE
    }
    /// Whether it could run what is asked for, by the look of it: what it cannot, it says why.
    fn can_run(&self, spec: &SandboxSpec) -> Result<(), SandboxError>;
    /// Makes a sandbox that holds everything that the spec demands, or refuses and leaves nothing behind.
    fn create(&self, spec: SandboxSpec) -> Doing<'_, Result<Box<dyn Sandbox>, SandboxError>>;
    /// The simplest sandbox of this kind, and a command that does nothing in it, for whoever wants to see one stand or to time it.
    fn simplest(&self) -> Result<(SandboxSpec, Command), SandboxError> {
        Ok((SandboxSpec::new(Limits::default()), Command::new(["true"])?))
    }
    /// What would give a demand that it does not hold in full here; none where nothing is known to.
    fn advice(&self, _demand: Demand) -> Option<String> {
        None
    }
    /// Forgets a snapshot.
    fn forget<'a>(&'a self, snapshot: &'a crate::Snapshot) -> Doing<'a, Result<(), SandboxError>>;
    /// Somebody who stays begins to use it: what owners that are gone left is removed now, where only somebody else can do that. Whoever
    /// needs the backend is told what is in the way; this is not.
    fn begin(&self) -> Doing<'_, ()> {
        Box::pin(std::future::ready(()))
    }
    /// Ends everything that it still runs, and waits for that.
    fn close(&self) -> Doing<'_, ()>;
}
