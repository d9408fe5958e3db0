//! How far is this policy widened? A level, and the reasons for it.
//!
//! The level is the highest of all signals. What reaches the world (network, files, destruction, reflection,
//! critical powers) counts wherever it was granted, also when the operator's own baseline grants it: the badge
//! says what a tool can do. What is only "more than usual" (pure and ordinary capabilities, deny entries
//! removed, limits raised) is measured against the given baseline.

mod command;

pub use command::{CommandNetwork, CommandPlace, CommandPosture, MountMode, command_risk};

use ipnet::IpNet;

use bailiwick_types::{LimitKind, Risk, RiskLevel, RiskReason, ToolName};

use crate::capability::{Capability, CapabilitySet, Class};
use crate::effective::{EffectivePolicy, Files, Net, Powers};
use crate::host::{HostPattern, HostRule, PortRule};
use crate::{Baseline, NetworkMode};

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
    let reaches = network_signals(net, powers, &mut reasons);
    file_signals(files, &mut reasons);
    // What a tool cannot reach itself, a tool it calls may reach for it.
    let through = exposure.callees.iter().any(|(_, level)| *level >= RiskLevel::L3);
    pair_signals(files, exposure, reaches || through, &mut reasons);
    for (name, level) in &exposure.callees {
        if *level > RiskLevel::L0 {
            reasons.push(reason("calls a tool", *level, name.to_string()));
        }
    }
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

/// The network's signals; says whether anything can be reached at all.
fn network_signals(net: &Net, powers: &Powers, reasons: &mut Vec<RiskReason>) -> bool {
    let Net { mode, hosts, ask: _ } = net;
    if !powers.allowed.contains(Capability::NetFetch) {
        return false;
    }
    match mode.value {
        NetworkMode::Blocked => return false,
        NetworkMode::Strict => reasons.push(reason("network strict", RiskLevel::L3, "any public host")),
        NetworkMode::Open => reasons.push(reason("network open", RiskLevel::L4, "any host")),
        NetworkMode::Allowlist => {
            for rule in hosts {
                let (signal, level) = host_signal(&rule.value);
                reasons.push(reason(signal, level, rule.value.describe()));
            }
        }
    }
    true
}

fn host_signal(rule: &HostRule) -> (&'static str, RiskLevel) {
    // Methods and paths do not lower it: a query string carries data out as well as a body.
    let HostRule { pattern, port, methods: _, paths: _, private } = rule;
    let many = matches!(pattern, HostPattern::Any | HostPattern::Wildcard(_) | HostPattern::Block(_));
    // A block of half the addresses is `*` by another name.
    let everything = match pattern {
        HostPattern::Any => true,
        HostPattern::Block(IpNet::V4(block)) => block.prefix_len() < 8,
        HostPattern::Block(IpNet::V6(block)) => block.prefix_len() < 16,
        HostPattern::Wildcard(_) | HostPattern::Domain(_) | HostPattern::Address(_) => false,
    };
    match (pattern, private) {
        _ if everything => ("network allowlist with *", RiskLevel::L4),
        (_, true) if many || *port == PortRule::Any => ("private wildcard", RiskLevel::L4),
        (_, true) => ("private host", RiskLevel::L3),
        (_, false) => ("network allowlist", RiskLevel::L3),
    }
}

fn file_signals(files: &Files, reasons: &mut Vec<RiskReason>) {
    let Files { read, write, delete, base, ask: _ } = files;
    let place = base.as_ref().map_or_else(|| "workspace".to_owned(), |base| base.value.to_string());
    if read.value {
        reasons.push(reason("fileRead", RiskLevel::L3, place.clone()));
    }
    if write.value {
        reasons.push(reason("fileWrite", RiskLevel::L4, place.clone()));
    }
    if delete.value {
        reasons.push(reason("destructive", RiskLevel::L5, place));
    }
}

fn pair_signals(files: &Files, exposure: &Exposure, reaches: bool, reasons: &mut Vec<RiskReason>) {
    if !reaches {
        return;
    }
    if files.read.value {
        reasons.push(reason("files can leave by the network", RiskLevel::L4, "fileRead with network"));
    }
    for secret in &exposure.unsealed_secrets {
        reasons.push(reason("a secret can leave by the network", RiskLevel::L4, secret.clone()));
    }
}
