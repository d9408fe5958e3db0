//! What callers share, and how a caller with a key gets through while others take all they can get: connections, memory of
//! bodies, slots for calls.

use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::connections::resident;
use crate::encrypted::{certify, connect};
use crate::server::{Answer, GOOD, PATIENCE, Running, SLOW, read_all};

/// Sends this over a connection of its own, and leaves it open.
async fn held(server: &Running, bytes: impl AsRef<[u8]>) -> TcpStream {
    let mut stream = server.connect().await;
    // A server may refuse before it has read all.
    let _sent = stream.write_all(bytes.as_ref()).await;
    stream
}

/// Waits until the server has answered, and gives the status.
async fn status(stream: &mut TcpStream) -> u16 {
    let mut head = vec![0; 12];
    let read = tokio::time::timeout(PATIENCE, stream.read_exact(&mut head)).await.expect("no answer came");
    read.expect("the connection was cut");
    String::from_utf8_lossy(&head)[9..12].parse().unwrap()
}

fn key(key: &str) -> String {
    format!("authorization: Bearer {key}")
}

#[tokio::test]
async fn idle_connections_never_keep_a_caller_with_a_key_out() {
    for in_all in [true, false] {
        let server = Running::start(|_, serving| {
            *(if in_all { &mut serving.bounds.connections } else { &mut serving.bounds.from_here }) = 24;
        });
        let host = server.address;
        let states = [
            String::new(),
            "GET /who HT".to_owned(),
            format!("GET /healthz HTTP/1.1\r\nhost: {host}\r\n\r\n"),
            format!("GET /who HTTP/1.1\r\nhost: {host}\r\n\r\n"),
            format!("GET /who HTTP/1.1\r\nhost: {host}\r\nauthorization: Bearer wrong\r\n\r\n"),
        ];
        let mut idle = Vec::new();
        for number in 0..120 {
            idle.push(held(&server, &states[number % states.len()]).await);
        }
        for _ in 0..30 {
            let answer = server.ask("GET", "/who", &[&key(GOOD)]).await;
            assert_eq!(answer.status, 200, "{answer:?}");
            idle.push(held(&server, "").await);
        }
        drop(idle);
        server.end().await;
    }
}

#[tokio::test]
async fn a_connection_that_showed_a_key_goes_after_those_that_did_not() {
    let server = Running::start(|_, serving| serving.bounds.connections = 8);
    let request = format!("GET /who HTTP/1.1\r\nhost: {}\r\n{}\r\n\r\n", server.address, key(SLOW));
    let mut keyed = held(&server, &request).await;
    assert_eq!(status(&mut keyed).await, 200);
    let mut idle = Vec::new();
    for _ in 0..40 {
        idle.push(held(&server, "").await);
    }
    // All of the first of them are gone, and the key's connection is there.
    let mut first = idle.swap_remove(0);
    assert_eq!(read_all(&mut first).await, "");
    let mut buffer = [0; 1 << 12];
    while !String::from_utf8_lossy(&buffer).contains("scopes") {
        assert_ne!(keyed.read(&mut buffer).await.unwrap(), 0);
    }
    keyed
        .write_all(format!("GET /healthz HTTP/1.1\r\nhost: {}\r\n\r\n", server.address).as_bytes())
        .await
        .unwrap();
    assert_eq!(status(&mut keyed).await, 200);
    drop(idle);
    server.end().await;
}

