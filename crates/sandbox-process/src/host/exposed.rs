//! Ports of a sandbox that the host can reach: a port of the host's loopback for each, and a socket of the sandbox's own network
//! for each connection, lent by its agent.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::OwnedFd;
use std::sync::{Arc, Weak};
use std::time::Duration;

use bailiwick_sandbox::SandboxError;
use bailiwick_wire::agent::ToAgent;
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::task::JoinSet;

use super::handed;
use super::sandbox::Inner;

/// The most connections to one port at once.
const MOST: usize = 256;
/// How long nothing is taken after no more could be opened.
const PAUSE: Duration = Duration::from_millis(50);

/// The ports that are forwarded: the sandbox's, the host's, and who does it.
#[derive(Debug, Default)]
pub(crate) struct Exposed {
    ports: BTreeMap<u16, u16>,
    tasks: JoinSet<()>,
}

/// Forwards a port; one that is forwarded already stays where it is.
pub(crate) async fn expose(inner: &Arc<Inner>, port: u16) -> Result<u16, SandboxError> {
    let failed = |error: &dyn std::fmt::Display| SandboxError::Failed {
        step: format!("expose the port {port}"),
        reason: error.to_string(),
    };
    if !inner.spec.expose.contains(&port) {
        let listed: Vec<String> = inner.spec.expose.iter().map(ToString::to_string).collect();
        let listed = if listed.is_empty() { "none".to_owned() } else { listed.join(", ") };
        let reason = format!("it is not among those that the sandbox was made with ({listed})");
        return Err(failed(&reason));
    }
    let mut exposed = inner.exposed.lock().await;
    if let Some(known) = exposed.ports.get(&port) {
        return Ok(*known);
    }
    let loopback = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0);
    let listener = TcpListener::bind(loopback).await.map_err(|error| failed(&error))?;
    let at = listener.local_addr().map_err(|error| failed(&error))?.port();
    exposed.tasks.spawn(forward(listener, Arc::downgrade(inner), port));
    exposed.ports.insert(port, at);
    Ok(at)
}

async fn forward(listener: TcpListener, inner: Weak<Inner>, port: u16) {
    let mut connections = JoinSet::new();
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            tokio::time::sleep(PAUSE).await;
            continue;
        };
        while connections.len() >= MOST {
            connections.join_next().await;
        }
        while connections.try_join_next().is_some() {}
        let Some(inner) = inner.upgrade() else { return };
        connections.spawn(async move {
            let connected = connect(&inner, port).await;
            // A sandbox is not kept by whoever talks to it.
            drop(inner);
            match connected {
                Ok(inside) => carry(stream, inside).await,
                Err(error) => tracing::debug!(%error, port, "a port of a sandbox could not be reached"),
            }
        });
    }
}

/// Carries bytes both ways until both sides are done.
async fn carry(mut outside: TcpStream, mut inside: TcpStream) {
    let _slower = (outside.set_nodelay(true), inside.set_nodelay(true));
    let ended = tokio::io::copy_bidirectional(&mut outside, &mut inside).await;
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection to a port of a sandbox broke");
    }
}

/// Connects to a port inside: at the fourth version of the protocol, then at the sixth.
async fn connect(inner: &Inner, port: u16) -> Result<TcpStream, SandboxError> {
    let mut result = Err(inner.gone());
    for address in [IpAddr::V4(Ipv4Addr::LOCALHOST), IpAddr::V6(Ipv6Addr::LOCALHOST)] {
        let socket = lend(inner, address.is_ipv6()).await?;
        result = socket_of(socket).connect(SocketAddr::new(address, port)).await.map_err(|error| {
            SandboxError::Failed {
                step: format!("connect to {address}:{port} inside"),
                reason: error.to_string(),
            }
        });
        if result.is_ok() {
            break;
        }
    }
    result
}

#[expect(
    clippy::disallowed_types,
    reason = "a socket of the sandbox's own network, which leads to nobody else"
)]
fn socket_of(socket: OwnedFd) -> TcpSocket {
    TcpSocket::from_std_stream(std::net::TcpStream::from(socket))
}

/// A socket of the sandbox's own network, connected to nobody.
async fn lend(inner: &Inner, is_six: bool) -> Result<OwnedFd, SandboxError> {
    let hand = inner.hand.as_ref().ok_or_else(|| inner.gone())?;
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
