//! Names we are asked by, and web pages that ask.

use crate::server::{Answer, Running};

async fn check(server: &Running, headers: &[&str], status: u16, code: &str) -> Answer {
    let port = server.address.port().to_string();
    let headers: Vec<String> = headers.iter().map(|line| line.replace("PORT", &port)).collect();
    let lines: Vec<&str> = headers.iter().map(String::as_str).collect();
    let answer = server.ask("GET", "/who", &lines).await;
    assert_eq!((answer.status, answer.code().as_str()), (status, code), "{headers:?}: {answer:?}");
    answer
}

#[tokio::test]
async fn only_our_own_names_and_listed_ones_are_answered() {
    let server = Running::plain();
    for ours in [
        "host: 127.0.0.1:PORT",
        "host: localhost:PORT",
        "host: LocalHost:PORT",
        "host: 127.0.0.2:PORT",
        "host: [::1]:PORT",
        "host: tools.example",
        "host: TOOLS.example:9999",
        "host: other.example:8443",
    ] {
        check(&server, &[ours], 200, "").await;
    }
    for foreign in [
        "host: evil.example",
        "host: evil.example:PORT",
        "host: 127.0.0.1",
        "host: 127.0.0.1:1",
        "host: localhost",
        "host: localhost.:PORT",
        "host: localhost.evil.example:PORT",
        "host: 127.0.0.1.evil.example:PORT",
        "host: x.tools.example",
        "host: other.example",
        "host: 10.0.0.1:PORT",
        "host: [::ffff:10.0.0.1]:PORT",
        "host: 2130706433:PORT",
        "host: 0.0.0.0:PORT",
    ] {
        check(&server, &[foreign], 421, "FORBIDDEN").await;
    }
    for malformed in [
        &["host: "][..],
        &["host: a b"],
        &["host: user@127.0.0.1:PORT"],
        &["host: 127.0.0.1:PORT/path"],
        &["host: 127.0.0.1:+1"],
        &["host: 127.0.0.1:"],
        &["host: 127.0.0.1:99999"],
        &["host: 127.0.0.1:PORT, evil.example"],
        &["host: 127.0.0.1:PORT", "host: 127.0.0.1:PORT"],
        &["host: 127.0.0.1:PORT", "host: evil.example"],
    ] {
        check(&server, malformed, 400, "INVALID_INPUT").await;
    }
    for (request, status) in [
        ("GET /who HTTP/1.1\r\nconnection: close\r\n\r\n", 400),
        ("GET /who HTTP/1.0\r\n\r\n", 400),
        ("GET http://HOST/who HTTP/1.1\r\nhost: HOST\r\nconnection: close\r\n\r\n", 200),
        ("GET http://evil.example/who HTTP/1.1\r\nhost: HOST\r\nconnection: close\r\n\r\n", 400),
        ("GET http://evil.example/who HTTP/1.1\r\nhost: evil.example\r\nconnection: close\r\n\r\n", 421),
    ] {
        let text = server.raw(request.replace("HOST", &server.address.to_string())).await;
        assert_eq!(Answer::read(&text).status, status, "{request}: {text}");
    }
    server.end().await;
}

#[tokio::test]
async fn only_our_own_pages_and_listed_ones_are_answered() {
    let server = Running::plain();
    for own in [
        &["origin: http://127.0.0.1:PORT"][..],
        &["host: localhost:PORT", "origin: http://localhost:PORT"],
        &["host: tools.example", "origin: http://tools.example"],
        &["origin: http://127.0.0.1:PORT", "sec-fetch-site: same-origin"],
        &["sec-fetch-site: none"],
        &["origin: https://pages.example"],
        &["origin: https://pages.example", "sec-fetch-site: cross-site"],
    ] {
        check(&server, own, 200, "").await;
    }
    for foreign in [
        &["origin: null"][..],
        &["origin: http://evil.example"],
        &["origin: https://127.0.0.1:PORT"],
        &["origin: http://127.0.0.1"],
        &["origin: http://127.0.0.1:1"],
        // Another name of ours is another origin.
        &["origin: http://localhost:PORT"],
        &["origin: http://pages.example"],
        &["origin: https://pages.example:444"],
        &["origin: https://pages.example.evil.example"],
        &["origin: https://evil.example, https://pages.example"],
        &["origin: chrome-extension://abcdefgh"],
        &["origin: file://"],
        &["sec-fetch-site: cross-site"],
        &["sec-fetch-site: same-site"],
        &["sec-fetch-site: anything"],
        &["origin: http://127.0.0.1:PORT", "sec-fetch-site: cross-site"],
    ] {
        check(&server, foreign, 403, "FORBIDDEN").await;
    }
    check(&server, &["origin: https://pages.example", "origin: https://pages.example"], 400, "INVALID_INPUT")
        .await;
    assert!(!server.stage.seen.lock().unwrap().iter().any(|seen| seen.contains("evil")));
    server.end().await;
}