#[tokio::test]
async fn idle_connections_over_tls_never_keep_a_caller_with_a_key_out() {
    let folder = tempfile::tempdir().unwrap();
    let files = certify(folder.path());
    let server = Running::start(|server, serving| {
        server.tls = Some(files.clone());
        serving.bounds.from_here = 12;
    });
    // Before the handshake, and after it, in both versions of HTTP.
    let (mut silent, mut spoken) = (Vec::new(), Vec::new());
    for number in 0..30 {
        silent.push(held(&server, "").await);
        let alpn = if number % 2 == 0 { "h2" } else { "http/1.1" };
        spoken.push(connect(&server, &files, &[alpn]).await.unwrap());
    }
    for _ in 0..10 {
        let mut stream = connect(&server, &files, &["http/1.1"]).await.unwrap();
        let port = server.address.port();
        let request = format!("GET /who HTTP/1.1\r\nhost: localhost:{port}\r\n{}\r\n\r\n", key(GOOD));
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut start = vec![0; 12];
        tokio::time::timeout(PATIENCE, stream.read_exact(&mut start)).await.unwrap().unwrap();
        assert_eq!(start, b"HTTP/1.1 200");
        spoken.push(stream);
    }
    drop((silent, spoken));
    server.end().await;
}

#[tokio::test]
async fn busy_connections_of_others_leave_room_for_the_operator() {
    for (credentials, may) in [(String::new(), 12), (format!("{}\r\n", key(SLOW)), 14)] {
        let server = Running::start(|server, serving| {
            serving.bounds.from_here = 16;
            server.at_once = 1000;
        });
        // A stream that lasts: of callers without a key, and of a key without `operate`.
        let request = format!("GET /v1/events HTTP/1.1\r\nhost: {}\r\n{credentials}\r\n", server.address);
        let mut streams = Vec::new();
        let mut accepted = 0;
        while accepted < may {
            let mut stream = held(&server, &request).await;
            match status(&mut stream).await {
                200 => accepted += 1,
                // The key has a rate of one in a second.
                429 => tokio::time::sleep(Duration::from_millis(100)).await,
                other => panic!("{other} after {accepted}"),
            }
            streams.push(stream);
        }
        let refused = async {
            loop {
                let answer = server.ask("GET", "/who", &[credentials.trim_end()]).await;
                if answer.status != 429 {
                    return answer;
                }
            }
        };
        let refused = tokio::time::timeout(PATIENCE, refused).await.unwrap();
        assert_eq!((refused.status, refused.code().as_str()), (503, "BUSY"), "{refused:?}");
        assert_eq!(refused.header("retry-after"), Some("1"));
        for _ in 0..5 {
            assert_eq!(server.ask("GET", "/who", &[&key(GOOD)]).await.status, 200);
        }
        drop(streams);
        server.end().await;
    }
}

/// A body that stops one byte before its end.
fn stalled(server: &Running, path: &str, credentials: &str, bytes: usize) -> Vec<u8> {
    let head = format!(
        "POST {path} HTTP/1.1\r\nhost: {}\r\ncontent-type: application/json\r\ncontent-length: {bytes}\r\n{credentials}\r\n",
        server.address
    );
    [head.as_bytes(), &vec![b' '; bytes - 1]].concat()
}

/// The bytes of bodies that the server says are in memory.
async fn bytes_in_memory(server: &Running) -> u64 {
    let metrics = server.ask("GET", "/metrics", &[&key(GOOD)]).await.body;
    let line = metrics.lines().find_map(|line| line.strip_prefix("bailiwick_http_body_bytes "));
    line.map_or(0, |number| number.parse().unwrap())
}

