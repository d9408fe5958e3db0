//! The client of this crate's own tests: writes bytes, reads bytes, and judges nothing.
#![expect(clippy::disallowed_types, reason = "the tests of fakes talk to them over plain sockets")]

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Duration;

/// A connection that gives up rather than hang a test.
pub(crate) fn connect(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).expect("the fake takes connections");
    stream.set_read_timeout(Some(Duration::from_secs(20))).expect("a limit for reading");
    stream.set_write_timeout(Some(Duration::from_secs(20))).expect("a limit for writing");
    stream
}

/// Sends this and gives all that comes until the other side closes, and whether it did so in peace.
pub(crate) fn exchange(mut stream: impl Read + Write, request: &[u8]) -> (Vec<u8>, std::io::Result<()>) {
    let mut got = Vec::new();
    let sent = stream.write_all(request).and_then(|()| stream.flush());
    let read = sent.and_then(|()| stream.read_to_end(&mut got).map(drop));
    (got, read)
}

/// A GET on a connection of its own, and the whole answer.
pub(crate) fn get(address: SocketAddr, path: &str) -> Vec<u8> {
    exchange(connect(address), get_of(path).as_bytes()).0
}

/// The text of a GET that asks to close afterwards.
pub(crate) fn get_of(path: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nhost: upstream.test\r\nconnection: close\r\n\r\n")
}

/// The answer as text.
pub(crate) fn text(answer: &[u8]) -> String {
    String::from_utf8_lossy(answer).into_owned()
}

/// What follows the head.
pub(crate) fn body(answer: &[u8]) -> &[u8] {
    let end = answer.windows(4).position(|window| window == b"\r\n\r\n").expect("an end of the head");
    &answer[end + 4..]
}

/// A TLS connection; the handshake happens with the first bytes.
pub(crate) fn tls<Below: Read + Write>(
    config: rustls::ClientConfig,
    name: &str,
    below: Below,
) -> rustls::StreamOwned<rustls::ClientConnection, Below> {
    let name = rustls::pki_types::ServerName::try_from(name.to_owned()).expect("a name");
    let connection = rustls::ClientConnection::new(Arc::new(config), name).expect("a client");
    rustls::StreamOwned::new(connection, below)
}
