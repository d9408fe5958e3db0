//! The effective policy of one call: what all layers together come to.
//!
//! Its fields cannot be set from outside; [`crate::resolve`] is the only way to one. It is made for every call
//! and never kept across calls. Every value remembers the layer it came from, so that a denial can name it.

use std::sync::Arc;

use bailiwick_types::{LayerName, LimitKind, Limits, ProfileName};
use serde_json::{Map, Value, json};

use crate::capability::{Capability, CapabilityPattern, CapabilitySet, Grant};
use crate::host::HostRule;
use crate::layer::{LimitRequest, Sourced};
use crate::risk::{Exposure, lists_of};
use crate::{AskWhen, Baseline, GuestPath, Layer, NetworkMode};

/// A value and the index of the layer it came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct At<T> {
    pub(crate) value: T,
    pub(crate) layer: usize,
}

impl<T> At<T> {
    pub(crate) const fn new(value: T, layer: usize) -> Self {
        Self { value, layer }
    }
}

/// Which capabilities are there.
#[derive(Debug, Clone)]
pub(crate) struct Powers {
    /// What code gets.
    pub(crate) allowed: CapabilitySet,
    /// What the deny entries name.
    pub(crate) deny: CapabilitySet,
    /// The layer that last spoke about a capability's place on the allow list.
    pub(crate) allow_from: [usize; Capability::ALL.len()],
    /// The layer whose deny entry names it.
    pub(crate) deny_from: [usize; Capability::ALL.len()],
}

/// How far the network reaches.
#[derive(Debug, Clone)]
pub(crate) struct Net {
    pub(crate) mode: At<NetworkMode>,
    pub(crate) hosts: Vec<At<Arc<HostRule>>>,
    pub(crate) ask: Option<At<AskWhen>>,
}

/// What may be done with files.
#[derive(Debug, Clone)]
pub(crate) struct Files {
    pub(crate) read: At<bool>,
    pub(crate) write: At<bool>,
    pub(crate) delete: At<bool>,
    pub(crate) base: Option<At<GuestPath>>,
    pub(crate) ask: Option<At<AskWhen>>,
}

/// What a call may do, in the end.
#[derive(Debug, Clone)]
pub struct EffectivePolicy {
    pub(crate) baseline: Arc<Baseline>,
    pub(crate) profile: Option<ProfileName>,
    pub(crate) layers: Vec<Arc<Layer>>,
    pub(crate) powers: Powers,
    pub(crate) net: Net,
    pub(crate) files: Files,
    pub(crate) limits: Limits,
    pub(crate) limits_from: [usize; LimitKind::ALL.len()],
    pub(crate) exposure: Exposure,
}

impl EffectivePolicy {
    /// Adds what risk depends on beside the policy: secrets that are not sealed, and the tools it calls.
    #[must_use]
    pub fn exposed_to(mut self, exposure: Exposure) -> Self {
        self.exposure = exposure;
        self
    }

    /// What risk depends on beside the policy.
    pub const fn exposure(&self) -> &Exposure {
        &self.exposure
    }

    /// The capabilities that code gets.
    pub const fn allowed(&self) -> CapabilitySet {
        self.powers.allowed
    }

    /// The bounds of a call.
    pub const fn limits(&self) -> &Limits {
        &self.limits
    }

    /// The operator's side it was resolved from.
    pub const fn baseline(&self) -> &Arc<Baseline> {
        &self.baseline
    }

    /// The layers it was put together from, the baseline first: name and document of each.
    pub fn layers(&self) -> impl Iterator<Item = (&LayerName, &str)> {
        self.layers.iter().map(|layer| (layer.name(), layer.document()))
    }

    /// The network mode.
    pub const fn network(&self) -> NetworkMode {
        self.net.mode.value
    }

    /// The layer that chose the network mode.
    pub fn network_layer(&self) -> LayerName {
        self.layer_name(self.net.mode.layer)
    }

    /// When a person is asked before a request.
    pub fn asks_before_requests(&self) -> Option<AskWhen> {
        self.net.ask.map(|ask| ask.value)
    }

    /// When a person is asked before a file access.
    pub fn asks_before_files(&self) -> Option<AskWhen> {
        self.files.ask.map(|ask| ask.value)
    }

    /// The capabilities that deny entries name.
    pub const fn denied(&self) -> CapabilitySet {
        self.powers.deny
    }

    /// The folder that file accesses are confined to.
    pub fn base_path(&self) -> Option<&GuestPath> {
        self.files.base.as_ref().map(|base| &base.value)
    }

    /// The host rules in force, each with the layer it came from.
    pub fn hosts(&self) -> impl Iterator<Item = (&HostRule, LayerName)> {
        self.net.hosts.iter().map(|rule| (&*rule.value, self.layer_name(rule.layer)))
    }

    pub(crate) fn layer_name(&self, index: usize) -> LayerName {
        self.layers.get(index).map_or(LayerName::Baseline, |layer| layer.name().clone())
    }

    /// The folders that may be read, the workspace first.
    pub fn read_roots(&self) -> Vec<String> {
        if !self.files.read.value {
            return Vec::new();
        }
        let roots = self.baseline.read_roots.iter().map(ToString::to_string);
        std::iter::once("workspace".to_owned()).chain(roots).collect()
    }

    /// The layer that set a limit.
    pub fn limit_layer(&self, kind: LimitKind) -> LayerName {
        self.layer_name(self.limits_from.get(kind as usize).copied().unwrap_or(0))
    }

