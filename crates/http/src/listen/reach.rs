//! Every address under which a listener can be reached, so that policy can keep tools away from it.

use std::collections::BTreeSet;
use std::io::BufRead as _;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::Path;

use bailiwick_config::files;

use super::ServeError;

/// The kernel's table of routes: the addresses of this machine are those it calls `LOCAL`.
const IPV4: &str = "/proc/net/fib_trie";
/// The kernel's list of IPv6 addresses; not there on a machine without.
const IPV6: &str = "/proc/net/if_inet6";

/// Every address under which a listener that is bound there can be reached: the address itself, or for one that means
/// "all of them", each that this machine has now, public ones and loopback among them.
pub fn own_listeners(bound: SocketAddr) -> Result<Vec<SocketAddr>, ServeError> {
    let all = |addresses: BTreeSet<IpAddr>| {
        let mut listeners = vec![bound];
        listeners.extend(addresses.into_iter().map(|address| SocketAddr::new(address, bound.port())));
        listeners
    };
    let address = bound.ip().to_canonical();
    if !address.is_unspecified() {
        // An IPv4 address is reached by both of its writings.
        return Ok(all(BTreeSet::from([address])).into_iter().collect::<BTreeSet<_>>().into_iter().collect());
    }
    let mut addresses = BTreeSet::from([IpAddr::V4(Ipv4Addr::LOCALHOST)]);
    addresses.extend(ipv4()?);
    if bound.is_ipv6() {
        addresses.insert(IpAddr::V6(Ipv6Addr::LOCALHOST));
        addresses.extend(ipv6()?);
    }
    Ok(all(addresses))
}

fn ipv4() -> Result<BTreeSet<IpAddr>, ServeError> {
    let mut last = None;
    let mut found = BTreeSet::new();
    each_line(IPV4, |line| {
        if let Some((_, address)) = line.split_once("|-- ") {
            last = address.trim().parse::<Ipv4Addr>().ok();
        } else if line.trim() == "/32 host LOCAL" {
            found.extend(last.map(IpAddr::V4));
        }
    })?;
    Ok(found)
}

fn ipv6() -> Result<BTreeSet<IpAddr>, ServeError> {
    let mut found = BTreeSet::new();
    if Path::new(IPV6).exists() {
        each_line(IPV6, |line| {
            let digits = line.split_ascii_whitespace().next().unwrap_or_default();
            let address = u128::from_str_radix(digits, 16).ok().filter(|_| digits.len() == 32);
            found.extend(address.map(|bits| IpAddr::V6(Ipv6Addr::from(bits))));
        })?;
    }
    Ok(found)
}

fn each_line(path: &str, mut line: impl FnMut(&str)) -> Result<(), ServeError> {
    let path = Path::new(path);
    let lines = files::open_long(path).map_err(ServeError::Addresses)?;
    for read in lines.lines() {
        let read = read.map_err(|source| {
            ServeError::Addresses(files::FileError::Read { path: path.to_owned(), source })
        })?;
        line(&read);
    }
    Ok(())
}
