//! What connections may cost: how many, how slow, how large.

use std::path::Path;
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::server::{Answer, GOOD, PATIENCE, Running, read_all};

/// Memory of this process that is really used, in bytes.
pub(crate) fn resident() -> usize {
    let text = bailiwick_config::files::read_document(Path::new("/proc/self/statm")).unwrap();
    text.split(' ').nth(1).unwrap().parse::<usize>().unwrap() * 4096
}

#[tokio::test]
async fn a_head_that_does_not_come_ends_the_connection() {
    let server = Running::start(|_, serving| serving.bounds.head = Duration::from_millis(300));
    for begun in ["", "GET /who HT", "GET /who HTTP/1.1\r\nhost: HOST\r\nx-slow: "] {
        let began = Instant::now();
        let text = server.raw(begun.replace("HOST", &server.address.to_string())).await;
        assert!(!text.contains(" 200 "), "{begun:?}: {text}");
        assert!(began.elapsed() >= Duration::from_millis(300), "{begun:?} was not waited for");
    }
    server.end().await;
}

#[tokio::test]
async fn a_head_that_drips_ends_the_connection_too() {
    let server = Running::start(|_, serving| serving.bounds.head = Duration::from_millis(300));
    let mut stream = server.connect().await;
    stream.write_all(format!("GET /who HTTP/1.1\r\nhost: {}\r\n", server.address).as_bytes()).await.unwrap();
    let drips = async {
        // Until somebody has had enough of it.
        while stream.write_all(b"x-drip: drop\r\n").await.is_ok() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(PATIENCE, drips).await.expect("it dripped for ever");
    server.end().await;
}

#[tokio::test]
async fn a_connection_that_asks_nothing_more_is_closed() {
    let server = Running::start(|_, serving| serving.bounds.head = Duration::from_millis(300));
    let text = server.raw(format!("GET /healthz HTTP/1.1\r\nhost: {}\r\n\r\n", server.address)).await;
    assert_eq!(Answer::read(&text).status, 200);
    server.end().await;
}

#[tokio::test]
async fn a_body_that_does_not_come_is_a_refusal() {
    let server = Running::start(|_, serving| serving.bounds.body_pause = Duration::from_millis(200));
    for begun in ["content-length: 10\r\n\r\nabc", "transfer-encoding: chunked\r\n\r\n5\r\nab"] {
        let head = format!("POST /echo HTTP/1.1\r\nhost: {}\r\n", server.address);
        let answer = Answer::read(&server.raw(format!("{head}{begun}")).await);
        assert_eq!((answer.status, answer.code().as_str()), (408, "INVALID_INPUT"), "{begun}");
    }
    server.end().await;
}

#[tokio::test]
async fn a_body_that_drips_is_a_refusal_too() {
    let server = Running::start(|_, serving| serving.bounds.body_in_all = Duration::from_millis(300));
    let mut stream = server.connect().await;
    let head = format!("POST /echo HTTP/1.1\r\nhost: {}\r\ncontent-length: 1000000\r\n\r\n", server.address);
    stream.write_all(head.as_bytes()).await.unwrap();
    let (mut read, mut write) = stream.into_split();
    let drips = tokio::spawn(async move {
        while write.write_all(b"x").await.is_ok() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    });
    let mut answer = vec![0; 64];
    let count = tokio::time::timeout(PATIENCE, read.read(&mut answer)).await.unwrap().unwrap();
    assert!(String::from_utf8_lossy(&answer[..count]).starts_with("HTTP/1.1 408"));
    drips.abort();
    server.end().await;
}

#[tokio::test]
async fn an_answer_that_nobody_reads_is_given_up() {
    let server = Running::start(|_, serving| serving.bounds.write = Duration::from_millis(300));
    let mut stream = server.connect().await;
    let request = format!("GET /endless HTTP/1.1\r\nhost: {}\r\n\r\n", server.address);
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut buffer = vec![0; 1024];
    assert_ne!(stream.read(&mut buffer).await.unwrap(), 0);
    // Nothing is read until the server has given up; then what is in between comes, and the end.
    let counted = server.connect().await;
    drop(counted);
    let gone = async {
        loop {
            let body = server.ask("GET", "/metrics", &[]).await.body;
            // This very request is under way, and no other.
            if body.contains("bailiwick_http_requests_under_way 1\n") {
                return;
            }
        }
    };
    tokio::time::timeout(PATIENCE, gone).await.expect("the answer is held for ever");
    server.end().await;
}

#[tokio::test]
async fn connections_beyond_the_bound_are_told_so_and_there_is_room_again_afterwards() {
    for by_peer in [false, true] {
        let server = Running::start(|_, serving| {
            if by_peer {
                serving.bounds.from_here = 5;
            } else {
                serving.bounds.connections = 5;
            }
        });
        let mut held = Vec::new();
        for _ in 0..5 {
            // The operator's, and busy: none of them makes room.
            let mut stream = server.connect().await;
            let request = format!(
                "GET /v1/events HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {GOOD}\r\n\r\n",
                server.address
            );
            stream.write_all(request.as_bytes()).await.unwrap();
            let mut first = [0; 1];
            stream.read_exact(&mut first).await.unwrap();
            held.push(stream);
        }
        let answer = server.ask("GET", "/healthz", &[]).await;
        assert_eq!((answer.status, answer.code().as_str()), (503, "BUSY"));
        assert_eq!(answer.header("retry-after"), Some("1"));
        drop(held);
        let room = async { while server.ask("GET", "/healthz", &[]).await.status != 200 {} };
        tokio::time::timeout(PATIENCE, room).await.unwrap();
        server.end().await;
    }
}

#[tokio::test]
async fn five_hundred_half_open_connections_cost_little_and_others_are_served() {
    let server = Running::plain();
    // What one connection costs once is not counted: tables, buffers of the allocator.
    for _ in 0..20 {
        server.ask("GET", "/healthz", &[]).await;
    }
    let before = resident();
    let mut held: Vec<TcpStream> = Vec::new();
    for _ in 0..500 {
        let Ok(mut stream) = TcpStream::connect(server.address).await else { break };
        if stream.write_all(b"GET /who HTTP/1.1\r\nhost: ").await.is_err() {
            break;
        }
        held.push(stream);
    }
    assert!(held.len() >= 400, "only {} connections", held.len());
    assert_eq!(server.ask("GET", "/healthz", &[]).await.status, 200);
    let each = resident().saturating_sub(before) / held.len();
    assert!(each < 64 << 10, "{each} bytes for a connection");
    drop(held);
    server.end().await;
}

#[tokio::test]
async fn a_body_of_a_hundred_megabytes_is_refused_before_it_is_read() {
    let server = Running::plain();
    let before = resident();
    let head = format!("POST /echo HTTP/1.1\r\nhost: {}\r\n", server.address);
    // Declared: not a byte of it is waited for.
    let answer = Answer::read(&server.raw(format!("{head}content-length: 104857600\r\n\r\n")).await);
    assert_eq!((answer.status, answer.code().as_str()), (413, "INVALID_INPUT"));
    // A route that does not look at its body is no way around.
    let ignored = head.replace("/echo", "/ignores");
    let answer = Answer::read(&server.raw(format!("{ignored}content-length: 104857600\r\n\r\n")).await);
    assert_eq!(answer.status, 413);
    // Chunked: it ends soon after its bound.
    let mut stream = server.connect().await;
    stream.write_all(format!("{head}transfer-encoding: chunked\r\n\r\n").as_bytes()).await.unwrap();
    let (mut read, mut write) = stream.into_split();
    let writer = tokio::spawn(async move {
        let chunk = format!("100000\r\n{}\r\n", "x".repeat(1 << 20));
        let mut sent = 0;
        while sent < 100 && write.write_all(chunk.as_bytes()).await.is_ok() {
            sent += 1;
        }
        sent
    });
    let mut all = Vec::new();
    let _reset = tokio::time::timeout(PATIENCE, read.read_to_end(&mut all)).await.unwrap();
    let answer = Answer::read(&String::from_utf8_lossy(&all));
    assert_eq!((answer.status, answer.code().as_str()), (413, "INVALID_INPUT"));
    assert!(writer.await.unwrap() < 20, "all of it was taken");
    assert!(resident().saturating_sub(before) < 32 << 20);
    // The whole bound is not too much.
    let full = "x".repeat(1 << 20);
    assert_eq!(server.ask_with("POST", "/echo", &[], &full).await.body, (1 << 20).to_string());
    server.end().await;
}

#[tokio::test]
async fn a_client_that_waits_for_a_word_before_a_large_body_is_refused_without_it() {
    let server = Running::plain();
    let mut stream = server.connect().await;
    let head = "POST /echo HTTP/1.1\r\nexpect: 100-continue\r\ncontent-length: 104857600\r\n";
    stream.write_all(format!("{head}host: {}\r\n\r\n", server.address).as_bytes()).await.unwrap();
    let text = read_all(&mut stream).await;
    assert!(text.starts_with("HTTP/1.1 413"), "{text}");
    server.end().await;
}

#[tokio::test]
async fn a_body_that_has_not_come_holds_no_slot() {
    let server = Running::start(|server, _| server.calls = 1);
    let mut slow = server.connect().await;
    let head = format!(
        "POST /v1/execute HTTP/1.1\r\nhost: {}\r\ncontent-type: text/plain\r\ncontent-length: 9\r\n\r\nr",
        server.address
    );
    slow.write_all(head.as_bytes()).await.unwrap();
    // Asked until the first is sure to be there: none of them is told that there is no room.
    for _ in 0..20 {
        let answer = server.ask_with("POST", "/v1/execute", &["content-type: text/plain"], "more").await;
        assert_eq!(answer.status, 200, "{answer:?}");
    }
    server.end().await;
}
