//! Ports of a sandbox that the host can reach: a port of the host's loopback for each, and for each connection one into the
//! sandbox, which its wall makes.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::{Arc, Weak};
use std::time::Duration;

use bailiwick_sandbox::{Duplex, SandboxError};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

use crate::{Attended, Wall};

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
pub(crate) async fn expose<W: Wall>(inner: &Arc<Attended<W>>, port: u16) -> Result<u16, SandboxError> {
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

async fn forward<W: Wall>(listener: TcpListener, inner: Weak<Attended<W>>, port: u16) {
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
            let connected = inner.wall.connect(&inner, port).await;
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
async fn carry(mut outside: TcpStream, mut inside: Box<dyn Duplex>) {
    let _slower = outside.set_nodelay(true);
    let ended = tokio::io::copy_bidirectional(&mut outside, &mut inside).await;
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection to a port of a sandbox broke");
    }
}
