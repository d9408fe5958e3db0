//! Connections to ports inside, each by a socket of the sandbox's own network that its agent lends.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::OwnedFd;

use bailiwick_agent_host::Attended;
use bailiwick_sandbox::{Duplex, SandboxError};
use bailiwick_wire::agent::ToAgent;
use tokio::net::{TcpSocket, TcpStream};

use super::handed;
use super::wall::Jailed;

/// Connects to a port inside: at the fourth version of the protocol, then at the sixth.
pub(crate) async fn connect(inner: &Attended<Jailed>, port: u16) -> Result<Box<dyn Duplex>, SandboxError> {
    let mut result = Err(inner.gone());
    for address in [IpAddr::V4(Ipv4Addr::LOCALHOST), IpAddr::V6(Ipv6Addr::LOCALHOST)] {
        let socket = lend(inner, address.is_ipv6()).await?;
        let connected = socket_of(socket).connect(SocketAddr::new(address, port)).await;
        result = connected.map(at_once).map_err(|error| SandboxError::Failed {
            step: format!("connect to {address}:{port} inside"),
            reason: error.to_string(),
        });
        if result.is_ok() {
            break;
        }
    }
    result
}

/// Whoever is behind a port waits for small messages: they go at once.
fn at_once(stream: TcpStream) -> Box<dyn Duplex> {
    let _slower = stream.set_nodelay(true);
    Box::new(stream)
}

#[expect(
    clippy::disallowed_types,
    reason = "a socket of the sandbox's own network, which leads to nobody else"
)]
fn socket_of(socket: OwnedFd) -> TcpSocket {
    TcpSocket::from_std_stream(std::net::TcpStream::from(socket))
}

/// A socket of the sandbox's own network, connected to nobody.
async fn lend(inner: &Attended<Jailed>, is_six: bool) -> Result<OwnedFd, SandboxError> {
    let hand = inner.wall.hand().ok_or_else(|| inner.gone())?;
    // One at a time: what comes next is the answer to this.
    let hand = hand.lock().await;
    let ask = inner.ask().await?;
    let id = ask.id;
    inner.done(ask, &ToAgent::Lend { id, is_six }).await?;
    let failed = |reason: String| SandboxError::Failed { step: "take a socket".to_owned(), reason };
    let (said, mut descriptors) = handed::take(&hand).map_err(|errno| failed(errno.to_string()))?;
    match descriptors.pop() {
        Some(socket) if said == id.to_le_bytes() && descriptors.is_empty() => Ok(socket),
        Some(_) => Err(inner.broken()),
        None => Err(failed("this process may open no more descriptors".to_owned())),
    }
}
