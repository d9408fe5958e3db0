//! Layer upon layer: the state while layers are applied, and the checks that need only what lies below.

use std::sync::Arc;

use bailiwick_types::{LimitKind, Limits, ProfileName};

use super::live;
use super::{Conflict, ConflictKind};
use crate::capability::{Capability, CapabilityPattern, CapabilitySet, Grant};
use crate::effective::{At, EffectivePolicy, Files, Net, Powers};
use crate::layer::{LimitRequest, Source, Sourced};
use crate::risk::{Exposure, lists_of};
use crate::{AskWhen, Baseline, Layer, NetworkMode};

/// What the layers so far come to.
pub(super) struct Fold<'b> {
    pub(super) baseline: &'b Arc<Baseline>,
    pub(super) listed: CapabilitySet,
    pub(super) deny: CapabilitySet,
    allow_from: [usize; Capability::ALL.len()],
    pub(super) deny_from: [usize; Capability::ALL.len()],
    pub(super) net: Net,
    pub(super) files: Files,
    /// Host rules of layers below this one were cleared by an explicit `blocked`.
    pub(super) hosts_cleared_below: usize,
    limits: Limits,
    limits_from: [usize; LimitKind::ALL.len()],
    pub(super) conflicts: Vec<Conflict>,
}

impl<'b> Fold<'b> {
    pub(super) fn new(baseline: &'b Arc<Baseline>) -> Self {
        let off = At::new(false, 0);
        Self {
            baseline,
            listed: CapabilitySet::EMPTY,
            deny: CapabilitySet::EMPTY,
            allow_from: [0; Capability::ALL.len()],
            deny_from: [0; Capability::ALL.len()],
            net: Net { mode: At::new(NetworkMode::Blocked, 0), hosts: Vec::new(), ask: None },
            files: Files { read: off, write: off, delete: off, base: None, ask: None },
            hosts_cleared_below: 0,
            limits: baseline.limits,
            limits_from: [0; LimitKind::ALL.len()],
            conflicts: Vec::new(),
        }
    }

    /// Applies one layer. Destructured in full, so that a new statement cannot be forgotten here.
    pub(super) fn apply(&mut self, index: usize, layer: &Layer) {
        let Layer {
            name: _,
            document: _,
            add_allow,
            remove_allow,
            add_deny,
            remove_deny,
            network,
            hosts,
            file_read,
            file_write,
            destructive,
            base_path,
            ask_net,
            ask_fs,
            limits,
        } = layer;
        self.check_within_layer(layer);
        self.remove_allows(index, layer, remove_allow);
        self.remove_denies(layer, remove_deny);
        self.add_allows(index, layer, add_allow);
        for pattern in add_deny {
            let set = pattern.value.set();
            self.deny = self.deny.union(set);
            mark(&mut self.deny_from, set, index);
        }
        if let Some(mode) = network {
            self.set_mode(index, layer, mode);
        }
        self.net.hosts.extend(hosts.iter().map(|rule| At::new(rule.value.clone(), index)));
        for (flag, switch) in [
            (file_read, &mut self.files.read),
            (file_write, &mut self.files.write),
            (destructive, &mut self.files.delete),
        ] {
            if let Some(flag) = flag {
                *switch = At::new(flag.value, index);
            }
        }
        if let Some(path) = base_path {
            self.files.base = Some(At::new(path.value.clone(), index));
        }
        stricter(&mut self.net.ask, ask_net.as_ref(), index);
        stricter(&mut self.files.ask, ask_fs.as_ref(), index);
        for limit in limits {
            self.set_limit(index, layer, limit);
        }
    }

    pub(super) fn conflict(
        &mut self,
        kind: ConflictKind,
        message: String,
        hint: Option<String>,
        sources: Vec<Source>,
    ) {
        self.conflicts.push(Conflict { kind, message, hint, sources });
    }

    /// What one document contradicts in itself.
    fn check_within_layer(&mut self, layer: &Layer) {
        let pairs = [
            (&layer.add_allow, "allowed", &layer.add_deny, "denied", "keep one of the two"),
            (
                &layer.add_allow,
                "added to the allow list",
                &layer.remove_allow,
                "removed from it",
                "keep one of the two",
            ),
            (
                &layer.add_deny,
                "added to the deny list",
                &layer.remove_deny,
                "removed from it",
                "keep one of the two",
            ),
        ];
        for (first, did, second, undid, hint) in pairs {
            for a in first {
                for b in second {
                    let both = a.value.set().intersection(b.value.set());
                    if !both.is_empty() {
                        let message = format!("`{}` is {did} and {undid} in the same layer", both.names());
                        let sources = vec![layer.source(a), layer.source(b)];
                        self.conflict(
                            ConflictKind::AllowedAndDenied,
                            message,
                            Some(hint.to_owned()),
                            sources,
                        );
                    }
                }
            }
        }
    }

