//! What requests share: connections within a call and never beyond, turns, limits, people, the proxy.

use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};

use bailiwick_testkit::upstream::{Answer, Gate, Spoken};

use super::*;
use crate::person::{Asked, Said};

fn world(overrides: &str, upstream: &Upstream) -> World {
    World::new(overrides).names(&[("a.test", &[PUBLIC])]).route(&format!("{PUBLIC}:80"), upstream)
}

#[test]
fn a_connection_is_used_again_within_a_call_and_never_by_another() {
    let upstream = Upstream::http(|_: &_| Answer::ok("x"));
    let world = world("network: strict", &upstream);
    let net = world.net();
    for _ in 0..2 {
        let call = Fetches::new(Transport::Real(net.clone()), world.terms());
        run(async {
            for _ in 0..3 {
                call.fetch(get("http://a.test/")).await.unwrap();
            }
        });
    }
    assert_eq!(upstream.requests().len(), 6);
    assert_eq!(upstream.connections(), 2);
}

#[test]
fn the_surplus_waits_its_turn() {
    let gate = Gate::new();
    let (answer, opened) = (Answer::late(&gate, "x"), gate.clone());
    let upstream = Upstream::http(move |_: &_| answer.clone());
    let mut world = world("network: strict", &upstream);
    world.baseline.limits.set(bailiwick_types::LimitKind::Fetches, 64).unwrap();
    let call = Arc::new(world.call());
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let all: Vec<_> = (0..64)
        .map(|_| {
            let call = call.clone();
            runtime.spawn(async move { call.fetch(get("http://a.test/")).await })
        })
        .collect();
    assert!(upstream.wait_for_requests(6));
    assert_eq!((upstream.requests().len(), upstream.connections()), (6, 6));
    opened.open();
    runtime.block_on(async {
        for one in all {
            one.await.unwrap().unwrap();
        }
    });
    assert_eq!(upstream.requests().len(), 64);
    assert_eq!(upstream.connections(), 6, "six at once are six connections, used again");
}

#[test]
fn a_call_makes_only_so_many_requests() {
    let upstream = Upstream::http(|_: &_| Answer::ok("12345"));
    let mut world = world("network: strict", &upstream);
    world.baseline.limits.set(bailiwick_types::LimitKind::Fetches, 2).unwrap();
    let call = world.call();
    run(async {
        assert!(call.fetch(get("http://a.test/")).await.is_ok());
        assert!(call.fetch(get("http://127.0.0.1/")).await.is_err());
        let refused = call.fetch(get("http://a.test/")).await.unwrap_err();
        assert_eq!(refused.code.name(), "FETCH_LIMIT");
    });
    let usage = call.usage();
    assert_eq!(usage.fetches, 2);
    assert!(usage.bytes_in >= 5 && usage.bytes_out > 0, "{usage:?}");
}

#[test]
fn http_2_is_spoken_where_it_is_offered() {
    let mut world = World::new("network: strict").names(&[("a.test", &[PUBLIC])]);
    let certificate = world.authority.issue(&["a.test"]);
    let upstream = Upstream::http2(|_: &_| Answer::ok("two"), &certificate);
    world = world.route(&format!("{PUBLIC}:443"), &upstream);
    let call = world.call();
    run(async {
        for _ in 0..3 {
            assert_eq!(text(&call.fetch(get("https://a.test/x?y")).await.unwrap()), "two");
        }
    });
    let seen = upstream.requests();
    assert!(seen.iter().all(|request| request.protocol == Spoken::Http2 && request.target == "/x?y"));
    assert_eq!(upstream.connections(), 1);
    let plain = Upstream::https(|_: &_| Answer::ok("one"), &certificate);
    let world = World { routes: Routes::new(), ..world }.route(&format!("{PUBLIC}:443"), &plain);
    assert_eq!(text(&world.get("https://a.test/").unwrap()), "one");
}

#[test]
fn the_head_of_an_http_2_answer_is_bounded_too() {
    let mut world = World::new("network: strict").names(&[("a.test", &[PUBLIC])]);
    let certificate = world.authority.issue(&["a.test"]);
    let upstream = Upstream::http2(|_: &_| Answer::ok("x").header("x-big", vec![b'y'; 70_000]), &certificate);
    world = world.route(&format!("{PUBLIC}:443"), &upstream);
    assert_eq!(world.refused("https://a.test/"), "too-large");
}

struct Scripted(Said, AtomicUsize);

impl Person for Scripted {
    fn ask(&self, _asked: Asked) -> Pin<Box<dyn Future<Output = Said> + Send + '_>> {
        self.1.fetch_add(1, Ordering::SeqCst);
        Box::pin(std::future::ready(self.0))
    }
}

