//! One connection for one request: to the address, through TLS where it says so, and what is told when that fails.
//!
//! There is no switch that turns the check of a certificate off.

use std::sync::Arc;
use std::time::Duration;

use bailiwick_core::Refusal;
use bailiwick_types::ErrorCode;
use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http1;
use hyper::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HOST, HeaderValue, IF_MATCH, USER_AGENT};
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout};
use tokio_rustls::TlsConnector;

use crate::ask::Ask;
use crate::place::Server;

/// Who we say that we are.
pub(crate) const AGENT: &str = concat!("bailiwick/", env!("CARGO_PKG_VERSION"));

/// How long a connection may take.
const CONNECT: Duration = Duration::from_secs(10);

/// The shortest and the longest pause before a connection is tried again.
const PAUSES: (Duration, Duration) = (Duration::from_millis(50), Duration::from_secs(1));

/// A connection over which nothing was said yet.
pub(crate) type Line = Box<dyn Talks>;

/// What can be read from and written to.
pub(crate) trait Talks: AsyncRead + AsyncWrite + Unpin + Send {}

impl<T: AsyncRead + AsyncWrite + Unpin + Send> Talks for T {}

/// Sends a request, and gives the answer as soon as its head is there.
pub(crate) async fn send(server: &Server, ask: Ask) -> Result<Response<Incoming>, Refusal> {
    let request = request(server, ask)?;
    let line = line(server).await?;
    over(server, line, request).await
}

/// A connection. It is tried again for as long as the server has patience for that, and only here: no byte of a request was
/// sent by then.
pub(crate) async fn line(server: &Server) -> Result<Line, Refusal> {
    let (until, mut pause) = (Instant::now() + server.patience, PAUSES.0);
    loop {
        match once(server).await {
            Ok(line) => return Ok(line),
            Err(Fails::ForNow(_)) if Instant::now() + pause < until => {
                tokio::time::sleep(pause).await;
                pause = (pause * 2).min(PAUSES.1);
            }
            Err(Fails::ForNow(refusal) | Fails::ForGood(refusal)) => return Err(refusal),
        }
    }
}

/// Why there is no connection.
enum Fails {
    /// Another try may do.
    ForNow(Refusal),
    /// None will.
    ForGood(Refusal),
}

async fn once(server: &Server) -> Result<Line, Fails> {
    let stream = match timeout(CONNECT, tcp(server)).await {
        Ok(stream) => stream?,
        Err(_) => return Err(Fails::ForNow(not_reached(server, "it does not answer"))),
    };
    if !server.is_tls() {
        return Ok(Box::new(stream));
    }
    match timeout(CONNECT, tls(server, stream)).await {
        Ok(Ok(stream)) => Ok(Box::new(stream)),
        Ok(Err(refusal)) => Err(Fails::ForGood(refusal)),
        Err(_) => Err(Fails::ForNow(not_reached(server, "it does not agree on TLS"))),
    }
}

async fn tcp(server: &Server) -> Result<TcpStream, Fails> {
    let stream = TcpStream::connect((server.host(), server.port())).await;
    let stream = stream.map_err(|error| {
        let refused = not_reached(server, &error.to_string());
        let is_local = error.kind() == std::io::ErrorKind::ConnectionRefused && server.is_on_this_machine();
        Fails::ForNow(if is_local {
            refused.with_hint("start it: bailiwick serve; or leave out --server to do without one")
        } else {
            refused
        })
    })?;
    // The name of this machine must not lead elsewhere with a key that is sent in the clear.
    let is_near = stream.peer_addr().is_ok_and(|peer| peer.ip().is_loopback());
    if !server.is_tls() && server.key.is_some() && !is_near {
        return Err(Fails::ForGood(not_reached(server, "its name leads to another machine")));
    }
    Ok(stream)
}

