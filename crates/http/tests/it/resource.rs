//! What a client of an OAuth server is told of us: who gives tokens, and by which name they are asked for.

use axum::extract::Request;
use axum::http::StatusCode;
use bailiwick_config::{JwksPlace, Jwt};
use bailiwick_core::Reply;
use bailiwick_types::{Scope, Scopes};
use serde_json::json as object;

use crate::stage::{Answer, Door, Stage, bare, block_on, get, with};

bailiwick_testkit::tests!(
    anybody_is_told_who_gives_tokens_for_the_address_they_asked,
    where_nobody_gives_tokens_nothing_is_told,
    hosts_and_pages_are_checked_before_anybody_is_told,
);

const PLACES: [&str; 2] =
    ["/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/mcp"];

/// An issuer whose tokens are meant for this audience.
pub(crate) fn jwt(audience: &str) -> Jwt {
    Jwt {
        issuer: "https://issuer.example".to_owned(),
        audience: audience.to_owned(),
        jwks: JwksPlace::File("/keys.json".into()),
        scopes: Scopes::of([Scope::Call, Scope::Author]),
    }
}

/// A server that nobody may ask anything without credentials.
async fn door(jwt: Option<Jwt>) -> Door {
    let stage = Stage::replying(Ok(Reply::Done)).await;
    stage.door("127.0.0.1:4646".parse().expect("an address"), |server| {
        server.jwt = jwt;
        server.keyless = false;
        server.hosts = vec!["tools.example".to_owned()];
        server.origins = vec!["https://pages.example".to_owned()];
    })
}

/// What is told to a request with these headers.
async fn check(door: &Door, headers: &[(&'static str, &str)], resource: &str) {
    for place in PLACES {
        let request = headers.iter().fold(get(place), |request, (name, value)| with(request, name, value));
        let answer = Answer::of(door.send(request).await).await;
        assert_eq!((answer.status, answer.kind()), (StatusCode::OK, Some("application/json")), "{headers:?}");
        let expected = object!({
            "resource": resource,
            "authorization_servers": ["https://issuer.example"],
            "scopes_supported": ["call", "author"],
            "bearer_methods_supported": ["header"],
            "resource_name": "Bailiwick",
        });
        assert_eq!(answer.json(), expected, "{headers:?}");
    }
}

fn anybody_is_told_who_gives_tokens_for_the_address_they_asked() {
    block_on(async {
        let word = door(Some(jwt("bailiwick"))).await;
        check(&word, &[], "http://127.0.0.1:4646/mcp").await;
        check(&word, &[("host", "LOCALHOST:4646")], "http://localhost:4646/mcp").await;
        check(&word, &[("host", "[::1]:4646")], "http://[::1]:4646/mcp").await;
        check(&word, &[("host", "tools.example")], "http://tools.example/mcp").await;
        check(&word, &[("host", "tools.example:9999")], "http://tools.example:9999/mcp").await;
        // What somebody between says, and what is wrong with credentials, is not looked at.
        let others = [
            ("x-forwarded-host", "evil.example"),
            ("forwarded", "host=evil.example;proto=https"),
            ("x-forwarded-proto", "https"),
            ("x-original-host", "evil.example"),
            ("x-api-key", "bwk_wrong"),
        ];
        check(&word, &others, "http://127.0.0.1:4646/mcp").await;
        assert_eq!(word.send(bare("HEAD", PLACES[0])).await.status(), StatusCode::OK);
        let address = door(Some(jwt("https://public.example/mcp"))).await;
        check(&address, &[], "https://public.example/mcp").await;
        check(&address, &[("host", "tools.example")], "https://public.example/mcp").await;
    });
}

fn where_nobody_gives_tokens_nothing_is_told() {
    block_on(async {
        let door = door(None).await;
        for place in PLACES {
            let answer = Answer::of(door.send(get(place)).await).await;
            assert_eq!(answer.status, StatusCode::NOT_FOUND, "{place}");
            let problem = answer.json();
            assert_eq!(problem["code"], "NOT_FOUND");
            assert_eq!(problem["detail"], "no issuer of tokens is set up here");
        }
    });
}

fn hosts_and_pages_are_checked_before_anybody_is_told() {
    block_on(async {
        let door = door(Some(jwt("bailiwick"))).await;
        let ask = async |request: Request| Answer::of(door.send(request).await).await;
        for place in PLACES {
            let foreign = ask(with(get(place), "host", "evil.example")).await;
            assert_eq!(foreign.status, StatusCode::MISDIRECTED_REQUEST);
            let foreign = ask(with(get(place), "origin", "https://evil.example")).await;
            assert_eq!(foreign.status, StatusCode::FORBIDDEN);
            assert!(!foreign.headers.contains_key("access-control-allow-origin"), "{foreign:?}");
            let listed = ask(with(get(place), "origin", "https://pages.example")).await;
            assert_eq!(listed.status, StatusCode::OK);
            assert_eq!(listed.header("access-control-allow-origin"), "https://pages.example");
        }
    });
}
