//! What is let out and what is not, over plain HTTP to the proxy: the same rules hold for every other way.

use super::*;

/// A request to the proxy, with its status and, if refused, the reason.
#[track_caller]
fn check(network: &str, url: &str, status: u16, reason: Option<&str>) {
    let (world, upstream) = usual();
    let world = world.with(|builder| {
        builder
            .never([HostRule::parse("never.a.test", Purpose::Refuse).unwrap()])
            .never([HostRule::parse("8.8.8.8", Purpose::Refuse).unwrap()])
            .own_listeners(["93.184.215.14:8282".parse().unwrap(), "0.0.0.0:7000".parse().unwrap()])
    });
    let outlet = world.outlet(network);
    let said = ask(&outlet, get(url).as_bytes());
    assert!(said.starts_with(&format!("HTTP/1.1 {status} ")), "{network} {url}: {said}");
    assert_eq!(reasons(&outlet).first().copied(), reason, "{network} {url}");
    if let Some(reason) = reason {
        assert!(world.routes.dialled().is_empty(), "{network} {url} was dialled");
        assert!(upstream.requests().is_empty());
        assert!(said.contains(reason), "{said}");
    }
}

#[test]
fn a_host_is_reached_at_the_ports_that_are_named() {
    check("allow:a.test", "http://a.test/x", 200, None);
    check("allow:a.test", "http://A.TEST./x", 200, None);
    check("allow:a.test:80", "http://a.test:80/x", 200, None);
    check("allow:a.test:8080", "http://a.test:8080/x", 200, None);
    check("allow:a.test", "http://a.test:8080/x", 403, Some("host-not-allowed"));
    check("allow:a.test:443", "http://a.test/x", 403, Some("host-not-allowed"));
    check("allow:*.a.test", "http://www.a.test/x", 200, None);
    check("allow:*.a.test", "http://a.test/x", 403, Some("host-not-allowed"));
    check("allow:a.test", "http://xa.test/x", 403, Some("host-not-allowed"));
    check("allow:a.test", "http://a.test.evil.test/x", 403, Some("host-not-allowed"));
    check("full", "http://b.test/", 200, None);
    check("full", "http://1.1.1.1/", 200, None);
    check("allow:1.1.1.1", "http://1.1.1.1/", 200, None);
    check("allow:a.test", "http://1.1.1.1/", 403, Some("host-not-allowed"));
    check("git", "http://github.com/", 403, Some("host-not-allowed"));
    check("git", "http://a.test/", 403, Some("host-not-allowed"));
}

#[test]
fn what_nobody_may_reach_is_not_reached_by_any_network() {
    check("full", "http://never.a.test/", 403, Some("host-never"));
    check("allow:never.a.test", "http://never.a.test/", 403, Some("host-never"));
    check("full", "http://8.8.8.8/", 403, Some("host-never"));
    check("full", "http://127.0.0.1/", 403, Some("private-address"));
    check("full", "http://localhost/", 403, Some("private-address"));
    check("full", "http://x.localhost/", 403, Some("private-address"));
    check("full", "http://2130706433/", 403, Some("private-address"));
    check("full", "http://0x7f.1/", 403, Some("private-address"));
    check("full", "http://10.0.0.1/", 403, Some("private-address"));
    check("full", "http://169.254.10.10/", 403, Some("private-address"));
    check("full", "http://169.254.169.254/latest/meta-data/", 403, Some("metadata-address"));
    check("full", "http://metadata.google.internal/", 403, Some("metadata-address"));
    check("full", "http://[::1]/", 403, Some("private-address"));
    check("full", "http://[fe80::1]/", 403, Some("private-address"));
    check("full", "http://[fd00:ec2::254]/", 403, Some("metadata-address"));
    check("full", "http://[::ffff:10.0.0.1]/", 403, Some("private-address"));
    check("full", "http://[64:ff9b::a9fe:a9fe]/", 403, Some("metadata-address"));
    check("full", "http://0.0.0.0/", 403, Some("unusable-address"));
    check("full", "http://93.184.215.14:8282/", 403, Some("own-listener"));
    check("full", "http://127.0.0.1:7000/", 403, Some("own-listener"));
    check("full", "http://b.test:22/", 403, Some("bad-port"));
    check("allow:a.test:*", "http://a.test:25/", 403, Some("bad-port"));
}