#[test]
fn a_person_is_asked_where_the_grant_says_so() {
    let upstream = Upstream::http(|_: &_| Answer::ok("x"));
    for (ask, said, asked, reason) in [
        ("first", Said::Yes, 1, None),
        ("always", Said::Yes, 2, None),
        ("first", Said::No, 2, Some("declined")),
        ("first", Said::Nothing, 2, Some("unanswered")),
    ] {
        let mut world = world(&format!("network: strict\nask: {{net: {ask}}}"), &upstream);
        let person = Arc::new(Scripted(said, AtomicUsize::new(0)));
        world.person = person.clone();
        let call = world.call();
        run(async {
            for _ in 0..2 {
                let told = call.fetch(get("http://a.test/")).await;
                assert_eq!(
                    told.err().map(|refused| refused.reason.into_owned()).as_deref(),
                    reason,
                    "{ask} {said:?}"
                );
            }
        });
        assert_eq!(person.1.load(Ordering::SeqCst), asked, "{ask} {said:?}");
    }
    assert_eq!(
        world("network: strict\nask: {net: first}", &upstream).refused("http://a.test/"),
        "nobody-to-ask"
    );
}

/// Says no, and keeps what it was asked.
struct Keeps(std::sync::Mutex<Vec<String>>);

impl Person for Keeps {
    fn ask(&self, asked: Asked) -> Pin<Box<dyn Future<Output = Said> + Send + '_>> {
        self.0.lock().unwrap().push(asked.effect);
        Box::pin(std::future::ready(Said::No))
    }
}

#[test]
fn a_person_is_asked_about_the_whole_address() {
    let upstream = Upstream::http(|_: &_| Answer::ok("x"));
    let mut world = world("network: strict\nask: {net: always}", &upstream);
    let person = Arc::new(Keeps(std::sync::Mutex::default()));
    world.person = person.clone();
    let address = format!("http://a.test/{}?to=the-end", "x".repeat(2_000));
    let call = world.call();
    assert!(run(call.fetch(get(&address))).is_err());
    assert_eq!(*person.0.lock().unwrap(), [format!("GET {address}")]);
}

#[test]
fn http_goes_through_the_operators_proxy_in_absolute_form() {
    let proxy = Upstream::http(|_: &_| Answer::ok("by proxy"));
    let mut world = World::new("network: strict").route("10.1.1.1:3128", &proxy);
    world.proxy = Some("http://user:pass@10.1.1.1:3128".to_owned());
    let call = world.call();
    assert_eq!(call.is_pinned(), None);
    assert_eq!(text(&run(call.fetch(get("http://a.test/x"))).unwrap()), "by proxy");
    assert_eq!(call.is_pinned(), Some(false));
    let seen = proxy.requests().pop().unwrap();
    assert_eq!(seen.target, "http://a.test/x");
    assert_eq!(seen.header("proxy-authorization"), Some("Basic dXNlcjpwYXNz"));
    assert_eq!(world.table.all_queries(), 0, "the proxy resolves names");
    assert_eq!(world.refused("http://127.0.0.1/"), "private-address");
    // This proxy makes no tunnels that lead anywhere.
    assert!(world.get("https://a.test/").is_err());
    let asked = proxy.requests().pop().unwrap();
    assert_eq!((asked.method.as_str(), asked.target.as_str()), ("CONNECT", "a.test:443"));
}

#[test]
fn a_proxy_that_makes_no_tunnel_is_told_by_its_answer_also_with_a_page_behind_it() {
    let proxy = Upstream::http(|_: &_| Answer::raw("HTTP/1.1 403 Forbidden\r\n\r\n<p>not from here</p>"));
    let mut world = World::new("network: strict").route("10.1.1.1:3128", &proxy);
    world.proxy = Some("http://10.1.1.1:3128".to_owned());
    let refused = world.get("https://a.test/").unwrap_err();
    assert_eq!(refused.reason, "connect-failed", "{refused:?}");
    assert!(refused.message.contains("refused a tunnel to a.test:443 with 403"), "{refused:?}");
}

#[test]
fn a_fetch_that_is_dropped_leaves_nothing_behind() {
    let upstream = Upstream::http(|_: &_| Answer::silent());
    let call = world("network: strict", &upstream).call();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let call = Arc::new(call);
    let one = {
        let call = call.clone();
        runtime.spawn(async move { call.fetch(get("http://a.test/")).await })
    };
    assert!(upstream.wait_for_requests(1));
    one.abort();
    assert!(upstream.wait_until_left());
}
