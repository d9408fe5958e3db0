//! The sockets that a sandbox listens at for the host, served by its outlet. What comes is only carried: the outlet decides.

use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Duration;

use bailiwick_sandbox::Outlet;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream, UdpSocket};
use tokio::task::JoinSet;

/// The longest message about names.
const LONGEST_QUERY: usize = 4096;
/// The most connections about names at once: each takes a descriptor of the server.
const MOST_ASKING: usize = 4;
/// How long one of them may stand still.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long nothing is taken after no more could be opened.
const PAUSE: Duration = Duration::from_millis(50);

/// An outlet that is served. Dropping it ends every connection.
#[derive(Debug)]
pub(crate) struct Served {
    _tasks: JoinSet<()>,
}

impl Served {
    /// Serves what was handed over: the proxy, names by datagrams, names by connections, and ports.
    pub(crate) fn start(outlet: &Arc<dyn Outlet>, listeners: Vec<OwnedFd>) -> std::io::Result<Self> {
        let mut tasks = JoinSet::new();
        for (number, listener) in listeners.into_iter().enumerate() {
            let outlet = outlet.clone();
            match number {
                0 => tasks.spawn(proxy(stream_listener(listener)?, outlet)),
                1 => tasks.spawn(datagrams(datagram_socket(listener)?, outlet)),
                2 => tasks.spawn(names(stream_listener(listener)?, outlet)),
                _ => tasks.spawn(ports(stream_listener(listener)?, outlet)),
            };
        }
        Ok(Self { _tasks: tasks })
    }
}

#[expect(
    clippy::disallowed_types,
    reason = "a socket of the sandbox's own network, which leads to nobody else"
)]
fn stream_listener(listener: OwnedFd) -> std::io::Result<TcpListener> {
    TcpListener::from_std(std::net::TcpListener::from(listener))
}

#[expect(
    clippy::disallowed_types,
    reason = "a socket of the sandbox's own network, which leads to nobody else"
)]
fn datagram_socket(socket: OwnedFd) -> std::io::Result<UdpSocket> {
    UdpSocket::from_std(std::net::UdpSocket::from(socket))
}

/// Takes the next connection; waits a moment when this process may open no more.
async fn next(listener: &TcpListener) -> TcpStream {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => {
                // Whoever asks waits for small messages: they go at once.
                let _slower = stream.set_nodelay(true);
                return stream;
            }
            Err(error) => {
                tracing::debug!(%error, "no connection of a sandbox was taken");
                tokio::time::sleep(PAUSE).await;
            }
        }
    }
}

async fn proxy(listener: TcpListener, outlet: Arc<dyn Outlet>) {
    let mut connections = JoinSet::new();
    loop {
        let stream = next(&listener).await;
        while connections.try_join_next().is_some() {}
        connections.spawn(outlet.proxied(Box::new(stream)));
    }
}

async fn ports(listener: TcpListener, outlet: Arc<dyn Outlet>) {
    let mut connections = JoinSet::new();
    loop {
        let stream = next(&listener).await;
        while connections.try_join_next().is_some() {}
        // Where it was made to says which name it was made to.
        let Ok(SocketAddr::V4(to)) = stream.local_addr() else { continue };
        connections.spawn(outlet.direct(Box::new(stream), to));
    }
}

async fn datagrams(socket: UdpSocket, outlet: Arc<dyn Outlet>) {
    let mut buffer = vec![0; LONGEST_QUERY];
    loop {
        let Ok((length, from)) = socket.recv_from(&mut buffer).await else {
            tokio::time::sleep(PAUSE).await;
            continue;
        };
        if let Some(answer) = outlet.answer(buffer.get(..length).unwrap_or_default()) {
            // Who does not wait for it any more asks again.
            let _gone = socket.try_send_to(&answer, from);
        }
    }
}

async fn names(listener: TcpListener, outlet: Arc<dyn Outlet>) {
    let mut connections = JoinSet::new();
    loop {
        let stream = next(&listener).await;
        while connections.len() >= MOST_ASKING {
            connections.join_next().await;
        }
        let outlet = outlet.clone();
        connections.spawn(async move {
            // One that breaks off or stands still has no answer.
            let _ended = ask(stream, outlet.as_ref()).await;
        });
    }
}

/// Answers what comes over one connection, each with its length before it.
async fn ask(mut stream: TcpStream, outlet: &dyn Outlet) -> std::io::Result<()> {
    loop {
        let query = tokio::time::timeout(PATIENCE, async {
            let length = usize::from(stream.read_u16().await?);
            if length > LONGEST_QUERY {
                return Err(std::io::Error::other("a question about names that is none"));
            }
            let mut query = vec![0; length];
            stream.read_exact(&mut query).await?;
            Ok::<_, std::io::Error>(query)
        });
        let query = query.await.map_err(std::io::Error::other)??;
        let Some(answer) = outlet.answer(&query) else { return Ok(()) };
        let length = u16::try_from(answer.len()).map_err(std::io::Error::other)?;
        stream.write_all(&[&length.to_be_bytes(), answer.as_slice()].concat()).await?;
    }
}
