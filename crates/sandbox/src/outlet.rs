//! The way out of a sandbox whose network is neither nothing nor the host's: a backend lends sockets inside the sandbox, and
//! whoever stands behind [`Outlet`] serves them on the host and decides about each connection.
//!
//! A backend must never decide what may be reached, and an outlet must never know how a wall is built: so one outlet serves
//! every backend. What does not come by these sockets has no way out.

use std::any::Any;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::sync::Arc;

use bailiwick_types::{Denial, Wallpart};
use tokio::io::{AsyncRead, AsyncWrite};

use crate::{Doing, SandboxError, SandboxPath, SandboxSpec};

/// Where the proxy listens inside of every sandbox that has one: HTTP and SOCKS5 at the same port.
pub const PROXY: SocketAddrV4 = SocketAddrV4::new(Ipv4Addr::LOCALHOST, 3128);

/// Where names are resolved inside, by UDP and TCP.
pub const NAMES: SocketAddrV4 = SocketAddrV4::new(Ipv4Addr::new(127, 0, 0, 53), 53);

/// A connection of a sandbox's. Whoever gets one may look what it is: bytes between two sockets can be passed on by the kernel.
pub trait Duplex: AsyncRead + AsyncWrite + Send + Unpin + Any {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin + Any> Duplex for T {}

/// Who makes ways out. A backend that is given none refuses networks that need one.
pub trait Egress: Send + Sync + std::fmt::Debug {
    /// The way out of one sandbox. Asked only for networks that need one.
    fn outlet(&self, spec: &SandboxSpec) -> Result<Arc<dyn Outlet>, SandboxError>;
}

/// The way out of one sandbox. Dropping it, and what it returned, ends every connection.
pub trait Outlet: Send + Sync + std::fmt::Debug {
    /// Ports at which programs that know no proxy arrive: a backend listens there on every address of the sandbox's loopback.
    fn ports(&self) -> Vec<u16>;
    /// Variables of every command: the proxy's, placeholders of sealed secrets, where the authorities are.
    fn variables(&self) -> Vec<(String, String)>;
    /// Files that programs look for: how names are resolved, whom to believe. They replace what the sandbox would have there.
    fn files(&self) -> Vec<(SandboxPath, String)>;
    /// Serves a connection to [`PROXY`] to its end.
    fn proxied(&self, stream: Box<dyn Duplex>) -> Doing<'static, ()>;
    /// Serves a connection of a program that knows no proxy, to its end: `to` is the address inside that it was made to.
    fn direct(&self, stream: Box<dyn Duplex>, to: SocketAddrV4) -> Doing<'static, ()>;
    /// Answers one message of the domain name system; none where there is nothing to be said to it.
    fn answer(&self, query: &[u8]) -> Option<Vec<u8>>;
    /// What holds the network, for the receipt; the first one is the demand `network` itself.
    fn walls(&self) -> Vec<Wallpart>;
    /// How many refusals there were so far.
    fn refused(&self) -> u64;
    /// What was refused after the first `before` refusals, as far as it was kept.
    fn denials(&self, before: u64) -> Vec<Denial>;
}
