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
use hyper::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HOST, IF_MATCH, USER_AGENT};
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;

use crate::ask::Ask;
use crate::place::Server;

/// How long a connection may take.
const CONNECT: Duration = Duration::from_secs(10);

/// Sends a request, and gives the answer as soon as its head is there.
pub(crate) async fn send(server: &Server, ask: Ask) -> Result<Response<Incoming>, Refusal> {
    let stream = match timeout(CONNECT, tcp(server)).await {
        Ok(stream) => stream?,
        Err(_) => return Err(not_reached(server, "it does not answer")),
    };
    let request = request(server, ask)?;
    if server.is_tls() {
        let stream = match timeout(CONNECT, tls(server, stream)).await {
            Ok(stream) => stream?,
            Err(_) => return Err(not_reached(server, "it does not agree on TLS")),
        };
        over(server, stream, request).await
    } else {
        over(server, stream, request).await
    }
}

async fn tcp(server: &Server) -> Result<TcpStream, Refusal> {
    let stream = TcpStream::connect((server.host(), server.port())).await;
    let stream = stream.map_err(|error| {
        let refused = not_reached(server, &error.to_string());
        if error.kind() == std::io::ErrorKind::ConnectionRefused && server.is_on_this_machine() {
            refused.with_hint("start it: bailiwick serve; or leave out --server to do without one")
        } else {
            refused
        }
    })?;
    // The name of this machine must not lead elsewhere with a key that is sent in the clear.
    let is_near = stream.peer_addr().is_ok_and(|peer| peer.ip().is_loopback());
    if !server.is_tls() && server.key.is_some() && !is_near {
        return Err(not_reached(server, "its name leads to another machine"));
    }
    Ok(stream)
}

async fn tls(
    server: &Server,
    stream: TcpStream,
) -> Result<impl AsyncRead + AsyncWrite + Unpin + use<>, Refusal> {
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
        .header(USER_AGENT, concat!("bailiwick/", env!("CARGO_PKG_VERSION")))
        .header(ACCEPT, accept.word());
    if let Some(content) = content {
        request = request.header(CONTENT_TYPE, content);
    }
    if let Some(key) = &server.key {
        let mut value = hyper::header::HeaderValue::from_str(&key.header())
            .map_err(|_| Refusal::new(ErrorCode::InvalidInput, "the key cannot be sent"))?;
        value.set_sensitive(true);
        request = request.header(AUTHORIZATION, value);
    }
    if let Some(version) = seen {
        request = request.header(IF_MATCH, format!("\"{version}\""));
    }
    request
        .body(Full::new(Bytes::from(body)))
        .map_err(|error| Refusal::new(ErrorCode::InvalidInput, format!("this cannot be asked: {error}")))
}

async fn over(
    server: &Server,
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
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
