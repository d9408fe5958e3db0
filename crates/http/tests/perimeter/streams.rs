//! Streams of what is mounted at `/mcp`: nothing holds an event back, nothing cuts one that is silent for long, and each
//! ends with the server as it should.

use std::time::Duration;

use tokio::io::AsyncReadExt as _;

use crate::ends::{read_until, send};
use crate::server::{Answer, Running, read_all};

const WATCHES: &str = "GET /mcp HTTP/1.1\r\nhost: HOST\r\naccept-encoding: gzip, br, zstd, deflate\r\n\r\n";
const CALLS: &str =
    "POST /mcp HTTP/1.1\r\nhost: HOST\r\naccept-encoding: gzip\r\ncontent-length: 6\r\n\r\nstream";

#[tokio::test]
async fn an_event_goes_out_at_once_to_whoever_takes_packed_answers() {
    let server = Running::plain();
    for request in [WATCHES, CALLS] {
        let mut stream = send(&server, request).await;
        // The stream does not end until it is told to, so this is not what came out at its end.
        let began = read_until(&mut stream, "data: hello\n\n").await;
        let answer = Answer::read(&began);
        assert_eq!(answer.header("content-type"), Some("text/event-stream"), "{began}");
        assert_eq!(answer.header("content-encoding"), None, "{began}");
        server.stage.go.add_permits(1);
        assert!(read_all_of(&mut stream).await.contains("data: later\n\n"));
    }
    server.end().await;
}

/// What comes until a chunked body ends.
async fn read_all_of(stream: &mut tokio::net::TcpStream) -> String {
    read_until(stream, "0\r\n\r\n").await
}

#[tokio::test]
async fn a_stream_that_waits_for_a_person_outlasts_every_bound() {
    let server = Running::plain();
    for request in [CALLS, WATCHES] {
        let mut stream = send(&server, request).await;
        read_until(&mut stream, "data: hello\n\n").await;
        // From here on hours go by in a moment: whatever waits for a time is woken when its time comes.
        tokio::time::pause();
        tokio::time::sleep(Duration::from_hours(3)).await;
        server.stage.go.add_permits(1);
        let mut rest = String::new();
        let mut buffer = [0; 4096];
        while !rest.ends_with("0\r\n\r\n") {
            let count = stream.read(&mut buffer).await.unwrap();
            assert_ne!(count, 0, "it was cut after {rest:?}");
            rest.push_str(&String::from_utf8_lossy(&buffer[..count]));
        }
        assert!(rest.contains("data: later\n\n"), "{rest}");
        tokio::time::resume();
    }
    server.end().await;
}

#[tokio::test]
async fn whoever_watches_the_service_is_sent_away_at_the_end_and_a_call_goes_on() {
    let server = Running::plain();
    let mut watcher = send(&server, WATCHES).await;
    let mut caller = send(&server, CALLS).await;
    read_until(&mut watcher, "data: hello\n\n").await;
    read_until(&mut caller, "data: hello\n\n").await;
    server.closing.begin();
    let rest = read_all(&mut watcher).await;
    assert!(rest.ends_with("0\r\n\r\n") && !rest.contains("later"), "{rest}");
    server.stage.go.add_permits(1);
    let rest = read_all(&mut caller).await;
    assert!(rest.ends_with("0\r\n\r\n") && rest.contains("later"), "{rest}");
    server.end().await;
}
