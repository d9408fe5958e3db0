//! How strong a backend's wall is, as an order that a caller can put a floor under.

use serde::{Deserialize, Serialize};

/// The tiers, weakest first. Where a wall stands, here or on another host, is no part of how strong it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Tier {
    /// Namespaces and seccomp around a process on the host's kernel.
    Process,
    /// A container of a container engine.
    Container,
    /// A kernel in user space between the guest and the host's kernel.
    UserKernel,
    /// A virtual machine of its own.
    MicroVm,
}

impl Tier {
    /// Every tier.
    pub const ALL: [Self; 4] = [Self::Process, Self::Container, Self::UserKernel, Self::MicroVm];

    /// The name on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Process => "PROCESS",
            Self::Container => "CONTAINER",
            Self::UserKernel => "USER_KERNEL",
            Self::MicroVm => "MICRO_VM",
        }
    }

    /// Whether this wall is at least as strong as `floor`.
    pub const fn meets(self, floor: Self) -> bool {
        self as u8 >= floor as u8
    }
}

impl std::fmt::Display for Tier {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// A text that is not a tier.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a tier; tiers are PROCESS, CONTAINER, USER_KERNEL and MICRO_VM")]
pub struct UnknownTier(pub String);

impl std::str::FromStr for Tier {
    type Err = UnknownTier;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let spelled = text.replace('-', "_");
        Self::ALL
            .into_iter()
            .find(|tier| tier.name().eq_ignore_ascii_case(&spelled))
            .ok_or_else(|| UnknownTier(text.to_owned()))
    }
}
