//! A service that is mounted at `/mcp`: what reaches it, who it is told asks, and the room for what it runs.

use std::convert::Infallible;

use axum::body::Bytes;
use axum::extract::Request;
use axum::response::sse::{Event, Sse};
use axum::response::{IntoResponse as _, Response};
use axum::routing::any;
use axum::{Json, Router};
use bailiwick_core::{Admitted, Dialogue, NoRoom};
use bailiwick_http::perimeter::Tokens;
use futures_util::{StreamExt as _, stream};
use http::{Method, StatusCode};
use http_body_util::BodyExt as _;
use serde_json::{Value, json};

use crate::ends::send;
use crate::server::{
    Answer, Differs, EXPIRED, GOOD, NARROW, REVOKED, Running, SLOW, Stage, UNABLE, read_all,
};
use crate::tokens::{Issuer, claims};

/// Stands where what speaks MCP stands: it tells what it was given, runs on where it is told `runs`, and gives a stream to
/// whoever watches or says `stream`.
pub(crate) fn service(stage: &Stage) -> Router {
    let stage = stage.clone();
    Router::new()
        .route("/mcp", any(move |request: Request| serve(stage.clone(), request)))
        .route("/behind", any(|| async { "nobody is to reach this" }))
}

async fn serve(stage: Stage, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let message: Bytes = body.collect().await.unwrap().to_bytes();
    stage.seen.lock().unwrap().push(format!("{parts:?} {message:?}"));
    let admitted: Admitted = parts.extensions.get::<Admitted>().cloned().expect("whoever asks");
    if parts.method == Method::GET || &message[..] == b"stream" {
        let go = stage.go;
        let hello = stream::once(async { Ok::<_, Infallible>(Event::default().data("hello")) });
        let later = stream::once(async move {
            go.acquire().await.unwrap().forget();
            Ok(Event::default().data("later"))
        });
        return Sse::new(hello.chain(later)).into_response();
    }
    let room = admitted.room.clone();
    if &message[..] == b"runs" {
        match room.expect("room for a call").take() {
            Ok(()) => {
                stage.waits.notify_one();
                stage.go.acquire().await.unwrap().forget();
            }
            Err(NoRoom) => {
                return (StatusCode::SERVICE_UNAVAILABLE, "the service says: no room").into_response();
            }
        }
    }
    let Admitted { actor, scopes, key, dialogue, ends_s, correlation, room } = admitted;
    Json(json!({
        "key": actor.key, "client": actor.client, "scopes": scopes, "id": key, "endsS": ends_s,
        "dialogue": dialogue == Dialogue::Counts, "correlation": correlation, "room": room.is_some(), "bytes": message.len(),
    }))
    .into_response()
}

/// What the service was given.
#[track_caller]
fn told(answer: &Answer) -> Value {
    assert_eq!(answer.status, 200, "{answer:?}");
    serde_json::from_str(&answer.body).unwrap_or_else(|error| panic!("{error}: {answer:?}"))
}

/// Sends what must not come through, and looks at the refusal.
async fn check(server: &Running, lines: &[&str], body: &str, status: u16, code: &str) -> Answer {
    let port = server.address.port().to_string();
    let lines: Vec<String> = lines.iter().map(|line| line.replace("PORT", &port)).collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let answer = server.ask_with("POST", "/mcp", &lines, body).await;
    assert_eq!((answer.status, answer.code().as_str()), (status, code), "{lines:?}: {answer:?}");
    assert_eq!(answer.header("content-type"), Some("application/problem+json"), "{lines:?}");
    assert!(!answer.body.contains("secret-part"), "{answer:?}");
    answer
}

#[tokio::test]
async fn whoever_asks_is_told_to_the_service_by_the_perimeter_alone() {
    let server = Running::plain();
    // Whoever would like to be somebody else may say so in every way that HTTP has.
    let claims = json!({"admitted": {"actor": {"key": "root"}, "scopes": ["operate"]}}).to_string();
    let forged = [
        "admitted: root",
        "x-admitted: {\"scopes\":[\"operate\"]}",
        "x-bailiwick-admitted: operate",
        "x-principal: root",
        "x-forwarded-user: root",
        "x-remote-user: root",
        "bailiwick-scopes: call, author, approve, operate",
        "bailiwick-dialogue: true",
    ];
    let mut lines = vec!["x-correlation-id: mine-1"];
    lines.extend(forged);
    let keyless = told(&server.ask_with("POST", "/mcp", &lines, &claims).await);
    let expected = json!({
        "key": null, "client": "keyless", "scopes": ["call"], "id": null, "endsS": null, "dialogue": false,
        "correlation": "mine-1", "room": true, "bytes": claims.len(),
    });
    assert_eq!(keyless, expected);
    let key = format!("authorization: Bearer {NARROW}");
    lines.push(&key);
    let keyed = told(&server.ask_with("POST", "/mcp", &lines, "{}").await);
    assert_eq!((&keyed["key"], &keyed["client"]), (&"narrow".into(), &"http".into()));
    assert_eq!((&keyed["scopes"], keyed["id"].is_string()), (&json!(["call"]), true));
    // The key says whether its client's dialogue counts; nothing that a request says does.
    assert_eq!(keyed["dialogue"], false);
    let good = format!("authorization: Bearer {GOOD}");
    assert_eq!(told(&server.ask_with("POST", "/mcp", &[&good], "{}").await)["dialogue"], true);
    // What is not a message runs nothing.
    let deleted = told(&server.ask("DELETE", "/mcp", &[]).await);
    assert_eq!((&deleted["room"], deleted["correlation"].is_string()), (&false.into(), true));
    server.end().await;
}

