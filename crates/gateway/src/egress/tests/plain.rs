//! Plain requests through the proxy that are as they should be.

use bailiwick_testkit::upstream::{Gate, Piece, Request};

use super::*;

#[test]
fn a_request_is_written_anew() {
    let (world, upstream) = usual();
    let outlet = world.outlet("allow:a.test:8080");
    let words = "POST http://A.test:8080/p/../echo?q=1#frag HTTP/1.1\r\nHost: a.TEST.:8080\r\nProxy-Authorization: Basic eA==\r\n\
                 Proxy-Connection: keep-alive\r\nConnection: X-Gone, close\r\nX-Gone: 1\r\nKeep-Alive: 9\r\nTE: trailers\r\n\
                 Upgrade: h2c\r\nHTTP2-Settings: AAA\r\nX-Stays: 2\r\nContent-Length: 4\r\n\r\nbody";
    let said = ask(&outlet, words.as_bytes());
    assert!(said.starts_with("HTTP/1.1 200 "), "{said}");
    let got = upstream.requests().pop().unwrap();
    assert_eq!((&*got.method, &*got.target, &*got.text()), ("POST", "/echo?q=1", "body"));
    let names: Vec<&str> = got.headers.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["host", "x-stays", "content-length"]);
    assert_eq!(got.header("host"), Some("a.test:8080"));
}

#[test]
fn a_connection_is_used_again_for_the_same_host() {
    let (world, upstream) = usual();
    let outlet = world.outlet("allow:a.test,b.test");
    let words =
        [get("http://a.test/1"), get("http://a.test/2"), get("http://b.test/3"), get("http://a.test/4")]
            .concat();
    let said = ask(&outlet, words.as_bytes());
    assert_eq!(said.matches("HTTP/1.1 200 ").count(), 4, "{said}");
    let by: Vec<usize> = upstream.requests().iter().map(|request| request.connection).collect();
    assert_eq!(by, [1, 1, 2, 3]);
}

#[test]
fn a_host_that_closed_meanwhile_is_asked_again_where_that_does_no_harm() {
    let upstream = Upstream::http(|request: &Request| match request.path() {
        "/closes" => Answer::raw("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"),
        _ => Answer::ok("again"),
    });
    let world = World::new().names(&[("a.test", &[PUBLIC])]).route(&format!("{PUBLIC}:80"), &upstream);
    let outlet = world.outlet("allow:a.test");
    run(async {
        let mut stream = proxied(&outlet);
        stream.write_all(get("http://a.test/closes").as_bytes()).await.unwrap();
        assert!(head(&mut stream).await.contains("keep-alive"));
        assert!(upstream.wait_until_left());
        let said = say(&mut stream, get("http://a.test/x").as_bytes()).await;
        assert!(said.ends_with("again"), "{said}");
    });
}

#[test]
fn bodies_pass_while_they_come() {
    let gate = Gate::new();
    let held = gate.clone();
    let upstream = Upstream::http(move |request: &Request| match request.path() {
        "/paused" => Answer::paused("first", &held, "second"),
        "/chunks" => Answer::chunked(&[b"one", b"two"]),
        "/old" => Answer::http10("old"),
        "/early" => Answer::ok("late").after_interim(103),
        "/none" => Answer::new(204),
        "/endless" => Answer::endless_chunks(),
        _ => Answer::echo(),
    });
    let world = World::new().names(&[("a.test", &[PUBLIC])]).route(&format!("{PUBLIC}:80"), &upstream);
    let outlet = world.outlet("allow:a.test");
    run(async {
        let mut stream = proxied(&outlet);
        stream.write_all(get("http://a.test/paused").as_bytes()).await.unwrap();
        head(&mut stream).await;
        let mut first = [0; 5];
        stream.read_exact(&mut first).await.unwrap();
        assert_eq!(&first, b"first", "it came before the rest was there");
        gate.open();
        assert_eq!(say(&mut stream, b"").await, "second");
    });
    assert!(
        ask(&outlet, get("http://a.test/chunks").as_bytes()).ends_with("3\r\none\r\n3\r\ntwo\r\n0\r\n\r\n")
    );
    assert!(ask(&outlet, get("http://a.test/old").as_bytes()).ends_with("3\r\nold\r\n0\r\n\r\n"));
    let old = ask(&outlet, b"GET http://a.test/chunks HTTP/1.0\r\n\r\n");
    assert!(old.contains("connection: close\r\n\r\nonetwo") && !old.contains("chunked"), "{old}");
    let early = ask(&outlet, get("http://a.test/early").as_bytes());
    assert!(early.starts_with("HTTP/1.1 103 ") && early.ends_with("late"), "{early}");
    let none = ask(&outlet, [get("http://a.test/none"), get("http://a.test/none")].concat().as_bytes());
    assert_eq!(none.matches("HTTP/1.1 204 ").count(), 2, "{none}");
    let head_only = ask(&outlet, b"HEAD http://a.test/paused HTTP/1.1\r\nHost: a.test\r\n\r\n");
    assert!(head_only.starts_with("HTTP/1.1 200 ") && head_only.ends_with("\r\n\r\n"), "{head_only}");
    // A program that goes away lets go of the host as well.
    run(async {
        let mut stream = proxied(&outlet);
        stream.write_all(get("http://a.test/endless").as_bytes()).await.unwrap();
        head(&mut stream).await;
        drop(stream);
        tokio::task::yield_now().await;
        tokio::task::spawn_blocking(move || assert!(upstream.wait_until_left())).await.unwrap();
    });
}

