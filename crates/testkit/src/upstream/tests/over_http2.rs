//! The same answers over HTTP/2.

use std::future::Future;
use std::sync::Arc;

use bytes::Bytes;

use crate::authority::Authority;
use crate::upstream::{Answer, Answers, Gate, Paths, Request, Spoken, Upstream};

/// A client's answer: its status and its body, or the word for its fault.
type Got = Result<(u16, Vec<u8>), String>;

fn run<Out>(future: impl Future<Output = Out>) -> Out {
    let events = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("an event loop");
    events.block_on(future)
}

async fn connect(upstream: &Upstream, authority: &Authority) -> h2::client::SendRequest<Bytes> {
    let mut config = authority.client();
    config.alpn_protocols = vec![b"h2".to_vec()];
    let stream = tokio::net::TcpStream::connect(upstream.address()).await.expect("connected");
    let name = rustls::pki_types::ServerName::try_from("upstream.test").expect("a name");
    let stream = tokio_rustls::TlsConnector::from(Arc::new(config)).connect(name, stream).await.expect("TLS");
    let (client, connection) = h2::client::handshake(stream).await.expect("HTTP/2");
    tokio::spawn(connection);
    client
}

async fn ask(client: h2::client::SendRequest<Bytes>, path: &'static str, sent: &'static str) -> Got {
    let mut client = client.ready().await.map_err(|fault| fault.to_string())?;
    let request = http::Request::post(format!("https://upstream.test{path}")).header("x-a", "1").body(());
    let (answer, mut body) = client.send_request(request.expect("a request"), false).expect("sent");
    body.send_data(Bytes::copy_from_slice(sent.as_bytes()), true).expect("sent");
    let answer = answer.await.map_err(|fault| fault.to_string())?;
    let (status, mut stream, mut got) = (answer.status().as_u16(), answer.into_body(), Vec::new());
    while let Some(data) = stream.data().await {
        let data = data.map_err(|fault| fault.to_string())?;
        stream.flow_control().release_capacity(data.len()).expect("a window");
        got.extend_from_slice(&data);
    }
    Ok((status, got))
}

fn stage(answers: impl Answers) -> (Upstream, Authority) {
    let authority = Authority::new();
    let upstream = Upstream::http2(answers, &authority.issue(&["upstream.test"]));
    (upstream, authority)
}

#[test]
fn requests_over_one_connection_are_answered_and_recorded() {
    let large = "x".repeat(300_000);
    let answers = Paths::new().at("/echo", Answer::echo()).at("/large", Answer::ok(large.clone()));
    let (upstream, authority) = stage(answers);
    run(async {
        let client = connect(&upstream, &authority).await;
        let (status, body) = ask(client.clone(), "/echo?q=1", "sent").await.expect("an answer");
        let echoed: serde_json::Value = serde_json::from_slice(&body).expect("JSON");
        assert_eq!((status, &echoed["target"], &echoed["body"]), (200, &"/echo?q=1".into(), &"sent".into()));
        assert_eq!(ask(client.clone(), "/large", "").await, Ok((200, large.into_bytes())));
        assert_eq!(ask(client, "/none", "").await.expect("an answer").0, 404);
    });
    let requests = upstream.requests();
    assert_eq!((requests.len(), upstream.connections()), (3, 1));
    let first = &requests[0];
    assert_eq!(
        (first.protocol, first.header(":authority"), first.header("x-a")),
        (Spoken::Http2, Some("upstream.test"), Some("1"))
    );
    assert_eq!(first.tls.as_ref().and_then(|tls| tls.alpn.as_deref()), Some("h2"));
}

#[test]
fn a_stream_is_reset_where_http1_would_be_torn() {
    for answer in
        [Answer::reset("part"), Answer::hang_up(), Answer::gibberish(), Answer::truncated("part", 99)]
    {
        let (upstream, authority) = stage(move |_: &Request| answer.clone());
        let got = run(async { ask(connect(&upstream, &authority).await, "/", "").await });
        got.expect_err("a reset");
    }
}

#[test]
fn a_held_answer_comes_when_the_gate_opens() {
    let gate = Gate::new();
    let held = Answer::late(&gate, "late");
    let (upstream, authority) = stage(move |_: &Request| held.clone());
    let got = run(async {
        let asked = tokio::spawn(ask(connect(&upstream, &authority).await, "/", ""));
        while upstream.requests().is_empty() {
            tokio::task::yield_now().await;
        }
        assert!(!asked.is_finished());
        gate.open();
        asked.await.expect("no panic")
    });
    assert_eq!(got, Ok((200, b"late".to_vec())));
}

#[test]
fn what_does_not_end_ends_when_the_client_goes() {
    for answer in [Answer::endless(), Answer::silent(), Answer::bodiless()] {
        let (upstream, authority) = stage(move |_: &Request| answer.clone());
        run(async {
            let asked = tokio::spawn(ask(connect(&upstream, &authority).await, "/", ""));
            while upstream.requests().is_empty() {
                tokio::task::yield_now().await;
            }
            asked.abort();
        });
        assert!(upstream.wait_until_left());
    }
}
