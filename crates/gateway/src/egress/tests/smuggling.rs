//! Requests that two readers could understand differently: none of them goes on.

use super::*;

/// A request that is refused before anything is dialled.
#[track_caller]
fn check(words: &str, status: u16, reason: &str) {
    let (world, upstream) = usual();
    let outlet = world.outlet("allow:a.test");
    let said = ask(&outlet, words.as_bytes());
    assert!(said.starts_with(&format!("HTTP/1.1 {status} ")), "{words:?}: {said}");
    assert_eq!(reasons(&outlet), [reason], "{words:?}");
    assert!(world.routes.dialled().is_empty(), "{words:?}");
    assert!(upstream.requests().is_empty(), "{words:?}");
}

fn request(rest: &str) -> String {
    format!("POST http://a.test/ HTTP/1.1\r\nHost: a.test\r\n{rest}")
}

#[test]
fn a_head_that_is_not_plain_is_refused() {
    for words in [
        // Where the body ends is said in two ways, or in none that is plain.
        &*request("Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
        &request("Content-Length: 3\r\nContent-Length: 3\r\n\r\nabc"),
        &request("Content-Length: 3, 3\r\n\r\nabc"),
        &request("Content-Length: +3\r\n\r\nabc"),
        &request("Content-Length: 0x3\r\n\r\nabc"),
        &request("Content-Length: -1\r\n\r\nabc"),
        &request("Content-Length: 99999999999999999999\r\n\r\nabc"),
        &request("Content-Length:\r\n\r\nabc"),
        &request("Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n"),
        &request("Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n"),
        &request("Transfer-Encoding: identity\r\n\r\n"),
        &request("Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n"),
        &request("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
        &request("Transfer_Encoding: chunked\r\nContent-Length: 3\r\n\r\nabc"),
        &request("Content_Length: 3\r\n\r\nabc"),
        "POST http://a.test/ HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        // Lines that do not end as lines do, or go on.
        "GET http://a.test/ HTTP/1.1\nHost: a.test\n\n",
        "GET http://a.test/ HTTP/1.1\r\nHost: a.test\nX: y\r\n\r\n",
        "GET http://a.test/ HTTP/1.1\r\nHost: a.test\rX: y\r\n\r\n",
        "GET http://a.test/ HTTP/1.1\r\nHost: a.test\r\n X: folded\r\n\r\n",
        "GET http://a.test/ HTTP/1.1\r\n Host: a.test\r\n\r\n",
        // Names and values that are none.
        &request("Content-Length : 3\r\n\r\nabc"),
        &request("Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n"),
        &request("X\u{0}Y: z\r\n\r\n"),
        &request("X: \u{0}\r\n\r\n"),
        &request(": empty\r\n\r\n"),
        &request("no colon\r\n\r\n"),
        // First lines that are none.
        "GET  http://a.test/ HTTP/1.1\r\nHost: a.test\r\n\r\n",
        "GET http://a.test/ x HTTP/1.1\r\nHost: a.test\r\n\r\n",
        "GET http://a.test/ HTTP/2.0\r\nHost: a.test\r\n\r\n",
        "GET http://a.test/ http/1.1\r\nHost: a.test\r\n\r\n",
        "GET http://a.test/\r\nHost: a.test\r\n\r\n",
        "GET http://a.test/\t HTTP/1.1\r\nHost: a.test\r\n\r\n",
        "G<T http://a.test/ HTTP/1.1\r\nHost: a.test\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a.test\r\n\r\n",
        "GET * HTTP/1.1\r\nHost: a.test\r\n\r\n",
        "GET https://a.test/ HTTP/1.1\r\nHost: a.test\r\n\r\n",
        "GET ftp://a.test/ HTTP/1.1\r\nHost: a.test\r\n\r\n",
        "GET http:a.test/ HTTP/1.1\r\nHost: a.test\r\n\r\n",
        "GET http:/a.test/ HTTP/1.1\r\nHost: a.test\r\n\r\n",
        "GET http:///a.test/ HTTP/1.1\r\nHost: a.test\r\n\r\n",
        "GET http:\\\\a.test/ HTTP/1.1\r\nHost: a.test\r\n\r\n",
        "GET http://a.test\\@evil.test/ HTTP/1.1\r\nHost: a.test\r\n\r\n",
        "GET http://user:pass@a.test/ HTTP/1.1\r\nHost: a.test\r\n\r\n",
        "GET http://a.test@evil.test/ HTTP/1.1\r\nHost: evil.test\r\n\r\n",
        // Whom it is for.
        "GET http://a.test/ HTTP/1.1\r\n\r\n",
        "GET http://a.test/ HTTP/1.1\r\nHost: a.test\r\nHost: a.test\r\n\r\n",
        "CONNECT a.test HTTP/1.1\r\nHost: a.test\r\n\r\n",
        "CONNECT a.test:0 HTTP/1.1\r\nHost: a.test\r\n\r\n",
        "CONNECT http://a.test:443/ HTTP/1.1\r\nHost: a.test\r\n\r\n",
        "CONNECT a.test:443 HTTP/1.1\r\nHost: a.test\r\nContent-Length: 5\r\n\r\nabcde",
        "CONNECT user@a.test:443 HTTP/1.1\r\nHost: a.test\r\n\r\n",
    ] {
        check(words, 400, "bad-request");
    }
    for words in [
        "GET http://a.test/ HTTP/1.1\r\nHost: b.test\r\n\r\n",
        "GET http://a.test/ HTTP/1.1\r\nHost: a.test:81\r\n\r\n",
        "GET http://a.test/ HTTP/1.1\r\nHost: a.test@b.test\r\n\r\n",
        "GET http://a.test/ HTTP/1.1\r\nHost: a.test, b.test\r\n\r\n",
        "GET http://a.test/ HTTP/1.1\r\nHost: \r\n\r\n",
        "CONNECT a.test:443 HTTP/1.1\r\nHost: b.test:443\r\n\r\n",
    ] {
        check(words, 403, "host-mismatch");
    }
}

#[test]
fn a_head_has_bounds() {
    let huge = request(&format!("X: {}\r\n\r\n", "x".repeat(40_000)));
    check(&huge, 431, "too-large");
    let endless = format!("GET http://a.test/{} HTTP/1.1\r\n", "x".repeat(100_000));
    check(&endless, 431, "too-large");
    let many = "X-Many: y\r\n".repeat(200);
    check(&request(&format!("{many}\r\n")), 431, "too-large");
}

#[test]
fn chunks_that_are_not_plain_end_the_request() {
    for chunks in [
        "5\nhello\r\n0\r\n\r\n",
        "5\r\nhello0\r\n\r\n",
        "5\r\nhelloXX0\r\n\r\n",
        "g\r\nhello\r\n0\r\n\r\n",
        "0x5\r\nhello\r\n0\r\n\r\n",
        " 5\r\nhello\r\n0\r\n\r\n",
        "5 \r\nhello\r\n0\r\n\r\n",
        "5;x=y\r\nhello\r\n0\r\n\r\n",
        "-5\r\nhello\r\n0\r\n\r\n",
        "\r\nhello\r\n0\r\n\r\n",
        "fffffffffffffffff\r\nhello\r\n0\r\n\r\n",
        "5\r\nhello\r\n0\r\nTrailer: x\n\r\n",
    ] {
        let (world, upstream) = usual();
        let outlet = world.outlet("allow:a.test");
        let words = request(&format!("Transfer-Encoding: chunked\r\n\r\n{chunks}"));
        let said = ask(&outlet, words.as_bytes());
        assert!(said.starts_with("HTTP/1.1 400 "), "{chunks:?}: {said}");
        assert_eq!(reasons(&outlet), ["bad-request"], "{chunks:?}");
        assert!(upstream.requests().iter().all(|request| !request.is_whole), "{chunks:?}");
    }
}

#[test]
fn what_follows_a_body_is_a_request_of_its_own() {
    let (world, upstream) = usual();
    let outlet = world.outlet("allow:a.test");
    let second = "GET http://b.test/second HTTP/1.1\r\nHost: b.test\r\n\r\n";
    for body in [
        "Content-Length: 5\r\n\r\nhello",
        "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nX: y\r\n\r\n",
    ] {
        let before = upstream.requests().len();
        let said = ask(&outlet, format!("{}{second}", request(body)).as_bytes());
        assert!(said.starts_with("HTTP/1.1 200 "), "{said}");
        assert!(said.contains("HTTP/1.1 403 ") && said.contains("b.test"), "{said}");
        let got = upstream.requests();
        assert_eq!((got.len(), &*got.last().unwrap().text()), (before + 1, "hello"));
    }
    // And one that is hidden in a body stays a body.
    let hidden = format!("Content-Length: {}\r\n\r\n{second}", second.len());
    let before = upstream.requests().len();
    ask(&outlet, request(&hidden).as_bytes());
    assert_eq!(upstream.requests().len(), before + 1);
    assert_eq!(upstream.requests().last().unwrap().text(), second);
}

#[test]
fn two_hosts_over_one_connection_are_two_judgements() {
    let (world, upstream) = usual();
    let outlet = world.outlet("allow:a.test,b.test");
    let words = format!("{}{}{}", get("http://a.test/1"), get("http://b.test/2"), get("http://c.test/3"));
    let said = ask(&outlet, words.as_bytes());
    assert_eq!(said.matches("HTTP/1.1 200 ").count(), 2, "{said}");
    assert_eq!(said.matches("HTTP/1.1 403 ").count(), 1, "{said}");
    let hosts: Vec<_> =
        upstream.requests().iter().map(|request| request.header("host").unwrap().to_owned()).collect();
    assert_eq!(hosts, ["a.test", "b.test"]);
}
