//! Who somebody is: keys, no keys, wrong keys, and how much they may ask.

use bailiwick_http::perimeter::NoAuth;
use serde_json::Value;
use tokio::io::AsyncWriteExt as _;

use crate::server::{Answer, Differs, EXPIRED, GOOD, NARROW, REVOKED, Running, SLOW, read_all};

#[track_caller]
fn refused(answer: &Answer, status: u16, code: &str) {
    assert_eq!((answer.status, answer.code().as_str()), (status, code), "{answer:?}");
    assert!(!answer.body.contains("secret-part"), "{answer:?}");
    if status == 401 {
        assert!(answer.header("www-authenticate").unwrap().starts_with("Bearer"), "{answer:?}");
    }
}

#[tokio::test]
async fn whoever_shows_nothing_on_this_machine_may_call_and_no_more() {
    let server = Running::plain();
    let body: Value = serde_json::from_str(&server.ask("GET", "/who", &[]).await.body).unwrap();
    assert_eq!(body, serde_json::json!({"key": null, "client": "keyless", "scopes": ["call"], "id": null}));
    server.end().await;
}

#[tokio::test]
async fn whoever_shows_nothing_is_refused_where_that_is_switched_off() {
    let server = Running::start(|server, _| server.keyless = false);
    refused(&server.ask("GET", "/who", &[]).await, 401, "UNAUTHORIZED");
    assert_eq!(server.ask("GET", "/healthz", &[]).await.status, 200);
    assert_eq!(server.ask("GET", "/metrics", &[]).await.status, 200);
    assert_eq!(server.ask("GET", "/who", &[&format!("authorization: Bearer {GOOD}")]).await.status, 200);
    server.end().await;
}

#[tokio::test]
async fn on_an_address_that_others_reach_everybody_needs_a_key() {
    let wide =
        |server: &mut bailiwick_config::Server, _: &mut _| server.listen = "0.0.0.0:0".parse().unwrap();
    let server = Running::start(wide);
    let here = format!("127.0.0.1:{}", server.address.port());
    let host = format!("host: {here}");
    refused(&server.ask("GET", "/who", &[&host]).await, 401, "UNAUTHORIZED");
    assert_eq!(server.ask("GET", "/who", &[&host, &format!("x-api-key: {GOOD}")]).await.status, 200);
    server.end().await;
    let open = Running::start_with(Differs { no_auth: NoAuth::Insecure, ..Differs::default() }, wide);
    let host = format!("host: 127.0.0.1:{}", open.address.port());
    let body: Value = serde_json::from_str(&open.ask("GET", "/who", &[&host]).await.body).unwrap();
    assert_eq!(body["scopes"], serde_json::json!(["call"]));
    refused(&open.ask("GET", "/who", &[&host, "x-api-key: bwk_wrong"]).await, 401, "UNAUTHORIZED");
    open.end().await;
}

#[tokio::test]
async fn whoever_comes_through_a_proxy_is_not_on_this_machine() {
    let server = Running::plain();
    for line in
        ["x-forwarded-for: 10.0.0.1", "forwarded: for=10.0.0.1", "via: 1.1 proxy", "x-real-ip: 10.0.0.1"]
    {
        refused(&server.ask("GET", "/who", &[line]).await, 401, "UNAUTHORIZED");
        refused(&server.ask("GET", "/metrics", &[line]).await, 401, "UNAUTHORIZED");
        assert_eq!(server.ask("GET", "/who", &[line, &format!("x-api-key: {GOOD}")]).await.status, 200);
    }
    server.end().await;
}