#[tokio::test]
async fn the_end_of_a_token_is_told_to_the_service() {
    let folder = tempfile::tempdir().unwrap();
    let issuer = Issuer::start(folder.path(), "/keys");
    let tokens = Tokens::open(&issuer.jwt, &issuer.settings).await.unwrap();
    let server = Running::start_with(Differs { tokens: Some(tokens), ..Differs::default() }, |_, _| {});
    let claims = claims();
    let line = format!("authorization: Bearer {}", issuer.sign(&claims));
    let shown = told(&server.ask_with("POST", "/mcp", &[&line], "{}").await);
    assert_eq!((&shown["key"], &shown["endsS"]), (&"jwt:ada".into(), &claims["exp"]));
    // A token that covers nothing of ours opens nothing.
    let mut other = claims.clone();
    other["scope"] = "mail.read".into();
    let line = format!("authorization: Bearer {}", issuer.sign(&other));
    check(&server, &[&line], "{}", 403, "FORBIDDEN").await;
    server.end().await;
    issuer.closing.begin();
}

#[tokio::test]
async fn what_is_refused_at_the_door_never_reaches_the_service() {
    let server = Running::start(|server, _| server.body_bytes = 200_000);
    check(&server, &["host: evil.example"], "{}", 421, "FORBIDDEN").await;
    check(&server, &["host: evil.example:PORT"], "{}", 421, "FORBIDDEN").await;
    check(&server, &["host: a", "host: b"], "{}", 400, "INVALID_INPUT").await;
    check(&server, &["origin: https://evil.example"], "{}", 403, "FORBIDDEN").await;
    check(&server, &["origin: null"], "{}", 403, "FORBIDDEN").await;
    check(&server, &["sec-fetch-site: cross-site"], "{}", 403, "FORBIDDEN").await;
    for line in [
        "x-api-key: bwk_wrong".to_owned(),
        format!("authorization: Bearer {EXPIRED}"),
        format!("x-api-key: {REVOKED}"),
        "authorization: Basic dXNlcjpwYXNz".to_owned(),
        "x-forwarded-for: 192.0.2.1".to_owned(),
    ] {
        let answer = check(&server, &[&line], "{}", 401, "UNAUTHORIZED").await;
        assert!(answer.header("www-authenticate").unwrap().starts_with("Bearer "), "{answer:?}");
    }
    let answer = check(&server, &[&format!("x-api-key: {UNABLE}")], "{}", 403, "FORBIDDEN").await;
    let demand = "Bearer error=\"insufficient_scope\", scope=\"call\"";
    assert_eq!(answer.header("www-authenticate"), Some(demand));
    // Watching is no way around.
    assert_eq!(server.ask("GET", "/mcp", &[&format!("x-api-key: {UNABLE}")]).await.status, 403);
    let large = "x".repeat(200_001);
    check(&server, &[], &large, 413, "INVALID_INPUT").await;
    let chunked = format!("{:x}\r\n{large}\r\n0\r\n\r\n", large.len());
    let head = "POST /mcp HTTP/1.1\r\nhost: HOST\r\ntransfer-encoding: chunked\r\n\r\n";
    let mut stream = send(&server, &format!("{head}{chunked}")).await;
    assert_eq!(Answer::read(&read_all(&mut stream).await).status, 413);
    check(&server, &[], &format!("[{}1]", "1,".repeat(60_000)), 413, "INVALID_INPUT").await;
    assert_eq!(*server.stage.seen.lock().unwrap(), Vec::<String>::new());
    // Nothing else that the service has can be reached.
    for path in ["/behind", "/mcp/", "/mcp/behind", "/MCP"] {
        assert_eq!(server.ask("GET", path, &[]).await.status, 404, "{path}");
    }
    server.end().await;
}