#[test]
fn one_bad_address_of_a_name_refuses_all_of_them() {
    for (addresses, reason) in [
        (&[PUBLIC, "10.0.0.1"][..], "private-address"),
        (&["127.0.0.1"], "private-address"),
        (&["169.254.169.254"], "metadata-address"),
        (&[PUBLIC, "::1"], "private-address"),
        (&["fe80::1"], "private-address"),
        (&["::ffff:127.0.0.1"], "private-address"),
        (&["8.8.8.8"], "host-never"),
        (&["93.184.215.15"], "own-listener"),
    ] {
        let world = World::new().names(&[("a.test", addresses)]).with(|builder| {
            builder
                .never([HostRule::parse("8.8.8.0/24", Purpose::Refuse).unwrap()])
                .own_listeners(["93.184.215.15:80".parse().unwrap()])
        });
        for network in ["allow:a.test", "full"] {
            let outlet = world.outlet(network);
            let said = ask(&outlet, get("http://a.test/").as_bytes());
            assert!(said.starts_with("HTTP/1.1 403 "), "{addresses:?}: {said}");
            assert_eq!(reasons(&outlet), [reason], "{addresses:?}");
        }
        assert!(world.routes.dialled().is_empty(), "{addresses:?}");
    }
}

#[test]
fn a_name_that_changes_its_mind_wins_nothing() {
    let (mut world, upstream) = usual();
    let script =
        Script::new().name("a.test", &[Reply::addresses(&[PUBLIC]), Reply::addresses(&["127.0.0.1"])]);
    world.table = Arc::new(Table::new(script));
    let outlet = world.outlet("allow:a.test");
    let first = ask(&outlet, get("http://a.test/").as_bytes());
    assert!(first.contains("hello from /"), "{first}");
    assert_eq!(world.table.queries("a.test"), 1, "looked up once for a connection");
    let second = ask(&outlet, get("http://a.test/").as_bytes());
    assert!(second.starts_with("HTTP/1.1 403 "), "{second}");
    assert_eq!(reasons(&outlet), ["private-address"]);
    assert!(world.routes.dialled().iter().all(|address| address.ip().to_string() == PUBLIC));
    assert_eq!(upstream.requests().len(), 1);
}

#[test]
fn a_private_address_is_reached_for_the_host_and_port_that_the_operator_lists() {
    let (world, _upstream) = usual();
    let upstream = Upstream::http(|_: &_| Answer::ok("inside"));
    let world = world
        .names(&[("a.test", &["127.0.0.1"]), ("b.test", &["127.0.0.1"]), ("m.test", &["169.254.169.254"])])
        .route("127.0.0.1:8080", &upstream)
        .with(|builder| builder.private([rule("a.test:8080"), rule("m.test:80"), rule("c.test:80")]));
    let outlet = world.outlet("allow:a.test:8080,a.test:80,b.test:8080,m.test");
    for (url, status) in [
        ("http://a.test:8080/", 200),
        ("http://a.test/", 403),
        ("http://b.test:8080/", 403),
        ("http://m.test/", 403),
        ("http://c.test/", 403),
    ] {
        let said = ask(&outlet, get(url).as_bytes());
        assert!(said.starts_with(&format!("HTTP/1.1 {status} ")), "{url}: {said}");
    }
}

#[test]
fn methods_and_paths_hold_where_requests_are_seen() {
    let (world, upstream) = usual();
    let world = world.with(|builder| {
        let get = bailiwick_policy::MethodSet::of([bailiwick_policy::Method::Get]).unwrap();
        let path = bailiwick_policy::PathGlob::parse("/v1/**").unwrap();
        builder.narrow([rule("a.test").with_methods(get).with_paths(vec![path])])
    });
    let outlet = world.outlet("allow:a.test,b.test");
    for (method, url, status, reason) in [
        ("GET", "http://a.test/v1/x", 200, None),
        ("POST", "http://a.test/v1/x", 403, Some("method-not-allowed")),
        ("get", "http://a.test/v1/x", 403, Some("method-not-allowed")),
        ("GETX", "http://a.test/v1/x", 403, Some("method-not-allowed")),
        ("GET", "http://a.test/v2/x", 403, Some("path-not-allowed")),
        ("GET", "http://a.test/v1/../v2/x", 403, Some("path-not-allowed")),
        ("GET", "http://a.test/v1/%2e%2e/v2/x", 403, Some("path-not-allowed")),
        ("GET", "http://a.test/v1/..%2fv2/x", 403, Some("ambiguous-path")),
        ("DELETE", "http://b.test/anything", 200, None),
    ] {
        let before = outlet.refused();
        let authority = url.split('/').nth(2).unwrap();
        let said = ask(&outlet, format!("{method} {url} HTTP/1.1\r\nHost: {authority}\r\n\r\n").as_bytes());
        assert!(said.starts_with(&format!("HTTP/1.1 {status} ")), "{method} {url}: {said}");
        let after = outlet.denials(before);
        assert_eq!(after.first().map(|denial| denial.reason.word()), reason, "{method} {url}");
    }
    assert_eq!(upstream.requests().len(), 2);
    let said = ask(&outlet, b"CONNECT a.test:443 HTTP/1.1\r\nHost: a.test:443\r\n\r\n");
    assert!(said.starts_with("HTTP/1.1 403 ") && said.contains("hidden-request"), "{said}");
}

