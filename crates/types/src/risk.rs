//! Risk levels L0–L5 and the reasons behind one.
//!
//! The level is a view on a policy, computed by the policy crate, never stored as authority.

use serde::{Deserialize, Serialize};

/// How far a tool is widened, from L0 (not at all) to L5 (may destroy or run commands).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum RiskLevel {
    /// No widening.
    L0,
    /// Harmless widening: pure capabilities, larger limits.
    L1,
    /// Used by the rubric for upstream MCP servers.
    L2,
    /// Reaches named hosts or reads files.
    L3,
    /// Writes files, reaches anything, or can carry data out.
    L4,
    /// Destructive or critical.
    L5,
}

impl RiskLevel {
    /// Every level, from low to high.
    pub const ALL: [Self; 6] = [Self::L0, Self::L1, Self::L2, Self::L3, Self::L4, Self::L5];

    /// The name, `L0` to `L5`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::L0 => "L0",
            Self::L1 => "L1",
            Self::L2 => "L2",
            Self::L3 => "L3",
            Self::L4 => "L4",
            Self::L5 => "L5",
        }
    }

    /// What a publisher should do about a tool of this level.
    pub const fn advice(self) -> &'static str {
        match self {
            Self::L0 => "publish on Local Pass",
            Self::L1 | Self::L2 | Self::L3 => "publish after a look at its hosts and paths",
            Self::L4 => "publish only with a written justification",
            Self::L5 => "trusted authors only; publishing needs the operator scope",
        }
    }

    /// The level shown beside the inherent one when every call waits for a person's yes: one lower,
    /// never below L1. A tool that is at L0 or L1 already has nothing to be credited.
    #[must_use]
    pub const fn credited(self) -> Self {
        match self {
            Self::L0 => Self::L0,
            Self::L1 | Self::L2 => Self::L1,
            Self::L3 => Self::L2,
            Self::L4 => Self::L3,
            Self::L5 => Self::L4,
        }
    }
}

impl std::fmt::Display for RiskLevel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// A text that is not a risk level.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a risk level; levels are L0, L1, L2, L3, L4 and L5")]
pub struct UnknownRiskLevel(pub String);

impl std::str::FromStr for RiskLevel {
    type Err = UnknownRiskLevel;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|level| level.name().eq_ignore_ascii_case(text))
            .ok_or_else(|| UnknownRiskLevel(text.to_owned()))
    }
}

/// A badge that explains itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Risk {
    /// The inherent level; permissions and the audit record use this one.
    pub level: RiskLevel,
    /// The level shown beside it when approval is required, else `null`.
    pub credited: Option<RiskLevel>,
    /// Every signal that was found, the strongest first. Empty at L0.
    pub reasons: Vec<RiskReason>,
}

/// One signal of the rubric that a policy shows.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct RiskReason {
    /// The signal, in the rubric's words: `network allowlist`.
    pub signal: String,
    /// The level this signal alone would give.
    pub level: RiskLevel,
    /// What in this policy shows it: `api.github.com`.
    pub detail: String,
}