async fn tls(
    server: &Server,
    stream: TcpStream,
) -> Result<impl AsyncRead + AsyncWrite + Unpin + Send + use<>, Refusal> {
    let fails = |why: &dyn std::fmt::Display| {
        Refusal::new(ErrorCode::Unavailable, format!("no TLS with {}: {why}", server.shown())).with_hint(
            "check the address; certificates of your own are named by BAILIWICK_SERVER_CA, a file in PEM",
        )
    };
    let loaded = tokio::task::spawn_blocking(rustls_native_certs::load_native_certs).await;
    let loaded = loaded.map_err(|error| fails(&error))?;
    let mut roots = RootCertStore::empty();
    // A platform without roots still has the operator's own; what is missing shows in the handshake.
    roots.add_parsable_certificates(loaded.certs);
    if let Some(pem) = &server.roots {
        let before = roots.len();
        for certificate in CertificateDer::pem_slice_iter(pem.as_bytes()) {
            let certificate = certificate.map_err(|error| unusable_roots(&error))?;
            roots.add(certificate).map_err(|error| unusable_roots(&error))?;
        }
        if roots.len() == before {
            return Err(unusable_roots(&"it holds no certificate"));
        }
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| fails(&error))?
        .with_root_certificates(roots)
        .with_no_client_auth();
    let name = ServerName::try_from(server.host()).map_err(|error| fails(&error))?;
    TlsConnector::from(Arc::new(config)).connect(name, stream).await.map_err(|error| fails(&error))
}

fn unusable_roots(why: &dyn std::fmt::Display) -> Refusal {
    Refusal::new(ErrorCode::InvalidInput, format!("BAILIWICK_SERVER_CA cannot be used: {why}"))
        .with_hint("name a file of certificates in PEM; they begin with -----BEGIN CERTIFICATE-----")
}

fn request(server: &Server, ask: Ask) -> Result<Request<Full<Bytes>>, Refusal> {
    let Ask { method, path, accept, content, body, seen } = ask;
    let mut request = Request::builder()
        .method(method)
        .uri(server.path(&path))
        .header(HOST, server.authority())
        .header(USER_AGENT, AGENT)
        .header(ACCEPT, accept.word());
    if let Some(content) = content {
        request = request.header(CONTENT_TYPE, content);
    }
    if let Some(value) = shown(server)? {
        request = request.header(AUTHORIZATION, value);
    }
    if let Some(version) = seen {
        request = request.header(IF_MATCH, format!("\"{version}\""));
    }
    request
        .body(Full::new(Bytes::from(body)))
        .map_err(|error| Refusal::new(ErrorCode::InvalidInput, format!("this cannot be asked: {error}")))
}

/// The key as it is shown.
pub(crate) fn shown(server: &Server) -> Result<Option<HeaderValue>, Refusal> {
    let Some(key) = &server.key else { return Ok(None) };
    let mut value = HeaderValue::from_str(&key.header())
        .map_err(|_| Refusal::new(ErrorCode::InvalidInput, "the key cannot be sent"))?;
    value.set_sensitive(true);
    Ok(Some(value))
}

async fn over(
    server: &Server,
    stream: Line,
    request: Request<Full<Bytes>>,
) -> Result<Response<Incoming>, Refusal> {
    let fails = |error: hyper::Error| not_understood(server, &error.to_string());
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.map_err(fails)?;
    // Ends with the answer's body, or when whoever asked drops it.
    tokio::spawn(async move {
        if let Err(error) = connection.await {
            tracing::debug!(%error, "a connection to the server ended");
        }
    });
    sender.send_request(request).await.map_err(fails)
}

/// A server that is not there.
pub(crate) fn not_reached(server: &Server, why: &str) -> Refusal {
    Refusal::new(ErrorCode::Unavailable, format!("{} cannot be reached: {why}", server.shown()))
        .with_hint("check the address, and whether the server runs")
}

/// Something that does not speak as ours does.
pub(crate) fn not_understood(server: &Server, why: &str) -> Refusal {
    let message = format!("what {} says is not understood: {why}", server.shown());
    Refusal::new(ErrorCode::Unavailable, message)
        .with_hint("check that the address is that of a Bailiwick server of this version")
}
