//! Rules that can never take effect. Each is a mistake its author would want to hear about.
//!
//! A rule that a *higher* layer narrowed away is not one of them: the layers below serve other tools too.

use std::net::IpAddr;
use std::sync::Arc;

use super::ConflictKind;
use super::fold::{Fold, switch_of};
use crate::capability::{Capability, CapabilitySet, Grant};
use crate::host::{
    AddressClass, HostName, HostPattern, HostRule, METADATA_NAMES, PortRule, SPECIAL, classify, is_bad_port,
    is_loopback_name,
};
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
    }
}

/// A switch that is on, under a deny entry of the same or a lower layer.
fn check_switches_against_denies(fold: &mut Fold<'_>, index: usize, layer: &Layer) {
    let on =
        |flag: &Option<Sourced<bool>>| flag.as_ref().filter(|flag| flag.value).map(|flag| layer.source(flag));
    let network = layer.network.as_ref().filter(|mode| mode.value != NetworkMode::Blocked);
    let switches = [
        (Capability::NetFetch, network.map(|mode| layer.source(mode))),
        (Capability::FsRead, on(&layer.file_read)),
        (Capability::FsWrite, on(&layer.file_write)),
        (Capability::FsDelete, on(&layer.destructive)),
    ];
    for (capability, source) in switches {
        let Some(source) = source else { continue };
        let denied_at = fold.deny_from.get(capability as usize).copied().unwrap_or(0);
        if fold.deny.contains(capability) && denied_at <= index {
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
        let set_to = match grant {
            Grant::Network => "set `network: allowlist` and list the `hosts`".to_owned(),
            other => format!("set `{}: true`", other.key()),
        };
        let message = format!(
            "`{}` on the allow list has no effect: it follows `{}`",
            pattern.value.text(),
            grant.key()
        );
        fold.conflict(ConflictKind::NoEffect, message, Some(set_to), vec![layer.source(pattern)]);
    }
}

/// Asking before an effect that cannot happen. In the baseline this is a standing order for other tools.
fn check_ask(fold: &mut Fold<'_>, index: usize, layer: &Layer) {
    if index == 0 {
        return;
    }
    if let Some(ask) = &layer.ask_net
        && fold.net.mode.value == NetworkMode::Blocked
        && fold.net.mode.layer <= index
    {
        let message = "`ask.net` has no effect: the network mode is `blocked`".to_owned();
        fold.conflict(
            ConflictKind::NoEffect,
            message,
            Some("drop it, or set `network`".to_owned()),
            vec![layer.source(ask)],
        );
    }
    if let Some(ask) = &layer.ask_fs
        && no_files_at(fold, index)
    {
        let message =
            "`ask.fs` has no effect: neither fileRead nor fileWrite nor destructive is on".to_owned();
        fold.conflict(
            ConflictKind::NoEffect,
            message,
            Some("drop it, or set one of them".to_owned()),
            vec![layer.source(ask)],
        );
    }
}

/// Whether no file switch is on, and no layer above `index` is the reason.
fn no_files_at(fold: &Fold<'_>, index: usize) -> bool {
    [fold.files.read, fold.files.write, fold.files.delete]
        .iter()
        .all(|switch| !switch.value && switch.layer <= index)
}

fn check_host(fold: &mut Fold<'_>, index: usize, layer: &Layer, rule: &Sourced<Arc<HostRule>>) {
    let mode = fold.net.mode;
    let shown = rule.value.describe();
    let mut conflict = |kind: ConflictKind, message: String, hint: &str| {
        fold.conflict(kind, message, Some(hint.to_owned()), vec![layer.source(rule)]);
    };
    if mode.value != NetworkMode::Allowlist {
        if mode.layer <= index {
            let message = format!("host `{shown}` has no effect: the network mode is `{}`", mode.value);
            let hint = match mode.value {
                NetworkMode::Blocked => "add `network: allowlist`",
                _ if rule.value.private => "private hosts need `network: allowlist`",
                _ => "drop the entry, or set `network: allowlist` to reach nothing else",
            };
            conflict(ConflictKind::NoEffect, message, hint);
        }
        return;
    }
    if let PortRule::Exact(port) = rule.value.port
        && is_bad_port(port)
    {
        let message = format!("host `{shown}` has no effect: fetch refuses port {port}");
        conflict(ConflictKind::NoEffect, message, "use another port");
    }
    if let Some((message, hint)) = address_trouble(fold, &rule.value, &shown) {
        fold.conflict(ConflictKind::NoEffect, message, Some(hint.to_owned()), vec![layer.source(rule)]);
    }
    // `*` means "whatever the operator leaves open" and so contradicts nothing.
    if *rule.value.pattern() == HostPattern::Any {
        return;
    }
    let baseline = fold.baseline.clone();
    for never in &baseline.never {
        if never.value.pattern().overlaps(rule.value.pattern()) && ports_meet(&never.value, &rule.value) {
            let message =
                format!("host `{shown}` is allowed, but the operator never allows `{}`", never.value);
            let hint = Some("drop the entry, or name only hosts outside the operator's list".to_owned());
            let sources = vec![layer.source(rule), baseline.layer.source(never)];
            fold.conflict(ConflictKind::AllowedAndDenied, message, hint, sources);
        }
    }
}

fn ports_meet(never: &HostRule, rule: &HostRule) -> bool {
    match (never.port, rule.port) {
        (PortRule::Exact(refused), PortRule::Exact(granted)) => refused == granted,
        (PortRule::Exact(refused), PortRule::SchemeDefault) => matches!(refused, 80 | 443),
        _ => true,
    }
}

/// Why the guard would refuse every address of a rule.
fn address_trouble(fold: &Fold<'_>, rule: &HostRule, shown: &str) -> Option<(String, &'static str)> {
    const SAY_PRIVATE: &str = "if it is meant, say so: {host: …, private: true}";
    const OPERATOR: &str = "only the operator's file can open it, in policy.hosts.reserved";
    let listed = |host: &HostName| {
        fold.baseline.reserved.iter().any(|reserved| reserved.value.pattern().covers(&pattern_of(host)))
    };
    let class = match rule.pattern() {
        HostPattern::Any | HostPattern::Wildcard(_) => return None,
        HostPattern::Domain(name) => {
            let host = HostName::Domain(name.clone());
            if METADATA_NAMES.contains(&name.as_str()) && !listed(&host) {
                return Some((
                    format!("host `{shown}` has no effect: it hands out cloud credentials"),
                    OPERATOR,
                ));
            }
            if is_loopback_name(name) && !rule.private {
                return Some((format!("host `{shown}` has no effect: it is this machine"), SAY_PRIVATE));
            }
            return None;
        }
        HostPattern::Address(address) if listed(&HostName::Address(*address)) => return None,
        HostPattern::Address(address) => classify(*address),
        HostPattern::Block(block) => class_of_block(block.network(), block.prefix_len())?,
    };
    match (class, rule.private) {
        (AddressClass::Private, false) => {
            Some((format!("host `{shown}` has no effect: the address is not a public one"), SAY_PRIVATE))
        }
        (AddressClass::Metadata, _) => {
            Some((format!("host `{shown}` has no effect: the address hands out cloud credentials"), OPERATOR))
        }
        (AddressClass::Unusable, _) => Some((
            format!("host `{shown}` has no effect: the address can never be reached"),
            "drop the entry",
        )),
        (AddressClass::Public, true) if matches!(rule.pattern(), HostPattern::Address(_)) => Some((
            format!("`private` on `{shown}` has no effect: the address is a public one"),
            "drop `private`",
        )),
        (AddressClass::Public, _) | (AddressClass::Private, true) => None,
    }
}

fn pattern_of(host: &HostName) -> HostPattern {
    match host {
        HostName::Domain(name) => HostPattern::Domain(name.clone()),
        HostName::Address(address) => HostPattern::Address(*address),
    }
}

/// The class of a whole block, when one row of the table holds all of it.
fn class_of_block(network: IpAddr, length: u8) -> Option<AddressClass> {
    SPECIAL
        .iter()
        .filter_map(|(text, class, _)| text.parse::<ipnet::IpNet>().ok().map(|block| (block, *class)))
        .find(|(block, _)| block.contains(&network))
        .filter(|(block, _)| block.prefix_len() <= length)
        .map(|(_, class)| class)
}

fn check_files(fold: &mut Fold<'_>, index: usize, layer: &Layer) {
    let Some(base) = &layer.base_path else { return };
    // Only the base path that is in force.
    if fold.files.base.as_ref().is_none_or(|now| now.layer != index) {
        return;
    }
    if no_files_at(fold, index) {
        let message =
            format!("basePath `{}` has no effect: neither fileRead nor fileWrite is on", base.value);
        let hint = Some("drop it, or set one of them".to_owned());
        fold.conflict(ConflictKind::NoEffect, message, hint, vec![layer.source(base)]);
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
    } else if fold.files.write.value || fold.files.delete.value {
        let message = format!(
            "fileWrite and destructive have no effect: basePath `{}` is under a read root",
            base.value
        );
        let hint = Some("write in the workspace, or drop them".to_owned());
        fold.conflict(ConflictKind::NoEffect, message, hint, vec![layer.source(base)]);
    }
}
