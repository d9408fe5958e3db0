//! What has to be held, and whether a backend's report says that it is.

use bailiwick_types::{WallStatus, Wallpart};

use crate::SandboxSpec;

/// What can be demanded of a wall.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Demand {
    /// Only what the spec names can be reached over a network.
    Network,
    /// Only what the spec names can be read or written.
    Files,
    /// It has no privilege on the host and can gain none: no capabilities, `no_new_privs`, no change of user, not root.
    Privilege,
    /// Ending it ends everything that it started.
    Kill,
    /// Its user on the host is used by nothing else, this program included. Demanded only where the operator requires it.
    Uid,
    /// The most memory.
    Memory,
    /// The most CPU time in a second.
    Cpu,
    /// The most that its own files take.
    Disk,
    /// The most processes.
    Processes,
    /// The longest that a command runs.
    Timeout,
}

impl Demand {
    /// Every demand, walls first.
    pub const ALL: [Self; 10] = [
        Self::Network,
        Self::Files,
        Self::Privilege,
        Self::Kill,
        Self::Uid,
        Self::Memory,
        Self::Cpu,
        Self::Disk,
        Self::Processes,
        Self::Timeout,
    ];

    /// Its name in reports and receipts.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Network => "network",
            Self::Files => "files",
            Self::Privilege => "privilege",
            Self::Kill => "kill",
            Self::Uid => "uid",
            Self::Memory => "memory",
            Self::Cpu => "cpu",
            Self::Disk => "disk",
            Self::Processes => "processes",
            Self::Timeout => "timeout",
        }
    }

    /// Whether it is a wall: walls are always demanded.
    pub const fn is_wall(self) -> bool {
        matches!(self, Self::Network | Self::Files | Self::Privilege | Self::Kill)
    }
}

/// A demand that nothing holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unheld {
    /// Which.
    pub demand: Demand,
    /// What there is of it.
    pub status: WallStatus,
    /// Why, as the backend says.
    pub mechanism: String,
}

impl std::fmt::Display for Unheld {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { demand, status, mechanism } = self;
        write!(f, "{} ({}: {mechanism})", demand.name(), told(*status))
    }
}

const fn told(status: WallStatus) -> &'static str {
    match status {
        WallStatus::Enforced => "enforced",
        WallStatus::Partial => "partial",
        WallStatus::Absent => "absent",
    }
}

/// A spec whose demands are all held.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Accepted {
    /// One line for each limit of a preset that nothing here holds.
    pub warnings: Vec<String>,
}

/// Whether a report holds all that a spec demands: the walls, every limit that somebody typed, and what the operator requires.
/// Walls in `lenient` may be partial: the operator said so.
pub fn judge(spec: &SandboxSpec, report: &[Wallpart], lenient: &[Demand]) -> Result<Accepted, Vec<Unheld>> {
    let mut unheld = Vec::new();
    let mut warnings = Vec::new();
    for demand in Demand::ALL {
        let part = report.iter().find(|part| part.demand == demand.name());
        let status = part.map_or(WallStatus::Absent, |part| part.status);
        let held = match status {
            WallStatus::Enforced => true,
            WallStatus::Partial => lenient.contains(&demand),
            WallStatus::Absent => false,
        };
        if held || !spec.asks_for(demand) {
            continue;
        }
        let mechanism =
            part.map_or_else(|| crate::receipt::NOTHING.to_owned(), |part| part.mechanism.clone());
        if spec.insists_on(demand) {
            unheld.push(Unheld { demand, status, mechanism });
        } else if demand != Demand::Uid {
            warnings.push(format!("the preset's limit on {} is not held here: {mechanism}", demand.name()));
        }
    }
    if unheld.is_empty() { Ok(Accepted { warnings }) } else { Err(unheld) }
}
