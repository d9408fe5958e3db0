//! Long bodies and busy tunnels between sockets, where the kernel passes the bytes on: everything comes, in order, to the byte
//! where it ends, and nothing of what follows.

use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;

use super::super::bulk::{Broken, pass_on};
use super::super::line::{Activity, Line};
use super::tunnels::{greeting, names};
use super::*;

/// More than all buffers on the way together.
const LONG: usize = 24 << 20;

/// Bytes of which no two stretches are alike.
fn bytes(count: usize) -> Vec<u8> {
    let mut state = 7_u32;
    let words = std::iter::repeat_with(|| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state.to_be_bytes()
    });
    words.flatten().take(count).collect()
}

/// Two ends of a connection.
async fn pair() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (ours, theirs) = tokio::join!(TcpStream::connect(listener.local_addr().unwrap()), listener.accept());
    (ours.unwrap(), theirs.unwrap().0)
}

/// A connection to the proxy inside, which is a socket.
async fn proxied_socket(outlet: &Arc<dyn Outlet>) -> TcpStream {
    let (ours, theirs) = pair().await;
    tokio::spawn(outlet.proxied(Box::new(theirs)));
    ours
}

/// A world with one listener behind `a.test`, for one port.
async fn listening(port: u16) -> (World, TcpListener) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let mut world = World::new().names(&[("a.test", &[PUBLIC])]);
    let pretended = format!("{PUBLIC}:{port}").parse().unwrap();
    world.routes = world.routes.route(pretended, listener.local_addr().unwrap());
    (world, listener)
}

#[test]
fn a_long_answer_comes_whole_and_the_next_one_begins_behind_it() {
    run(async {
        let (world, listener) = listening(80).await;
        let outlet = world.outlet("allow:a.test:80");
        let host = tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            head(&mut stream).await;
            let first = format!("HTTP/1.1 200 OK\r\nContent-Length: {LONG}\r\n\r\n");
            // The second answer comes right behind the first one.
            let second = b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nsecond";
            let all = [first.as_bytes(), &bytes(LONG), second].concat();
            stream.write_all(&all).await.unwrap();
            head(&mut stream).await
        });
        let mut stream = proxied_socket(&outlet).await;
        stream.write_all(get("http://a.test/first").as_bytes()).await.unwrap();
        assert!(head(&mut stream).await.contains(&format!("content-length: {LONG}\r\n")));
        let mut body = vec![0; LONG];
        stream.read_exact(&mut body).await.unwrap();
        assert!(body == bytes(LONG), "it came as it was sent");
        // What nobody asked for is not passed on; and the host is not asked again on that connection.
        stream.shutdown().await.unwrap();
        assert_eq!(rest(&mut stream).await, "");
        assert_eq!(host.await.unwrap(), "");
    });
}

#[test]
fn a_busy_tunnel_carries_both_ways_at_once_to_both_ends() {
    run(async {
        let (world, listener) = listening(443).await;
        let outlet = world.outlet("allow:a.test");
        let hello = greeting(&[names(&["a.test"])]);
        let length = hello.len();
        let host = tokio::spawn(async move {
            let (stream, _) = listener.accept().await.unwrap();
            let (mut from, mut to) = stream.into_split();
            let back = tokio::spawn(async move {
                to.write_all(&bytes(LONG)).await.unwrap();
                to.shutdown().await.unwrap();
            });
            let mut got = Vec::new();
            from.read_to_end(&mut got).await.unwrap();
            back.await.unwrap();
            got
        });
        let mut stream = proxied_socket(&outlet).await;
        stream.write_all(b"CONNECT a.test:443 HTTP/1.1\r\nHost: a.test:443\r\n\r\n").await.unwrap();
        assert!(head(&mut stream).await.starts_with("HTTP/1.1 200 "));
        let (mut from, mut to) = stream.into_split();
        let there = tokio::spawn(async move {
            to.write_all(&hello).await.unwrap();
            to.write_all(&bytes(LONG)).await.unwrap();
            to.shutdown().await.unwrap();
        });
        let mut came = Vec::new();
        from.read_to_end(&mut came).await.unwrap();
        there.await.unwrap();
        assert!(came == bytes(LONG), "what comes back is whole");
        assert!(host.await.unwrap()[length..] == bytes(LONG), "what goes there is whole");
    });
}

