//! The guard before anything is dialled: spellings, ranges, names that lie, our own listeners.

use bailiwick_testkit::upstream::Answer;

use super::*;

/// Refused for this reason in mode `strict`, with nothing looked up or dialled.
#[track_caller]
fn check_literal(host: &str, reason: &str) {
    let world = World::new("network: strict");
    assert_eq!(world.refused(&format!("http://{host}/")), reason, "{host}");
    assert!(world.routes.dialled().is_empty(), "{host} was dialled");
    assert_eq!(world.table.all_queries(), 0, "{host} was looked up");
}

#[test]
fn a_private_address_is_refused_in_every_spelling() {
    for host in [
        "127.0.0.1",
        "2130706433",
        "0177.0.0.1",
        "0x7f.1",
        "0x7f000001",
        "127.1",
        "127.0.1",
        "017700000001",
        "%31%32%37.0.0.1",
        "１２７.0.0.1",
        "127.0.0.1.",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "[0:0:0:0:0:ffff:7f00:0001]",
        "[64:ff9b::7f00:1]",
        "[2002:7f00:1::]",
        "[2001:0:808:808::80ff:fffe]",
        "localhost",
        "LOCALHOST.",
        "a.localhost",
    ] {
        check_literal(host, "private-address");
    }
    for host in
        ["2852039166", "0xa9fea9fe", "[::ffff:169.254.169.254]", "[64:ff9b::a9fe:a9fe]", "[fd00:ec2::254]"]
    {
        check_literal(host, "metadata-address");
    }
}

#[test]
fn no_address_of_a_special_range_is_reached() {
    for host in [
        "10.0.0.1",
        "100.64.0.1",
        "127.255.255.254",
        "169.254.1.1",
        "172.16.0.1",
        "172.31.255.255",
        "192.0.0.1",
        "192.0.2.1",
        "192.88.99.1",
        "192.168.0.1",
        "198.18.0.1",
        "198.19.255.255",
        "198.51.100.1",
        "203.0.113.1",
        "[2001:2::1]",
        "[2001:10::1]",
        "[2001:db8::1]",
        "[3fff::1]",
        "[5f00::1]",
        "[fc00::1]",
        "[fdff::1]",
        "[fe80::1]",
        "[fec0::1]",
    ] {
        check_literal(host, "private-address");
    }
    for host in [
        "0.0.0.0",
        "0.1.2.3",
        "224.0.0.1",
        "239.255.255.255",
        "240.0.0.1",
        "255.255.255.255",
        "[::]",
        "[64:ff9b:1::1]",
        "[100::1]",
        "[100:0:0:1::1]",
        "[ff02::1]",
        "[4000::1]",
    ] {
        check_literal(host, "unusable-address");
    }
}

#[test]
fn what_is_no_request_is_refused_before_any_look_up() {
    let world = World::new("network: open");
    for (url, reason) in [
        ("ftp://a.test/", "scheme"),
        ("file:///etc/passwd", "scheme"),
        ("https://u:p@a.test/", "userinfo"),
        ("http://a.test:25/", "bad-port"),
        ("not a url", "bad-url"),
        ("http://metadata.google.internal/", "metadata-address"),
    ] {
        assert_eq!(world.refused(url), reason, "{url}");
    }
    assert_eq!(world.table.all_queries(), 0);
    let blocked = World::new("");
    assert_eq!(blocked.refused("https://a.test/"), "network-blocked");
    let listed = World::new("network: allowlist\nhosts: [a.test]");
    assert_eq!(listed.refused("https://b.test/"), "host-not-allowed");
    assert_eq!(listed.table.all_queries(), 0, "a name that is not allowed is not even looked up");
}

