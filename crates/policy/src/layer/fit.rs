//! A layer made to fit a narrower room: what no longer has a place in it is gone, the rest stays.
//!
//! Used where somebody who may only narrow has narrowed the operator's settings: the operator's profiles are then
//! narrower too, instead of being in conflict with what they were written against.

use std::sync::Arc;

use bailiwick_types::Limits;

use super::{Layer, LimitRequest, Sourced};
use crate::capability::{Capability, CapabilityPattern, CapabilitySet};
use crate::{GuestPath, HostRule, NetworkMode};

/// The room that is left.
#[derive(Debug, Clone)]
pub struct Room {
    /// The most each limit may be.
    pub limits: Limits,
    /// The network modes on offer.
    pub networks: Vec<NetworkMode>,
    /// Hosts that have become unreachable.
    pub never: Vec<Arc<HostRule>>,
    /// Capabilities that have become denied.
    pub denied: CapabilitySet,
    /// The folders that may be read.
    pub read_roots: Vec<GuestPath>,
}

impl Layer {
    /// This layer without what the room has no place for.
    #[must_use]
    pub fn fitted(&self, room: &Room) -> Self {
        let Room { limits, networks, never, denied, read_roots } = room;
        let mut layer = self.clone();
        layer.add_allow = without(&layer.add_allow, *denied);
        layer.hosts.retain(|rule| !never.iter().any(|never| rule.value.meets_refusal(never)));
        let closed = |mode: NetworkMode| {
            mode != NetworkMode::Blocked
                && (!networks.contains(&mode) || denied.contains(Capability::NetFetch))
        };
        if let Some(mode) = layer.network.as_mut().filter(|mode| closed(mode.value)) {
            mode.value = NetworkMode::Blocked;
        }
        if layer.network.as_ref().is_some_and(|mode| mode.value == NetworkMode::Blocked) {
            layer.hosts.clear();
        }
        let rootless = layer.base_path.as_ref().is_some_and(|base| {
            base.value.is_absolute() && !read_roots.iter().any(|root| root.contains(&base.value))
        });
        for (capability, switch) in [
            (Capability::FsRead, &mut layer.file_read),
            (Capability::FsWrite, &mut layer.file_write),
            (Capability::FsDelete, &mut layer.destructive),
        ] {
            if let Some(switch) = switch.as_mut().filter(|_| rootless || denied.contains(capability)) {
                switch.value = false;
            }
        }
        if rootless {
            layer.base_path = None;
        }
        for limit in &mut layer.limits {
            let most = limits.get(limit.value.kind());
            if limit.value.value() > most
                && let Ok(request) = LimitRequest::new(limit.value.kind(), most)
            {
                limit.value = request;
            }
        }
        layer
    }
}

/// Patterns without what is denied, each capability by its name where a pattern held both.
pub fn without(
    patterns: &[Sourced<CapabilityPattern>],
    denied: CapabilitySet,
) -> Vec<Sourced<CapabilityPattern>> {
    let mut kept = Vec::new();
    for pattern in patterns {
        let free = pattern.value.set().difference(denied);
        if free == pattern.value.set() {
            kept.push(pattern.clone());
            continue;
        }
        kept.extend(free.iter().map(|capability| Sourced {
            value: CapabilityPattern::exact(capability),
            place: pattern.place,
            path: pattern.path.clone(),
            document: pattern.document.clone(),
        }));
    }
    kept
}
