//! Accepts connections until it is told to end, and then lets what runs come to its end.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use bailiwick_config::files::FileError;
use bailiwick_config::{Server, TlsFiles};
use bailiwick_core::capacity;
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;

use super::bodies::{self, Bodies};
use super::connection::{Shared, attend};
use super::places::{Places, Refused};
use super::tls::Certificates;
use super::{Closing, Peer, linger};

/// Connections that the kernel keeps for us until we accept them.
const BACKLOG: u32 = 1024;
/// The pause after the machine had no descriptor or memory for one more connection.
pub(super) const SHORT_OF_EVERYTHING: Duration = Duration::from_millis(200);

/// What a connection may cost. The defaults are what a server has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bounds {
    /// Connections at once; never more than a quarter of the descriptors that this process may have.
    pub connections: usize,
    /// Connections at once from one address; for IPv6, from one /64.
    pub per_peer: usize,
    /// The same from this machine, where many programs share one address.
    pub from_here: usize,
    /// How long a head may take, from the first moment of a connection or the end of the answer before.
    pub head: Duration,
    /// The bytes of a head.
    pub head_bytes: usize,
    /// The headers of a request.
    pub headers: usize,
    /// How long whoever sends a body may be silent.
    pub body_pause: Duration,
    /// How long a body may take in all.
    pub body_in_all: Duration,
    /// How long an answer may lie unread.
    pub write: Duration,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            connections: 1024,
            per_peer: 256,
            from_here: 768,
            head: Duration::from_secs(10),
            head_bytes: 32 << 10,
            headers: 100,
            body_pause: Duration::from_secs(15),
            body_in_all: Duration::from_mins(2),
            write: Duration::from_secs(30),
        }
    }
}

impl Bounds {
    /// The same within so many descriptors. Connections have a quarter of them: sandboxes, their connections, cells, the
    /// store and what calls reach out to have the rest.
    pub(super) fn within(self, descriptors: u64) -> Self {
        let most = usize::try_from(descriptors / 4).unwrap_or(usize::MAX).max(1);
        if self.connections <= most {
            return self;
        }
        let of = |part: usize| (most * part / 4).max(1);
        Self {
            connections: most,
            per_peer: self.per_peer.min(of(1)),
            from_here: self.from_here.min(of(3)),
            ..self
        }
    }
}

/// How to serve.
#[derive(Debug, Clone)]
pub struct Serving {
    /// What a connection may cost.
    pub bounds: Bounds,
    /// The largest body of a request, in bytes.
    pub body_bytes: u64,
    /// Bytes of all bodies in memory at once; none derives it from the machine.
    pub bodies_bytes: Option<u64>,
    /// How long calls may go on after the end began.
    pub grace: Duration,
    /// Certificates and key; plain HTTP without.
    pub tls: Option<TlsFiles>,
    /// Begins when the server begins to end; also an extension of every request.
    pub closing: Closing,
}

impl Serving {
    /// As the operator's settings say.
    pub fn of(server: &Server) -> Self {
        Self {
            bounds: Bounds::default(),
            body_bytes: server.body_bytes,
            bodies_bytes: server.bodies_bytes,
            grace: Duration::from_millis(server.grace_ms),
            tls: server.tls.clone(),
            closing: Closing::new(),
        }
    }
}

/// Why there is no server.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The address cannot be listened on.
    #[error("cannot listen on {address}: {source}")]
    Bind {
        /// The address.
        address: SocketAddr,
        /// The system's word.
        source: io::Error,
    },
    /// The listener is broken.
    #[error("the listener's own address cannot be told: {0}")]
    Listener(#[source] io::Error),
    /// A file of `server.tls` cannot be read.
    #[error("server.tls: {0}")]
    TlsFile(#[source] FileError),
    /// What a file of `server.tls` holds cannot be used.
    #[error("server.tls: {path}: {why}")]
    Tls {
        /// The file.
        path: String,
        /// What is wrong with it.
        why: String,
    },
    /// An address that others reach, and no credentials that anybody could show.
    #[error(
        "{address} can be reached from other machines, and there is neither a key nor an issuer of tokens"
    )]
    Open {
        /// The address.
        address: SocketAddr,
    },
    /// The addresses of this machine cannot be told.
    #[error("the addresses of this machine cannot be told: {0}")]
    Addresses(#[source] FileError),
    /// The tokens' issuer is not set up in a way that works.
    #[error("server.jwt: {0}")]
    Tokens(String),
    /// What is counted cannot be told: something else in this process counts.
    #[error("the counters are already taken by something else in this process")]
    Metrics,
}

