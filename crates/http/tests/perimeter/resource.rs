//! Where a client of an OAuth server is pointed to, wherever it is refused for the lack of a token.

use bailiwick_config::{JwksPlace, Jwt};
use bailiwick_types::{Scope, Scopes};

use crate::server::{Answer, EXPIRED, Running, UNABLE};

fn jwt() -> Jwt {
    Jwt {
        issuer: "https://issuer.example".to_owned(),
        audience: "bailiwick".to_owned(),
        jwks: JwksPlace::File("/keys.json".into()),
        scopes: Scopes::of([Scope::Call, Scope::Author]),
    }
}

/// A server whose operator named an issuer, and that nobody may ask anything without credentials.
fn start() -> Running {
    Running::start(|server, _| {
        server.jwt = Some(jwt());
        server.keyless = false;
    })
}

/// What a refusal demands.
#[track_caller]
fn demanded(answer: &Answer, status: u16) -> String {
    assert_eq!(answer.status, status, "{answer:?}");
    answer.header("www-authenticate").unwrap_or_else(|| panic!("nothing: {answer:?}")).to_owned()
}

#[tokio::test]
async fn whoever_lacks_credentials_is_pointed_to_who_gives_them() {
    let server = start();
    let place = format!("http://{}/.well-known/oauth-protected-resource/mcp", server.address);
    let points = format!("resource_metadata=\"{place}\"");
    let nothing = demanded(&server.ask("GET", "/who", &[]).await, 401);
    assert_eq!(nothing, format!("Bearer realm=\"bailiwick\", {points}"));
    let nothing = demanded(&server.ask_with("POST", "/mcp", &[], "{}").await, 401);
    assert_eq!(nothing, format!("Bearer realm=\"bailiwick\", {points}, scope=\"call\""));
    for line in [
        format!("x-api-key: {EXPIRED}"),
        "authorization: Bearer bwk_wrong".to_owned(),
        "authorization: Basic dXNlcjpwYXNz".to_owned(),
    ] {
        let demand = demanded(&server.ask("GET", "/mcp", &[&line]).await, 401);
        assert!(demand.starts_with("Bearer ") && demand.contains("error=\"invalid_token\""), "{demand}");
        assert!(demand.ends_with(&format!("{points}, scope=\"call\"")), "{demand}");
    }
    let demand = demanded(&server.ask("GET", "/mcp", &[&format!("x-api-key: {UNABLE}")]).await, 403);
    assert_eq!(demand, format!("Bearer error=\"insufficient_scope\", scope=\"call\", {points}"));
    server.end().await;
}

#[tokio::test]
async fn nobody_is_pointed_to_an_address_that_a_request_made_up() {
    let server = start();
    for lines in [
        &["x-forwarded-host: evil.example", "x-forwarded-proto: https"][..],
        &["forwarded: host=\"evil.example\""],
        &["x-original-url: https://evil.example/"],
        &["referer: https://evil.example/"],
        &["host: evil.example"],
        &["host: tools.example\", x=\"evil.example"],
        &["host: tools.example:80@evil.example"],
    ] {
        for path in ["/mcp", "/who"] {
            let answer = server.ask("GET", path, lines).await;
            let text = format!("{answer:?}");
            assert!(!text.contains("evil"), "{lines:?}: {text}");
        }
    }
    server.end().await;
}
