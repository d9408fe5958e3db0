//! Which addresses are public. The tables follow the IANA special-purpose registries for IPv4 and IPv6.
//!
//! An address can carry another one inside (NAT64, 6to4, Teredo, v4-compatible): [`views`] gives them all, and
//! the worst of them counts.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::LazyLock;

use ipnet::IpNet;

/// What may be done with an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum AddressClass {
    /// Anybody's: reachable in `strict`.
    Public,
    /// Somebody's own network: reachable only where a rule says `private: true`, or in `open`.
    Private,
    /// Hands out credentials: refused in every mode unless the operator lists it.
    Metadata,
    /// Never the other end of a request.
    Unusable,
}

/// The special-purpose blocks, the more specific before the wider ones that hold them.
pub(crate) const SPECIAL: &[(&str, AddressClass, &str)] = &[
    ("0.0.0.0/8", AddressClass::Unusable, "this network"),
    ("10.0.0.0/8", AddressClass::Private, "private use"),
    ("100.64.0.0/10", AddressClass::Private, "shared by carriers"),
    ("127.0.0.0/8", AddressClass::Private, "loopback"),
    ("169.254.0.0/16", AddressClass::Private, "link-local"),
    ("172.16.0.0/12", AddressClass::Private, "private use"),
    ("192.0.0.9/32", AddressClass::Public, "port control anycast"),
    ("192.0.0.10/32", AddressClass::Public, "TURN anycast"),
    ("192.0.0.0/24", AddressClass::Private, "protocol assignments"),
    ("192.0.2.0/24", AddressClass::Private, "documentation"),
    ("192.88.99.0/24", AddressClass::Private, "6to4 relays, deprecated"),
    ("192.168.0.0/16", AddressClass::Private, "private use"),
    ("198.18.0.0/15", AddressClass::Private, "benchmarking"),
    ("198.51.100.0/24", AddressClass::Private, "documentation"),
    ("203.0.113.0/24", AddressClass::Private, "documentation"),
    ("224.0.0.0/4", AddressClass::Unusable, "multicast"),
    ("240.0.0.0/4", AddressClass::Unusable, "reserved and broadcast"),
    ("::/128", AddressClass::Unusable, "unspecified"),
    ("::1/128", AddressClass::Private, "loopback"),
    ("64:ff9b::/96", AddressClass::Public, "NAT64; the address inside counts as well"),
    (
        "64:ff9b:1::/48",
        AddressClass::Unusable,
        "local NAT64: where the address inside begins is anybody's guess",
    ),
    ("100::/64", AddressClass::Unusable, "discard"),
    ("100:0:0:1::/64", AddressClass::Unusable, "dummy"),
    ("2001::/32", AddressClass::Public, "Teredo; the addresses inside count as well"),
    ("2001:1::1/128", AddressClass::Public, "port control anycast"),
    ("2001:1::2/128", AddressClass::Public, "TURN anycast"),
    ("2001:1::3/128", AddressClass::Public, "DNS-SD anycast"),
    ("2001:3::/32", AddressClass::Public, "AMT"),
    ("2001:4:112::/48", AddressClass::Public, "AS112"),
    ("2001:20::/28", AddressClass::Public, "ORCHIDv2"),
    ("2001:30::/28", AddressClass::Public, "drone remote ids"),
    ("2001::/23", AddressClass::Private, "protocol assignments"),
    ("2001:db8::/32", AddressClass::Private, "documentation"),
    ("2002::/16", AddressClass::Public, "6to4; the address inside counts as well"),
    ("3fff::/20", AddressClass::Private, "documentation"),
    ("2000::/3", AddressClass::Public, "global unicast"),
    ("5f00::/16", AddressClass::Private, "segment routing ids"),
    ("fc00::/7", AddressClass::Private, "unique local"),
    ("fe80::/10", AddressClass::Private, "link-local"),
    ("fec0::/10", AddressClass::Private, "site-local, deprecated"),
    ("ff00::/8", AddressClass::Unusable, "multicast"),
    // Whatever is left of v6 is not assigned to anybody.
    ("::/0", AddressClass::Unusable, "not assigned"),
];

/// Addresses at which clouds hand out credentials or machine data.
pub(crate) const METADATA: &[(&str, &str)] = &[
    ("169.254.169.254", "instance metadata of most clouds"),
    ("169.254.169.253", "DNS of an AWS VPC"),
    ("169.254.169.250", "Rancher metadata"),
    ("169.254.170.2", "task credentials of AWS ECS"),
    ("169.254.170.23", "pod identity of AWS EKS"),
    ("169.254.0.23", "Tencent cloud metadata"),
    ("169.254.42.42", "Scaleway metadata"),
    ("100.100.100.200", "Alibaba cloud metadata"),
    ("168.63.129.16", "Azure platform channel"),
    ("192.0.0.192", "Oracle cloud metadata"),
    ("fd00:ec2::254", "AWS instance metadata"),
    ("fd00:ec2::23", "pod identity of AWS EKS"),
    ("fd00:ec2::253", "DNS of an AWS VPC"),
    ("fd20:ce::254", "Google cloud metadata"),
    ("fd00:42::42", "Scaleway metadata"),
    ("fe80::a9fe:a9fe", "instance metadata, link-local"),
];

