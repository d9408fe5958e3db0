//! What an upstream remembers.

use std::io::{Read as _, Write as _};

use crate::client::{body, connect, exchange, get, get_of, text, tls};
use crate::upstream::{Answer, Coding, Request, Spoken, Tls, Upstream};

fn echo() -> Upstream {
    Upstream::http(|_: &Request| Answer::echo())
}

#[test]
fn a_request_is_kept_as_it_came() {
    let upstream = echo();
    let request = "POST /path?a=1&b=%20 HTTP/1.1\r\nHost: x.test\r\nX-Twice: 1\r\nx-twice: 2\r\n\
                   Content-Length: 4\r\nConnection: close\r\n\r\nbody";
    let (answer, _) = exchange(connect(upstream.address()), request.as_bytes());
    let requests = upstream.requests();
    let [request] = requests.as_slice() else { panic!("one request: {requests:?}") };
    assert_eq!((request.method.as_str(), request.target.as_str()), ("POST", "/path?a=1&b=%20"));
    let names: Vec<&str> = request.headers.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["Host", "X-Twice", "x-twice", "Content-Length", "Connection"]);
    assert_eq!(request.header_values("x-TWICE"), ["1", "2"]);
    assert_eq!((request.text().as_str(), request.is_whole), ("body", true));
    assert_eq!((request.connection, request.protocol, request.tls.clone()), (1, Spoken::Http1, None));
    assert!(request.peer.ip().is_loopback());
    let echoed: serde_json::Value = serde_json::from_slice(body(&answer)).expect("JSON");
    assert_eq!(echoed["body"], "body");
    assert_eq!(echoed["headers"][2], serde_json::json!(["x-twice", "2"]));
}

#[test]
fn no_byte_of_a_header_is_lost() {
    let upstream = echo();
    // Neither UTF-8 nor what it would call blank at the ends may be touched.
    let value = b"\xa0\xff\xc3\xa9 \x85\x01\xa0";
    let request =
        [b"GET /\xe9 HTTP/1.1\r\nX-Odd: \t", &value[..], b" \r\nConnection: close\r\n\r\n"].concat();
    let (answer, _) = exchange(connect(upstream.address()), &request);
    let request = upstream.requests().remove(0);
    assert_eq!(request.header_bytes("x-odd").as_deref(), Some(&value[..]));
    assert_eq!((request.header_bytes("x-none"), request.target.as_str()), (None, "/\u{e9}"));
    let echoed: serde_json::Value = serde_json::from_slice(body(&answer)).expect("JSON");
    assert_eq!(echoed["headers"][0][1], "\u{a0}\u{ff}\u{c3}\u{a9} \u{85}\u{1}\u{a0}");
}

#[test]
fn a_body_in_chunks_is_put_together() {
    let upstream = echo();
    let request = "PUT / HTTP/1.1\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n\
                   3\r\nabc\r\n2;x=y\r\nde\r\n0\r\nTrailer: x\r\n\r\n";
    exchange(connect(upstream.address()), request.as_bytes()).1.expect("an answer");
    assert_eq!(upstream.requests()[0].text(), "abcde");
}

#[test]
fn a_client_that_waits_for_leave_to_send_its_body_gets_it() {
    let upstream = echo();
    let mut stream = connect(upstream.address());
    let head = "POST / HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 2\r\nConnection: close\r\n\r\n";
    stream.write_all(head.as_bytes()).expect("sent");
    let mut leave = [0; 25];
    stream.read_exact(&mut leave).expect("leave");
    assert_eq!(text(&leave), "HTTP/1.1 100 Continue\r\n\r\n");
    exchange(stream, b"ok").1.expect("an answer");
    assert_eq!(upstream.requests()[0].text(), "ok");
}

#[test]
fn a_torn_request_is_kept_as_torn() {
    let upstream = echo();
    let mut stream = connect(upstream.address());
    stream.write_all(b"POST / HTTP/1.1\r\nContent-Length: 10\r\n\r\npart").expect("sent");
    drop(stream);
    assert!(upstream.wait_for_requests(1));
    let request = upstream.requests().remove(0);
    assert_eq!((request.text().as_str(), request.is_whole), ("part", false));
}

#[test]
fn connections_are_counted_and_told_apart() {
    let upstream = echo();
    let twice = format!("GET /1 HTTP/1.1\r\nhost: x.test\r\n\r\n{}", get_of("/2"));
    exchange(connect(upstream.address()), twice.as_bytes()).1.expect("two answers");
    get(upstream.address(), "/3");
    let seen: Vec<(String, usize)> =
        upstream.requests().into_iter().map(|request| (request.target, request.connection)).collect();
    assert_eq!(seen, [("/1".to_owned(), 1), ("/2".to_owned(), 1), ("/3".to_owned(), 2)]);
    assert_eq!(upstream.connections(), 2);
}

#[test]
fn tls_is_recorded_with_the_name_that_was_asked_for() {
    let authority = crate::authority::Authority::new();
    let upstream = Upstream::https(|_: &Request| Answer::echo(), &authority.issue(&["upstream.test"]));
    let stream = tls(authority.client(), "upstream.test", connect(upstream.address()));
    exchange(stream, get_of("/").as_bytes()).1.expect("an answer");
    let wanted = Tls { sni: Some("upstream.test".to_owned()), alpn: None };
    assert_eq!(upstream.requests()[0].tls, Some(wanted));
}

#[test]
fn an_upstream_can_listen_on_the_other_loopback_too() {
    let upstream = Upstream::http_v6(|_: &Request| Answer::ok("six"));
    assert!(upstream.address().is_ipv6());
    assert!(text(&get(upstream.address(), "/")).ends_with("six"));
}

#[test]
fn a_dropped_upstream_is_gone_with_its_connections() {
    let upstream = Upstream::http(|_: &Request| {
        Answer::packed(Coding::Gzip, b"x").piece(crate::upstream::Piece::Silence)
    });
    let mut stream = connect(upstream.address());
    stream.write_all(get_of("/").as_bytes()).expect("sent");
    assert!(upstream.wait_for_requests(1));
    drop(upstream);
    let mut got = Vec::new();
    // The answer, perhaps, and then the end: by a close or by a reset, but not by our own limit.
    if let Err(fault) = stream.read_to_end(&mut got) {
        assert_eq!(fault.kind(), std::io::ErrorKind::ConnectionReset);
    }
}
