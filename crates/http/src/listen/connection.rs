//! One connection from its first byte to its last.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use http::{Request, Response};
use hyper::body::Incoming;
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use rustix::net::sockopt;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;

use super::bodies::Bodies;
use super::head::{Seen, Watch};
use super::lent::Lent;
use super::places::{Place, Seat};
use super::taken::Answers;
use super::watched::Watched;
use super::{Bounds, Closing, Peer, answer, linger};

/// When a silent connection is asked whether it is still there, how often after that, and how many times.
const KEEPALIVE: (Duration, Duration, u32) = (Duration::from_mins(1), Duration::from_secs(15), 4);
/// Requests at once on one connection of HTTP/2.
const STREAMS: u32 = 64;
/// Bytes of one request's body, and of all on one connection of HTTP/2, that a client may send before they are read.
const STREAM_WINDOW: u32 = 128 << 10;
const CONNECTION_WINDOW: u32 = 256 << 10;
/// How often the other end of HTTP/2 is asked whether it is there, and how long it may take to say so.
const PING: Duration = Duration::from_secs(20);

/// What all connections share.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) app: Router,
    pub(super) bounds: Bounds,
    pub(super) body_bytes: u64,
    pub(super) bodies: Arc<Bodies>,
    pub(super) closing: Closing,
}

/// Sees a connection through, or cuts it where it has to make room for another.
pub(super) async fn attend(
    stream: TcpStream,
    peer: Peer,
    acceptor: Option<TlsAcceptor>,
    shared: Arc<Shared>,
    place: Place,
) {
    let seat = place.seat.clone();
    tokio::select! {
        () = converse(stream, peer, acceptor, shared, seat) => {}
        () = place.has_to_go() => tracing::debug!("an idle connection made room for another"),
    }
    drop(place);
}

async fn converse(
    stream: TcpStream,
    peer: Peer,
    acceptor: Option<TlsAcceptor>,
    shared: Arc<Shared>,
    seat: Seat,
) {
    if let Err(error) = prepare(&stream) {
        tracing::debug!(%error, "a connection cannot be set up");
        return;
    }
    let Some(acceptor) = acceptor else {
        return http1(stream, peer, shared, seat).await;
    };
    let handshake = tokio::time::timeout(shared.bounds.head, acceptor.accept(stream));
    match handshake.await {
        Ok(Ok(stream)) => {
            if stream.get_ref().1.alpn_protocol() == Some(b"h2") {
                http2(stream, peer, shared, seat).await;
            } else {
                http1(stream, peer, shared, seat).await;
            }
        }
        Ok(Err(error)) => tracing::debug!(%error, "a TLS handshake failed"),
        Err(_) => tracing::debug!("a TLS handshake took too long"),
    }
}

/// Small answers leave at once, and a peer that is gone is noticed.
fn prepare(stream: &TcpStream) -> std::io::Result<()> {
    let (idle, interval, count) = KEEPALIVE;
    stream.set_nodelay(true)?;
    sockopt::set_socket_keepalive(stream, true)?;
    sockopt::set_tcp_keepidle(stream, idle)?;
    sockopt::set_tcp_keepintvl(stream, interval)?;
    sockopt::set_tcp_keepcnt(stream, count)?;
    Ok(())
}

type Answering = Pin<Box<dyn Future<Output = Result<Response<Body>, Infallible>> + Send>>;

async fn http1<S>(stream: S, peer: Peer, shared: Arc<Shared>, seat: Seat)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let seen = Seen::default();
    let unread = Arc::new(AtomicBool::new(false));
    let bounds = &shared.bounds;
    let stream = Watched::new(stream, Some(Watch::new(seen.clone())), bounds.write);
    let (stream, back) = Lent::new(stream);
    let service = {
        let (shared, unread) = (Arc::clone(&shared), Arc::clone(&unread));
        service_fn(move |request: Request<Incoming>| -> Answering {
            let raw = Some((seen.clone(), Arc::clone(&unread)));
            Box::pin(answer::to(Arc::clone(&shared), peer, seat.clone(), raw, request))
        })
    };
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(bounds.head)
        .max_headers(bounds.headers)
        .max_header_size(bounds.head_bytes)
        .max_buf_size(bounds.head_bytes.saturating_mul(2))
        .half_close(false)
        .serve_connection(TokioIo::new(stream), service)
        .with_upgrades();
    let mut connection = Box::pin(connection);
    let mut told = false;
    let ended = loop {
        tokio::select! {
            ended = connection.as_mut() => break ended,
            () = shared.closing.begun(), if !told => {
                told = true;
                connection.as_mut().graceful_shutdown();
            }
        }
    };
    drop(connection);
    let broke = ended.is_err();
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection broke");
    }
    // At once, or when whoever it was handed to by an upgrade has done with it.
    let Ok(stream) = back.await else { return };
    if broke || unread.load(Ordering::Acquire) {
        linger::out(stream).await;
    } else {
        linger::at_once(stream).await;
    }
}

async fn http2<S>(stream: S, peer: Peer, shared: Arc<Shared>, seat: Seat)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let bounds = &shared.bounds;
    let stream = Watched::new(stream, None, bounds.write);
    let answers = Answers::default();
    let service = {
        let (shared, answers) = (Arc::clone(&shared), answers.clone());
        service_fn(move |request: Request<Incoming>| -> Answering {
            let answering = answer::to(Arc::clone(&shared), peer, seat.clone(), None, request);
            let answers = answers.clone();
            Box::pin(async move { Ok(answering.await?.map(|body| answers.watch(body))) })
        })
    };
    let connection = http2::Builder::new(TokioExecutor::new())
        .timer(TokioTimer::new())
        .max_concurrent_streams(STREAMS)
        .initial_stream_window_size(STREAM_WINDOW)
        .initial_connection_window_size(CONNECTION_WINDOW)
        .max_header_list_size(u32::try_from(bounds.head_bytes).unwrap_or(u32::MAX))
        .keep_alive_interval(PING)
        .keep_alive_timeout(PING)
        .serve_connection(TokioIo::new(stream), service);
    let mut connection = std::pin::pin!(connection);
    let mut told = false;
    let ended = loop {
        tokio::select! {
            ended = connection.as_mut() => break ended,
            () = answers.wait_for(bounds.write) => {
                tracing::debug!("nobody takes the answer of a connection of HTTP/2");
                return;
            }
            () = shared.closing.begun(), if !told => {
                told = true;
                connection.as_mut().graceful_shutdown();
            }
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection broke");
    }
}