#[test]
fn a_body_that_waits_for_its_yes_gets_it() {
    let (world, upstream) = usual();
    let outlet = world.outlet("allow:a.test");
    run(async {
        let mut stream = proxied(&outlet);
        let words = "PUT http://a.test/x HTTP/1.1\r\nHost: a.test\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n";
        stream.write_all(words.as_bytes()).await.unwrap();
        assert!(head(&mut stream).await.starts_with("HTTP/1.1 100 "));
        let said = say(&mut stream, b"body").await;
        assert!(said.starts_with("HTTP/1.1 200 "), "{said}");
    });
    assert_eq!(upstream.requests()[0].text(), "body");
}

#[test]
fn a_websocket_passes_to_the_host_it_was_asked_for() {
    let yes =
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\nserver speaks";
    let upstream = Upstream::http(move |_: &Request| {
        Answer::Raw(vec![Piece::Bytes(yes.into()), Piece::Bytes(b" on".to_vec()), Piece::Close])
    });
    let world = World::new().names(&[("a.test", &[PUBLIC])]).route(&format!("{PUBLIC}:80"), &upstream);
    let outlet = world.outlet("allow:a.test");
    let ask_for = |host: &str, upgrade: &str| {
        let words = format!(
            "GET http://{host}/ws HTTP/1.1\r\nHost: {host}\r\nConnection: Upgrade\r\nUpgrade: {upgrade}\r\n\
             Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAA\r\n\r\n"
        );
        ask(&outlet, words.as_bytes())
    };
    let said = ask_for("a.test", "websocket");
    assert!(said.starts_with("HTTP/1.1 101 ") && said.ends_with("\r\n\r\nserver speaks on"), "{said}");
    assert_eq!(upstream.requests()[0].header("upgrade"), Some("websocket"));
    // What was not asked for is not switched to: `h2c` is for this hop only.
    let said = ask_for("a.test", "h2c");
    assert!(said.starts_with("HTTP/1.1 502 "), "{said}");
    assert_eq!(upstream.requests()[1].header("upgrade"), None);
    assert!(ask_for("b.test", "websocket").starts_with("HTTP/1.1 403 "));
}

#[test]
fn the_operators_proxy_is_told_the_whole_url_and_the_receipt_says_that_addresses_are_not_pinned() {
    let (mut world, _upstream) = usual();
    let upstream = Upstream::http(|_: &_| Answer::ok("by the proxy"));
    world.proxy = Some("http://user:secret@9.9.9.9:3128".to_owned());
    let world = world.route("9.9.9.9:3128", &upstream);
    let outlet = world.outlet("allow:a.test");
    let said = ask(&outlet, get("http://a.test/x?y").as_bytes());
    assert!(said.ends_with("by the proxy"), "{said}");
    let got = upstream.requests().pop().unwrap();
    assert_eq!(got.target, "http://a.test/x?y");
    assert!(got.header("proxy-authorization").is_some());
    assert!(ask(&outlet, get("http://b.test/").as_bytes()).starts_with("HTTP/1.1 403 "));
    assert_eq!(world.table.all_queries(), 0, "the proxy looks names up");
    assert!(outlet.walls().iter().any(|wall| wall.mechanism.starts_with("addresses are not pinned")));
}
