//! Heads that nobody honest sends.

use crate::server::{Answer, GOOD, Running};

/// Sends it, and looks at the status; none is a connection that is closed without a word.
async fn check(server: &Running, request: &str, statuses: &[u16]) {
    let text = server.raw(request.replace("HOST", &server.address.to_string())).await;
    let shown: String = request.chars().take(80).collect();
    if text.is_empty() {
        assert!(statuses.contains(&0), "closed without a word: {shown:?}");
    } else {
        let answer = Answer::read(&text);
        assert!(statuses.contains(&answer.status), "{shown:?}: {text}");
    }
}

#[tokio::test]
async fn heads_that_are_too_much_are_refused() {
    let server = Running::plain();
    let get = "GET /who HTTP/1.1\r\nhost: HOST\r\nconnection: close\r\n";
    check(&server, &format!("{get}x-large: {}\r\n\r\n", "x".repeat(64 << 10)), &[431]).await;
    check(&server, &format!("{get}x-large: {}\r\n\r\n", "x".repeat(4 << 20)), &[431]).await;
    check(&server, &format!("{get}{}\r\n", "x-many: y\r\n".repeat(10_000)), &[431]).await;
    check(&server, &format!("{get}{}\r\n", "a: b\r\n".repeat(150)), &[431]).await;
    check(&server, &format!("{get}{}\r\n", "a: b\r\n".repeat(90)), &[200]).await;
    check(&server, &format!("GET /{} HTTP/1.1\r\nhost: HOST\r\n\r\n", "x".repeat(10 << 10)), &[414]).await;
    check(&server, &format!("GET /{} HTTP/1.1\r\nhost: HOST\r\n\r\n", "x".repeat(128 << 10)), &[414, 431])
        .await;
    server.end().await;
}

#[tokio::test]
async fn targets_that_say_two_things_are_refused() {
    let server = Running::plain();
    for target in [
        "/%",
        "/%2",
        "/%zz",
        "/who%",
        "/who?a=%g1",
        "/%ff%fe",
        "/../who",
        "/who/..",
        "/./who",
        "/%2e%2e/who",
        "/.%2E/who",
        "/a/%2e/b",
        "/%00",
        "/who%0d%0ax: y",
        "/who%5c..%5cetc",
        "*",
    ] {
        check(&server, &format!("GET {target} HTTP/1.1\r\nhost: HOST\r\nconnection: close\r\n\r\n"), &[400])
            .await;
    }
    for target in ["/who?a=%20b", "/who?path=../x", "/who?"] {
        check(&server, &format!("GET {target} HTTP/1.1\r\nhost: HOST\r\nconnection: close\r\n\r\n"), &[200])
            .await;
    }
    check(&server, "GET /..a/b..c HTTP/1.1\r\nhost: HOST\r\nconnection: close\r\n\r\n", &[404]).await;
    server.end().await;
}

#[tokio::test]
async fn methods_of_proxies_are_refused() {
    let server = Running::plain();
    check(&server, "CONNECT evil.example:443 HTTP/1.1\r\nhost: HOST\r\n\r\n", &[405]).await;
    check(&server, "CONNECT HOST HTTP/1.1\r\nhost: HOST\r\n\r\n", &[405]).await;
    check(&server, &format!("TRACE /who HTTP/1.1\r\nhost: HOST\r\nx-api-key: {GOOD}\r\n\r\n"), &[405]).await;
    check(&server, "OPTIONS * HTTP/1.1\r\nhost: HOST\r\n\r\n", &[400]).await;
    check(&server, "BREW /who HTTP/1.1\r\nhost: HOST\r\nconnection: close\r\n\r\n", &[405]).await;
    server.end().await;
}

#[tokio::test]
async fn what_is_not_http_is_closed() {
    let server = Running::plain();
    for garbage in [
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\u{4}\0\0\0\0\0garbage",
        "\u{16}\u{3}\u{1}\0\u{5}hello",
        "GET /who HTTP/9.9\r\nhost: HOST\r\n\r\n",
        "GET /who\r\nhost: HOST\r\n\r\n",
        "GET  /who  HTTP/1.1\r\nhost: HOST\r\n\r\n",
        " GET /who HTTP/1.1\r\nhost: HOST\r\n\r\n",
        "GET /who HTTP/1.1 \r\nhost: HOST\r\n\r\n",
        "\0\0\0\0\0\0\0\0",
    ] {
        check(&server, garbage, &[0, 400, 505]).await;
    }
    assert!(server.stage.seen.lock().unwrap().is_empty());
    server.end().await;
}