#[test]
fn an_answer_that_is_cut_is_told_as_cut_and_holds_nothing() {
    run(async {
        let (world, listener) = listening(80).await;
        let outlet = world.outlet("allow:a.test:80");
        tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            head(&mut stream).await;
            let first = format!("HTTP/1.1 200 OK\r\nContent-Length: {LONG}\r\n\r\n");
            stream.write_all(&[first.as_bytes(), &bytes(LONG / 2)].concat()).await.unwrap();
        });
        let mut stream = proxied_socket(&outlet).await;
        stream.write_all(get("http://a.test/").as_bytes()).await.unwrap();
        head(&mut stream).await;
        let mut body = Vec::new();
        // It may be reset, which is as plain as an end.
        let _ = stream.read_to_end(&mut body).await;
        assert_eq!(body.len(), LONG / 2, "as much as there was, and an end");
    });
}

/// What is moved between two sockets while somebody writes so much and then waits.
async fn moved(sent: usize, most: u64, ends: bool) -> (u64, usize) {
    let ((mut source, from), (to, mut sink)) = (pair().await, pair().await);
    let (over, is_over) = oneshot::channel::<()>();
    let writing = tokio::spawn(async move {
        source.write_all(&vec![7; sent]).await.unwrap();
        if !ends {
            let _ = is_over.await;
        }
    });
    let reading = tokio::spawn(async move {
        let mut got = Vec::new();
        sink.read_to_end(&mut got).await.unwrap();
        got.len()
    });
    let (mut from, mut to) = (Line::tcp(from), Line::tcp(to));
    let count = pass_on(&mut from.reader, &mut to.writer, most, &Activity::default()).await;
    let count = count.unwrap();
    drop((to, over));
    // It may still have something to write that nobody takes any more.
    drop(from);
    writing.abort();
    (count, reading.await.unwrap())
}

#[test]
fn no_more_is_moved_than_may_be_and_a_pause_or_an_end_gives_the_pipe_back() {
    run(async {
        for (sent, most, ends, expected) in [
            (LONG, LONG as u64, true, LONG as u64),
            (LONG, u64::MAX, true, LONG as u64),
            (LONG, u64::MAX, false, LONG as u64),
            (200_000, 100_001, true, 100_001),
            (0, u64::MAX, true, 0),
            (0, u64::MAX, false, 0),
        ] {
            let (count, got) = moved(sent, most, ends).await;
            assert_eq!((count, got as u64), (expected, expected), "{sent} {most} {ends}");
        }
    });
}

#[test]
fn who_goes_away_is_told_apart() {
    run(async {
        let ((mut source, from), (to, sink)) = (pair().await, pair().await);
        drop(sink);
        let writing = tokio::spawn(async move { while source.write_all(&[7; 8192]).await.is_ok() {} });
        let (mut from, mut to) = (Line::tcp(from), Line::tcp(to));
        let broken = pass_on(&mut from.reader, &mut to.writer, u64::MAX, &Activity::default()).await;
        assert!(matches!(broken, Err(Broken::To(_))), "{broken:?}");
        drop(from);
        writing.await.unwrap();
    });
}

#[test]
fn what_is_no_socket_is_left_to_whoever_asked() {
    run(async {
        let (ours, theirs) = tokio::io::duplex(1024);
        let (_source, from) = pair().await;
        let (mut from, mut to) = (Line::tcp(from), Line::new(ours));
        let nothing = pass_on(&mut from.reader, &mut to.writer, u64::MAX, &Activity::default()).await;
        assert!(matches!(nothing, Ok(0)), "{nothing:?}");
        drop(theirs);
    });
}
