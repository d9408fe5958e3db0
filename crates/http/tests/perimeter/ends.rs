//! How the server ends: nobody new, watchers told, calls to their end or to the end of the grace.

use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::server::{Answer, PATIENCE, Running, read_all};

pub(crate) async fn send(server: &Running, text: &str) -> TcpStream {
    let mut stream = server.connect().await;
    let request = text.replace("HOST", &server.address.to_string());
    stream.write_all(request.as_bytes()).await.unwrap();
    stream
}

/// Reads until this stands in what came.
pub(crate) async fn read_until(stream: &mut TcpStream, what: &str) -> String {
    let mut all = Vec::new();
    let mut buffer = [0; 4096];
    while !String::from_utf8_lossy(&all).contains(what) {
        let count = tokio::time::timeout(PATIENCE, stream.read(&mut buffer)).await.unwrap().unwrap();
        assert_ne!(count, 0, "ended before {what:?}: {}", String::from_utf8_lossy(&all));
        all.extend_from_slice(&buffer[..count]);
    }
    String::from_utf8_lossy(&all).into_owned()
}

#[tokio::test]
async fn a_call_that_runs_is_answered_and_nobody_new_comes_in() {
    let server = Running::plain();
    let mut call = send(&server, "GET /waits HTTP/1.1\r\nhost: HOST\r\n\r\n").await;
    server.stage.waits.notified().await;
    server.closing.begin();
    let refused = async {
        while TcpStream::connect(server.address).await.is_ok() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(PATIENCE, refused).await.unwrap();
    server.stage.go.add_permits(1);
    let answer = Answer::read(&read_all(&mut call).await);
    assert_eq!((answer.status, answer.body.as_str()), (200, "went on"));
    server.end().await;
}

#[tokio::test]
async fn an_idle_connection_is_closed_at_once() {
    // So long that it is not what closes the connection.
    let server = Running::start(|_, serving| serving.bounds.head = Duration::from_mins(5));
    let mut idle = send(&server, "GET /healthz HTTP/1.1\r\nhost: HOST\r\n\r\n").await;
    read_until(&mut idle, "fine").await;
    let began = Instant::now();
    server.closing.begin();
    assert_eq!(read_all(&mut idle).await, "");
    server.end().await;
    assert!(began.elapsed() < Duration::from_secs(15), "the grace was waited for");
}

#[tokio::test]
async fn whoever_watches_is_sent_away_and_a_streamed_call_goes_on() {
    let server = Running::start(|_, serving| serving.grace = Duration::from_millis(300));
    let mut watcher = send(&server, "GET /v1/events HTTP/1.1\r\nhost: HOST\r\n\r\n").await;
    let mut caller = send(&server, "POST /v1/events HTTP/1.1\r\nhost: HOST\r\n\r\n").await;
    read_until(&mut watcher, "hello").await;
    read_until(&mut caller, "hello").await;
    server.closing.begin();
    // A chunked body that ends well ends with an empty chunk; one that is cut does not.
    assert!(read_all(&mut watcher).await.ends_with("0\r\n\r\n"));
    assert!(!read_all(&mut caller).await.ends_with("0\r\n\r\n"));
    server.end().await;
}

#[tokio::test]
async fn what_outlasts_the_grace_is_cut() {
    let server = Running::start(|_, serving| serving.grace = Duration::from_millis(100));
    let mut call = send(&server, "GET /waits HTTP/1.1\r\nhost: HOST\r\n\r\n").await;
    server.stage.waits.notified().await;
    let began = Instant::now();
    server.closing.begin();
    assert_eq!(read_all(&mut call).await, "");
    server.end().await;
    assert!(began.elapsed() < Duration::from_secs(15));
}

#[tokio::test]
async fn it_is_not_ready_any_more_as_soon_as_the_end_begins() {
    let server = Running::plain();
    let mut kept =
        send(&server, "GET /waits HTTP/1.1\r\nhost: HOST\r\n\r\nGET /readyz HTTP/1.1\r\nhost: HOST\r\n\r\n")
            .await;
    server.stage.waits.notified().await;
    assert_eq!(server.ask("GET", "/readyz", &[]).await.status, 200);
    server.closing.begin();
    server.stage.go.add_permits(1);
    // What was sent behind a call that ran may be answered or not; a yes it is never.
    let rest = read_all(&mut kept).await;
    assert_eq!(rest.matches("HTTP/1.1 200").count(), 1, "{rest}");
    server.end().await;
}
