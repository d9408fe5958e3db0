//! What a client of the proxy sees, and what the proxy remembers.

use std::io::{Read as _, Write as _};
use std::net::SocketAddr;

use super::{Proxy, Refusal, Setup};
use crate::authority::Authority;
use crate::client::{connect, exchange, get_of, text, tls};
use crate::dns::{Reply, Script, Table};
use crate::routes::Routes;
use crate::upstream::{Answer, Request, Upstream};

fn address(text: &str) -> SocketAddr {
    text.parse().expect("an address")
}

fn echo() -> Upstream {
    Upstream::http(|_: &Request| Answer::echo())
}

/// The upstream at a pretended address, under its name.
fn setup(upstream: &Upstream) -> Setup {
    let routes = Routes::new()
        .route(address("93.184.216.34:80"), upstream.address())
        .route(address("[2606:2800::1]:80"), upstream.address());
    let script = Script::new()
        .name("upstream.test", &[Reply::addresses(&["10.0.0.1", "93.184.216.34"])])
        .name("lost.test", &[Reply::addresses(&["10.0.0.1"])])
        .name("failed.test", &[Reply::ServerFailed]);
    Setup::new(routes).names(Table::new(script))
}

fn tunnel(target: &str) -> String {
    format!("CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n\r\n")
}

/// Asks for a tunnel, and a page through it; gives the whole answer.
fn through(proxy: &Proxy, target: &str) -> String {
    let request = format!("{}{}", tunnel(target), get_of("/page"));
    text(&exchange(connect(proxy.address()), request.as_bytes()).0)
}

#[track_caller]
fn check(setup: Setup, target: &str, begin: &str) {
    let proxy = Proxy::start(setup);
    // Closes after its request: a refusal may be followed by another try.
    let mut stream = connect(proxy.address());
    stream.write_all(tunnel(target).as_bytes()).expect("sent");
    stream.shutdown(std::net::Shutdown::Write).expect("closed");
    let mut got = Vec::new();
    stream.read_to_end(&mut got).expect("an answer");
    assert!(text(&got).starts_with(begin), "{target}: {}", text(&got));
    assert_eq!(got.is_empty(), begin.is_empty(), "{target}");
    assert_eq!(proxy.authorities(), [target]);
}

#[test]
fn a_tunnel_leads_by_names_addresses_and_the_table_only() {
    let upstream = echo();
    let granted = "HTTP/1.1 200 Connection established\r\n\r\n";
    for target in ["upstream.test:80", "UPSTREAM.test:80", "93.184.216.34:80", "[2606:2800::1]:80"] {
        check(setup(&upstream), target, granted);
    }
    check(setup(&upstream).authority("Given.test:443", upstream.address()), "given.test:443", granted);
    let real = upstream.address().to_string();
    let nowhere = [
        "upstream.test:81",
        "lost.test:80",
        "failed.test:80",
        "unknown.test:80",
        "10.0.0.1:80",
        "odd",
        &real,
    ];
    for target in nowhere {
        check(setup(&upstream), target, "HTTP/1.1 502 ");
    }
}

#[test]
fn a_tunnel_carries_bytes_both_ways_also_those_that_came_early() {
    let upstream = echo();
    let proxy = Proxy::start(setup(&upstream));
    let answer = through(&proxy, "upstream.test:80");
    assert!(answer.contains("\"target\":\"/page\""), "{answer}");
    assert_eq!(upstream.requests()[0].target, "/page");
    let asked = proxy.asked().remove(0);
    assert_eq!((asked.method.as_str(), asked.header("host")), ("CONNECT", Some("upstream.test:80")));
    assert_eq!((asked.led_to, asked.connection), (Some(upstream.address()), 1));
}

#[test]
fn a_tunnel_carries_tls_to_its_end() {
    let authority = Authority::new();
    let upstream = Upstream::https(|_: &Request| Answer::ok("sealed"), &authority.issue(&["upstream.test"]));
    let proxy = Proxy::start(Setup::new(Routes::new()).authority("upstream.test:443", upstream.address()));
    let mut stream = connect(proxy.address());
    stream.write_all(tunnel("upstream.test:443").as_bytes()).expect("sent");
    let mut granted = [0; 39];
    stream.read_exact(&mut granted).expect("a tunnel");
    assert!(text(&granted).ends_with("established\r\n\r\n"));
    let (got, ended) = exchange(tls(authority.client(), "upstream.test", stream), get_of("/").as_bytes());
    ended.expect("a whole answer");
    assert!(text(&got).ends_with("sealed"));
}

