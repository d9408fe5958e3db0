//! What an edit would change: newly allowed, newly denied, and the risk.
//!
//! `newly_allowed` is safe to rely on for "no wider than before": what cannot be shown to be covered by the old
//! policy is listed as new.

use std::sync::Arc;

use bailiwick_types::{LimitKind, Risk};
use serde_json::{Value, json};

use crate::capability::Capability;
use crate::effective::{At, EffectivePolicy, Files, Net};
use crate::host::HostRule;
use crate::layer::Sourced;
use crate::remembered::Remembered;
use crate::risk::Exposure;
use crate::{AskWhen, NetworkMode, risk};

/// The difference between two policies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diff {
    /// What the second allows and the first did not, one line each.
    pub newly_allowed: Vec<String>,
    /// What the first allowed and the second does not.
    pub newly_denied: Vec<String>,
    /// The risk of the first.
    pub risk_before: Risk,
    /// The risk of the second.
    pub risk_after: Risk,
}

impl Diff {
    /// Whether the second policy allows something the first did not.
    pub fn is_wider(&self) -> bool {
        !self.newly_allowed.is_empty()
    }

    /// Whether nothing changed.
    pub fn is_empty(&self) -> bool {
        self.newly_allowed.is_empty() && self.newly_denied.is_empty()
    }

    /// As JSON.
    pub fn to_json(&self) -> Value {
        let Self { newly_allowed, newly_denied, risk_before, risk_after } = self;
        json!({
            "newlyAllowed": newly_allowed,
            "newlyDenied": newly_denied,
            "wider": self.is_wider(),
            "risk": {"before": risk_before, "after": risk_after},
        })
    }
}

/// Compares two policies.
pub fn diff(before: &EffectivePolicy, after: &EffectivePolicy) -> Diff {
    Diff {
        newly_allowed: gained(&Remembered::from_policy(before), after),
        newly_denied: gained(&Remembered::from_policy(after), before),
        risk_before: risk(before, before.baseline()),
        risk_after: risk(after, after.baseline()),
    }
}

/// What `new` has and `old` has not.
pub(crate) fn gained(old: &Remembered, new: &EffectivePolicy) -> Vec<String> {
    // Destructured so that a new part of policy cannot be left out of the comparison.
    let EffectivePolicy {
        baseline,
        profile: _,
        layers: _,
        powers,
        net,
        files,
        limits,
        limits_from: _,
        exposure,
    } = new;
    let mut lines: Vec<String> =
        powers.allowed.difference(old.allowed).iter().map(|capability| format!("use {capability}")).collect();
    network_gained(old, net, powers.allowed.contains(Capability::NetFetch), &mut lines);
    if powers.allowed.contains(Capability::NetFetch) && old.allowed.contains(Capability::NetFetch) {
        for host in opened(&old.never, &values(&baseline.never)) {
            lines.push(format!("reach {host}, which was never to be reached"));
        }
        for host in opened(&values(&baseline.reserved), &old.reserved) {
            lines.push(format!("reach the reserved {host}"));
        }
        for own in old.own_listeners.iter().filter(|own| !baseline.own_listeners.contains(own)) {
            lines.push(format!("reach {own}, which was an own listener"));
        }
    }
    files_gained(old, new, files, &mut lines);
    exposure_gained(&old.exposure, exposure, &mut lines);
    for kind in LimitKind::ALL {
        let (was, is) = (old.limits.get(*kind), limits.get(*kind));
        if is > was {
            let unit = kind.unit();
            lines.push(format!("limit {} {} → {}", kind.key(), unit.format(was), unit.format(is)));
        }
    }
    lines
}

/// The rules of a list, without where each was said.
fn values(list: &[Sourced<Arc<HostRule>>]) -> Vec<Arc<HostRule>> {
    list.iter().map(|rule| rule.value.clone()).collect()
}

/// The entries of a list of whole hosts that no entry of the other list covers.
fn opened(list: &[Arc<HostRule>], other: &[Arc<HostRule>]) -> Vec<String> {
    list.iter()
        .filter(|rule| !other.iter().any(|mine| mine.refuses_all_of(rule)))
        .map(ToString::to_string)
        .collect()
}

fn exposure_gained(old: &Exposure, new: &Exposure, lines: &mut Vec<String>) {
    let Exposure { unsealed_secrets, callees } = new;
    for secret in unsealed_secrets.iter().filter(|secret| !old.unsealed_secrets.contains(secret)) {
        lines.push(format!("read the secret {secret}"));
    }
    for (name, level) in callees {
        // A name that is listed twice was callable at the higher of its levels.
        let before = old.callees.iter().filter(|(known, _)| known == name).map(|(_, level)| *level).max();
        if before.is_none_or(|before| before < *level) {
            lines.push(format!("call {name} ({level})"));
        }
    }
}

fn network_gained(old: &Remembered, net: &Net, reaches: bool, lines: &mut Vec<String>) {
    let Net { mode, hosts, ask } = net;
    if !reaches {
        return;
    }
    let reached_before = old.allowed.contains(Capability::NetFetch);
    let was = if reached_before { old.mode } else { NetworkMode::Blocked };
    match mode.value {
        NetworkMode::Open if was != NetworkMode::Open => lines.push("fetch any host".to_owned()),
        NetworkMode::Strict
            if !matches!(was, NetworkMode::Strict | NetworkMode::Open) && !old.lists_everything() =>
        {
            lines.push("fetch any public host".to_owned());
        }
        // Blocked, or as wide as before.
        NetworkMode::Blocked | NetworkMode::Open | NetworkMode::Strict => {}
        NetworkMode::Allowlist => {
            for rule in hosts {
                let covered = match was {
                    NetworkMode::Blocked => false,
                    NetworkMode::Open => true,
                    NetworkMode::Strict => !rule.value.is_private(),
                    NetworkMode::Allowlist => old.hosts.iter().any(|o| o.covers(&rule.value)),
                };
                if !covered {
                    lines.push(format!("fetch {}", rule.value.describe()));
                }
            }
        }
    }
    if reached_before && asks_less(old.ask_net, ask.as_ref()) {
        lines.push("fetch while a person is asked less often".to_owned());
    }
}

fn files_gained(old: &Remembered, new: &EffectivePolicy, files: &Files, lines: &mut Vec<String>) {
    let Files { read, write, delete, base, ask } = files;
    let some_before = old.read || old.write || old.delete;
    let some_now = read.value || write.value || delete.value;
    // That `read`, `write` and `delete` became possible at all is told by their capabilities.
    if !some_before || !some_now {
        return;
    }
    let inside = match (&old.base, base) {
        (None, _) => true,
        (Some(_), None) => false,
        (Some(was), Some(is)) => was.contains(&is.value),
    };
    if !inside {
        let place = base
            .as_ref()
            .map_or_else(|| "everywhere in its roots".to_owned(), |base| format!("under {}", base.value));
        lines.push(format!("use files {place}"));
    }
    if old.read && read.value {
        for root in &new.baseline.read_roots {
            if !old.read_roots.iter().any(|o| o.contains(root)) {
                lines.push(format!("read files under {root}"));
            }
        }
    }
    if asks_less(old.ask_fs, ask.as_ref()) {
        lines.push("use files while a person is asked less often".to_owned());
    }
}

fn asks_less(old: Option<AskWhen>, new: Option<&At<AskWhen>>) -> bool {
    new.map(|ask| ask.value) < old
}