#[tokio::test]
async fn a_browser_that_asks_before_is_told_only_for_listed_pages() {
    let server = Running::plain();
    let asks = ["access-control-request-method: POST", "access-control-request-headers: authorization"];
    let listed = server.ask("OPTIONS", "/who", &["origin: https://pages.example", asks[0], asks[1]]).await;
    assert_eq!(listed.status, 204);
    assert_eq!(listed.header("access-control-allow-origin"), Some("https://pages.example"));
    let may_send: Vec<&str> = listed.header("access-control-allow-headers").unwrap().split(", ").collect();
    for name in ["authorization", "mcp-protocol-version", "mcp-session-id", "mcp-method", "mcp-name"] {
        assert!(may_send.contains(&name), "{name}: {listed:?}");
    }
    assert_eq!(listed.header("access-control-allow-credentials"), None);
    assert_eq!(listed.header("vary"), Some("origin"));
    let foreign = server.ask("OPTIONS", "/who", &["origin: https://evil.example", asks[0]]).await;
    assert_eq!((foreign.status, foreign.header("access-control-allow-origin")), (403, None));
    let read = check(&server, &["origin: https://pages.example"], 200, "").await;
    assert_eq!(read.header("access-control-allow-origin"), Some("https://pages.example"));
    // A page that may ask may also read why it was refused.
    let refused = server.ask("GET", "/who", &["origin: https://pages.example", "x-api-key: bwk_no"]).await;
    assert_eq!(
        (refused.status, refused.header("access-control-allow-origin")),
        (401, Some("https://pages.example"))
    );
    let plain = check(&server, &[], 200, "").await;
    assert_eq!(plain.header("access-control-allow-origin"), None);
    server.end().await;
}

#[tokio::test]
async fn every_answer_carries_what_browsers_must_know() {
    let server = Running::plain();
    for (target, status) in
        [("/who", 200), ("/nowhere", 404), ("/panics", 500), ("/%zz", 400), ("/healthz", 200)]
    {
        let answer = server.ask("GET", target, &[]).await;
        assert_eq!(answer.status, status, "{target}");
        for (name, value) in [
            ("x-content-type-options", Some("nosniff")),
            ("content-security-policy", Some("default-src 'none'; frame-ancestors 'none'")),
            ("referrer-policy", Some("no-referrer")),
            ("cache-control", Some("no-store")),
            ("cross-origin-resource-policy", Some("same-origin")),
            ("strict-transport-security", None),
        ] {
            assert_eq!(answer.header(name), value, "{target}: {name}");
        }
    }
    let broke = server.ask("GET", "/panics", &[]).await;
    assert_eq!(broke.code(), "INTERNAL");
    assert!(!broke.body.contains("secret"), "{broke:?}");
    server.end().await;
}

#[tokio::test]
async fn long_answers_are_packed_and_streams_are_not() {
    let server = Running::plain();
    let mut raw = server.connect().await;
    let request = format!(
        "GET /long HTTP/1.1\r\nhost: {}\r\naccept-encoding: gzip\r\nconnection: close\r\n\r\n",
        server.address
    );
    tokio::io::AsyncWriteExt::write_all(&mut raw, request.as_bytes()).await.unwrap();
    let answer = Answer::read(&crate::server::read_all(&mut raw).await);
    assert_eq!(answer.header("content-encoding"), Some("gzip"));
    assert!(answer.body.len() < 2000);
    let mut events = server.connect().await;
    let request = request.replace("/long", "/v1/events");
    tokio::io::AsyncWriteExt::write_all(&mut events, request.as_bytes()).await.unwrap();
    server.closing.begin();
    let text = crate::server::read_all(&mut events).await;
    if !text.is_empty() {
        assert_eq!(Answer::read(&text).header("content-encoding"), None);
    }
    server.end().await;
}
