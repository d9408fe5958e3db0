//! How far is this policy widened? A level, and the reasons for it.
//!
//! The level is the highest of all signals. What reaches the world (network, files, destruction, reflection,
//! critical powers) counts wherever it was granted, also when the operator's own baseline grants it: the badge
//! says what a tool can do. What is only "more than usual" (pure and ordinary capabilities, deny entries
//! removed, limits raised) is measured against the given baseline.
//!
//! Code in a cell and commands in a sandbox reach the world by different means. [`world::signals`] judges both by the
//! same rows, so the same powers have the same level.

mod breadth;
mod command;
mod world;

pub use command::{CommandNetwork, CommandPlace, CommandPosture, MountMode, command_risk};

use bailiwick_types::{LimitKind, Risk, RiskLevel, RiskReason, ToolName};

use crate::Baseline;
use crate::NetworkMode;
use crate::capability::{Capability, CapabilitySet, Class};
use crate::effective::{EffectivePolicy, Files, Net, Powers};
use world::{NetworkReach, Signal, World};

/// What risk depends on beside the policy.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Exposure {
    /// Names of secrets that the code can read, because they are not sealed.
    pub unsealed_secrets: Vec<String>,
    /// The tools it names for `tools.call`, with the level of each.
    pub callees: Vec<(ToolName, RiskLevel)>,
}

/// The badge of a policy.
pub fn risk(policy: &EffectivePolicy, baseline: &Baseline) -> Risk {
    let EffectivePolicy {
        baseline: _,
        profile: _,
        layers: _,
        powers,
        net,
        files,
        limits,
        limits_from: _,
        exposure,
    } = policy;
    let mut reasons = Vec::new();
    capability_signals(powers, files.delete.value, baseline, &mut reasons);
    world::signals(&world_of(powers, net, files, exposure), &mut reasons);
    for kind in LimitKind::ALL {
        let (usual, asked) = (baseline.limits.get(*kind), limits.get(*kind));
        if asked > usual {
            let detail =
                format!("{} {} → {}", kind.key(), kind.unit().format(usual), kind.unit().format(asked));
            reasons.push(reason("limit raised", RiskLevel::L1, detail));
        }
    }
    badge(reasons)
}

/// The highest of the signals, with the strongest reason first.
fn badge(mut reasons: Vec<RiskReason>) -> Risk {
    reasons.sort_by(|a, b| {
        b.level.cmp(&a.level).then_with(|| (&a.signal, &a.detail).cmp(&(&b.signal, &b.detail)))
    });
    let level = reasons.first().map_or(RiskLevel::L0, |strongest| strongest.level);
    Risk { level, credited: None, reasons }
}

fn reason(signal: &str, level: RiskLevel, detail: impl Into<String>) -> RiskReason {
    RiskReason { signal: signal.to_owned(), level, detail: detail.into() }
}

fn capability_signals(
    powers: &Powers,
    destructive: bool,
    baseline: &Baseline,
    reasons: &mut Vec<RiskReason>,
) {
    let Powers { allowed, deny, allow_from: _, deny_from: _ } = powers;
    let (usually_allowed, usually_denied) = lists_of(baseline);
    for capability in allowed.iter() {
        let added = !usually_allowed.contains(capability);
        match capability.class() {
            Class::Pure if added => {
                reasons.push(reason("pure capability added", RiskLevel::L1, capability.name()));
            }
            Class::Ordinary if added => {
                reasons.push(reason("capability added", RiskLevel::L3, capability.name()));
            }
            Class::Reflection => {
                reasons.push(reason("reflection capability", RiskLevel::L4, capability.name()));
            }
            // `destructive` has a signal of its own.
            Class::Critical if capability != Capability::FsDelete => {
                reasons.push(reason("critical capability", RiskLevel::L5, capability.name()));
            }
            Class::Pure | Class::Ordinary | Class::Critical | Class::Network | Class::File => {}
        }
    }
    // `destructive` lifts its own deny entry and is counted as itself. Every other entry that is gone is also used:
    // a lifted entry that nothing grants is restored by `resolve`.
    let own = if destructive { CapabilitySet::of(Capability::FsDelete) } else { CapabilitySet::EMPTY };
    let removed = usually_denied.difference(*deny).difference(own);
    if removed.len() >= 3 {
        reasons.push(reason("3 or more deny entries removed", RiskLevel::L4, removed.names()));
    } else if !removed.is_empty() {
        reasons.push(reason("deny entry removed", RiskLevel::L3, removed.names()));
    }
}

/// What the baseline's own lists say.
pub(crate) fn lists_of(baseline: &Baseline) -> (CapabilitySet, CapabilitySet) {
    let union = |patterns: &[crate::Sourced<crate::CapabilityPattern>]| {
        patterns.iter().fold(CapabilitySet::EMPTY, |set, pattern| set.union(pattern.value.set()))
    };
    (union(&baseline.layer.add_allow), union(&baseline.layer.add_deny))
}

/// What code with these powers reaches.
fn world_of<'a>(powers: &Powers, net: &'a Net, files: &Files, exposure: &'a Exposure) -> World<'a> {
    let Net { mode, hosts, ask: _ } = net;
    let network = match mode.value {
        _ if !powers.allowed.contains(Capability::NetFetch) => NetworkReach::Nowhere,
        NetworkMode::Blocked => NetworkReach::Nowhere,
        NetworkMode::Allowlist => NetworkReach::Hosts(hosts.iter().map(|rule| &*rule.value).collect()),
        NetworkMode::Strict => NetworkReach::Public(Signal::new("network strict", "any public host")),
        NetworkMode::Open => NetworkReach::Open,
    };
    let Files { read, write, delete, base, ask: _ } = files;
    let place = base.as_ref().map_or_else(|| "workspace".to_owned(), |base| base.value.to_string());
    let switch = |on: bool, signal: &'static str| on.then(|| Signal::new(signal, place.clone()));
    World {
        network,
        reads: switch(read.value, "fileRead"),
        writes: switch(write.value, "fileWrite"),
        deletes: switch(delete.value, "destructive"),
        readable: read.value.then_some("fileRead"),
        exposure,
    }
}