#[test]
fn a_request_with_a_whole_address_is_handed_on_without_what_is_for_the_proxy() {
    let upstream = echo();
    let proxy = Proxy::start(setup(&upstream).demand("Basic x"));
    let request = b"POST http://upstream.test/a?b HTTP/1.1\r\nHost: upstream.test\r\nX-Odd: \xff\r\n\
                    Proxy-Authorization: Basic x\r\nProxy-Connection: keep-alive\r\n\
                    Transfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n";
    let (answer, ended) = exchange(connect(proxy.address()), request);
    ended.expect("a whole answer");
    let answer = text(&answer);
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\nconnection: close\r\n"), "{answer}");
    let got = upstream.requests().remove(0);
    assert_eq!((got.method.as_str(), got.target.as_str(), got.text().as_str()), ("POST", "/a?b", "hi"));
    let names: Vec<&str> = got.headers.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["Host", "X-Odd", "content-length", "connection"]);
    assert_eq!(got.header_bytes("x-odd"), Some(vec![0xff]));
    let asked = proxy.asked().remove(0);
    assert_eq!((asked.method.as_str(), asked.authority.as_str()), ("POST", "upstream.test:80"));
    assert_eq!(asked.target, "http://upstream.test/a?b");
    assert_eq!(asked.header_bytes("x-odd"), Some(vec![0xff]));
}

#[test]
fn a_target_that_is_no_proxys_is_a_bad_request() {
    for target in ["/path", "https://upstream.test/", "ftp://upstream.test/", "*"] {
        let proxy = Proxy::start(Setup::default());
        let mut stream = connect(proxy.address());
        stream.write_all(format!("GET {target} HTTP/1.1\r\n\r\n").as_bytes()).expect("sent");
        stream.shutdown(std::net::Shutdown::Write).expect("closed");
        let mut got = Vec::new();
        stream.read_to_end(&mut got).expect("an answer");
        assert!(text(&got).starts_with("HTTP/1.1 400 "), "{target}: {}", text(&got));
        assert_eq!(proxy.asked(), []);
    }
}

#[test]
fn who_does_not_say_who_he_is_gets_another_try_on_the_same_connection() {
    let upstream = echo();
    let proxy = Proxy::start(setup(&upstream).demand("Basic dXNlcjpwYXNz"));
    let target = "upstream.test:80";
    let with = |authorization: &str| {
        format!("CONNECT {target} HTTP/1.1\r\nproxy-authorization: {authorization}\r\n\r\n")
    };
    let request = [tunnel(target), with("Basic wrong"), with("Basic dXNlcjpwYXNz"), get_of("/page")].concat();
    let answer = text(&exchange(connect(proxy.address()), request.as_bytes()).0);
    assert_eq!(answer.matches("HTTP/1.1 407 ").count(), 2, "{answer}");
    assert_eq!(answer.matches("proxy-authenticate: Basic").count(), 2, "{answer}");
    assert!(answer.contains("200 Connection established"), "{answer}");
    let led: Vec<bool> = proxy.asked().iter().map(|asked| asked.led_to.is_some()).collect();
    assert_eq!(led, [false, false, true]);
    assert_eq!(upstream.requests().len(), 1);
}

#[test]
fn a_proxy_refuses_what_the_test_tells_it_to() {
    let upstream = echo();
    let refused = |refusal| setup(&upstream).refuse("Upstream.test:80", refusal);
    check(refused(Refusal::Status(403)), "upstream.test:80", "HTTP/1.1 403 ");
    check(refused(Refusal::Status(403)), "93.184.216.34:80", "HTTP/1.1 200 ");
    check(refused(Refusal::HangUp), "upstream.test:80", "");
    check(refused(Refusal::Silence), "upstream.test:80", "");
    check(setup(&upstream).refuse_all(Refusal::Status(503)), "93.184.216.34:80", "HTTP/1.1 503 ");
    assert_eq!(upstream.requests(), []);
}

#[test]
fn what_is_asked_is_remembered_in_order_with_its_connection() {
    let upstream = echo();
    let proxy = Proxy::start(setup(&upstream));
    for target in ["upstream.test:80", "93.184.216.34:80", "upstream.test:80"] {
        through(&proxy, target);
    }
    assert!(proxy.wait_for_asked(3));
    assert_eq!(proxy.authorities(), ["upstream.test:80", "93.184.216.34:80", "upstream.test:80"]);
    let connections: Vec<usize> = proxy.asked().iter().map(|asked| asked.connection).collect();
    assert_eq!(connections, [1, 2, 3]);
    assert_eq!(proxy.url(), format!("http://{}", proxy.address()));
}

#[test]
fn a_dropped_proxy_is_gone_with_its_tunnels() {
    let upstream = echo();
    let proxy = Proxy::start(setup(&upstream));
    let mut stream = connect(proxy.address());
    stream.write_all(tunnel("upstream.test:80").as_bytes()).expect("sent");
    assert!(upstream.wait_for_connections(1));
    drop(proxy);
    assert!(upstream.wait_until_left());
    let mut got = Vec::new();
    if let Err(fault) = stream.read_to_end(&mut got) {
        assert_eq!(fault.kind(), std::io::ErrorKind::ConnectionReset);
    }
}

#[test]
#[should_panic(expected = "not on loopback")]
fn a_way_out_of_the_machine_is_refused() {
    let _ = Setup::default().authority("upstream.test:80", address("93.184.216.34:80"));
}
