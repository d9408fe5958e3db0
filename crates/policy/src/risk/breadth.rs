//! How many hosts a list reaches in sum. The sum counts and not the spelling: a block of addresses and the same addresses
//! listed one by one have the same level, and one more entry never lowers it.

use std::collections::BTreeSet;

use ipnet::IpNet;

use bailiwick_types::{RiskLevel, RiskReason};

use super::reason;
use crate::host::{HostPattern, HostRule, PortRule};

/// Private hosts and ports that a list may reach at L3. Each is a service that somebody named; two are a network.
const MOST_PRIVATE: usize = 1;
/// Addresses of all IPv4 blocks (one /8) and of all IPv6 blocks (one /16): a list of more is `*` by another name.
const MOST_V4: u128 = 1 << 24;
const MOST_V6: u128 = 1 << 112;

/// The ports of the schemes, which a rule without a port means.
const WEB: u16 = 0;

/// The reasons for a list of hosts: one for each entry, and one for all of them together where the sum is wider.
pub(super) fn signals(rules: &[&HostRule], reasons: &mut Vec<RiskReason>) {
    let (mut wide, mut private) = (false, false);
    for rule in rules {
        let kind = kind_of(rule);
        let (signal, level) = match kind {
            Kind::Everything => ("network allowlist with *", RiskLevel::L4),
            Kind::PrivateRange => ("private wildcard", RiskLevel::L4),
            Kind::PrivateHost => ("private host", RiskLevel::L3),
            Kind::Public => ("network allowlist", RiskLevel::L3),
        };
        wide |= kind == Kind::Everything;
        private |= kind == Kind::PrivateRange;
        reasons.push(reason(signal, level, rule.describe()));
    }
    let reached = private_endpoints(rules);
    if reached > MOST_PRIVATE && !private {
        let detail = format!("{reached} private hosts and ports");
        reasons.push(reason("several private hosts", RiskLevel::L4, detail));
    }
    let (v4, v6) = addresses_of_blocks(rules);
    if (v4 > MOST_V4 || v6 > MOST_V6) && !wide {
        let detail = "its blocks hold more addresses than one /8 (IPv6: one /16)";
        reasons.push(reason("network allowlist as wide as *", RiskLevel::L4, detail));
    }
}

/// What one entry reaches by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Everything,
    PrivateRange,
    PrivateHost,
    Public,
}

fn kind_of(rule: &HostRule) -> Kind {
    // Methods and paths do not lower it: a query string carries data out as well as a body.
    let HostRule { pattern, port, methods: _, paths: _, private } = rule;
    let (many, everything) = match pattern {
        HostPattern::Any => (true, true),
        HostPattern::Block(block @ IpNet::V4(_)) => (true, size(block) > MOST_V4),
        HostPattern::Block(block @ IpNet::V6(_)) => (true, size(block) > MOST_V6),
        HostPattern::Wildcard(_) => (true, false),
        HostPattern::Domain(_) | HostPattern::Address(_) => (false, false),
    };
    match private {
        _ if everything => Kind::Everything,
        true if many || *port == PortRule::Any => Kind::PrivateRange,
        true => Kind::PrivateHost,
        false => Kind::Public,
    }
}

/// The private hosts that are named one by one, each with its port.
fn private_endpoints(rules: &[&HostRule]) -> usize {
    let port = |rule: &HostRule| match rule.port {
        PortRule::SchemeDefault | PortRule::Exact(80 | 443) => WEB,
        PortRule::Exact(port) => port,
        PortRule::Any => u16::MAX,
    };
    let private = rules.iter().filter(|rule| rule.private);
    private.map(|rule| (&rule.pattern, port(rule))).collect::<BTreeSet<_>>().len()
}

/// The addresses of all IPv4 and of all IPv6 blocks, a block within another one not counted again.
fn addresses_of_blocks(rules: &[&HostRule]) -> (u128, u128) {
    let blocks: BTreeSet<&IpNet> = rules
        .iter()
        .filter_map(|rule| match &rule.pattern {
            HostPattern::Block(block) => Some(block),
            _ => None,
        })
        .collect();
    let outer =
        blocks.iter().filter(|block| !blocks.iter().any(|other| other != *block && other.contains(**block)));
    outer.fold((0_u128, 0_u128), |(v4, v6), block| match block {
        IpNet::V4(_) => (v4.saturating_add(size(block)), v6),
        IpNet::V6(_) => (v4, v6.saturating_add(size(block))),
    })
}

/// How many addresses a block holds.
fn size(block: &IpNet) -> u128 {
    let free = block.max_prefix_len() - block.prefix_len();
    1_u128.checked_shl(u32::from(free)).unwrap_or(u128::MAX)
}
