//! Upstreams that lie, stall or flood; and the limits of an answer.

use bailiwick_testkit::authority::Authority;
use bailiwick_testkit::upstream::{Answer, Coding, Gate, Protocol};

use super::*;

fn world(upstream: &Upstream) -> World {
    World::new("network: strict").names(&[("a.test", &[PUBLIC])]).route(&format!("{PUBLIC}:80"), upstream)
}

#[track_caller]
fn check(what: &str, answer: Answer, reason: &str) {
    let upstream = Upstream::http(move |_: &_| answer.clone());
    let mut world = world(&upstream);
    world.bounds.total_ms = 3_000;
    let refused = world.get("http://a.test/").expect_err(what);
    assert_eq!(
        (refused.code.name(), &*refused.reason),
        ("NET_FAILED", reason),
        "{what}: {}",
        refused.message
    );
}

#[test]
fn a_body_is_decoded_whatever_it_is_packed_in() {
    let body = "hello ".repeat(2_000);
    for coding in Coding::ALL {
        let packed = Answer::packed(coding, body.as_bytes());
        let upstream = Upstream::http(move |_: &_| packed.clone());
        let answer = world(&upstream).get("http://a.test/").unwrap();
        assert_eq!(text(&answer), body, "{coding:?}");
    }
    let twice = Answer::packed_in_turn(&[Coding::Gzip, Coding::Brotli], body.as_bytes());
    let upstream = Upstream::http(move |_: &_| twice.clone());
    assert_eq!(text(&world(&upstream).get("http://a.test/").unwrap()), body);
}

#[test]
fn bombs_do_not_go_off() {
    for coding in Coding::ALL {
        check("bomb", Answer::bomb(coding, 50_000_000), "too-large");
        check("torn", Answer::packed_torn(coding, "hello ".repeat(500).as_bytes()), "bad-answer");
    }
    for coding in [Coding::Gzip, Coding::Brotli, Coding::Zstd] {
        check("mislabelled", Answer::mislabelled(coding, b"this is no such thing at all"), "bad-answer");
    }
    check("nested", Answer::nested_bomb(Coding::Gzip, Coding::Gzip, 50_000_000), "too-large");
}

#[test]
fn an_answer_over_a_limit_is_an_error_and_not_a_cut() {
    check("endless", Answer::endless(), "too-large");
    check("endless chunks", Answer::endless_chunks(), "too-large");
    check("one over", Answer::ok(vec![b'x'; 5_000_001]), "too-large");
    check("headers without end", Answer::endless_headers(), "too-large");
    check("a huge header", Answer::huge_header(70_000), "too-large");
    let upstream = Upstream::http(|_: &_| Answer::ok(vec![b'x'; 5_000_000]));
    assert_eq!(world(&upstream).get("http://a.test/").unwrap().whole, 5_000_000);
}

#[test]
fn a_lie_about_the_length_is_no_answer() {
    check("truncated", Answer::truncated("short", 100), "bad-answer");
    check("chunks cut", Answer::chunked_truncated(), "bad-answer");
    check("chunks of garbage", Answer::chunked_garbage(), "bad-answer");
    check("gibberish", Answer::gibberish(), "bad-answer");
    check("hung up", Answer::hang_up(), "bad-answer");
    let upstream = Upstream::http(|_: &_| Answer::overlong("five and more", 4));
    assert_eq!(text(&world(&upstream).get("http://a.test/").unwrap()), "five");
}

#[test]
fn what_takes_too_long_ends() {
    let gate = Gate::new();
    for answer in [Answer::silent(), Answer::late(&gate, "late"), Answer::paused("first", &gate, "rest")] {
        let upstream = Upstream::http(move |_: &_| answer.clone());
        let mut world = world(&upstream);
        world.bounds.total_ms = 200;
        assert_eq!(world.refused("http://a.test/"), "timeout");
        assert!(upstream.wait_until_left());
    }
    let mute = Upstream::faulty(Protocol::Mute);
    let mut world =
        World::new("network: strict").names(&[("a.test", &[PUBLIC])]).route(&format!("{PUBLIC}:443"), &mute);
    world.bounds.connect_ms = 200;
    assert_eq!(world.refused("https://a.test/"), "timeout");
}

#[test]
fn a_certificate_that_is_not_right_is_refused() {
    let base = World::new("network: strict");
    let names = &["a.test"];
    for (what, certificate) in [
        ("expired", base.authority.issue_expired(names)),
        ("to come", base.authority.issue_not_yet_valid(names)),
        ("another name", base.authority.issue_wrong_name()),
        ("another authority", Authority::issue_by_another(names)),
        ("nobody's", Authority::self_signed(names)),
    ] {
        let upstream = Upstream::https(|_: &_| Answer::ok("no"), &certificate);
        let mut world = World::new("network: strict")
            .names(&[("a.test", &[PUBLIC])])
            .route(&format!("{PUBLIC}:443"), &upstream);
        world.authority = base.authority.clone();
        assert_eq!(world.refused("https://a.test/"), "tls", "{what}");
        assert!(upstream.requests().is_empty(), "{what}");
    }
    for protocol in [Protocol::ClosesAtHandshake, Protocol::PlainTextInstead] {
        let upstream = Upstream::faulty(protocol);
        let world = World::new("network: strict")
            .names(&[("a.test", &[PUBLIC])])
            .route(&format!("{PUBLIC}:443"), &upstream);
        assert_eq!(world.refused("https://a.test/"), "tls");
    }
}

#[test]
fn a_part_of_a_body_is_a_part_of_the_whole() {
    let upstream = Upstream::http(|_: &_| Answer::ok("0123456789"));
    let world = world(&upstream);
    for (offset, most, expected) in
        [(0, None, "0123456789"), (2, Some(3), "234"), (8, Some(9), "89"), (10, None, ""), (99, Some(1), "")]
    {
        let request = FetchRequest { offset, max_bytes: most, ..get("http://a.test/") };
        let answer = world.send(request).unwrap();
        assert_eq!((text(&answer).as_str(), answer.whole), (expected, 10), "{offset} {most:?}");
    }
}

#[test]
fn a_guest_does_not_frame_the_message() {
    let upstream = Upstream::http(|_: &_| Answer::ok("x"));
    let mut request = post("http://a.test/", "body");
    for (name, value) in [
        ("host", "evil.test"),
        ("content-length", "999"),
        ("transfer-encoding", "chunked"),
        ("connection", "x-mine"),
        ("x-mine", "dropped"),
        ("proxy-authorization", "x"),
        ("te", "trailers"),
        ("upgrade", "h2c"),
        ("expect", "100-continue"),
        ("x-other", "kept"),
    ] {
        request = with_header(request, name, value);
    }
    world(&upstream).send(request).unwrap();
    let seen = upstream.requests().pop().unwrap();
    assert_eq!(seen.header_values("host"), ["a.test"]);
    assert_eq!(seen.header_values("content-length"), ["4"]);
    assert_eq!(seen.header("x-other"), Some("kept"));
    assert!(seen.header("user-agent").unwrap().starts_with("bailiwick/"));
    for name in ["transfer-encoding", "x-mine", "proxy-authorization", "te", "upgrade", "expect"] {
        assert_eq!(seen.header(name), None, "{name}");
    }
    let broken = with_header(get("http://a.test/"), "x-a", "b\r\nx-c: d");
    assert_eq!(world(&upstream).send(broken).unwrap_err().reason, "bad-header");
}