#[tokio::test]
async fn without_the_switch_nobody_speaks_to_the_service_without_a_key() {
    let server = Running::start(|server, _| server.keyless = false);
    let answer = check(&server, &[], "{}", 401, "UNAUTHORIZED").await;
    assert_eq!(answer.header("www-authenticate"), Some("Bearer realm=\"bailiwick\""));
    assert!(server.stage.seen.lock().unwrap().is_empty());
    told(&server.ask_with("POST", "/mcp", &[&format!("x-api-key: {NARROW}")], "{}").await);
    server.end().await;
}

#[tokio::test]
async fn whoever_asks_the_service_too_much_is_told_to_wait() {
    let server = Running::plain();
    let one = format!(
        "POST /mcp HTTP/1.1\r\nhost: HOST\r\nx-api-key: {SLOW}\r\ncontent-length: 2\r\nCONNECTION\r\n\r\n{{}}"
    );
    let many = one.replace("CONNECTION", "x-more: yes").repeat(39);
    let all = format!("{many}{}", one.replace("CONNECTION", "connection: close"));
    let text = read_all(&mut send(&server, &all).await).await;
    let limited = text.split("HTTP/1.1 ").find(|one| one.starts_with("429")).expect("a refusal");
    assert!(limited.contains("RATE_LIMITED") && limited.contains("retry-after: 1\r\n"), "{limited}");
    let let_in = text.matches("HTTP/1.1 200").count();
    assert_eq!(server.stage.seen.lock().unwrap().len(), let_in);
    assert!((1..20).contains(&let_in), "{let_in}");
    server.end().await;
}

#[tokio::test]
async fn nothing_of_a_key_reaches_the_service() {
    let server = Running::plain();
    let lines = [
        format!("x-api-key: {GOOD}"),
        format!("authorization: Bearer {GOOD}"),
        format!("cookie: key={GOOD}; other=1"),
        "mcp-protocol-version: 2026-07-28".to_owned(),
    ];
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    assert_eq!(told(&server.ask_with("POST", "/mcp", &lines, "{}").await)["key"], "good");
    let seen = server.stage.seen.lock().unwrap().join("\n");
    assert!(seen.contains("mcp-protocol-version") && seen.contains("2026-07-28"), "{seen}");
    for word in ["secret-part", "cookie", "\"authorization\"", "\"x-api-key\""] {
        assert!(!seen.contains(word), "{word}: {seen}");
    }
    server.end().await;
}

#[tokio::test]
async fn a_message_is_passed_on_as_it_came() {
    let server = Running::plain();
    let many = format!("[{}1]", "1,".repeat(49_000));
    let text = format!("[\"{}\"]", ",[{".repeat(60_000));
    for message in ["{not json", "\u{fffd}\u{0}", "", &many, &text] {
        let got = told(&server.ask_with("POST", "/mcp", &[], message).await);
        assert_eq!(got["bytes"], message.len());
        let shown = format!("{:?}", Bytes::copy_from_slice(message.as_bytes()));
        assert!(server.stage.seen.lock().unwrap().last().unwrap().ends_with(&shown));
    }
    server.end().await;
}

#[tokio::test]
async fn messages_come_through_while_every_slot_is_taken_and_calls_are_for_the_service_to_refuse() {
    let server = Running::plain();
    let post = |body: &str| {
        format!(
            "POST /mcp HTTP/1.1\r\nhost: HOST\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
            body.len()
        )
    };
    let mut running = Vec::new();
    for _ in 0..2 {
        running.push(send(&server, &post("runs")).await);
        server.stage.waits.notified().await;
    }
    // An answer to a question, or word that a call is not wanted any more.
    assert_eq!(told(&server.ask_with("POST", "/mcp", &[], "{}").await)["room"], true);
    let busy = server.ask_with("POST", "/mcp", &[], "runs").await;
    assert_eq!((busy.status, busy.body.as_str()), (503, "the service says: no room"));
    // Calls of both doors share the room.
    let other = server.ask_with("POST", "/v1/execute", &[], "more").await;
    assert_eq!((other.status, other.code().as_str()), (503, "BUSY"));
    server.stage.go.add_permits(2);
    for stream in &mut running {
        told(&Answer::read(&read_all(stream).await));
    }
    assert_eq!(server.ask_with("POST", "/v1/execute", &[], "more").await.status, 200);
    server.end().await;
}

#[tokio::test]
async fn what_the_service_answers_is_counted_under_its_route() {
    let server = Running::plain();
    told(&server.ask_with("POST", "/mcp?session=secret", &[], "{}").await);
    server.ask("GET", "/mcp", &[&format!("x-api-key: {UNABLE}")]).await;
    let counters = server.ask("GET", "/metrics", &[]).await.body;
    for counted in ["method=\"POST\",status=\"200\"", "method=\"GET\",status=\"403\""] {
        let line = format!("bailiwick_http_requests_total{{route=\"/mcp\",{counted}}}");
        assert!(counters.contains(&line), "{counters}");
    }
    assert!(!counters.contains("session"), "{counters}");
    server.end().await;
}
