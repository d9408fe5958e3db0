//! Upstreams: HTTP servers on loopback that answer as a test says, also wrongly, and remember what they were asked.
//!
//! HTTP/1.1 is written by hand on the socket, so that it can lie; HTTP/2 is spoken over TLS to who asks for it. An
//! upstream ends with its value: no thread, socket or task is left. Start reading at [`Upstream`], then [`Answer`].

use std::io::Result;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;

use crate::authority::Certificate;
use crate::background::Background;

mod answer;
mod coding;
mod gate;
mod http2;
mod lies;
mod paths;
mod plain;
mod record;
mod serve;
#[cfg(test)]
mod tests;

pub use answer::{Answer, Framing, Headers, Message, Piece};
pub use coding::Coding;
pub use gate::Gate;
pub use paths::{Answers, Paths};
pub use record::{Request, Spoken, Tls};

use record::Record;
use serve::Caller;

/// What an upstream speaks.
#[derive(Debug, Clone)]
pub enum Protocol {
    /// HTTP/1.1 in the clear.
    Http,
    /// HTTP/1.1 over TLS.
    Https(Certificate),
    /// HTTP/2 over TLS to who asks for it, else HTTP/1.1.
    Http2(Certificate),
    /// Closes when the client has begun its TLS handshake.
    ClosesAtHandshake,
    /// Answers the begin of a TLS handshake with an HTTP message in the clear.
    PlainTextInstead,
    /// Takes connections and says nothing, not even a handshake.
    Mute,
}

/// A server on loopback.
#[derive(Debug)]
pub struct Upstream {
    address: SocketAddr,
    record: Arc<Record>,
    _serving: Background,
}

impl Upstream {
    /// HTTP/1.1 in the clear on `127.0.0.1`.
    ///
    /// # Panics
    /// When it cannot listen.
    pub fn http(answers: impl Answers) -> Self {
        Self::listen((Ipv4Addr::LOCALHOST, 0).into(), Protocol::Http, answers)
    }

    /// HTTP/1.1 in the clear on `::1`.
    ///
    /// # Panics
    /// When it cannot listen.
    pub fn http_v6(answers: impl Answers) -> Self {
        Self::listen((Ipv6Addr::LOCALHOST, 0).into(), Protocol::Http, answers)
    }

    /// HTTP/1.1 over TLS on `127.0.0.1`.
    ///
    /// # Panics
    /// When it cannot listen.
    pub fn https(answers: impl Answers, certificate: &Certificate) -> Self {
        Self::listen((Ipv4Addr::LOCALHOST, 0).into(), Protocol::Https(certificate.clone()), answers)
    }

    /// HTTP/1.1 over TLS on `::1`.
    ///
    /// # Panics
    /// When it cannot listen.
    pub fn https_v6(answers: impl Answers, certificate: &Certificate) -> Self {
        Self::listen((Ipv6Addr::LOCALHOST, 0).into(), Protocol::Https(certificate.clone()), answers)
    }

    /// HTTP/2 over TLS on `127.0.0.1` to who asks for it (ALPN), else HTTP/1.1.
    ///
    /// # Panics
    /// When it cannot listen.
    pub fn http2(answers: impl Answers, certificate: &Certificate) -> Self {
        Self::listen((Ipv4Addr::LOCALHOST, 0).into(), Protocol::Http2(certificate.clone()), answers)
    }

    /// One on `127.0.0.1` whose fault comes before any request.
    ///
    /// # Panics
    /// When it cannot listen.
    pub fn faulty(protocol: Protocol) -> Self {
        Self::listen((Ipv4Addr::LOCALHOST, 0).into(), protocol, |_: &Request| Answer::hang_up())
    }

