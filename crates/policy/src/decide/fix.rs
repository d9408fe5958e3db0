//! The narrowest fix: not guessed, but tried. Each candidate is added to the tool's overrides, everything is
//! resolved again, and only a candidate that turns the no into a yes is proposed, with the risk it brings.

use std::sync::Arc;

use bailiwick_types::{Fix, LayerName};

use super::{Answers, Question, Verdict};
use crate::capability::CapabilityPattern;
use crate::host::HostRule;
use crate::layer::Sourced;
use crate::{Capability, EffectivePolicy, GuestPath, Layer, NetworkMode, resolve, risk};

/// One possible widening of a tool's overrides.
#[derive(Debug, Clone, Default)]
pub(crate) struct Widening {
    pub(crate) network: Option<NetworkMode>,
    pub(crate) host: Option<HostRule>,
    pub(crate) file_read: bool,
    pub(crate) file_write: bool,
    pub(crate) destructive: bool,
    pub(crate) base_path: Option<GuestPath>,
    pub(crate) add_allow: Option<Capability>,
    pub(crate) remove_deny: Option<Capability>,
}

impl Widening {
    fn to_layer(&self) -> Layer {
        let Self { network, host, file_read, file_write, destructive, base_path, add_allow, remove_deny } =
            self.clone();
        let mut layer = Layer::empty(LayerName::Tool, "fix");
        let pattern = |capability: Capability, path: &str| {
            Sourced::built_in(CapabilityPattern::exact(capability), path)
        };
        layer.network = network.map(|mode| Sourced::built_in(mode, "network"));
        layer.hosts = host.into_iter().map(|rule| Sourced::built_in(Arc::new(rule), "hosts")).collect();
        layer.file_read = file_read.then(|| Sourced::built_in(true, "fileRead"));
        layer.file_write = file_write.then(|| Sourced::built_in(true, "fileWrite"));
        layer.destructive = destructive.then(|| Sourced::built_in(true, "destructive"));
        layer.base_path = base_path.map(|path| Sourced::built_in(path, "basePath"));
        layer.add_allow = add_allow.into_iter().map(|capability| pattern(capability, "addAllow")).collect();
        layer.remove_deny =
            remove_deny.into_iter().map(|capability| pattern(capability, "removeDeny")).collect();
        layer
    }
}

/// The first candidate that works.
pub(super) fn narrowest<Q: Question>(
    policy: &EffectivePolicy,
    question: &Q,
    candidates: &[Widening],
) -> Option<Fix> {
    candidates.iter().find_map(|candidate| {
        let addition = candidate.to_layer();
        let widened = policy.widened_by(&addition)?;
        match question.judge(&widened, Answers::default()) {
            Verdict::Yes(_) | Verdict::Ask(..) => Some(Fix {
                overrides: addition.to_overrides(),
                risk: risk(&widened, &widened.baseline).level,
            }),
            Verdict::No(_) => None,
        }
    })
}

impl EffectivePolicy {
    /// This policy with an addition to the tool's own overrides, if that resolves.
    pub fn widened_by(&self, addition: &Layer) -> Option<Self> {
        let merged = match self.own_layer() {
            Some(layer) => layer.merged_with(addition),
            None => addition.clone(),
        };
        resolve(&self.baseline, self.profile.as_ref(), Some(&Arc::new(merged)))
            .ok()
            .map(|widened| widened.exposed_to(self.exposure.clone()))
    }

    /// What the tool itself declares: its own layer.
    pub fn own_layer(&self) -> Option<&Layer> {
        self.layers.iter().find(|layer| *layer.name() == LayerName::Tool).map(AsRef::as_ref)
    }
}
