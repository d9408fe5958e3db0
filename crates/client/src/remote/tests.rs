//! A server that gives the same page again and again.

use std::sync::Arc;

use bailiwick_core::{Action, Actor, Caller};
use tokio::net::TcpListener;

use super::Remote;
use crate::place::Server;

/// Answers every request with this, until it is dropped with the runtime.
async fn always(body: String) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = format!("http://{}", listener.local_addr().expect("an address"));
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let mut heard = Vec::new();
            while !heard.ends_with(b"\r\n\r\n") && stream.readable().await.is_ok() {
                let mut bytes = [0; 4096];
                if let Ok(count) = stream.try_read(&mut bytes) {
                    heard.extend_from_slice(&bytes[..count]);
                }
            }
            let fields = format!("content-type: application/json\r\ncontent-length: {}", body.len());
            let answer = format!("HTTP/1.1 200 OK\r\n{fields}\r\nconnection: close\r\n\r\n{body}");
            stream.writable().await.expect("a client");
            assert_eq!(stream.try_write(answer.as_bytes()).ok(), Some(answer.len()));
        }
    });
    address
}

#[track_caller]
fn check(body: &str) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let answer = runtime.block_on(async {
        let server = Server::parse(&always(body.to_owned()).await).expect("an address");
        let remote = Remote::new(server, Arc::new(|_| {}));
        let caller = Caller::alone(Actor { key: None, client: "test".to_owned() });
        remote.perform(caller, Action::ToolList { after: None, limit: 1_000_000 }).await
    });
    let refusal = answer.expect_err("no list");
    assert!(refusal.message.contains("does not get on from page to page"), "{}", refusal.message);
}

#[test]
fn a_list_of_tools_that_does_not_get_on_is_an_error() {
    check(r#"{"tools": [], "next": "more"}"#);
    check(
        r#"{"tools": [{"id": "01890000-0000-7000-8000-000000000001", "name": "a", "title": "A",
            "state": "PUBLISHED", "level": "L1", "version": 1, "updatedAt": "2026-01-01T00:00:00Z"}],
            "next": "a"}"#,
    );
}
