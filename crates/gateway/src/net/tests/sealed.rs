//! Sealed secrets: in their place and nowhere else, and never back.

use bailiwick_redact::Secret;
use bailiwick_testkit::upstream::{Answer, Coding, Request};
use base64::Engine as _;
use serde_json::{Value, json};

use super::*;

const VALUE: &str = "s3cr3t-VALUE/of+the=owner";

fn sealed(document: &Value) -> Arc<SealedSet> {
    let seal = Seal::parse(document).unwrap();
    Arc::new(SealedSet::new(vec![Sealed::new("KEY", seal, Secret::new(VALUE.to_owned())).unwrap()]).unwrap())
}

/// A world with an upstream behind `a.test` and `b.test` over https, and a secret under this seal.
fn world(
    document: &Value,
    answers: impl Fn(&Request) -> Answer + Send + Sync + 'static,
) -> (World, Upstream, String) {
    let mut world = World::new("network: strict").names(&[("a.test", &[PUBLIC]), ("b.test", &["1.1.1.1"])]);
    let certificate = world.authority.issue(&["a.test", "b.test"]);
    let upstream = Upstream::https(answers, &certificate);
    world = world
        .route(&format!("{PUBLIC}:443"), &upstream)
        .route("1.1.1.1:443", &upstream)
        .route(&format!("{PUBLIC}:80"), &upstream);
    world.sealed = sealed(document);
    let placeholder = world.sealed.iter().next().unwrap().placeholder().to_owned();
    (world, upstream, placeholder)
}

fn header_seal() -> Value {
    json!({"hosts": ["a.test"], "in": "header:Authorization", "paths": ["/v1/**"]})
}

#[test]
fn the_value_stands_in_its_place_and_only_there() {
    let (world, upstream, key) = world(&header_seal(), |_| Answer::ok("fine"));
    let bearer = |url: &str| with_header(get(url), "authorization", &format!("Bearer {key}"));
    world.send(bearer("https://a.test/v1/x")).unwrap();
    let seen = upstream.requests().pop().unwrap();
    assert_eq!(seen.header("authorization"), Some(&*format!("Bearer {VALUE}")));
    let encoded = base64::engine::general_purpose::STANDARD.encode(format!("user:{key}"));
    let percent: String = key.bytes().map(|byte| format!("%{byte:02x}")).collect::<Vec<_>>().concat();
    for (what, request) in [
        ("another host", bearer("https://b.test/v1/x")),
        ("another path", bearer("https://a.test/v2/x")),
        ("plain http", bearer("http://a.test/v1/x")),
        ("another port", bearer("https://a.test:8443/v1/x")),
        ("another header", with_header(get("https://a.test/v1/x"), "x-key", &key)),
        ("a header's name", with_header(get("https://a.test/v1/x"), &key, "x")),
        ("the query", get(&format!("https://a.test/v1/x?key={key}"))),
        ("the path", get(&format!("https://a.test/v1/{key}"))),
        ("the path in disguise", get(&format!("https://a.test/v1/{percent}"))),
        ("the host", get(&format!("https://{key}.b.test/v1/"))),
        ("the fragment", get(&format!("https://a.test/v1/x#{key}"))),
        ("the body", post("https://a.test/v1/x", &format!("key={key}"))),
        ("capitals", get(&format!("https://a.test/v1/x?k={}", key.to_uppercase()))),
        ("base64", with_header(get("https://a.test/v1/x"), "authorization", &format!("Basic {encoded}"))),
    ] {
        let refused = world.send(request).expect_err(what);
        assert_eq!((refused.code.name(), &*refused.reason), ("NET_DENIED", "sealed-place"), "{what}");
    }
    assert_eq!(upstream.requests().len(), 1, "nothing else was sent");
}

/// Spellings that a parser on the other side undoes.
fn escaped() -> Vec<String> {
    [
        r"s3cr3t-VALUE/of\u002Bthe\u003downer",
        r"s3cr3t-VALUE\/of+the&#x3D;owner",
        r"s3cr3t-VALUE/of\x2bthe\75owner",
        "s3cr3t-VALUE/of%2Bthe=3Downer",
        r"s3cr3t-VALUE/of\\u002bthe%253Downer",
    ]
    .map(str::to_owned)
    .into()
}

