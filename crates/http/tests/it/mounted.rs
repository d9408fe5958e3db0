//! A whole server with something at `/mcp`, and one without.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use axum::extract::Request;
use axum::routing::any;
use bailiwick_core::{Admitted, Desk, Presence};
use bailiwick_http::perimeter::NoAuth;
use bailiwick_http::{App, Ground, bind};
use http_body_util::BodyExt as _;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::stage::{block_on, opening, private_folder};

bailiwick_testkit::tests!(
    what_is_mounted_is_served_and_takes_an_idempotency_key_for_nothing,
    a_server_without_has_nothing_at_mcp,
);

/// Tells its message and who sent it.
async fn echo(request: Request) -> String {
    let admitted = request.extensions().get::<Admitted>().cloned().expect("whoever asks");
    let message = request.into_body().collect().await.expect("a message").to_bytes();
    format!("{} said {}", admitted.actor.client, String::from_utf8_lossy(&message))
}

/// Sends a message with the same `idempotency-key` as all others, and gives the whole answer.
async fn post(address: SocketAddr, message: &str) -> String {
    let mut stream = TcpStream::connect(address).await.expect("a connection");
    let request = format!(
        "POST /mcp HTTP/1.1\r\nhost: {address}\r\nidempotency-key: k\r\ncontent-length: {}\r\n\
         connection: close\r\n\r\n{message}",
        message.len()
    );
    stream.write_all(request.as_bytes()).await.expect("sent");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.expect("an answer");
    answer
}

/// What a whole server answers to these messages.
fn answers(mcp: Option<Router>, messages: &[&str]) -> Vec<String> {
    block_on(async {
        let folder = private_folder();
        let opening = opening(folder.path(), Presence::Serving);
        let settings = opening.settings.clone();
        let desk = Arc::new(Desk::open(opening).await.expect("a desk"));
        let core = desk.core().expect("its own");
        let listener = bind("127.0.0.1:0".parse().expect("an address")).expect("a listener");
        let bound = listener.local_addr().expect("its address");
        let ground = Ground { settings: &settings, bound, no_auth: NoAuth::Refused, desk, core, mcp };
        let app = App::new(ground).await.expect("a server");
        let closing = app.closing();
        let ended = tokio::spawn(app.serve(listener));
        let mut answers = Vec::new();
        for message in messages {
            answers.push(post(bound, message).await);
        }
        closing.begin();
        ended.await.expect("an end").expect("a good one");
        answers
    })
}

fn what_is_mounted_is_served_and_takes_an_idempotency_key_for_nothing() {
    let service = Router::new().route("/mcp", any(echo));
    // Twice the same and then another: none is a copy, and none contradicts one before.
    let told = answers(Some(service), &["{}", "{}", "[]"]);
    for (answer, said) in told.iter().zip(["{}", "{}", "[]"]) {
        assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
        assert!(answer.ends_with(&format!("keyless said {said}")), "{answer}");
        assert!(!answer.contains("idempotency-replayed"), "{answer}");
    }
    assert_eq!(told.len(), 3);
}

fn a_server_without_has_nothing_at_mcp() {
    let told = answers(None, &["{}"]);
    assert!(told[0].starts_with("HTTP/1.1 404 ") && told[0].contains("NOT_FOUND"), "{told:?}");
}
