//! Rules that can never take effect. Each is a mistake its author would want to hear about.
//!
//! A rule that a *higher* layer narrowed away is not one of them, nor is an offer that a lower layer makes to the
//! tools above it: such layers serve other tools too. What a tool itself says has nobody above it.

use std::sync::Arc;

use bailiwick_types::LayerName;

use super::ConflictKind;
use super::fold::{Fold, switch_of};
use super::live_hosts::check_host;
use crate::capability::{Capability, CapabilitySet, Grant};
use crate::layer::Sourced;
use crate::{Layer, NetworkMode};

pub(super) fn check(fold: &mut Fold<'_>, layers: &[Arc<Layer>]) {
    for (index, layer) in layers.iter().enumerate() {
        check_switches_against_denies(fold, index, layer);
        check_switch_lists(fold, layer);
        check_ask(fold, index, layer);
        let in_force = index >= fold.hosts_cleared_below;
        for rule in layer.hosts.iter().filter(|_| in_force) {
            check_host(fold, index, layer, rule);
        }
        check_files(fold, index, layer);
        if layer.name == LayerName::Tool {
            check_removals(fold, layer);
        }
    }
}

/// A switch that is on, under a deny entry of the same or a lower layer.
fn check_switches_against_denies(fold: &mut Fold<'_>, index: usize, layer: &Layer) {
    let on = |flag: Option<&Sourced<bool>>| flag.filter(|flag| flag.value).map(|flag| layer.source(flag));
    let network = layer.network.as_ref().filter(|mode| mode.value != NetworkMode::Blocked);
    let switches = [
        (Capability::NetFetch, network.map(|mode| layer.source(mode))),
        (Capability::FsRead, on(layer.file_read.as_ref())),
        (Capability::FsWrite, on(layer.file_write.as_ref())),
        (Capability::FsDelete, on(layer.destructive.as_ref())),
    ];
    for (capability, source) in switches {
        let Some(source) = source else { continue };
        let denied_at = fold.denied_at(capability);
        // `destructive` is its own, visible lifting of the baseline's entry.
        let lifted = capability == Capability::FsDelete && denied_at == 0 && index > 0;
        let stands = denied_at <= index && !lifted;
        if fold.deny.contains(capability) && stands {
            let key = capability.grant().key();
            let message = format!("`{key}` grants `{capability}`, but a deny entry names it");
            let hint = Some(format!("add removeDeny: [{capability}], or drop `{key}`"));
            fold.conflict(ConflictKind::AllowedAndDenied, message, hint, vec![source]);
        }
    }
}

/// `addAllow` of a capability that follows a switch, while the switch is off.
fn check_switch_lists(fold: &mut Fold<'_>, layer: &Layer) {
    for pattern in &layer.add_allow {
        let set: CapabilitySet = pattern.value.set();
        let Some(grant) = switch_of(set) else { continue };
        if set.iter().any(|capability| fold.granted(capability)) {
            continue;
        }
        let text = pattern.value.text();
        let message = format!("`{text}` on the allow list has no effect: it follows `{}`", grant.key());
        fold.conflict(
            ConflictKind::NoEffect,
            message,
            Some(how_to_grant(grant)),
            vec![layer.source(pattern)],
        );
    }
}

fn how_to_grant(grant: Grant) -> String {
    match grant {
        Grant::Listed => "add it to `addAllow` as well".to_owned(),
        Grant::Network => "set `network: allowlist` and list the `hosts`".to_owned(),
        Grant::FileRead | Grant::FileWrite | Grant::Destructive => format!("set `{}: true`", grant.key()),
    }
}

/// A tool that lifts a deny entry and then does not use what it denied.
fn check_removals(fold: &mut Fold<'_>, layer: &Layer) {
    for pattern in &layer.remove_deny {
        let set = pattern.value.set().available();
        if set.is_empty() {
            // Told as what this build does not have.
            continue;
        }
        if set.iter().any(|capability| fold.granted(capability) && !fold.deny.contains(capability)) {
            continue;
        }
        let hint = set.iter().next().map(|capability| how_to_grant(capability.grant()));
        let message =
            format!("removing the deny entry `{}` has no effect: nothing grants it", pattern.value.text());
        fold.conflict(ConflictKind::NoEffect, message, hint, vec![layer.source(pattern)]);
    }
}

/// Asking before an effect that cannot happen. Below a tool this is a standing order.
fn check_ask(fold: &mut Fold<'_>, index: usize, layer: &Layer) {
    if layer.name != LayerName::Tool {
        return;
    }
    let shut = !fold.granted(Capability::NetFetch) || fold.deny.contains(Capability::NetFetch);
    let asks = [
        (layer.ask_net.as_ref().filter(|_| shut), "no request is possible", "drop it, or set `network`"),
        (
            layer.ask_fs.as_ref().filter(|_| no_files_at(fold, index)),
            "neither fileRead nor fileWrite nor destructive is on",
            "drop it, or set one of them",
        ),
    ];
    for (ask, why, hint) in asks {
        let Some(ask) = ask else { continue };
        let message = format!("`{}` has no effect: {why}", ask.path);
        fold.conflict(ConflictKind::NoEffect, message, Some(hint.to_owned()), vec![layer.source(ask)]);
    }
}

/// Whether no file access is possible, and no layer above `index` is the reason.
fn no_files_at(fold: &Fold<'_>, index: usize) -> bool {
    let files = &fold.files;
    let switches = [
        (Capability::FsRead, files.read),
        (Capability::FsWrite, files.write),
        (Capability::FsDelete, files.delete),
    ];
    switches.iter().all(|(capability, switch)| {
        let off = !switch.value && switch.layer <= index;
        off || (fold.deny.contains(*capability)
            && fold.denied_at(*capability) <= index
            && !(*capability == Capability::FsDelete && fold.denied_at(*capability) == 0))
    })
}

fn check_files(fold: &mut Fold<'_>, index: usize, layer: &Layer) {
    let Some(base) = &layer.base_path else { return };
    // Only the base path that is in force.
    if fold.files.base.as_ref().is_none_or(|now| now.layer != index) {
        return;
    }
    if no_files_at(fold, index) {
        if layer.name == LayerName::Tool {
            let message =
                format!("basePath `{}` has no effect: neither fileRead nor fileWrite is on", base.value);
            let hint = Some("drop it, or set one of them".to_owned());
            fold.conflict(ConflictKind::NoEffect, message, hint, vec![layer.source(base)]);
        }
        return;
    }
    if !base.value.is_absolute() {
        return;
    }
    let roots = &fold.baseline.read_roots;
    if !roots.iter().any(|root| root.contains(&base.value)) {
        let offered: Vec<String> = roots.iter().map(ToString::to_string).collect();
        let hint = if offered.is_empty() {
            "name a folder of the workspace, without a leading `/`; the operator opened no read roots"
                .to_owned()
        } else {
            format!("name a folder of the workspace, or one under {}", offered.join(", "))
        };
        let message = format!("basePath `{}` lies outside every folder that may be used", base.value);
        fold.conflict(ConflictKind::OutsideRoots, message, Some(hint), vec![layer.source(base)]);
    } else if [fold.files.write, fold.files.delete].iter().any(|switch| switch.value && switch.layer >= index)
    {
        let message = format!(
            "fileWrite and destructive have no effect: basePath `{}` is under a read root",
            base.value
        );
        let hint = Some("write in the workspace, or drop them".to_owned());
        fold.conflict(ConflictKind::NoEffect, message, hint, vec![layer.source(base)]);
    }
}
