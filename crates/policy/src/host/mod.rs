//! Hosts: how a name or address is spelled, which addresses are public, and the rules of `hosts[]`.
//!
//! Start reading at [`HostRule`]. Rules and questions have two parsers that end in the same [`HostName`], so
//! no spelling reaches what another spelling of the same host does not.

mod address;
mod glob;
mod name;
mod ports;
mod rule;
mod suffix;

pub use address::{AddressClass, classify};
pub(crate) use address::{METADATA, METADATA_NAMES, SPECIAL, classify_block, is_loopback_name, views};
pub use glob::PathGlob;
pub(crate) use glob::{PlainPath, plain_url_path};
pub use name::{HostName, without_userinfo};
pub use ports::is_bad_port;
pub use rule::{HostError, HostPattern, HostRule, PortRule, Purpose};
pub use suffix::registered_domain;
