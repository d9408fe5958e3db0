//! What the listener says by itself is a problem like any other, and tells what its request is tied to.

use bailiwick_api::Problem;

use crate::server::{Answer, Running};

async fn check(server: &Running, request: &str, status: u16, tied_to: Option<&str>) {
    let answer = Answer::read(&server.raw(request).await);
    assert_eq!(answer.status, status, "{request}: {answer:?}");
    let problem: Problem =
        serde_json::from_str(&answer.body).unwrap_or_else(|error| panic!("{error}: {answer:?}"));
    assert_eq!((problem.status, problem.kind), (status, format!("urn:bailiwick:problem:{}", problem.code)));
    let id = problem.instance.expect("what it is tied to");
    assert_eq!(answer.header("x-correlation-id"), Some(id.as_str()), "{request}");
    assert!(tied_to.is_none_or(|tied_to| id == tied_to), "{request}: {id}");
}

#[tokio::test]
async fn what_the_listener_refuses_is_a_whole_problem() {
    let server = Running::start(|server, _| server.body_bytes = 1000);
    let host = format!("host: {}\r\nconnection: close", server.address);
    check(&server, &format!("TRACE / HTTP/1.1\r\n{host}\r\n\r\n"), 405, None).await;
    check(
        &server,
        &format!("GET /a/../b HTTP/1.1\r\n{host}\r\nx-correlation-id: a1\r\n\r\n"),
        400,
        Some("a1"),
    )
    .await;
    check(&server, &format!("GET /a%zz HTTP/1.1\r\n{host}\r\nx-correlation-id: a b\r\n\r\n"), 400, None)
        .await;
    let large = format!("POST /echo HTTP/1.1\r\n{host}\r\ncontent-length: 1001\r\n\r\n");
    check(&server, &large, 413, None).await;
    // One that is found out while it is read.
    let piece = "x".repeat(1001);
    let chunked = format!(
        "POST /echo HTTP/1.1\r\n{host}\r\nx-correlation-id: c3\r\ntransfer-encoding: chunked\r\n\r\n3e9\r\n{piece}\r\n0\r\n\r\n"
    );
    check(&server, &chunked, 413, Some("c3")).await;
    server.end().await;
}