    /// Removing what is not on the list is no conflict: a lower layer may have become narrower since. Only what
    /// can never be on it is a mistake.
    fn remove_allows(&mut self, index: usize, layer: &Layer, patterns: &[Sourced<CapabilityPattern>]) {
        for pattern in patterns {
            let set = pattern.value.set();
            if let Some(grant) = switch_of(set) {
                let message =
                    format!("`{}` is removed from the allow list, but is never on it", pattern.value.text());
                let hint = Some(format!("it follows `{}`; change that", grant.key()));
                self.conflict(ConflictKind::NothingToRemove, message, hint, vec![layer.source(pattern)]);
            }
            self.listed = self.listed.difference(set);
            mark(&mut self.allow_from, set, index);
        }
    }

    /// A pattern that grants only what this build does not have. A wider one means the rest of what it names.
    fn is_unavailable(&mut self, layer: &Layer, pattern: &Sourced<CapabilityPattern>) -> bool {
        let set = pattern.value.set();
        if !set.available().is_empty() {
            return false;
        }
        let message = format!("`{}` cannot be granted: this build does not have it", set.names());
        let hint = Some("drop the line; `bailiwick limits` lists what this build has".to_owned());
        self.conflict(ConflictKind::NotInThisBuild, message, hint, vec![layer.source(pattern)]);
        true
    }

    fn remove_denies(&mut self, layer: &Layer, patterns: &[Sourced<CapabilityPattern>]) {
        let before = self.deny;
        for pattern in patterns {
            if self.is_unavailable(layer, pattern) {
                continue;
            }
            let set = pattern.value.set();
            if set.intersection(before).is_empty() {
                let message =
                    format!("`{}` is removed from the deny list, but is not on it", pattern.value.text());
                let hint = Some("drop the line; nothing denies it".to_owned());
                self.conflict(ConflictKind::NothingToRemove, message, hint, vec![layer.source(pattern)]);
            }
            self.deny = self.deny.difference(set);
        }
    }

    fn add_allows(&mut self, index: usize, layer: &Layer, patterns: &[Sourced<CapabilityPattern>]) {
        for pattern in patterns {
            if self.is_unavailable(layer, pattern) {
                continue;
            }
            let set = pattern.value.set().available();
            let mut denied = set.intersection(self.deny);
            if layer.destructive.as_ref().is_some_and(|flag| flag.value) {
                // The switch lifts this entry by itself.
                denied = denied.difference(CapabilitySet::of(Capability::FsDelete));
            }
            if !denied.is_empty() {
                let message =
                    format!("`{}` is allowed, but a deny entry of a lower layer names it", denied.names());
                let hint = Some(match switch_of(denied) {
                    Some(grant) => format!("it follows `{}`; set that instead", grant.key()),
                    None => format!("add removeDeny: [{}], so that a reviewer sees it", denied.names()),
                });
                self.conflict(ConflictKind::AllowedAndDenied, message, hint, vec![layer.source(pattern)]);
            }
            self.listed = self.listed.union(set);
            mark(&mut self.allow_from, set, index);
        }
    }

    fn set_mode(&mut self, index: usize, layer: &Layer, mode: &Sourced<NetworkMode>) {
        let offered = &self.baseline.ceilings.networks;
        if mode.value != NetworkMode::Blocked && !offered.contains(&mode.value) {
            let words: Vec<&str> = offered.iter().map(|mode| mode.word()).collect();
            let message = format!("the operator does not allow the network mode `{}`", mode.value);
            let hint = Some(format!("ceilings.network offers {}", words.join(", ")));
            self.conflict(ConflictKind::ForbiddenMode, message, hint, vec![layer.source(mode)]);
        }
        if mode.value == NetworkMode::Blocked {
            self.net.hosts.clear();
            self.hosts_cleared_below = index;
        }
        self.net.mode = At::new(mode.value, index);
    }

    fn set_limit(&mut self, index: usize, layer: &Layer, limit: &Sourced<LimitRequest>) {
        let (kind, value) = (limit.value.kind(), limit.value.value());
        let ceiling = self.baseline.ceilings.limits.get(kind);
        if value > ceiling {
            let unit = kind.unit();
            let message = format!(
                "limit `{}` of {} is above the operator's ceiling of {}",
                kind.key(),
                unit.format(value),
                unit.format(ceiling)
            );
            let hint =
                Some(format!("ask for at most {}, or raise ceilings.{}", unit.format(ceiling), kind.key()));
            self.conflict(ConflictKind::AboveCeiling, message, hint, vec![layer.source(limit)]);
        } else if self.limits.set(kind, value).is_ok()
            && let Some(from) = self.limits_from.get_mut(kind as usize)
        {
            *from = index;
        }
    }

