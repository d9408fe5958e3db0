//! Host rules that can never take effect, or that the operator never allows.

use std::sync::Arc;

use bailiwick_types::LayerName;

use super::ConflictKind;
use super::fold::Fold;
use crate::host::{
    AddressClass, HostName, HostPattern, HostRule, METADATA_NAMES, PortRule, classify, classify_block,
    is_bad_port, is_loopback_name,
};
use crate::layer::Sourced;
use crate::{Capability, Layer, NetworkMode};

const SAY_PRIVATE: &str = "if it is meant, say so: {host: …, private: true}";
const OPERATOR: &str = "only the operator's file can open it, in policy.hosts.reserved";

pub(super) fn check_host(fold: &mut Fold<'_>, index: usize, layer: &Layer, rule: &Sourced<Arc<HostRule>>) {
    let mode = fold.net.mode;
    if mode.value != NetworkMode::Allowlist {
        // A lower layer may offer hosts and leave the mode to the tool, unless it chose the mode itself.
        let closed_itself = index > 0 && mode.layer == index;
        let final_word = layer.name == LayerName::Tool && mode.layer <= index;
        if closed_itself || final_word {
            let why = format!("the network mode is `{}`", mode.value);
            let hint = match mode.value {
                NetworkMode::Blocked => "add `network: allowlist`",
                _ if rule.value.private => "private hosts need `network: allowlist`",
                _ => "drop the entry, or set `network: allowlist` to reach nothing else",
            };
            no_effect(fold, layer, rule, &why, hint);
        }
        return;
    }
    if fold.deny.contains(Capability::NetFetch) && fold.denied_at(Capability::NetFetch) <= index {
        no_effect(
            fold,
            layer,
            rule,
            "a deny entry names `net.fetch`",
            "drop the entry, or add removeDeny: [net.fetch]",
        );
    }
    if let PortRule::Exact(port) = rule.value.port
        && is_bad_port(port)
    {
        no_effect(fold, layer, rule, &format!("fetch refuses port {port}"), "use another port");
    }
    if let Some((why, hint)) = address_trouble(fold, &rule.value) {
        no_effect(fold, layer, rule, why, hint);
    }
    // One refusal is enough to say so; the lists may be long.
    let baseline = fold.baseline.clone();
    let first = baseline.never.iter().find(|never| rule.value.meets_refusal(&never.value));
    if let Some(never) = first {
        let granted = rule.value.describe();
        let message = format!("host `{granted}` is allowed, but the operator never allows `{}`", never.value);
        let hint = Some("drop the entry, or name only hosts outside the operator's list".to_owned());
        let sources = vec![layer.source(rule), baseline.layer.source(never)];
        fold.conflict(ConflictKind::AllowedAndDenied, message, hint, sources);
    }
}

fn no_effect(fold: &mut Fold<'_>, layer: &Layer, rule: &Sourced<Arc<HostRule>>, why: &str, hint: &str) {
    let message = format!("host `{}` has no effect: {why}", rule.value.describe());
    fold.conflict(ConflictKind::NoEffect, message, Some(hint.to_owned()), vec![layer.source(rule)]);
}

/// Why the guard would refuse every address of a rule.
fn address_trouble(fold: &Fold<'_>, rule: &HostRule) -> Option<(&'static str, &'static str)> {
    let listed = |host: &HostName| {
        let exact = HostRule::exact(host, rule.port);
        fold.baseline.reserved.iter().any(|reserved| match (reserved.value.port, rule.port) {
            (PortRule::Exact(open), PortRule::Exact(asked)) if open != asked => false,
            _ => reserved.value.pattern().covers(exact.pattern()),
        })
    };
    let (class, reserved) = match rule.pattern() {
        HostPattern::Any | HostPattern::Wildcard(_) => return None,
        HostPattern::Domain(name) => {
            if METADATA_NAMES.contains(&name.as_str()) && !listed(&HostName::Domain(name.clone())) {
                return Some(("it hands out cloud credentials", OPERATOR));
            }
            return (is_loopback_name(name) && !rule.private).then_some(("it is this machine", SAY_PRIVATE));
        }
        HostPattern::Address(address) => {
            let own = |socket: &std::net::SocketAddr| {
                socket.ip().to_canonical() == *address && rule.port == PortRule::Exact(socket.port())
            };
            let reserved = listed(&HostName::Address(*address));
            if fold.baseline.own_listeners.iter().any(own) && !reserved {
                return Some(("it is one of Bailiwick's own listeners", OPERATOR));
            }
            (classify(*address), reserved)
        }
        HostPattern::Block(block) => (classify_block(*block)?, false),
    };
    match (class, rule.private) {
        (AddressClass::Metadata, _) if !reserved => {
            Some(("the address hands out cloud credentials", OPERATOR))
        }
        (AddressClass::Private | AddressClass::Metadata, false) => {
            Some(("the address is not a public one", SAY_PRIVATE))
        }
        (AddressClass::Unusable, _) => Some(("the address can never be reached", "drop the entry")),
        (AddressClass::Public, true) if matches!(rule.pattern(), HostPattern::Address(_)) => {
            Some(("the address is a public one, so `private` says nothing", "drop `private`"))
        }
        (AddressClass::Public, _) | (AddressClass::Private | AddressClass::Metadata, true) => None,
    }
}
