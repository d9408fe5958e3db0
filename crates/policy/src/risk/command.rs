//! The rows of the rubric for command tools: tier, network and mounts decide.

use bailiwick_types::{Risk, RiskLevel, RiskReason, Tier};

use super::{Exposure, badge, reason};

/// How far a command sandbox reaches into the network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CommandNetwork {
    /// Nowhere.
    None,
    /// To the hosts that are listed.
    Allow,
    /// To git hosts.
    Git,
    /// Anywhere public.
    Full,
    /// The host's own network.
    Host,
}

/// How a host folder is mounted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MountMode {
    /// For reading.
    ReadOnly,
    /// For reading and writing.
    ReadWrite,
}

/// Where a command sandbox runs: how strong its wall is does not say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum CommandPlace {
    /// On this host.
    #[default]
    Here,
    /// On another one.
    Elsewhere,
}

/// What the risk of a command tool depends on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandPosture {
    /// The lowest tier it accepts.
    pub tier: Tier,
    /// Where it runs.
    pub place: CommandPlace,
    /// Its network.
    pub network: CommandNetwork,
    /// Its mounts.
    pub mounts: Vec<MountMode>,
}

/// The badge of a command tool.
pub fn command_risk(posture: &CommandPosture, exposure: &Exposure) -> Risk {
    let CommandPosture { tier, place, network, mounts } = posture;
    let Exposure { unsealed_secrets, callees: _ } = exposure;
    let mut reasons: Vec<RiskReason> = Vec::new();
    match network {
        CommandNetwork::None => {}
        CommandNetwork::Host => {
            reasons.push(reason("host network", RiskLevel::L5, "the machine's own network"));
        }
        CommandNetwork::Full if !tier.meets(Tier::Container) && *place == CommandPlace::Here => {
            reasons.push(reason("full network below a container", RiskLevel::L4, tier.name()));
        }
        CommandNetwork::Full | CommandNetwork::Git | CommandNetwork::Allow => {
            reasons.push(reason("command network", RiskLevel::L3, tier.name()));
        }
    }
    if mounts.contains(&MountMode::ReadWrite) {
        reasons.push(reason("read-write mount", RiskLevel::L4, "changes files of the host"));
    } else if !mounts.is_empty() {
        reasons.push(reason("read-only mount", RiskLevel::L3, "reads files of the host"));
    }
    if *network == CommandNetwork::None && mounts.is_empty() {
        reasons.push(reason("runs a command", RiskLevel::L1, tier.name()));
    }
    if *network != CommandNetwork::None {
        for secret in unsealed_secrets {
            reasons.push(reason("a secret can leave by the network", RiskLevel::L4, secret.clone()));
        }
    }
    badge(reasons)
}
