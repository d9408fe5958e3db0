//! What the sandbox of a command tool can do under the operator's settings of today: its badge, its hints, and what of it
//! became wider since a pass.
//!
//! The document says most of it and is covered by the pass; what the operator says beside it (the floor, the preset, what
//! must be held and what may stand in part) is compared here.

use std::collections::BTreeMap;

use bailiwick_config::SandboxSettings;
use bailiwick_policy::{
    CommandNetwork, CommandPlace, CommandPosture, Exposure, Hints, MountMode, command_hints, command_risk,
};
use bailiwick_sandbox::{Image, Limit, Network, SealedSecret};
use bailiwick_tool::{CommandBlock, Tool};
use bailiwick_types::{Risk, Tier};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::sandboxes::{Rules, SandboxWish, resolve_tool};
use crate::world::World;
use crate::{Refusal, new_correlation};

/// The name under which a command's reach stands in what is remembered of a pass.
const COMMAND: &str = "command";

/// What a command tool's sandbox can do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Reach {
    kept: Kept,
    posture: CommandPosture,
}

/// The same as it is kept with a pass.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Kept {
    /// The weakest wall it may run behind.
    tier: Tier,
    network: String,
    mounts: Vec<String>,
    image: Image,
    /// Thousandths of a core, bytes, milliseconds, processes.
    limits: BTreeMap<Limit, u64>,
    /// Limits that have to be held.
    required: Vec<String>,
    /// Walls that may stand in part.
    accepted: Vec<String>,
    /// Secrets that it gets to see.
    secrets: Vec<String>,
    /// Hosts that it reaches at private addresses, by the operator's word.
    #[serde(default)]
    private: Vec<String>,
}

impl Reach {
    /// What a command may do, or why the operator lets it run in no way at all.
    pub(crate) fn of(tool: &Tool, block: &CommandBlock, world: &World) -> Result<Self, Refusal> {
        let settings = &world.settings.sandbox;
        // What is mounted is looked at when it is: the host's folders may change.
        let wish = SandboxWish { mounts: Vec::new(), ..wish_of(block, tool.sealed_statics()) };
        let rules = Rules::without_mounts(settings);
        let resolved = resolve_tool(&wish, &rules, &new_correlation()?)?;
        let limits = resolved.spec().limits;
        let unsealed = tool.secret_statics().into_iter().filter(|secret| secret.seal.is_none());
        let posture = CommandPosture {
            tier: floor(block, settings),
            // No backend of another host is known here.
            place: CommandPlace::Here,
            network: network_of(block.network()),
            private: settings.private.clone(),
            mounts: block.mounts().iter().map(|mount| mode(mount.writable)).collect(),
        };
        let private: Vec<String> = posture.reached_privately().iter().map(ToString::to_string).collect();
        let kept = Kept {
            tier: posture.tier,
            network: block.network().to_string(),
            mounts: block.mounts().iter().map(ToString::to_string).collect(),
            image: block.image().clone(),
            limits: Limit::ALL.into_iter().map(|limit| (limit, limits.get(limit))).collect(),
            required: sorted(&settings.require),
            accepted: sorted(&settings.accept),
            secrets: unsealed.map(|secret| secret.name.as_str().to_owned()).collect(),
            private: sorted(&private),
        };
        Ok(Self { kept, posture })
    }

    /// Its badge.
    pub(crate) fn risk(&self) -> Risk {
        let exposure = Exposure { unsealed_secrets: self.kept.secrets.clone(), callees: Vec::new() };
        command_risk(&self.posture, &exposure)
    }

    /// What clients are told that it may do.
    pub(crate) fn hints(&self) -> Hints {
        command_hints(&self.posture)
    }

    /// As it is kept with a pass, and shown.
    pub(crate) fn memory(&self) -> Value {
        json!({COMMAND: self.kept})
    }

    /// What it can do and could not when it passed, one line each.
    pub(crate) fn widened_since(&self, kept: &Value) -> Vec<String> {
        let before = kept.get(COMMAND).map(Kept::deserialize);
        let Some(Ok(before)) = before else {
            return vec!["what it passed under cannot be read".to_owned()];
        };
        self.kept.widened_since(&before)
    }
}

impl Kept {
    fn widened_since(&self, before: &Self) -> Vec<String> {
        let mut wider = Vec::new();
        if !self.tier.meets(before.tier) {
            wider.push(format!("the weakest wall is {} and was {}", self.tier, before.tier));
        }
        for (limit, now) in &self.limits {
            // For processes, nothing at all means no bound.
            let size = |value: u64| if *limit == Limit::Processes && value == 0 { u64::MAX } else { value };
            let then = before.limits.get(limit).copied().unwrap_or_default();
            if size(*now) > size(then) {
                wider.push(format!("{limit} is {} and was {}", limit.told(*now), limit.told(then)));
            }
        }
        let gone = before.required.iter().filter(|limit| !self.required.contains(limit));
        wider.extend(gone.map(|limit| format!("the limit on {limit} does not have to be held any more")));
        let added = self.accepted.iter().filter(|wall| !before.accepted.contains(wall));
        wider.extend(added.map(|wall| format!("the wall {wall} may stand in part")));
        let added = self.private.iter().filter(|host| !before.private.contains(host));
        wider.extend(added.map(|host| format!("{host} may have a private address")));
        // These are the document's own, which the pass covers; should they differ all the same, that is told.
        let own =
            |one: &Self| (one.network.clone(), one.mounts.clone(), one.image.clone(), one.secrets.clone());
        if own(self) != own(before) {
            wider.push("what it reaches is another".to_owned());
        }
        wider
    }
}

/// The sandbox that a document asks for: all of it, so that nothing of it passes by what the operator says.
pub(super) fn wish_of(block: &CommandBlock, secrets: Vec<SealedSecret>) -> SandboxWish {
    SandboxWish {
        secrets,
        image: match block.image() {
            Image::Host => None,
            Image::Named(name) => Some(name.clone()),
        },
        tier: block.min_tier(),
        limits: block.limits().clone(),
        network: Some(block.network().to_string()),
        mounts: block.mounts().to_vec(),
        ..SandboxWish::default()
    }
}

/// The weakest wall that both accept.
fn floor(block: &CommandBlock, settings: &SandboxSettings) -> Tier {
    block.min_tier().filter(|tier| tier.meets(settings.floor)).unwrap_or(settings.floor)
}

/// What the network of a sandbox reaches. A list that cannot be read counts as the widest.
pub(crate) fn network_of(network: &Network) -> CommandNetwork {
    match network {
        Network::None => CommandNetwork::None,
        Network::Allow(_) | Network::Git => {
            network.rules().map_or(CommandNetwork::Host, CommandNetwork::Allow)
        }
        Network::Full => CommandNetwork::Full,
        Network::Host => CommandNetwork::Host,
    }
}

const fn mode(writable: bool) -> MountMode {
    if writable { MountMode::ReadWrite } else { MountMode::ReadOnly }
}

fn sorted(words: &[String]) -> Vec<String> {
    let mut words = words.to_vec();
    words.sort_unstable();
    words.dedup();
    words
}

#[cfg(test)]
mod tests;