#[test]
fn a_refusal_says_what_to_ask_for_and_reaches_the_caller() {
    let (world, _upstream) = usual();
    let outlet = world.outlet("allow:a.test:80,*.c.test");
    let said = ask(&outlet, b"CONNECT evil.test:8443 HTTP/1.1\r\nHost: evil.test:8443\r\n\r\n");
    assert!(
        said.starts_with("HTTP/1.1 403 Refused by Bailiwick: connect evil.test:8443: host-not-allowed\r\n"),
        "{said}"
    );
    assert!(said.contains("Content-Type: text/plain"), "{said}");
    assert!(said.contains("what this sandbox may reach: a.test:80, *.c.test\n"), "{said}");
    assert!(said.contains("ask for: network: allow:a.test:80,*.c.test,evil.test:8443\n"), "{said}");
    let denials = outlet.denials(0);
    let json = serde_json::to_value(&denials[0]).unwrap();
    assert_eq!(
        json,
        serde_json::json!({
            "code": "NET_DENIED", "capability": "net.connect", "asked": "connect evil.test:8443", "rule": "network",
            "layer": "sandbox", "reason": "host-not-allowed",
            "fix": {"overrides": {"network": "allow:a.test:80,*.c.test,evil.test:8443"}, "risk": "L3"}
        })
    );
    assert_eq!((outlet.refused(), outlet.denials(1).len()), (1, 0));
}

#[test]
fn what_the_world_does_not_give_is_no_denial() {
    let closes = Upstream::http(|_: &_| Answer::hang_up());
    let nonsense = Upstream::http(|_: &_| Answer::raw("what?\r\n\r\n"));
    let twice = Upstream::http(|_: &_| {
        Answer::raw("HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\nabc")
    });
    let world = World::new()
        .names(&[
            ("a.test", &[PUBLIC]),
            ("empty.test", &[]),
            ("closes.test", &["1.1.1.1"]),
            ("nonsense.test", &["1.1.1.2"]),
            ("twice.test", &["1.1.1.3"]),
        ])
        .route("1.1.1.1:80", &closes)
        .route("1.1.1.2:80", &nonsense)
        .route("1.1.1.3:80", &twice);
    let outlet = world.outlet("full");
    for (host, status, word) in [
        ("a.test", 502, "connect-failed"),
        ("nowhere.test", 502, "dns-failed"),
        ("empty.test", 502, "dns-failed"),
        ("closes.test", 502, "bad-answer"),
        ("nonsense.test", 502, "bad-answer"),
        ("twice.test", 502, "bad-answer"),
    ] {
        let said = run(async {
            let mut stream = proxied(&outlet);
            stream.write_all(get(&format!("http://{host}/")).as_bytes()).await.unwrap();
            rest(&mut stream).await
        });
        assert!(said.starts_with(&format!("HTTP/1.1 {status} ")) && said.contains(word), "{host}: {said}");
    }
    assert_eq!(outlet.refused(), 0);
}

#[test]
fn a_refusal_repeats_no_password() {
    let (world, _upstream) = usual();
    let outlet = world.outlet("allow:a.test");
    let words = "GET http://me:hunter2@a.test/ HTTP/1.1\r\nHost: a.test\r\n\r\n";
    let said = ask(&outlet, words.as_bytes());
    let said = said + &ask(&outlet, b"CONNECT me:hunter2@a.test:443 HTTP/1.1\r\n\r\n");
    assert!(said.contains("bad-request") && !said.contains("hunter2"), "{said}");
    assert!(!format!("{:?}", outlet.denials(0)).contains("hunter2"));
}