#[test]
fn one_bad_address_of_a_name_refuses_all_of_them() {
    for (addresses, reason) in [
        (&[PUBLIC, "10.0.0.1"][..], "private-address"),
        (&["10.0.0.1", PUBLIC], "private-address"),
        (&[PUBLIC, "::1"], "private-address"),
        (&[PUBLIC, "169.254.169.254"], "metadata-address"),
        (&[PUBLIC, "64:ff9b::a00:1"], "private-address"),
        (&[PUBLIC, "::ffff:10.0.0.1"], "private-address"),
    ] {
        let upstream = Upstream::http(|_: &_| Answer::ok("no"));
        let world = World::new("network: strict")
            .names(&[("a.test", addresses)])
            .route(&format!("{PUBLIC}:80"), &upstream);
        let refused = world.get("http://a.test/x").unwrap_err();
        assert_eq!(refused.reason, reason, "{addresses:?}");
        assert_eq!(refused.code.name(), "NET_DENIED");
        assert!(refused.denied.unwrap().asked.starts_with("GET http://a.test/x at "));
        assert!(world.routes.dialled().is_empty(), "{addresses:?}");
    }
}

#[test]
fn a_name_that_changes_its_mind_is_looked_up_once() {
    let upstream = Upstream::http(|_: &_| Answer::ok("hello").header("connection", "close"));
    let mut world = World::new("network: strict").route(&format!("{PUBLIC}:80"), &upstream);
    let script =
        Script::new().name("a.test", &[Reply::addresses(&[PUBLIC]), Reply::addresses(&["127.0.0.1"])]);
    world.table = Arc::new(Table::new(script));
    let call = world.call();
    run(async {
        for _ in 0..3 {
            assert_eq!(text(&call.fetch(get("http://a.test/")).await.unwrap()), "hello");
        }
    });
    assert_eq!(world.table.queries("a.test"), 1);
    assert!(world.routes.dialled().iter().all(|address| address.ip().to_string() == PUBLIC));
    assert_eq!(
        world.refused("http://a.test/"),
        "private-address",
        "another call asks again, and checks again"
    );
}

#[test]
fn our_own_listeners_are_reached_in_no_mode() {
    let upstream = Upstream::http(|_: &_| Answer::ok("ours"));
    for overrides in [
        "network: open",
        "network: strict",
        "network: allowlist\nhosts: [{host: '*', port: 8282, private: true}]",
        "network: allowlist\nhosts: ['*:8282']",
    ] {
        for (listener, address) in
            [("8.8.8.8:8282", "8.8.8.8"), ("127.0.0.1:8282", "127.0.0.1"), ("[::1]:8282", "::1")]
        {
            let mut world = World::new(overrides)
                .names(&[("a.test", &[address])])
                .route(&SocketAddr::new(address.parse().unwrap(), 8282).to_string(), &upstream);
            world.baseline.own_listeners = vec![listener.parse().unwrap()];
            assert_eq!(world.refused("http://a.test:8282/"), "own-listener", "{overrides} {listener}");
            assert!(world.routes.dialled().is_empty());
        }
    }
    assert!(upstream.requests().is_empty());
}

#[test]
fn a_name_without_an_answer_is_a_failure_of_dns() {
    let world = World::new("network: strict").names(&[("empty.test", &[])]);
    for url in ["http://nowhere.test/", "http://empty.test/"] {
        let refused = world.get(url).unwrap_err();
        assert_eq!((refused.code.name(), &*refused.reason), ("NET_FAILED", "dns-failed"), "{url}");
    }
    let world = World::new("network: strict").names(&[("a.test", &[PUBLIC])]);
    assert_eq!(world.refused("http://a.test/"), "connect-failed");
}

#[test]
fn the_next_address_is_tried_when_one_does_not_answer() {
    let upstream = Upstream::http(|_: &_| Answer::ok("second"));
    let world = World::new("network: strict")
        .names(&[("a.test", &["1.1.1.1", PUBLIC])])
        .route(&format!("{PUBLIC}:80"), &upstream);
    assert_eq!(text(&world.get("http://a.test/").unwrap()), "second");
    assert_eq!(world.routes.dialled().len(), 2);
}

#[test]
fn a_policy_that_was_replaced_decides_from_then_on() {
    let upstream = Upstream::http(|_: &_| Answer::ok("x"));
    let mut world = World::new("network: strict")
        .names(&[("a.test", &[PUBLIC])])
        .route(&format!("{PUBLIC}:80"), &upstream);
    let call = world.call();
    world.overrides = "network: blocked".to_owned();
    run(async {
        assert!(call.fetch(get("http://a.test/")).await.is_ok());
        call.set_policy(world.policy());
        assert_eq!(call.fetch(get("http://a.test/")).await.unwrap_err().reason, "network-blocked");
    });
}
