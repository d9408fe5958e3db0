//! Upstreams whose fault comes before any request.

use std::io::{Read as _, Write as _};

use crate::authority::Authority;
use crate::client::{connect, exchange, get_of, text, tls};
use crate::upstream::{Answer, Protocol, Request, Upstream};

#[test]
fn a_handshake_is_closed_or_answered_in_the_clear() {
    for protocol in [Protocol::ClosesAtHandshake, Protocol::PlainTextInstead] {
        let upstream = Upstream::faulty(protocol);
        let stream = tls(Authority::new().client(), "upstream.test", connect(upstream.address()));
        exchange(stream, get_of("/").as_bytes()).1.expect_err("no handshake");
        assert_eq!((upstream.connections(), upstream.requests().len()), (1, 0));
    }
    let upstream = Upstream::faulty(Protocol::PlainTextInstead);
    let (got, _) = exchange(connect(upstream.address()), b"\x16\x03\x01 like a hello");
    assert!(text(&got).starts_with("HTTP/1.1 400 "), "{}", text(&got));
}

#[test]
fn a_mute_upstream_takes_a_connection_and_says_nothing() {
    let upstream = Upstream::faulty(Protocol::Mute);
    let mut stream = connect(upstream.address());
    stream.write_all(b"hello").expect("sent");
    assert!(upstream.wait_for_connections(1));
    stream.set_nonblocking(true).expect("a look without waiting");
    let looked = stream.read(&mut [0; 1]).expect_err("nothing came");
    assert_eq!(looked.kind(), std::io::ErrorKind::WouldBlock);
    drop(stream);
    assert!(upstream.wait_until_left());
}

#[test]
fn a_client_that_does_not_trust_the_certificate_is_remembered() {
    let upstream =
        Upstream::https(|_: &Request| Answer::ok("x"), &Authority::self_signed(&["upstream.test"]));
    let stream = tls(Authority::new().client(), "upstream.test", connect(upstream.address()));
    exchange(stream, get_of("/").as_bytes()).1.expect_err("not trusted");
    assert!(upstream.wait_until_left());
    assert_eq!(upstream.failed_handshakes().len(), 1);
}
