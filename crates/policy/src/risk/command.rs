//! What a command tool reaches, from its tier, network and mounts. The rows are those of [`super::world`], with two of its
//! own: running a command at all, and any public host behind a wall that is weaker than a container.

use bailiwick_types::{Risk, RiskLevel, RiskReason, Tier};

use super::world::{self, NetworkReach, Signal, World};
use super::{Exposure, badge, reason};
use crate::host::HostRule;

/// How far a command sandbox reaches into the network.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum CommandNetwork {
    /// Nowhere.
    None,
    /// To the hosts that are listed.
    Allow(Vec<HostRule>),
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
    /// Hosts whose addresses may be private, by the operator's word, where the network reaches them.
    pub private: Vec<HostRule>,
    /// Its mounts.
    pub mounts: Vec<MountMode>,
}

/// The badge of a command tool.
pub fn command_risk(posture: &CommandPosture, exposure: &Exposure) -> Risk {
    let CommandPosture { tier, place, network, private: _, mounts } = posture;
    let mut reasons: Vec<RiskReason> = Vec::new();
    let private = posture.reached_privately();
    if *network == CommandNetwork::Full {
        super::breadth::signals(&private.iter().collect::<Vec<_>>(), &mut reasons);
        if !tier.meets(Tier::Container) && *place == CommandPlace::Here {
            reasons.push(reason("full network below a container", RiskLevel::L4, tier.name()));
        }
    }
    let network = match network {
        CommandNetwork::None => NetworkReach::Nowhere,
        CommandNetwork::Allow(rules) => NetworkReach::Hosts(rules.iter().chain(&private).collect()),
        CommandNetwork::Full => NetworkReach::Public(Signal::new("network full", "any public host")),
        CommandNetwork::Host => NetworkReach::Machine,
    };
    let writable = mounts.contains(&MountMode::ReadWrite);
    let mount = |is: bool, name: &'static str, detail: &'static str| is.then(|| Signal::new(name, detail));
    let reached = World {
        network,
        reads: mount(!writable && !mounts.is_empty(), "read-only mount", "reads files of the host"),
        // The row of the rubric holds deleting as well: folders are mounted only where the operator lists them.
        writes: mount(writable, "read-write mount", "changes files of the host"),
        deletes: None,
        readable: (!mounts.is_empty()).then_some("a mount"),
        exposure,
    };
    world::signals(&reached, &mut reasons);
    if reasons.is_empty() {
        reasons.push(reason("runs a command", RiskLevel::L1, tier.name()));
    }
    badge(reasons)
}

impl CommandPosture {
    /// What of the operator's private hosts its network reaches, each as a rule of its own.
    pub fn reached_privately(&self) -> Vec<HostRule> {
        let marked = |rule: HostRule| HostRule { private: true, ..rule };
        match &self.network {
            CommandNetwork::None | CommandNetwork::Host => Vec::new(),
            CommandNetwork::Full => self.private.iter().cloned().map(marked).collect(),
            CommandNetwork::Allow(rules) => rules
                .iter()
                .flat_map(|rule| self.private.iter().filter_map(|private| rule.meeting(private)))
                .map(marked)
                .collect(),
        }
    }
}
