//! What a policy lets a tool do to the world, in the four words that clients of MCP know.
//!
//! Worked out from what [`crate::EffectivePolicy::decide`] would grant, never from what an author says. A word that
//! sounds harmless is only given where the policy makes sure of it.

use serde::{Deserialize, Serialize};

use crate::capability::Capability;
use crate::effective::{EffectivePolicy, Files, Net, Powers};
use crate::host::HostRule;
use crate::network::{Method, MethodSet};
use crate::risk::{CommandNetwork, CommandPosture, MountMode};
use crate::{Exposure, NetworkMode};

/// What a tool may do, as its policy says and not its author.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::struct_excessive_bools, reason = "these are the four answers that the protocol asks for")]
pub struct Hints {
    /// It can change nothing outside of its cell: no file, and no request but GET and HEAD, which servers are to treat
    /// as reading. It does not mean that nothing leaves: the address of a GET carries data as well as a body does.
    pub read_only: bool,
    /// It can delete or overwrite files, or send requests that may change something. A policy cannot tell a request
    /// that adds from one that destroys, so every change counts as destruction.
    pub destructive: bool,
    /// A second call with the same arguments changes nothing more. A policy can promise that only where nothing is
    /// changed at all.
    pub idempotent: bool,
    /// It talks to others: it has any network, be it to one listed host.
    pub open_world: bool,
}

impl Hints {
    /// Nothing outside of the cell is touched.
    const HARMLESS: Self = Self { read_only: true, destructive: false, idempotent: true, open_world: false };
    /// Everything may happen.
    const ANYTHING: Self = Self { read_only: false, destructive: true, idempotent: false, open_world: true };

    /// What may change, and whether others are reached.
    const fn of(changes: bool, reaches_others: bool) -> Self {
        Self { read_only: !changes, destructive: changes, idempotent: !changes, open_world: reaches_others }
    }

    /// What holds when both may happen.
    const fn and(self, other: Self) -> Self {
        Self {
            read_only: self.read_only && other.read_only,
            destructive: self.destructive || other.destructive,
            idempotent: self.idempotent && other.idempotent,
            open_world: self.open_world || other.open_world,
        }
    }
}

/// What a policy lets a tool do to the world.
pub fn hints(policy: &EffectivePolicy) -> Hints {
    let EffectivePolicy {
        // Whom the operator never lets anybody reach makes nothing that is left harmless.
        baseline: _,
        profile: _,
        layers: _,
        powers,
        net,
        files,
        limits: _,
        limits_from: _,
        exposure,
    } = policy;
    let Powers { allowed, deny: _, allow_from: _, deny_from: _ } = powers;
    // The switches are in `allowed`, which is what is enforced; where a file lies, or that somebody is asked before,
    // does not make a change of it none.
    let Files { read: _, write: _, delete: _, base: _, ask: _ } = files;
    // What a tool calls counts by `tools.call` alone: which tools stand behind a name can change.
    let Exposure { unsealed_secrets: _, callees: _ } = exposure;
    let each = allowed.iter().map(|capability| of_capability(capability, net));
    each.fold(Hints::HARMLESS, Hints::and)
}

fn of_capability(capability: Capability, net: &Net) -> Hints {
    match capability {
        Capability::Console
        | Capability::Url
        | Capability::Encoding
        | Capability::Clock
        | Capability::Random
        | Capability::CryptoRandom
        | Capability::CryptoDigest
        | Capability::CryptoHmac
        | Capability::ParserHtml
        | Capability::ParserXml
        | Capability::ParserCsv
        | Capability::ParserYaml
        | Capability::Timers
        // What made-up code can do, it can do by the other capabilities only.
        | Capability::Eval
        | Capability::EnvRead
        | Capability::FsRead => Hints::HARMLESS,
        Capability::FsWrite | Capability::FsDelete => Hints::of(true, false),
        Capability::NetFetch => of_network(net),
        Capability::ToolsCall | Capability::ProcessExec => Hints::ANYTHING,
    }
}

/// What the sandbox of a command tool lets it do to the world. What is mounted for reading is only read; which requests a
/// network carries is not seen, so every one may change something.
pub fn command_hints(posture: &CommandPosture) -> Hints {
    let CommandPosture { tier: _, place: _, network, private: _, mounts } = posture;
    let reaches = *network != CommandNetwork::None;
    Hints::of(reaches || mounts.contains(&MountMode::ReadWrite), reaches)
}

fn of_network(net: &Net) -> Hints {
    let Net { mode, hosts, ask: _ } = net;
    match mode.value {
        NetworkMode::Blocked => Hints::HARMLESS,
        NetworkMode::Allowlist => {
            Hints::of(hosts.iter().any(|rule| may_change(&rule.value)), !hosts.is_empty())
        }
        // These have no rule that could narrow the methods.
        NetworkMode::Strict | NetworkMode::Open => Hints::of(true, true),
    }
}

fn may_change(rule: &HostRule) -> bool {
    let HostRule { pattern: _, port: _, methods, paths: _, private: _ } = rule;
    MethodSet::of([Method::Get, Method::Head]).is_none_or(|reading| !reading.covers(*methods))
}