#[tokio::test]
async fn a_key_is_taken_from_two_headers_and_from_nowhere_else() {
    let server = Running::plain();
    for lines in [
        vec![format!("authorization: Bearer {GOOD}")],
        vec![format!("Authorization: bearer  {GOOD}")],
        vec![format!("x-api-key: {GOOD}")],
        vec![format!("x-api-key: {GOOD}"), format!("authorization: Bearer {GOOD}")],
    ] {
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        let body: Value = serde_json::from_str(&server.ask("GET", "/who", &lines).await.body).unwrap();
        assert_eq!((&body["key"], &body["client"]), (&"good".into(), &"http".into()), "{lines:?}");
        assert_eq!(body["scopes"].as_array().unwrap().len(), 4);
    }
    let cookie = server.ask("GET", "/who", &[&format!("cookie: key={GOOD}; authorization={GOOD}")]).await;
    assert!(cookie.body.contains("keyless"), "{cookie:?}");
    for query in ["access_token", "api_key", "API_KEY", "apikey", "token", "api%5Fkey", "anything"] {
        let answer = server.ask("GET", &format!("/who?a=b&{query}={GOOD}"), &[]).await;
        refused(&answer, 400, "INVALID_INPUT");
        assert!(answer.body.contains("addresses end in logs"));
    }
    // What a route is given holds none of it.
    let seen = server.stage.seen.lock().unwrap().join("\n");
    assert!(!seen.contains("secret-part") && seen.contains("keyless"), "{seen}");
    server.end().await;
}

#[tokio::test]
async fn wrong_credentials_are_never_taken_for_none() {
    let server = Running::plain();
    let wrong = format!("{}x", &GOOD[..GOOD.len() - 1]);
    for (lines, status, code) in [
        (vec![format!("authorization: Bearer {wrong}")], 401, "UNAUTHORIZED"),
        (vec![format!("x-api-key: {wrong}")], 401, "UNAUTHORIZED"),
        (vec![format!("authorization: Bearer {EXPIRED}")], 401, "UNAUTHORIZED"),
        (vec![format!("x-api-key: {REVOKED}")], 401, "UNAUTHORIZED"),
        (vec!["authorization: Bearer not-a-key".to_owned()], 401, "UNAUTHORIZED"),
        (vec!["authorization: Bearer a.b.c".to_owned()], 401, "UNAUTHORIZED"),
        (vec!["authorization: Bearer ".to_owned()], 401, "UNAUTHORIZED"),
        (vec!["authorization: Basic dXNlcjpwYXNz".to_owned()], 401, "UNAUTHORIZED"),
        (vec![format!("authorization: {GOOD}")], 401, "UNAUTHORIZED"),
        (vec!["x-api-key: ".to_owned()], 401, "UNAUTHORIZED"),
        (vec![format!("x-api-key: {GOOD} {GOOD}")], 401, "UNAUTHORIZED"),
        (vec![format!("x-api-key: {GOOD}"), format!("authorization: Bearer {NARROW}")], 400, "INVALID_INPUT"),
        (vec![format!("x-api-key: {GOOD}"), format!("x-api-key: {GOOD}")], 400, "INVALID_INPUT"),
    ] {
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        refused(&server.ask("GET", "/who", &lines).await, status, code);
    }
    for (key, word) in [(EXPIRED, "expired"), (REVOKED, "revoked"), (&wrong, "no such key")] {
        let answer = server.ask("GET", "/who", &[&format!("x-api-key: {key}")]).await;
        // After so many wrong ones in a second this may be a 429, which says nothing of the key.
        assert!(answer.status == 429 || answer.body.contains(word), "{answer:?}");
    }
    assert!(server.stage.seen.lock().unwrap().is_empty());
    server.end().await;
}

/// The same request many times on one connection, the last with `connection: close`.
async fn many(server: &Running, count: usize, line: &str) -> String {
    let mut stream = server.connect().await;
    let one = format!("GET /who HTTP/1.1\r\nhost: {}\r\n{line}\r\n", server.address);
    let before = format!("{one}\r\n").repeat(count - 1);
    let all = format!("{before}{one}connection: close\r\n\r\n");
    stream.write_all(all.as_bytes()).await.unwrap();
    read_all(&mut stream).await
}

#[tokio::test]
async fn too_many_in_a_second_are_told_to_wait() {
    let server = Running::plain();
    let text = many(&server, 40, &format!("x-api-key: {SLOW}")).await;
    assert!(text.matches("HTTP/1.1 200").count() < 20, "{text}");
    let limited = text.split("HTTP/1.1 ").find(|one| one.starts_with("429")).unwrap();
    assert!(limited.contains("RATE_LIMITED") && limited.contains("retry-after: 1\r\n"), "{limited}");
    // Nobody else is slowed.
    let text = many(&server, 40, &format!("x-api-key: {GOOD}")).await;
    assert_eq!(text.matches("HTTP/1.1 200").count(), 40);
    server.end().await;
}

