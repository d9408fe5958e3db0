//! How near an address is. A registry may send us further out, never nearer in: one on the internet has no business
//! naming a machine of our own network.

use std::net::IpAddr;

use bailiwick_policy::{AddressClass, classify};

/// How near, from the outside in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Standing {
    /// Anybody's.
    Public,
    /// A network of our own.
    Private,
    /// This machine.
    Loopback,
}

impl Standing {
    /// None for addresses that are nobody's to be asked: those that hand out credentials, multicast, unspecified.
    pub(super) fn of(address: IpAddr) -> Option<Self> {
        match classify(address) {
            AddressClass::Public => Some(Self::Public),
            AddressClass::Private if address.to_canonical().is_loopback() => Some(Self::Loopback),
            AddressClass::Private => Some(Self::Private),
            AddressClass::Metadata | AddressClass::Unusable => None,
        }
    }
}