/// Names that stand for those addresses, refused before anything is resolved.
pub(crate) const METADATA_NAMES: &[&str] = &[
    "metadata.google.internal",
    "metadata.goog",
    "metadata",
    "instance-data",
    "instance-data.ec2.internal",
    "metadata.azure.internal",
    "metadata.tencentyun.com",
];

static BLOCKS: LazyLock<Vec<(IpNet, AddressClass)>> = LazyLock::new(|| {
    SPECIAL.iter().filter_map(|(text, class, _)| text.parse().ok().map(|block| (block, *class))).collect()
});

static METADATA_ADDRESSES: LazyLock<Vec<IpAddr>> =
    LazyLock::new(|| METADATA.iter().filter_map(|(text, _)| text.parse().ok()).collect());

/// Whether a name is one of loopback's own, which resolves to this machine by definition.
pub(crate) fn is_loopback_name(name: &str) -> bool {
    name == "localhost" || name.ends_with(".localhost")
}

/// What may be done with an address, judged by it and by every address it carries inside.
pub fn classify(address: IpAddr) -> AddressClass {
    views(address).map(classify_plain).max().unwrap_or(AddressClass::Unusable)
}

/// The class of a whole block, when one row of the table holds all of it.
pub(crate) fn classify_block(block: IpNet) -> Option<AddressClass> {
    // A block of NAT64 is the block it carries.
    if let IpNet::V6(v6) = block
        && v6.prefix_len() >= 96
        && let [0x64, 0xff9b, 0, 0, 0, 0, ..] = v6.network().segments()
        && let [Some(inside), None] = carried(v6.network())
    {
        let inside = IpNet::new(IpAddr::V4(inside), v6.prefix_len() - 96).ok()?;
        return classify_block(inside).or(Some(AddressClass::Public));
    }
    for (row, class) in BLOCKS.iter() {
        if row.contains(&block) {
            return Some(*class);
        }
        // A row inside the block comes before the row around it: the block is of several classes.
        if block.contains(row) {
            return None;
        }
    }
    None
}

fn classify_plain(address: IpAddr) -> AddressClass {
    if METADATA_ADDRESSES.contains(&address) {
        return AddressClass::Metadata;
    }
    // v4 addresses outside the table are public; v6 ends with a row for everything.
    BLOCKS
        .iter()
        .find(|(block, _)| block.contains(&address))
        .map_or(AddressClass::Public, |(_, class)| *class)
}

/// The address itself (v4-mapped ones as v4) and the v4 addresses that it carries inside.
pub(crate) fn views(address: IpAddr) -> impl Iterator<Item = IpAddr> {
    let address = address.to_canonical();
    let inside: [Option<Ipv4Addr>; 2] = match address {
        IpAddr::V4(_) => [None, None],
        IpAddr::V6(v6) => carried(v6),
    };
    std::iter::once(address).chain(inside.into_iter().flatten().map(IpAddr::V4))
}

fn carried(address: Ipv6Addr) -> [Option<Ipv4Addr>; 2] {
    let octets = address.octets();
    let v4_at = |at: usize| -> Option<Ipv4Addr> {
        let bytes: [u8; 4] = octets.get(at..at + 4)?.try_into().ok()?;
        Some(Ipv4Addr::from(bytes))
    };
    match address.segments() {
        // 6to4 puts it right behind the prefix.
        [0x2002, ..] => [v4_at(2), None],
        // Teredo names its server plainly and its client inverted.
        [0x2001, 0, ..] => [v4_at(4), v4_at(12).map(|v4| Ipv4Addr::from(!u32::from(v4)))],
        // v4-compatible, long deprecated, but some stacks still answer; `::` and `::1` carry nothing.
        [0, 0, 0, 0, 0, 0, 0, _] => [None, None],
        // At the end: NAT64 (well-known and local), ISATAP, v4-translated, v4-compatible.
        [0x64, 0xff9b, ..] | [_, _, _, _, 0 | 0x200, 0x5efe, _, _] | [0, 0, 0, 0, 0 | 0xffff, 0, _, _] => {
            [v4_at(12), None]
        }
        _ => [None, None],
    }
}
