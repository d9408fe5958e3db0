//! What a tool reaches, whatever its kind, and the level of that. The only place that rates networks, files and pairs of
//! them, so that a command cannot wear a lower badge than code with the same powers.

use bailiwick_types::{RiskLevel, RiskReason};

use super::{Exposure, breadth, reason};
use crate::host::HostRule;

/// The name and the detail of one reason.
#[derive(Debug, Clone)]
pub(super) struct Signal {
    name: &'static str,
    detail: String,
}

impl Signal {
    pub(super) fn new(name: &'static str, detail: impl Into<String>) -> Self {
        Self { name, detail: detail.into() }
    }

    fn at(&self, level: RiskLevel) -> RiskReason {
        reason(self.name, level, self.detail.clone())
    }
}

/// Which hosts are reached.
#[derive(Debug)]
pub(super) enum NetworkReach<'a> {
    /// None.
    Nowhere,
    /// The listed ones; none where the list is empty.
    Hosts(Vec<&'a HostRule>),
    /// Any public one.
    Public(Signal),
    /// Any, but for metadata addresses and our own listeners.
    Open,
    /// The machine's own network: nothing stands in between.
    Machine,
}

/// What a tool reaches.
#[derive(Debug)]
pub(super) struct World<'a> {
    pub(super) network: NetworkReach<'a>,
    /// It reads files of the host.
    pub(super) reads: Option<Signal>,
    /// It changes files of the host.
    pub(super) writes: Option<Signal>,
    /// It deletes files of the host.
    pub(super) deletes: Option<Signal>,
    /// By what it can read files of the host, whatever else it does with them.
    pub(super) readable: Option<&'static str>,
    pub(super) exposure: &'a Exposure,
}

/// The reasons for the level of what is reached.
pub(super) fn signals(world: &World<'_>, reasons: &mut Vec<RiskReason>) {
    let World { network, reads, writes, deletes, readable, exposure } = world;
    let Exposure { unsealed_secrets, callees } = exposure;
    let reaches = network_signals(network, reasons);
    let files = [(reads, RiskLevel::L3), (writes, RiskLevel::L4), (deletes, RiskLevel::L5)];
    reasons.extend(files.into_iter().filter_map(|(signal, level)| Some(signal.as_ref()?.at(level))));
    // A called tool may reach what the caller cannot.
    if reaches || callees.iter().any(|(_, level)| *level >= RiskLevel::L3) {
        if let Some(by) = readable {
            let detail = format!("{by} with network");
            reasons.push(reason("files can leave by the network", RiskLevel::L4, detail));
        }
        for secret in unsealed_secrets {
            reasons.push(reason("a secret can leave by the network", RiskLevel::L4, secret.clone()));
        }
    }
    for (name, level) in callees {
        if *level > RiskLevel::L0 {
            reasons.push(reason("calls a tool", *level, name.to_string()));
        }
    }
}

/// The network's reasons; says whether any host can be reached.
fn network_signals(network: &NetworkReach<'_>, reasons: &mut Vec<RiskReason>) -> bool {
    match network {
        NetworkReach::Nowhere => return false,
        NetworkReach::Hosts(rules) => {
            breadth::signals(rules, reasons);
            return !rules.is_empty();
        }
        NetworkReach::Public(signal) => reasons.push(signal.at(RiskLevel::L3)),
        NetworkReach::Open => reasons.push(reason("network open", RiskLevel::L4, "any host")),
        NetworkReach::Machine => {
            reasons.push(reason("host network", RiskLevel::L5, "the machine's own network"));
        }
    }
    true
}
