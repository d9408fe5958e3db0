//! Canned answers: policy first, then the example.

use serde_json::{Value, json};

use super::*;

fn call(overrides: &str, document: &Value) -> Fetches {
    Fetches::new(Transport::Canned(Canned::parse(document).unwrap()), World::new(overrides).terms())
}

#[test]
fn an_example_answers_in_place_of_the_network() {
    let document = json!([
        {"request": {"url": "https://a.test/once"}, "response": {"status": 201, "text": "first"}, "times": 1},
        {"request": {"url": "https://A.test:443/x/../once"}, "response": {"text": "then"}},
        {"request": {"method": "post", "url": "https://a.test/p", "body": {"a": 1}, "headers": {"X-A": "b"}},
         "response": {"json": {"ok": true}}},
        {"request": {"url": "https://a.test/away"}, "response": {"status": 302, "headers": {"location": "/once"}}},
        {"request": {"url": "https://a.test/bytes"}, "response": {"base64": "AAH/"}},
    ]);
    let call = call("network: allowlist\nhosts: [a.test]", &document);
    let fetch = |request| run(call.fetch(request));
    assert_eq!(fetch(get("https://a.test/once#x")).unwrap().status, 201);
    assert_eq!(text(&fetch(get("https://a.test/once")).unwrap()), "then");
    let away = fetch(get("https://a.test/away")).unwrap();
    assert_eq!((text(&away).as_str(), away.url.as_str()), ("then", "https://a.test/once"));
    let answer = fetch(with_header(post("https://a.test/p", "{ \"a\": 1 }"), "x-a", "b")).unwrap();
    assert_eq!(text(&answer), r#"{"ok":true}"#);
    assert!(answer.headers.contains(&("content-type".to_owned(), "application/json".to_owned())));
    assert_eq!(fetch(get("https://a.test/bytes")).unwrap().body.0, [0, 1, 255]);
    let missing = fetch(post("https://a.test/p", "{}")).unwrap_err();
    assert_eq!((missing.code.name(), &*missing.reason), ("NET_FAILED", "no-canned-answer"));
    assert!(missing.hint.as_ref().unwrap().contains("POST https://a.test/p"));
    assert_eq!(missing.into_failure().reason(), Some(Refused::NO_CANNED_ANSWER));
}

#[test]
fn an_example_never_widens() {
    let document = json!([
        {"request": {"url": "https://b.test/"}, "response": {}},
        {"request": {"url": "http://127.0.0.1/"}, "response": {}},
    ]);
    let listed = call("network: allowlist\nhosts: [a.test]", &document);
    assert_eq!(run(listed.fetch(get("https://b.test/"))).unwrap_err().reason, "host-not-allowed");
    let strict = call("network: strict", &document);
    assert_eq!(run(strict.fetch(get("http://127.0.0.1/"))).unwrap_err().reason, "private-address");
}

#[test]
fn a_document_that_is_none_says_where() {
    for (document, at) in [
        (json!({}), None),
        (json!([{"request": {"url": "https://a.test/"}, "response": {}}, {"request": {}}]), Some(1)),
        (json!([{"request": {"url": "/x"}, "response": {}}]), Some(0)),
        (json!([{"request": {"url": "https://a.test/"}, "response": {"status": 99}}]), Some(0)),
        (json!([{"request": {"url": "https://a.test/"}, "response": {"json": 1, "text": "x"}}]), Some(0)),
        (json!([{"request": {"url": "https://a.test/"}, "response": {"base64": "?"}}]), Some(0)),
        (json!([{"request": {"url": "https://a.test/", "verb": "GET"}, "response": {}}]), Some(0)),
        (json!([{"request": {"url": "https://a.test/"}, "response": {}, "times": 0}]), Some(0)),
    ] {
        assert_eq!(Canned::parse(&document).unwrap_err().at, at, "{document}");
    }
}
