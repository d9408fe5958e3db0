//! TLS and HTTP/2: what is offered, and that a key leaves no trace there either.

use std::io::Write;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bailiwick_config::TlsFiles;
use bailiwick_config::files::{Readers, replace};
use bytes::Bytes;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use crate::server::{Answer, EXPIRED, GOOD, PATIENCE, REVOKED, Running, SLOW};

pub(crate) fn certify(folder: &Path) -> TlsFiles {
    let files = TlsFiles { certificates: folder.join("cert.pem"), key: folder.join("key.pem") };
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    replace(&files.key, &made.signing_key.serialize_pem(), Readers::Owner).unwrap();
    replace(&files.certificates, &made.cert.pem(), Readers::Owner).unwrap();
    files
}

fn start(files: &TlsFiles) -> Running {
    Running::start(|server, _| server.tls = Some(files.clone()))
}

/// Connects, and believes what is in the file of certificates now.
pub(crate) async fn connect(
    server: &Running,
    files: &TlsFiles,
    alpn: &[&str],
) -> std::io::Result<TlsStream<TcpStream>> {
    let mut roots = RootCertStore::empty();
    let text = bailiwick_config::files::read_document(&files.certificates).unwrap();
    roots.add(CertificateDer::from_pem_slice(text.as_bytes()).unwrap()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = alpn.iter().map(|name| name.as_bytes().to_vec()).collect();
    let name = ServerName::try_from("localhost").unwrap();
    TlsConnector::from(Arc::new(config)).connect(name, server.connect().await).await
}

async fn over_http1(server: &Running, files: &TlsFiles, lines: &str) -> Answer {
    over_http1_to(server, files, "/who", lines).await
}

async fn over_http1_to(server: &Running, files: &TlsFiles, path: &str, lines: &str) -> Answer {
    let mut stream = connect(server, files, &["http/1.1"]).await.unwrap();
    let port = server.address.port();
    let request =
        format!("GET {path} HTTP/1.1\r\nhost: localhost:{port}\r\nconnection: close\r\n{lines}\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut all = Vec::new();
    let _end = tokio::time::timeout(PATIENCE, stream.read_to_end(&mut all)).await.unwrap();
    Answer::read(&String::from_utf8_lossy(&all))
}

/// A request over HTTP/2; the status and the code in the body.
async fn over_http2(server: &Running, files: &TlsFiles, request: http::Request<()>) -> Option<(u16, String)> {
    let stream = connect(server, files, &["h2"]).await.unwrap();
    assert_eq!(stream.get_ref().1.alpn_protocol(), Some(&b"h2"[..]));
    let (mut asks, connection) = h2::client::handshake(stream).await.unwrap();
    let driven = tokio::spawn(connection);
    let (answer, _) = asks.send_request(request, true).unwrap();
    let answer = tokio::time::timeout(PATIENCE, answer).await.unwrap();
    let told = match answer {
        Ok(answer) => {
            let status = answer.status().as_u16();
            let mut body = answer.into_body();
            let mut all = Vec::new();
            while let Some(piece) = body.data().await {
                let piece: Bytes = piece.unwrap();
                body.flow_control().release_capacity(piece.len()).unwrap();
                all.extend_from_slice(&piece);
            }
            let value: serde_json::Value = serde_json::from_slice(&all).unwrap_or_default();
            Some((status, value["code"].as_str().unwrap_or_default().to_owned()))
        }
        Err(_) => None,
    };
    driven.abort();
    told
}

fn request(server: &Running, authority: &str, headers: &[(&str, &str)]) -> http::Request<()> {
    let authority = authority.replace("PORT", &server.address.port().to_string());
    let mut request = http::Request::builder().uri(format!("https://{authority}/who"));
    for (name, value) in headers {
        request = request.header(*name, value.replace("PORT", &server.address.port().to_string()));
    }
    request.body(()).unwrap()
}

#[tokio::test]
async fn both_versions_are_spoken_and_browsers_are_told_to_stay() {
    let folder = tempfile::tempdir().unwrap();
    let files = certify(folder.path());
    let server = start(&files);
    let answer = over_http1(&server, &files, "").await;
    assert_eq!((answer.status, answer.header("strict-transport-security")), (200, Some("max-age=31536000")));
    let port = server.address.port();
    assert_eq!(
        over_http1(&server, &files, &format!("origin: https://localhost:{port}\r\n")).await.status,
        200
    );
    assert_eq!(
        over_http1(&server, &files, &format!("origin: http://localhost:{port}\r\n")).await.status,
        403
    );
    for (authority, headers, expected) in [
        ("localhost:PORT", vec![], Some((200, ""))),
        ("localhost:PORT", vec![("x-api-key", GOOD)], Some((200, ""))),
        ("localhost:PORT", vec![("x-api-key", EXPIRED)], Some((401, "UNAUTHORIZED"))),
        ("localhost:PORT", vec![("origin", "https://evil.example")], Some((403, "FORBIDDEN"))),
        ("evil.example", vec![], Some((421, "FORBIDDEN"))),
        ("localhost:PORT", vec![("host", "evil.example")], Some((400, "INVALID_INPUT"))),
    ] {
        let got = over_http2(&server, &files, request(&server, authority, &headers)).await;
        let got = got.as_ref().map(|(status, code)| (*status, code.as_str()));
        assert_eq!(got, expected, "{authority} {headers:?}");
    }
    let mut many = http::Request::builder().uri(format!("https://localhost:{port}/who"));
    for number in 0..150 {
        many = many.header(format!("x-{number}"), "y");
    }
    let got = over_http2(&server, &files, many.body(()).unwrap()).await;
    assert_eq!(got.map(|(status, _)| status), Some(431));
    let large = http::Request::builder().uri(format!("https://localhost:{port}/who"));
    let large = large.header("x-large", "y".repeat(64 << 10)).body(()).unwrap();
    let got = over_http2(&server, &files, large).await;
    assert!(got.as_ref().is_none_or(|(status, _)| *status == 431), "{got:?}");
    server.end().await;
}

/// Over HTTP/2 nothing is stuck in the socket where a client opens no window: the answer waits in the server.
#[tokio::test]
async fn whoever_does_not_take_an_answer_over_http2_is_given_up() {
    let folder = tempfile::tempdir().unwrap();
    let files = certify(folder.path());
    let server = Running::start(|server, serving| {
        server.tls = Some(files.clone());
        serving.bounds.write = Duration::from_millis(300);
    });
    let port = server.address.port();
    for window in [0, 1, 20_000] {
        let stream = connect(&server, &files, &["h2"]).await.unwrap();
        let mut builder = h2::client::Builder::new();
        builder.initial_window_size(window);
        let (mut asks, connection) = builder.handshake::<_, Bytes>(stream).await.unwrap();
        let driven = tokio::spawn(connection);
        let large = http::Request::builder().uri(format!("https://localhost:{port}/large"));
        let large = large.header("x-api-key", GOOD).body(()).unwrap();
        let (answer, _) = asks.send_request(large, true).unwrap();
        let answer = tokio::time::timeout(PATIENCE, answer).await.unwrap().unwrap();
        assert_eq!(answer.status(), 200);
        // It is held, nothing of it is taken, and pings are answered.
        let ended = tokio::time::timeout(PATIENCE, driven).await;
        assert!(ended.is_ok(), "with a window of {window} bytes the answer is held for ever");
        drop(answer);
    }
    server.end().await;
}

/// Rapid reset: each request begins to wait inside, and is taken back at once.
#[tokio::test]
async fn requests_that_are_taken_back_at_once_leave_nothing_under_way() {
    let folder = tempfile::tempdir().unwrap();
    let files = certify(folder.path());
    let server = start(&files);
    let port = server.address.port();
    let (mut tried, mut connections) = (0, 0);
    while tried < 2000 {
        connections += 1;
        let stream = connect(&server, &files, &["h2"]).await.unwrap();
        let (asks, connection) = h2::client::handshake(stream).await.unwrap();
        let driven = tokio::spawn(connection);
        let mut asks = Some(asks);
        // A connection may be ended for that; then another one goes on.
        while let Some(ready) = asks.take().filter(|_| tried < 2000) {
            let Ok(mut ready) = ready.ready().await else { break };
            let waits = http::Request::builder().uri(format!("https://localhost:{port}/waits"));
            let waits = waits.header("x-api-key", GOOD).body(()).unwrap();
            let Ok((_, mut sends)) = ready.send_request(waits, false) else { break };
            sends.send_reset(h2::Reason::CANCEL);
            tried += 1;
            asks = Some(ready);
        }
        driven.abort();
    }
    assert!(connections < 1000, "{connections} connections");
    let gone = async {
        loop {
            let answer = over_http1_to(&server, &files, "/metrics", &format!("x-api-key: {GOOD}\r\n")).await;
            // This very request is under way, and no other.
            if answer.body.contains("bailiwick_http_requests_under_way 1\n") {
                return;
            }
        }
    };
    tokio::time::timeout(PATIENCE, gone).await.expect("requests are under way for ever");
    server.end().await;
}

#[tokio::test]
async fn what_is_not_tls_is_closed() {
    let folder = tempfile::tempdir().unwrap();
    let files = certify(folder.path());
    let server = start(&files);
    for garbage in
        ["GET /who HTTP/1.1\r\nhost: localhost\r\n\r\n", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "\0\0\0\0"]
    {
        assert!(!server.raw(garbage).await.contains("HTTP/1.1 200"), "{garbage:?}");
    }
    let mut stream = connect(&server, &files, &["h2"]).await.unwrap();
    let garbage = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff";
    stream.write_all(garbage).await.unwrap();
    let mut all = Vec::new();
    let _end = tokio::time::timeout(PATIENCE, stream.read_to_end(&mut all)).await.expect("it was not closed");
    server.end().await;
}

#[tokio::test]
async fn a_handshake_that_does_not_come_ends_the_connection() {
    let folder = tempfile::tempdir().unwrap();
    let files = certify(folder.path());
    let server = Running::start(|server, serving| {
        server.tls = Some(files.clone());
        serving.bounds.head = Duration::from_millis(200);
    });
    assert_eq!(server.raw("").await, "");
    server.end().await;
}

#[tokio::test]
async fn new_certificates_are_taken_while_old_connections_go_on() {
    let folder = tempfile::tempdir().unwrap();
    let files = certify(folder.path());
    let server = start(&files);
    let mut old = connect(&server, &files, &["http/1.1"]).await.unwrap();
    certify(folder.path());
    let renewed = async {
        while connect(&server, &files, &["http/1.1"]).await.is_err() {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    tokio::time::timeout(PATIENCE, renewed).await.expect("the new certificate is never shown");
    let port = server.address.port();
    let request = format!("GET /who HTTP/1.1\r\nhost: localhost:{port}\r\nconnection: close\r\n\r\n");
    old.write_all(request.as_bytes()).await.unwrap();
    let mut all = Vec::new();
    let _end = tokio::time::timeout(PATIENCE, old.read_to_end(&mut all)).await.unwrap();
    assert_eq!(Answer::read(&String::from_utf8_lossy(&all)).status, 200);
    server.end().await;
}

/// Keeps every word of every event and span, whoever speaks.
#[derive(Clone, Default)]
struct Everything(Arc<Mutex<Vec<u8>>>);

impl Write for Everything {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn nothing_of_a_key_is_ever_logged() {
    let everything = Everything::default();
    let writer = everything.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::TRACE)
        .with_span_events(tracing_subscriber::fmt::format::FmtSpan::FULL)
        .with_writer(move || writer.clone())
        .finish();
    // The runtime of this test has one thread, and all of the server is on it.
    let _heard = tracing::subscriber::set_default(subscriber);
    let folder = tempfile::tempdir().unwrap();
    let files = certify(folder.path());
    let secure = start(&files);
    let plain = Running::plain();
    for key in [GOOD, EXPIRED, REVOKED, SLOW, "bwk_0_the-secret-part-of-nothing"] {
        let bearer = format!("authorization: Bearer {key}");
        let own = format!("x-api-key: {key}");
        plain.ask("GET", "/who", &[&bearer]).await;
        plain.ask("GET", "/who", &[&own]).await;
        plain.ask("GET", &format!("/who?token={key}"), &[]).await;
        plain.ask("GET", "/panics", &[&own]).await;
        plain.ask("POST", "/who", &[&own, "content-length: 4", "content-length: 4"]).await;
        over_http1(&secure, &files, &format!("{bearer}\r\n")).await;
        over_http2(&secure, &files, request(&secure, "localhost:PORT", &[("x-api-key", key)])).await;
        let bearer = format!("Bearer {key}");
        over_http2(&secure, &files, request(&secure, "localhost:PORT", &[("authorization", &bearer)])).await;
    }
    plain.end().await;
    secure.end().await;
    let said = String::from_utf8_lossy(&everything.0.lock().unwrap()).into_owned();
    assert!(said.contains("h2::") && said.contains("a handler panicked"), "not everything was heard: {said}");
    assert!(!said.contains("secret-part"), "{said}");
}