    /// Ends the fold: checks what only the whole shows, and brings the result into its one form.
    pub(super) fn finish(
        mut self,
        layers: Vec<Arc<Layer>>,
        profile: Option<ProfileName>,
        exposure: Exposure,
        conflicts: &mut Vec<Conflict>,
    ) -> EffectivePolicy {
        live::check(&mut self, &layers);
        self.lift_by_destructive();
        self.restore_unused_entries();
        self.make_plain();
        conflicts.append(&mut self.conflicts);
        let allowed = self.allowed();
        let Self {
            baseline,
            listed: _,
            deny,
            allow_from,
            deny_from,
            net,
            files,
            hosts_cleared_below: _,
            limits,
            limits_from,
            conflicts: _,
        } = self;
        EffectivePolicy {
            baseline: baseline.clone(),
            profile,
            layers,
            powers: Powers { allowed, deny, allow_from, deny_from },
            net,
            files,
            limits,
            limits_from,
            exposure,
        }
    }

    /// `destructive` is its own, visible lifting of the baseline's deny entry; a `false` above takes it back. An
    /// entry of a profile or of the tool itself needs a `removeDeny` like any other.
    fn lift_by_destructive(&mut self) {
        let delete = self.files.delete;
        if delete.value && delete.layer > 0 && self.denied_at(Capability::FsDelete) == 0 {
            self.deny = self.deny.difference(CapabilitySet::of(Capability::FsDelete));
        }
    }

    /// An entry of the baseline that was lifted and then not used is back: what is not granted is not wider.
    fn restore_unused_entries(&mut self) {
        let (_, shipped) = lists_of(self.baseline);
        let unused: CapabilitySet =
            shipped.difference(self.deny).iter().filter(|capability| !self.granted(*capability)).collect();
        self.deny = self.deny.union(unused);
        mark(&mut self.deny_from, unused, 0);
    }

    /// The layer whose deny entry names a capability.
    pub(super) fn denied_at(&self, capability: Capability) -> usize {
        self.deny_from.get(capability as usize).copied().unwrap_or(0)
    }

    /// A switch that a higher layer's deny overrules is off; rules a mode does not look at are gone; lists are
    /// sorted. So the same powers always look the same.
    fn make_plain(&mut self) {
        let deny_from = self.deny_from;
        let overruled = |capability: Capability| deny_from.get(capability as usize).copied().unwrap_or(0);
        if self.deny.contains(Capability::NetFetch) {
            self.net.mode = At::new(NetworkMode::Blocked, overruled(Capability::NetFetch));
        }
        if self.net.mode.value != NetworkMode::Allowlist {
            self.net.hosts.clear();
        }
        for (capability, switch) in [
            (Capability::FsRead, &mut self.files.read),
            (Capability::FsWrite, &mut self.files.write),
            (Capability::FsDelete, &mut self.files.delete),
        ] {
            if self.deny.contains(capability) && switch.value {
                *switch = At::new(false, overruled(capability));
            }
        }
        if !self.granted(Capability::NetFetch) {
            self.net.ask = None;
        }
        // Writing happens in the workspace only, so a base outside it leaves nothing to write.
        if let Some(base) = self.files.base.as_ref().filter(|base| base.value.is_absolute()) {
            let layer = base.layer;
            for switch in [&mut self.files.write, &mut self.files.delete] {
                if switch.value {
                    *switch = At::new(false, layer);
                }
            }
        }
        if !self.files.read.value && !self.files.write.value && !self.files.delete.value {
            self.files.base = None;
            self.files.ask = None;
        }
        self.net.hosts.sort_by(|a, b| (&a.value, a.layer).cmp(&(&b.value, b.layer)));
        self.net.hosts.dedup_by(|a, b| a.value == b.value);
    }

    pub(super) fn granted(&self, capability: Capability) -> bool {
        match capability.grant() {
            Grant::Listed => self.listed.contains(capability) && capability.is_available(),
            Grant::Network => match self.net.mode.value {
                NetworkMode::Blocked => false,
                // A list with no hosts reaches nothing, so there is nothing to give.
                NetworkMode::Allowlist => !self.net.hosts.is_empty(),
                NetworkMode::Strict | NetworkMode::Open => true,
            },
            Grant::FileRead => self.files.read.value,
            Grant::FileWrite => self.files.write.value,
            Grant::Destructive => self.files.delete.value,
        }
    }

    fn allowed(&self) -> CapabilitySet {
        Capability::ALL
            .iter()
            .copied()
            .filter(|capability| self.granted(*capability) && !self.deny.contains(*capability))
            .collect()
    }
}

/// The switch that a set of capabilities follows, when none of them is granted by the allow list.
pub(super) fn switch_of(set: CapabilitySet) -> Option<Grant> {
    let mut grants = set.iter().map(Capability::grant);
    let first = grants.next()?;
    (first != Grant::Listed && grants.all(|grant| grant != Grant::Listed)).then_some(first)
}

fn mark(from: &mut [usize; Capability::ALL.len()], set: CapabilitySet, index: usize) {
    for capability in set.iter() {
        if let Some(slot) = from.get_mut(capability as usize) {
            *slot = index;
        }
    }
}

fn stricter(current: &mut Option<At<AskWhen>>, said: Option<&Sourced<AskWhen>>, index: usize) {
    if let Some(said) = said
        && current.is_none_or(|now| said.value > now.value)
    {
        *current = Some(At::new(said.value, index));
    }
}
