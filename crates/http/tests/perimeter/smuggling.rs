//! Shapes of a request that two servers could read in two ways: refused, and the connection is closed.

use crate::server::{Answer, Running};

/// Who sees it: the parser itself, which answers without a body, or what looks at the raw head before.
#[derive(Debug, PartialEq, Eq)]
enum By {
    Parser,
    Us,
}

async fn check(server: &Running, request: &str, by: By) {
    let address = server.address.to_string();
    // A request behind it, which must never be answered.
    let behind = format!("GET /who?smuggled HTTP/1.1\r\nhost: {address}\r\n\r\n");
    let text = server.raw(format!("{}{behind}", request.replace("HOST", &address))).await;
    let answer = Answer::read(&text);
    assert_eq!(answer.status, 400, "{request:?}: {text}");
    assert_eq!(text.matches("HTTP/1.1 ").count(), 1, "answered twice: {request:?}: {text}");
    assert_eq!(answer.header("connection"), Some("close"), "{request:?}: {text}");
    let seen_by = if answer.code() == "INVALID_INPUT" { By::Us } else { By::Parser };
    assert_eq!(seen_by, by, "{request:?}: {text}");
    assert!(server.stage.seen.lock().unwrap().is_empty(), "a route saw it: {request:?}");
}

#[tokio::test]
async fn what_can_be_read_in_two_ways_is_refused_and_closed() {
    let server = Running::plain();
    let post = "POST /who HTTP/1.1\r\nhost: HOST\r\n";
    for (rest, by) in [
        ("content-length: 4\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n", By::Us),
        ("transfer-encoding: chunked\r\ncontent-length: 4\r\n\r\n0\r\n\r\n", By::Us),
        ("Transfer-Encoding: chunked\r\nCONTENT-LENGTH: 0\r\n\r\n0\r\n\r\n", By::Us),
        ("content-length: 4\r\ncontent-length: 5\r\n\r\nabcd", By::Parser),
        ("content-length: 4\r\ncontent-length: 4\r\n\r\nabcd", By::Us),
        ("content-length: 4, 4\r\n\r\nabcd", By::Parser),
        ("content-length: +4\r\n\r\nabcd", By::Parser),
        ("content-length: 0x4\r\n\r\nabcd", By::Parser),
        ("content-length: -1\r\n\r\nabcd", By::Parser),
        ("content-length: 4 4\r\n\r\nabcd", By::Parser),
        ("content-length: \r\n\r\nabcd", By::Parser),
        ("content-length: 99999999999999999999\r\n\r\nabcd", By::Parser),
        ("transfer-encoding: xchunked\r\n\r\n0\r\n\r\n", By::Parser),
        ("transfer-encoding: chunked, identity\r\n\r\n0\r\n\r\n", By::Parser),
        ("transfer-encoding: gzip, chunked\r\n\r\n0\r\n\r\n", By::Us),
        ("transfer-encoding: chunked, chunked\r\n\r\n0\r\n\r\n", By::Us),
        ("transfer-encoding: chunked\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n", By::Us),
        ("transfer-encoding: \"chunked\"\r\n\r\n0\r\n\r\n", By::Parser),
        ("transfer-encoding : chunked\r\n\r\n0\r\n\r\n", By::Parser),
        ("content-length : 4\r\n\r\nabcd", By::Parser),
        ("transfer-encoding:\r\n chunked\r\n\r\n0\r\n\r\n", By::Parser),
        ("x-folded: one\r\n two\r\n\r\n", By::Parser),
        ("x-one: a\nx-two: b\r\n\r\n", By::Us),
        ("x-one: a\n\n", By::Us),
        ("x-one: a\rx-two: b\r\n\r\n", By::Parser),
        ("x-null: a\0b\r\n\r\n", By::Parser),
        (": no name\r\n\r\n", By::Parser),
        ("no colon\r\n\r\n", By::Parser),
    ] {
        check(&server, &format!("{post}{rest}"), by).await;
    }
    check(&server, "POST /who HTTP/1.1\nhost: HOST\r\n\r\n", By::Us).await;
    check(
        &server,
        "POST /who HTTP/1.0\r\nhost: HOST\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
        By::Parser,
    )
    .await;
    server.end().await;
}

#[tokio::test]
async fn a_broken_chunked_body_is_refused_and_closed() {
    let server = Running::plain();
    let long_extension = format!("5;{}\r\nhello\r\n0\r\n\r\n", "e".repeat(64 << 10));
    let many_extensions = format!("{}0\r\n\r\n", "1;ext=abcdefgh\r\nx\r\n".repeat(4096));
    let long_trailers = format!("0\r\n{}\r\n", "x-trailer: yes\r\n".repeat(4096));
    for body in [
        "xyz\r\nhello\r\n0\r\n\r\n",
        "5\nhello\r\n0\r\n\r\n",
        "5\r\nhelloXX0\r\n\r\n",
        "-5\r\nhello\r\n0\r\n\r\n",
        "FFFFFFFFFFFFFFFFF\r\nhello\r\n0\r\n\r\n",
        "5;a\nb\r\nhello\r\n0\r\n\r\n",
        &long_extension,
        &many_extensions,
        &long_trailers,
    ] {
        let head =
            format!("POST /echo HTTP/1.1\r\nhost: {}\r\ntransfer-encoding: chunked\r\n\r\n", server.address);
        let text =
            server.raw(format!("{head}{body}GET /who HTTP/1.1\r\nhost: {}\r\n\r\n", server.address)).await;
        let shown = body.chars().take(40).collect::<String>();
        assert_eq!(Answer::read(&text).status, 400, "{shown:?}: {text}");
        assert_eq!(text.matches("HTTP/1.1 ").count(), 1, "{shown:?}: {text}");
    }
    assert!(server.stage.seen.lock().unwrap().is_empty());
    server.end().await;
}

#[tokio::test]
async fn a_good_chunked_body_is_taken_and_is_the_last_on_its_connection() {
    let server = Running::plain();
    let address = server.address;
    let text = server
        .raw(format!(
            "POST /echo HTTP/1.1\r\nhost: {address}\r\ntransfer-encoding: Chunked\r\n\r\n5;a=b\r\nhello\r\n0\r\n\r\n\
             GET /who HTTP/1.1\r\nhost: {address}\r\n\r\n"
        ))
        .await;
    let answer = Answer::read(&text);
    assert_eq!((answer.status, answer.body.as_str(), answer.header("connection")), (200, "5", Some("close")));
    assert!(server.stage.seen.lock().unwrap().is_empty());
    server.end().await;
}

#[tokio::test]
async fn bodies_of_a_known_length_are_followed_by_the_next_request() {
    let server = Running::plain();
    let one = format!("POST /echo HTTP/1.1\r\nhost: {}\r\ncontent-length: 40\r\n\r\n", server.address);
    // A body that would be refused as a head.
    let body = "transfer-encoding: x\ncontent-length: 1\n\n";
    assert_eq!(body.len(), 40);
    let last = format!("POST /echo HTTP/1.1\r\nhost: {}\r\nconnection: close\r\n\r\n", server.address);
    let text = server.raw(format!("{one}{body}\r\n{one}{body}{last}")).await;
    assert_eq!(text.matches("HTTP/1.1 200").count(), 3, "{text}");
    server.end().await;
}