#[tokio::test]
async fn too_many_wrong_keys_in_a_second_are_told_to_wait_and_a_right_one_is_not() {
    let server = Running::plain();
    let text = many(&server, 90, "x-api-key: bwk_wrong").await;
    assert!(text.matches("HTTP/1.1 401").count() >= 10);
    assert!(text.matches("HTTP/1.1 429").count() > 0, "{text}");
    assert_eq!(server.ask("GET", "/who", &[&format!("x-api-key: {GOOD}")]).await.status, 200);
    server.end().await;
}

#[tokio::test]
async fn too_many_under_way_are_told_to_wait_until_an_answer_is_sent() {
    let server = Running::plain();
    let key = format!("x-api-key: {NARROW}");
    let mut stream = server.connect().await;
    let request =
        format!("GET /waits HTTP/1.1\r\nhost: {}\r\n{key}\r\nconnection: close\r\n\r\n", server.address);
    stream.write_all(request.as_bytes()).await.unwrap();
    server.stage.waits.notified().await;
    refused(&server.ask("GET", "/who", &[&key]).await, 429, "RATE_LIMITED");
    server.stage.go.add_permits(1);
    read_all(&mut stream).await;
    assert_eq!(server.ask("GET", "/who", &[&key]).await.status, 200);
    // A stream holds its place for as long as it lasts.
    let mut events = server.connect().await;
    events.write_all(request.replace("/waits", "/v1/events").as_bytes()).await.unwrap();
    let mut first = [0; 1];
    tokio::io::AsyncReadExt::read_exact(&mut events, &mut first).await.unwrap();
    refused(&server.ask("GET", "/who", &[&key]).await, 429, "RATE_LIMITED");
    drop(events);
    let freed = async { while server.ask("GET", "/who", &[&key]).await.status != 200 {} };
    tokio::time::timeout(crate::server::PATIENCE, freed).await.unwrap();
    server.end().await;
}

#[tokio::test]
async fn a_call_without_room_is_told_so_at_once() {
    let server = Running::plain();
    let call = |body: &'static str| {
        let request = format!(
            "POST /v1/execute HTTP/1.1\r\nhost: {}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
            server.address,
            body.len()
        );
        let server = &server;
        async move {
            let mut stream = server.connect().await;
            stream.write_all(request.as_bytes()).await.unwrap();
            stream
        }
    };
    let mut running = Vec::new();
    for _ in 0..2 {
        running.push(call("runs").await);
        server.stage.waits.notified().await;
    }
    let busy = Answer::read(&read_all(&mut call("more").await).await);
    refused(&busy, 503, "BUSY");
    assert_eq!(busy.header("retry-after"), Some("1"));
    // What runs nothing needs no room.
    assert_eq!(server.ask("GET", "/who", &[]).await.status, 200);
    server.stage.go.add_permits(2);
    for stream in &mut running {
        assert!(read_all(stream).await.ends_with("ran"));
    }
    assert_eq!(Answer::read(&read_all(&mut call("more").await).await).status, 200);
    server.end().await;
}

#[tokio::test]
async fn the_counters_are_for_this_machine_and_for_operators() {
    let server = Running::plain();
    server.ask("GET", "/who", &[&format!("x-api-key: {GOOD}")]).await;
    let here = server.ask("GET", "/metrics", &[]).await;
    assert_eq!(here.status, 200);
    assert!(
        here.body.contains("bailiwick_http_requests_total{route=\"/who\",method=\"GET\",status=\"200\"}"),
        "{here:?}"
    );
    assert!(here.body.contains("bailiwick_http_request_seconds_bucket"), "{here:?}");
    assert_eq!(server.ask("GET", "/metrics", &[&format!("x-api-key: {GOOD}")]).await.status, 200);
    refused(&server.ask("GET", "/metrics", &[&format!("x-api-key: {NARROW}")]).await, 403, "FORBIDDEN");
    server.end().await;
}