impl ServeError {
    /// What to do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::Bind { source, .. } if source.kind() == io::ErrorKind::AddrInUse => {
                "something listens there already; choose another with --listen".to_owned()
            }
            Self::Bind { .. } => "choose another address with --listen".to_owned(),
            Self::TlsFile(error) | Self::Addresses(error) => error.hint().unwrap_or_default(),
            Self::Tls { .. } => {
                "give a PEM file of certificates, the server's first, and one of its key".to_owned()
            }
            Self::Open { .. } => {
                "make a key with `bailiwick key create`, listen on 127.0.0.1, or type --insecure-no-auth \
                                  to let everybody call tools"
                    .to_owned()
            }
            Self::Tokens(_) => {
                "give an issuer, an audience, and its keys as a file or an https:// address".to_owned()
            }
            Self::Listener(_) | Self::Metrics => "this is a fault of Bailiwick itself".to_owned(),
        }
    }
}

/// Listens on an address. Within a runtime only: that is whom the socket tells of connections.
pub fn bind(address: SocketAddr) -> Result<TcpListener, ServeError> {
    let wrong = |source| ServeError::Bind { address, source };
    let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }.map_err(wrong)?;
    // A server that is started again right away finds its port free.
    socket.set_reuseaddr(true).map_err(wrong)?;
    socket.bind(address).map_err(wrong)?;
    socket.listen(BACKLOG).map_err(wrong)
}

/// Serves until `shutdown` is there, and then until the last call ended or the grace is over.
pub async fn serve(
    listener: TcpListener,
    app: Router,
    serving: Serving,
    shutdown: impl Future<Output = ()>,
) -> Result<(), ServeError> {
    let Serving { bounds, body_bytes, bodies_bytes, grace, tls, closing } = serving;
    let certificates = tls.map(Certificates::load).transpose()?;
    let acceptor = certificates.as_ref().map(Certificates::acceptor).transpose()?;
    let bounds = bounds.within(capacity::descriptors());
    let places = Places::new(&bounds);
    let bodies = Bodies::new(bodies::most(bodies_bytes), body_bytes);
    let shared = Arc::new(Shared { app, bounds, body_bytes, bodies, closing: closing.clone() });
    let mut connections = JoinSet::new();
    let mut helpers = JoinSet::new();
    if let Some(certificates) = certificates {
        helpers.spawn(certificates.follow());
    }
    let mut shutdown = std::pin::pin!(shutdown);
    loop {
        tokio::select! {
            biased;
            () = &mut shutdown => break,
            () = closing.begun() => break,
            Some(_) = connections.join_next() => {}
            accepted = listener.accept() => match accepted {
                Ok((stream, address)) => take(stream, address, acceptor.as_ref(), &places, &shared, &mut connections),
                Err(error) => after_a_failed_accept(&error).await,
            },
        }
    }
    closing.begin();
    drop(listener);
    let left = async { while connections.join_next().await.is_some() {} };
    if tokio::time::timeout(grace, left).await.is_err() {
        tracing::warn!(connections = connections.len(), "the grace is over: what still runs is cut");
    }
    connections.shutdown().await;
    helpers.shutdown().await;
    Ok(())
}

/// Gives a connection its place, or turns it away.
fn take(
    stream: TcpStream,
    address: SocketAddr,
    acceptor: Option<&TlsAcceptor>,
    places: &Places,
    shared: &Arc<Shared>,
    connections: &mut JoinSet<()>,
) {
    let Ok(reached) = stream.local_addr() else {
        return;
    };
    let peer = Peer {
        address: SocketAddr::new(address.ip().to_canonical(), address.port()),
        reached: SocketAddr::new(reached.ip().to_canonical(), reached.port()),
        encrypted: acceptor.is_some(),
    };
    match places.take(peer.address.ip()) {
        Ok(place) => {
            let (shared, acceptor) = (Arc::clone(shared), acceptor.cloned());
            connections.spawn(attend(stream, peer, acceptor, shared, place));
        }
        Err(Refused { room }) => {
            metrics::counter!("bailiwick_http_connections_refused_total").increment(1);
            if let Some(room) = room {
                let encrypted = peer.encrypted;
                connections.spawn(async move {
                    linger::turn_away(stream, encrypted).await;
                    drop(room);
                });
            }
        }
    }
}

/// A connection that failed costs nothing; a machine that has nothing left is given a moment.
pub(super) async fn after_a_failed_accept(error: &io::Error) {
    let of_the_connection = matches!(
        error.kind(),
        io::ErrorKind::ConnectionAborted
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::ConnectionRefused
            | io::ErrorKind::Interrupted
    );
    if !of_the_connection {
        tracing::warn!(%error, "no connection can be accepted for now");
        tokio::time::sleep(SHORT_OF_EVERYTHING).await;
    }
}