#[test]
fn an_echo_behind_escapes_is_redacted_too() {
    for escaped in escaped() {
        let body = format!("{{\"you\": \"{escaped}\"}}");
        let (world, _upstream, key) =
            world(&header_seal(), move |_| Answer::ok(body.clone()).header("x-echo", escaped.clone()));
        let answer = world.send(with_header(get("https://a.test/v1/x"), "authorization", &key)).unwrap();
        assert_eq!(text(&answer), r#"{"you": "***"}"#);
        assert!(answer.headers.contains(&("x-echo".to_owned(), "***".to_owned())), "{:?}", answer.headers);
    }
}

#[test]
fn a_value_that_code_writes_itself_goes_to_no_other_host_and_place() {
    let encode = |text: &str| base64::engine::general_purpose::STANDARD.encode(text);
    let hex = VALUE.bytes().map(|byte| format!("{byte:02X}")).collect::<Vec<_>>().concat();
    let (world, upstream, _key) = world(&header_seal(), |_| Answer::ok("reached"));
    let mut spellings = escaped();
    spellings.extend([VALUE.to_owned(), encode(VALUE), encode(&format!("a:{VALUE}")), hex, quoted(VALUE, 3)]);
    for value in &spellings {
        let in_url = quoted(value, 1);
        for (what, request) in [
            ("the body to another host", post("https://b.test/", &format!("[{value}]"))),
            ("the query to another host", get(&format!("https://b.test/?q={in_url}"))),
            ("a header to another host", with_header(get("https://b.test/"), "authorization", value)),
            ("plain http", with_header(get("http://a.test/v1/x"), "authorization", value)),
            ("another path", with_header(get("https://a.test/v2/x"), "authorization", value)),
            ("another header", with_header(get("https://a.test/v1/x"), "x-key", value)),
            ("the body", post("https://a.test/v1/x", value)),
            ("the query", get(&format!("https://a.test/v1/x?q={in_url}"))),
        ] {
            let refused = world.send(request).expect_err(what);
            assert_eq!(
                (refused.code.name(), &*refused.reason),
                ("NET_DENIED", "sealed-value"),
                "{what}: {value}"
            );
            let denial = refused.denied.clone().expect("a denial");
            assert!(denial.fix.is_none() && denial.rule == "guard", "{denial:?}");
            let told = format!("{refused:?}");
            assert!(!told.contains(value.as_str()) && !told.contains(VALUE), "{what}: {told}");
        }
    }
    let host = format!("https://{}.b.test/", VALUE.replace(['/', '+', '='], "-"));
    world.send(get(&host)).expect_err("a name that is not there, and another value");
    assert_eq!(upstream.requests().len(), 0, "nothing was sent");
    world.send(with_header(get("https://a.test/v1/x"), "authorization", VALUE)).unwrap();
    assert_eq!(upstream.requests().len(), 1, "in its place it is what the owner wants there");
}

#[test]
fn a_query_and_a_body_spell_the_value_as_they_must() {
    let (world, upstream, key) = world(&json!({"hosts": ["a.test"], "in": "query:key"}), |_| Answer::ok("x"));
    let answer = world.send(get(&format!("https://a.test/x?a=1&key={key}&b"))).unwrap();
    assert_eq!(upstream.requests()[0].target, "/x?a=1&key=s3cr3t-VALUE%2Fof%2Bthe%3Downer&b");
    assert_eq!(answer.url, format!("https://a.test/x?a=1&key={key}&b"), "the guest sees what it wrote");
    assert!(world.send(get(&format!("https://a.test/x?other={key}"))).is_err());

    let (world, upstream, key) =
        self::world(&json!({"hosts": ["a.test"], "in": "body"}), |_| Answer::ok("x"));
    let form = with_header(
        post("https://a.test/", &format!("k={key}")),
        "content-type",
        "application/x-www-form-urlencoded",
    );
    world.send(form).unwrap();
    world.send(post("https://a.test/", &format!("[{key}]"))).unwrap();
    let bodies: Vec<String> = upstream.requests().iter().map(Request::text).collect();
    assert_eq!(bodies, ["k=s3cr3t-VALUE%2Fof%2Bthe%3Downer".to_owned(), format!("[{VALUE}]")]);
}

#[test]
fn an_echo_is_redacted_whole_before_it_is_cut() {
    let encoded = base64::engine::general_purpose::STANDARD.encode(VALUE);
    let body = format!("you sent {VALUE} or {encoded}!");
    for coding in [None, Some(Coding::Gzip)] {
        let body = body.clone();
        let (world, upstream, key) = world(&header_seal(), move |_| {
            let answer = match coding {
                None => Answer::ok(body.clone()),
                Some(coding) => Answer::packed(coding, body.as_bytes()),
            };
            answer.header("x-echo", VALUE)
        });
        let request = with_header(get("https://a.test/v1/x"), "authorization", &key);
        let answer = world.send(with_header(request.clone(), "range", "bytes=0-3")).unwrap();
        // The redactor leaves the last group of base64, which also holds bits of what follows.
        assert!(text(&answer).starts_with("you sent *** or ***"), "{}", text(&answer));
        assert!(!text(&answer).contains(&encoded[..8]));
        assert!(answer.headers.contains(&("x-echo".to_owned(), "***".to_owned())));
        assert_eq!(upstream.requests()[0].header("range"), None);
        for offset in 0..30 {
            let part = FetchRequest { offset, max_bytes: Some(12), ..request.clone() };
            let text = text(&world.send(part).unwrap());
            assert!(!text.contains(&VALUE[..4]) && !text.contains(&VALUE[20..]), "{offset}: {text}");
        }
    }
}

#[test]
fn what_cannot_be_read_is_not_handed_on() {
    let (world, _upstream, key) =
        world(&header_seal(), |_| Answer::ok("packed").header("content-encoding", "mystery"));
    let refused = world.send(with_header(get("https://a.test/v1/x"), "authorization", &key)).unwrap_err();
    assert_eq!(refused.reason, "bad-answer");
}

#[test]
fn a_redirect_does_not_carry_the_value_away() {
    let (world, upstream, key) = world(&header_seal(), |request: &Request| match request.path() {
        "/v1/same" => Answer::redirect(302, "/v1/end"),
        "/v1/outside" => Answer::redirect(302, "/v2/end"),
        "/v1/other" => Answer::redirect(302, "https://b.test/end"),
        "/v1/echo" => Answer::redirect(302, &format!("https://b.test/?k={VALUE}")),
        "/v1/whisper" => Answer::redirect(302, &format!("https://b.test/{}", VALUE.to_lowercase())),
        _ => Answer::ok("end"),
    });
    let go = |path: &str| {
        let url = format!("https://a.test/v1/{path}");
        world.send(with_header(get(&url), "authorization", &key))
    };
    go("same").unwrap();
    assert_eq!(upstream.requests().pop().unwrap().header("authorization"), Some(VALUE));
    go("other").unwrap();
    assert_eq!(upstream.requests().pop().unwrap().header("authorization"), None);
    for path in ["outside", "echo", "whisper"] {
        let refused = go(path).unwrap_err();
        assert_eq!(refused.reason, "sealed-place", "{path}");
        let told = format!("{refused:?}").to_lowercase();
        assert!(!told.contains(&VALUE.to_lowercase()), "{path}: {told}");
    }
}

/// Three times percent-encoded, as login pages do with where to come back to.
fn quoted(text: &str, rounds: usize) -> String {
    (0..rounds).fold(text.to_owned(), |text, _| percent::encode(&text))
}

#[test]
fn a_redirect_with_the_value_in_it_tells_no_part_of_the_value() {
    let (world, _upstream, key) = world(&header_seal(), |request: &Request| {
        let target = request.path().trim_start_matches("/v1/");
        let (kind, number) = target.split_once('-').unwrap_or((target, "0"));
        let number: usize = number.parse().unwrap_or(0);
        match kind {
            // Cut anywhere in the value, the one line of a refusal must not show its beginning.
            "padded" => Answer::redirect(302, &format!("https://b.test/{}?k={VALUE}", "p".repeat(number))),
            "down" => Answer::redirect(302, &format!("http://a.test/v1/{}?k={VALUE}", "p".repeat(number))),
            "quoted" => Answer::redirect(302, &format!("https://b.test/?next={}", quoted(VALUE, number))),
            _ => Answer::ok("end"),
        }
    });
    let go = |path: &str, mode: RedirectMode| {
        let request = with_header(get(&format!("https://a.test/v1/{path}")), "authorization", &key);
        world.send(FetchRequest { redirect: mode, ..request })
    };
    // What is to be seen of the value in no answer and no refusal: any eight characters of its first half.
    let parts: Vec<&str> = (0..8).filter_map(|from| VALUE.get(from..from + 8)).collect();
    let check = |told: &str, path: &str| {
        let seen = parts.iter().find(|part| told.contains(**part) || told.contains(&quoted(part, 1)));
        assert!(seen.is_none() && !told.contains("s3cr3t-VALUE%"), "{path}: {told}");
    };
    for number in 240..300 {
        for kind in ["padded", "down"] {
            let path = format!("{kind}-{number}");
            check(&format!("{:?}", go(&path, RedirectMode::Follow).unwrap_err()), &path);
        }
    }
    for rounds in 1..=3 {
        let path = format!("quoted-{rounds}");
        check(&format!("{:?}", go(&path, RedirectMode::Follow).unwrap_err()), &path);
        check(&format!("{:?}", go(&path, RedirectMode::Manual).unwrap().headers), &path);
    }
}

#[test]
fn a_seal_says_what_is_wrong_with_it() {
    for bad in [
        json!("header:x"),
        json!({"hosts": ["a.test"]}),
        json!({"hosts": [], "in": "body"}),
        json!({"hosts": ["*.a.test"], "in": "body"}),
        json!({"hosts": ["https://a.test/"], "in": "body"}),
        json!({"hosts": ["a.test"], "in": "cookie"}),
        json!({"hosts": ["a.test"], "in": "header:"}),
        json!({"hosts": ["a.test"], "in": "header:Host"}),
        json!({"hosts": ["a.test"], "in": "query:"}),
        json!({"hosts": ["a.test"], "in": "body", "paths": ["v1"]}),
        json!({"hosts": ["a.test"], "in": "body", "path": "/v1"}),
    ] {
        assert!(Seal::parse(&bad).is_err(), "{bad}");
    }
    for value in ["short", "fifteen letters", "sixteen letters\n and more"] {
        let seal = Seal::parse(&header_seal()).unwrap();
        let error = Sealed::new("KEY", seal, Secret::new(value.to_owned())).unwrap_err();
        assert!(!error.to_string().contains(value));
    }
}
