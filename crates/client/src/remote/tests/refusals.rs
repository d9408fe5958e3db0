//! Refusals as servers and what stands before them give them: none of a server's words is lost.

use std::sync::Arc;

use bailiwick_core::{Action, Actor, Caller, Refusal};
use bailiwick_types::ErrorCode;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

use super::super::Remote;
use crate::place::Server;

const PROBLEM: &str = "application/problem+json";

/// What is made of one answer of a server.
async fn refusal(status: &str, kind: &str, body: &str) -> Refusal {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let server = Server::parse(&format!("http://{}", listener.local_addr().unwrap())).unwrap();
    let answer = format!(
        "HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    );
    let answers = async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(stream.read_u8().await.unwrap());
        }
        stream.write_all(answer.as_bytes()).await.unwrap();
    };
    let remote = Remote::new(server, Arc::new(|_: &str| {}));
    let caller = Caller::alone(Actor { key: None, client: "test".to_owned() });
    let (refused, ()) = tokio::join!(remote.perform(caller, Action::Limits), answers);
    refused.expect_err("it was refused")
}

#[tokio::test]
async fn a_problem_keeps_its_code_its_words_and_its_hint() {
    for (status, code, detail, hint) in [
        ("429 Too Many Requests", ErrorCode::RateLimited, "more than 3 requests in a second", "wait"),
        ("503 Service Unavailable", ErrorCode::Busy, "as many calls as may run at once do", "in a second"),
        ("401 Unauthorized", ErrorCode::Unauthorized, "the key was revoked", "make a new one"),
        ("401 Unauthorized", ErrorCode::Unauthorized, "the key has expired", "make a new one"),
        ("421 Misdirected Request", ErrorCode::Forbidden, "names somebody else", "server.hosts"),
        ("400 Bad Request", ErrorCode::InvalidInput, "the path has a backslash", "leave it out"),
    ] {
        // Whole, without what one can do without, and with something new.
        for rest in [
            ",\"type\":\"urn:bailiwick:problem:X\",\"title\":\"T\",\"status\":400,\"faults\":[],\"instance\":\"i\"",
            "",
            ",\"faults\":null,\"status\":\"odd\",\"new\":{\"a\":1}",
        ] {
            let body = format!("{{\"code\":\"{code}\",\"detail\":\"{detail}\",\"hint\":\"{hint}\"{rest}}}");
            let refusal = refusal(status, PROBLEM, &body).await;
            assert_eq!(refusal.code, code, "{body}: {refusal:?}");
            assert!(refusal.message.starts_with(detail), "{body}: {refusal:?}");
            assert!(
                refusal.hint.as_deref().is_some_and(|told| told.starts_with(hint)),
                "{body}: {refusal:?}"
            );
        }
    }
}

#[tokio::test]
async fn a_problem_that_tells_little_is_taken_by_its_status() {
    for (status, body, code, says) in [
        ("429 Too Many Requests", "{\"title\":\"Slow down\"}", ErrorCode::RateLimited, "Slow down"),
        ("503 Service Unavailable", "{\"detail\":\"later\"}", ErrorCode::Unavailable, "later"),
        ("403 Forbidden", "{\"code\":\"OF_TOMORROW\",\"detail\":\"no\"}", ErrorCode::Forbidden, "no"),
        ("401 Unauthorized", "{}", ErrorCode::Unauthorized, "401"),
        ("404 Not Found", "{\"detail\":7}", ErrorCode::NotFound, "404"),
        ("418 I'm a teapot", "{}", ErrorCode::InvalidInput, "418"),
        ("502 Bad Gateway", "{}", ErrorCode::Unavailable, "502"),
    ] {
        let refusal = refusal(status, PROBLEM, body).await;
        assert_eq!(refusal.code, code, "{status} {body}: {refusal:?}");
        assert!(refusal.message.contains(says), "{status} {body}: {refusal:?}");
    }
}

#[tokio::test]
async fn an_answer_that_is_no_problem_is_not_taken_for_one() {
    for (kind, body) in [("text/html", "<h1>no</h1>"), (PROBLEM, "not JSON"), (PROBLEM, "[]")] {
        let refusal = refusal("502 Bad Gateway", kind, body).await;
        assert_eq!(refusal.code, ErrorCode::Unavailable, "{refusal:?}");
        assert!(refusal.message.contains("is not understood: it answers 502"), "{refusal:?}");
    }
}