    /// One at this address, which a namespace of the network may well have (see `netns`).
    ///
    /// # Panics
    /// When it cannot listen there.
    pub fn listen(address: SocketAddr, protocol: Protocol, answers: impl Answers) -> Self {
        let record = Arc::new(Record::default());
        let answers: Arc<dyn Answers> = Arc::new(answers);
        let (serving, address) = Background::start(
            move || async move {
                let listener = TcpListener::bind(address).await?;
                let address = listener.local_addr()?;
                Ok((listener, address))
            },
            {
                let record = Arc::clone(&record);
                move |listener| accept(listener, Arc::new(protocol), answers, record)
            },
        );
        Self { address, record, _serving: serving }
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Its port.
    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// All requests so far, in the order in which they were complete.
    pub fn requests(&self) -> Vec<Request> {
        self.record.look().requests.clone()
    }

    /// How many connections it took so far.
    pub fn connections(&self) -> usize {
        self.record.look().connections
    }

    /// What went wrong in the TLS handshakes that failed so far.
    pub fn failed_handshakes(&self) -> Vec<String> {
        self.record.look().failed_handshakes.clone()
    }

    /// Waits until it got this many requests; `false` when they did not come.
    #[must_use]
    pub fn wait_for_requests(&self, count: usize) -> bool {
        self.record.wait(|seen| seen.requests.len() >= count)
    }

    /// Waits until it took this many connections; `false` when they did not come.
    #[must_use]
    pub fn wait_for_connections(&self, count: usize) -> bool {
        self.record.wait(|seen| seen.connections >= count)
    }

    /// Waits until no connection is open any more; `false` when one stays.
    #[must_use]
    pub fn wait_until_left(&self) -> bool {
        self.record.wait(|seen| seen.open == 0)
    }
}

async fn accept(
    listener: TcpListener,
    protocol: Arc<Protocol>,
    answers: Arc<dyn Answers>,
    record: Arc<Record>,
) {
    let acceptor = match &*protocol {
        Protocol::Https(certificate) => Some(TlsAcceptor::from(Arc::new(certificate.server(&[b"http/1.1"])))),
        Protocol::Http2(certificate) => {
            Some(TlsAcceptor::from(Arc::new(certificate.server(&[b"h2", b"http/1.1"]))))
        }
        Protocol::Http | Protocol::ClosesAtHandshake | Protocol::PlainTextInstead | Protocol::Mute => None,
    };
    // A listener that fails is out of descriptors; its test will see no answer.
    while let Ok((stream, peer)) = listener.accept().await {
        let connection = record.change(|seen| {
            seen.connections += 1;
            seen.open += 1;
            seen.connections
        });
        let caller = Caller { connection, peer, tls: None };
        let (protocol, answers, record) = (Arc::clone(&protocol), Arc::clone(&answers), Arc::clone(&record));
        let acceptor = acceptor.clone();
        tokio::spawn(async move {
            let _open = Open(Arc::clone(&record));
            // The client went away, or had to be sent away: the test looks at its own side of it.
            let _ = connection_of(stream, caller, &protocol, acceptor, &answers, &record).await;
        });
    }
}

async fn connection_of(
    mut stream: TcpStream,
    mut caller: Caller,
    protocol: &Protocol,
    acceptor: Option<TlsAcceptor>,
    answers: &Arc<dyn Answers>,
    record: &Arc<Record>,
) -> Result<()> {
    stream.set_nodelay(true)?;
    if let Some(acceptor) = acceptor {
        let accepted = acceptor.accept(stream).await;
        let stream = accepted.inspect_err(|fault| {
            record.change(|seen| seen.failed_handshakes.push(fault.to_string()));
        })?;
        let tls = stream.get_ref().1;
        let alpn = tls.alpn_protocol().map(|alpn| String::from_utf8_lossy(alpn).into_owned());
        let speaks_http2 = alpn.as_deref() == Some("h2");
        caller.tls = Some(Tls { sni: tls.server_name().map(str::to_owned), alpn });
        return if speaks_http2 {
            http2::serve(stream, &caller, answers, record).await.map_err(std::io::Error::other)
        } else {
            serve::serve(stream, &caller, &**answers, record).await
        };
    }
    let mut hello = [0; 4096];
    match protocol {
        Protocol::ClosesAtHandshake => stream.read(&mut hello).await.map(drop),
        Protocol::PlainTextInstead => {
            if stream.read(&mut hello).await? == 0 {
                return Ok(());
            }
            stream
                .write_all(b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
                .await
        }
        Protocol::Mute => loop {
            if stream.read(&mut hello).await? == 0 {
                return Ok(());
            }
        },
        Protocol::Http | Protocol::Https(_) | Protocol::Http2(_) => {
            serve::serve(stream, &caller, &**answers, record).await
        }
    }
}

/// Counts a connection as open for as long as it lives.
struct Open(Arc<Record>);

impl Drop for Open {
    fn drop(&mut self) {
        self.0.change(|seen| seen.open -= 1);
    }
}