    /// The one layer that gives these powers and limits on this baseline, whatever profiles and layers they came
    /// from. There is none when the baseline lists hosts that a layer between took away: adding hosts again would
    /// bring those back.
    pub fn to_overrides(&self) -> Option<Layer> {
        let Self { baseline, profile: _, layers: _, powers, net, files, limits, limits_from: _, exposure: _ } =
            self;
        let Powers { allowed, deny, allow_from: _, deny_from: _ } = powers;
        let Net { mode, hosts, ask: ask_net } = net;
        let Files { read, write, delete, base, ask: ask_fs } = files;
        let taken_away =
            baseline.layer.hosts.iter().any(|usual| !hosts.iter().any(|rule| rule.value == usual.value));
        if mode.value == NetworkMode::Allowlist && taken_away {
            return None;
        }
        let (base_allow, base_deny) = lists_of(baseline);
        let listed = |capability: &Capability| capability.grant() == Grant::Listed;
        let patterns = |set: CapabilitySet, path: &str| {
            set.iter()
                .map(|capability| Sourced::built_in(CapabilityPattern::exact(capability), path))
                .collect::<Vec<_>>()
        };
        let lost = base_allow.iter().filter(listed).filter(|c| !allowed.contains(*c) && !deny.contains(*c));
        let gained = allowed.iter().filter(listed).filter(|c| !base_allow.contains(*c));
        let own_switch = CapabilitySet::of(Capability::FsDelete);
        let undenied = base_deny.difference(*deny).difference(own_switch);
        let mut layer = Layer::empty(LayerName::Tool, "overrides");
        layer.add_allow = patterns(gained.collect(), "addAllow");
        layer.remove_allow = patterns(lost.collect(), "removeAllow");
        layer.add_deny = patterns(deny.difference(base_deny), "addDeny");
        layer.remove_deny = patterns(undenied, "removeDeny");
        if baseline.layer.network.as_ref().is_none_or(|usual| usual.value != mode.value) {
            layer.network = Some(Sourced::built_in(mode.value, "network"));
        }
        let added = hosts.iter().filter(|rule| rule.layer != 0);
        layer.hosts = added.map(|rule| Sourced::built_in(rule.value.clone(), "hosts")).collect();
        let switch = |now: bool, usual: Option<&Sourced<bool>>, path: &str| {
            (usual.is_some_and(|usual| usual.value) != now).then(|| Sourced::built_in(now, path))
        };
        layer.file_read = switch(read.value, baseline.layer.file_read.as_ref(), "fileRead");
        layer.file_write = switch(write.value, baseline.layer.file_write.as_ref(), "fileWrite");
        layer.destructive = switch(delete.value, baseline.layer.destructive.as_ref(), "destructive");
        layer.base_path = base.as_ref().map(|base| Sourced::built_in(base.value.clone(), "basePath"));
        let own = |ask: &Option<At<AskWhen>>, path: &str| {
            ask.filter(|ask| ask.layer != 0).map(|ask| Sourced::built_in(ask.value, path))
        };
        layer.ask_net = own(ask_net, "ask.net");
        layer.ask_fs = own(ask_fs, "ask.fs");
        let changed = LimitKind::ALL.iter().filter(|kind| limits.get(**kind) != baseline.limits.get(**kind));
        layer.limits = changed
            .filter_map(|kind| LimitRequest::new(*kind, limits.get(*kind)).ok())
            .map(|request| Sourced::built_in(request, "limits"))
            .collect();
        Some(layer)
    }

    /// The policy as JSON: the same for the same powers, however the layers were written.
    pub fn to_json(&self) -> Value {
        let Self { baseline, profile, layers, powers, net, files, limits, limits_from: _, exposure: _ } =
            self;
        let Powers { allowed, deny, allow_from: _, deny_from: _ } = powers;
        let Net { mode, hosts, ask: ask_net } = net;
        let Files { read, write, delete, base, ask: ask_fs } = files;
        let names = |set: CapabilitySet| set.iter().map(Capability::name).collect::<Vec<_>>();
        let rule_json = |rules: &[Sourced<Arc<HostRule>>]| {
            rules.iter().map(|rule| rule.value.to_json()).collect::<Vec<_>>()
        };
        let mut limit_map = Map::new();
        for kind in LimitKind::ALL {
            limit_map.insert(kind.json_key(), json!(limits.get(*kind)));
        }
        json!({
            "capabilities": {"allowed": names(*allowed), "denied": names(*deny)},
            "network": {
                "mode": mode.value.word(),
                "from": self.layer_name(mode.layer),
                "hosts": hosts.iter().map(|rule| rule.value.to_json()).collect::<Vec<_>>(),
                "never": rule_json(&baseline.never),
                "reserved": rule_json(&baseline.reserved),
                "ask": ask_net.map(|ask| ask.value.word()),
            },
            "files": {
                "read": read.value,
                "write": write.value,
                "delete": delete.value,
                "basePath": base.as_ref().map(|base| base.value.to_string()),
                "roots": self.read_roots(),
                "ask": ask_fs.map(|ask| ask.value.word()),
            },
            "limits": limit_map,
            "profile": profile,
            "layers": layers.iter()
                .map(|layer| json!({"layer": layer.name(), "document": layer.document()}))
                .collect::<Vec<_>>(),
        })
    }

    /// The powers alone, without where they came from: what two policies are compared and hashed by.
    pub fn powers_json(&self) -> Value {
        let mut json = self.to_json();
        if let Value::Object(map) = &mut json {
            map.remove("layers");
            map.remove("profile");
            if let Some(Value::Object(network)) = map.get_mut("network") {
                network.remove("from");
            }
        }
        json
    }
}
