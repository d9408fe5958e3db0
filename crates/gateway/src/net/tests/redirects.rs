//! Redirects: every hop through the whole guard, and what a hop may carry.

use bailiwick_testkit::upstream::{Answer, Paths};

use super::*;

fn world(upstream: &Upstream) -> World {
    World::new("network: strict")
        .names(&[("a.test", &[PUBLIC]), ("b.test", &["1.1.1.1"]), ("inside.test", &["10.0.0.1"])])
        .route(&format!("{PUBLIC}:80"), upstream)
        .route("1.1.1.1:80", upstream)
}

#[test]
fn a_redirect_into_the_inside_is_refused_and_not_dialled() {
    for (location, reason) in [
        ("http://127.0.0.1/x", "private-address"),
        ("http://0x7f.1/x", "private-address"),
        ("http://[::ffff:10.0.0.1]/", "private-address"),
        ("http://inside.test/x", "private-address"),
        ("http://169.254.169.254/latest", "metadata-address"),
        ("//127.0.0.1/x", "private-address"),
        ("ftp://b.test/", "scheme"),
        ("http://u:p@b.test/", "userinfo"),
        ("http://b.test:22/", "bad-port"),
    ] {
        let upstream = Upstream::http(Paths::new().at("/", Answer::redirect(302, location)));
        let world = world(&upstream);
        let refused = world.get("http://a.test/").unwrap_err();
        assert_eq!(refused.reason, reason, "{location}");
        assert!(refused.denied.is_some(), "{location}");
        assert_eq!(world.routes.dialled().len(), 1, "{location}");
    }
}

#[test]
fn redirects_are_followed_five_times() {
    let upstream = Upstream::http(
        Paths::new()
            .ladder("/five", 5, 302, Answer::ok("top"))
            .ladder("/six", 6, 302, Answer::ok("top"))
            .at("/loop", Answer::redirect(301, "/loop")),
    );
    let world = world(&upstream);
    let answer = world.get("http://a.test/five/0#part").unwrap();
    assert_eq!((text(&answer).as_str(), answer.redirected), ("top", true));
    assert_eq!(answer.url, "http://a.test/five/5#part");
    assert_eq!(world.refused("http://a.test/six/0"), "too-many-redirects");
    assert_eq!(world.refused("http://a.test/loop"), "too-many-redirects");
}

#[test]
fn credentials_do_not_cross_origins() {
    let upstream = Upstream::http(
        Paths::new()
            .at("/same", Answer::redirect(302, "/end"))
            .at("/other", Answer::redirect(302, "http://b.test/end"))
            .at("/end", Answer::ok("end")),
    );
    let world = world(&upstream);
    let request = |url: &str| {
        let request = with_header(get(url), "authorization", "Bearer x");
        with_header(with_header(request, "cookie", "a=b"), "x-kept", "yes")
    };
    world.send(request("http://a.test/same")).unwrap();
    world.send(request("http://a.test/other")).unwrap();
    let seen = upstream.requests();
    let ends: Vec<_> = seen.iter().filter(|request| request.path() == "/end").collect();
    assert_eq!(ends[0].header("authorization"), Some("Bearer x"));
    assert_eq!(ends[0].header("cookie"), Some("a=b"));
    assert_eq!(ends[1].header("authorization"), None);
    assert_eq!(ends[1].header("cookie"), None);
    assert_eq!(ends[1].header("x-kept"), Some("yes"));
    assert_eq!(ends[1].header("host"), Some("b.test"));
}

#[test]
fn https_never_goes_on_as_http() {
    let mut world = World::new("network: strict").names(&[("a.test", &[PUBLIC])]);
    let certificate = world.authority.issue(&["a.test"]);
    let upstream =
        Upstream::https(Paths::new().at("/", Answer::redirect(302, "http://a.test/x")), &certificate);
    world = world.route(&format!("{PUBLIC}:443"), &upstream);
    let refused = world.get("https://a.test/").unwrap_err();
    assert_eq!((refused.code.name(), &*refused.reason), ("NET_DENIED", "downgrade"));
    assert_eq!(world.routes.dialled().len(), 1);
}

#[test]
fn methods_change_as_the_standard_says() {
    for (status, method, expected) in [
        (301, "POST", "GET"),
        (302, "POST", "GET"),
        (303, "POST", "GET"),
        (303, "PUT", "GET"),
        (301, "PUT", "PUT"),
        (307, "POST", "POST"),
        (308, "POST", "POST"),
    ] {
        let upstream = Upstream::http(
            Paths::new().at("/", Answer::redirect(status, "end")).at("/end", Answer::ok("end")),
        );
        let request = FetchRequest { method: method.to_owned(), ..post("http://a.test/", "body") };
        world(&upstream).send(with_header(request, "content-type", "text/plain")).unwrap();
        let end = upstream.requests().pop().unwrap();
        assert_eq!(end.method, expected, "{status} {method}");
        let kept = expected != "GET";
        assert_eq!(end.text() == "body", kept, "{status} {method}");
        assert_eq!(end.header("content-type").is_some(), kept, "{status} {method}");
    }
}

#[test]
fn a_redirect_can_be_given_or_be_an_error() {
    let upstream = Upstream::http(Paths::new().at("/", Answer::redirect(302, "http://127.0.0.1/")));
    let world = world(&upstream);
    let manual = FetchRequest { redirect: RedirectMode::Manual, ..get("http://a.test/") };
    let answer = world.send(manual).unwrap();
    assert_eq!((answer.status, answer.redirected), (302, false));
    let error = FetchRequest { redirect: RedirectMode::Error, ..get("http://a.test/") };
    assert_eq!(world.send(error).unwrap_err().reason, "redirect");
}