#[tokio::test]
async fn stalled_bodies_are_bounded_in_sum_and_leave_room_for_others() {
    const BODY: usize = 1 << 20;
    for path in ["/echo", "/mcp"] {
        let server = Running::start(|server, _| {
            server.bodies_bytes = Some(8 << 20);
            server.body_bytes = BODY as u64;
        });
        let mut waiting = Vec::new();
        let mut refused = 0;
        for _ in 0..16 {
            let mut stream = held(&server, stalled(&server, path, "", BODY)).await;
            // One caller has a quarter of all; what is beyond is told at once, what is within waits for its last byte.
            let mut first = [0; 12];
            if tokio::time::timeout(Duration::from_secs(2), stream.read_exact(&mut first)).await.is_err() {
                waiting.push(stream);
            } else {
                assert_eq!(String::from_utf8_lossy(&first), "HTTP/1.1 503");
                let rest = read_all(&mut stream).await;
                assert!(rest.contains("\"BUSY\"") && rest.contains("server.bodies"), "{rest}");
                refused += 1;
            }
        }
        assert!(!waiting.is_empty() && waiting.len() <= 2 && refused >= 14, "{} {refused}", waiting.len());
        assert!(bytes_in_memory(&server).await <= 2 << 20);
        // Others send bodies as large as they may.
        let body = "x".repeat(BODY);
        for credentials in [GOOD, SLOW] {
            let answer = server.ask_with("POST", "/echo", &[&key(credentials)], &body).await;
            assert_eq!(answer.body, BODY.to_string(), "{answer:?}");
        }
        drop(waiting);
        let given_back = async { while bytes_in_memory(&server).await != 0 {} };
        tokio::time::timeout(PATIENCE, given_back).await.expect("bodies that are gone still count");
        server.end().await;
    }
}

#[tokio::test]
async fn memory_that_bodies_took_is_given_back() {
    const BODY: usize = 8 << 20;
    let server = Running::start(|server, _| {
        server.bodies_bytes = Some(512 << 20);
        server.body_bytes = BODY as u64;
    });
    for _ in 0..20 {
        server.ask("GET", "/healthz", &[]).await;
    }
    let before = resident();
    let request = stalled(&server, "/echo", "", BODY);
    let own = resident() - before;
    let mut waiting = Vec::new();
    for _ in 0..12 {
        waiting.push(held(&server, &request).await);
    }
    let all_read = async { while bytes_in_memory(&server).await < 12 * (BODY as u64 - (1 << 20)) {} };
    tokio::time::timeout(PATIENCE, all_read).await.expect("the bodies were not read");
    let during = resident() - before;
    assert!(during > 10 * BODY, "{during} bytes for 12 bodies");
    drop(waiting);
    let given_back = async {
        while resident().saturating_sub(before + own) > during / 8 {
            tokio::task::yield_now().await;
        }
    };
    let waited = tokio::time::timeout(PATIENCE, given_back).await;
    assert!(waited.is_ok(), "{} of {during} bytes are kept", resident().saturating_sub(before + own));
    server.end().await;
}

#[tokio::test]
async fn calls_of_others_leave_slots_for_the_operator() {
    let server = Running::start(|server, _| server.calls = 2);
    let request = |credentials: &str| {
        format!(
            "POST /v1/execute HTTP/1.1\r\nhost: {}\r\ncontent-type: text/plain\r\ncontent-length: 4\r\n{credentials}\r\nruns",
            server.address
        )
    };
    let mut running = Vec::new();
    for _ in 0..2 {
        running.push(held(&server, request("")).await);
        server.stage.waits.notified().await;
    }
    let plain = "content-type: text/plain";
    let busy = server.ask_with("POST", "/v1/execute", &[plain], "more").await;
    assert_eq!((busy.status, busy.code().as_str()), (503, "BUSY"));
    let operators = server.ask_with("POST", "/v1/execute", &[plain, &key(GOOD)], "more").await;
    assert_eq!((operators.status, operators.body.as_str()), (200, "ran"), "{operators:?}");
    server.stage.go.add_permits(2);
    for stream in &mut running {
        assert_eq!(status(stream).await, 200);
    }
    drop(running);
    server.end().await;
}

#[tokio::test]
async fn a_request_that_comes_over_a_connection_which_goes_is_answered_or_cut_and_never_hangs() {
    let server = Running::start(|_, serving| serving.bounds.connections = 4);
    let request = format!("GET /who HTTP/1.1\r\nhost: {}\r\nconnection: close\r\n\r\n", server.address);
    let mut asking = Vec::new();
    for _ in 0..64 {
        asking.push(held(&server, &request).await);
    }
    for mut stream in asking {
        let text = read_all(&mut stream).await;
        assert!(text.is_empty() || [200, 503].contains(&Answer::read(&text).status), "{text}");
    }
    server.end().await;
}
