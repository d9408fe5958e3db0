//! Tokens shown to a server whose issuer publishes its keys at an https address, all of it real.

use std::path::Path;

use axum::Router;
use axum::routing::get;
use bailiwick_config::files::{Readers, replace};
use bailiwick_config::{Environment, FolderFile, JwksPlace, Jwt, Request, Settings, TlsFiles, load};
use bailiwick_http::perimeter::Tokens;
use bailiwick_http::{Closing, Serving, bind, serve};
use bailiwick_types::{Scope, Scopes};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::rand::SystemRandom;
use ring::signature::{Ed25519KeyPair, KeyPair as _};
use serde_json::{Value, json};

use crate::server::{Differs, Running, settings};

fn encoded(bytes: impl AsRef<[u8]>) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

/// An issuer on this machine.
pub(crate) struct Issuer {
    key: Ed25519KeyPair,
    pub(crate) jwt: Jwt,
    pub(crate) settings: Settings,
    pub(crate) closing: Closing,
}

impl Issuer {
    pub(crate) fn start(folder: &Path, path: &str) -> Self {
        let made = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).unwrap();
        let key = Ed25519KeyPair::from_pkcs8(made.as_ref()).unwrap();
        let keys =
            json!({"keys": [{"kty": "OKP", "crv": "Ed25519", "kid": "one", "x": encoded(key.public_key())}]});
        let keys = keys.to_string();
        let large = format!("{{\"keys\": [], \"x\": \"{}\"}}", "x".repeat(1 << 20));
        let routes = Router::new()
            .route("/keys", get(move || async move { keys }))
            .route("/large", get(move || async move { large }))
            .route("/moved", get(|| async { axum::response::Redirect::to("/keys") }));
        let files = TlsFiles { certificates: folder.join("cert.pem"), key: folder.join("key.pem") };
        let certified = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        replace(&files.key, &certified.signing_key.serialize_pem(), Readers::Owner).unwrap();
        replace(&files.certificates, &certified.cert.pem(), Readers::Owner).unwrap();
        let listener = bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let port = listener.local_addr().unwrap().port();
        let mut serving = Serving::of(&settings());
        serving.tls = Some(files.clone());
        let closing = serving.closing.clone();
        tokio::spawn(serve(listener, routes, serving, std::future::pending()));
        let jwt = Jwt {
            issuer: "https://issuer.example".to_owned(),
            audience: "bailiwick".to_owned(),
            jwks: JwksPlace::Address(format!("https://localhost:{port}{path}")),
            scopes: Scopes::of([Scope::Call, Scope::Operate]),
        };
        Self { key, jwt, settings: operator(folder, &files), closing }
    }

    pub(crate) fn sign(&self, claims: &Value) -> String {
        let header = json!({"alg": "EdDSA", "kid": "one"}).to_string();
        let message = format!("{}.{}", encoded(header), encoded(claims.to_string()));
        let signed = encoded(self.key.sign(message.as_bytes()));
        format!("{message}.{signed}")
    }
}

/// Settings of an operator who believes this certificate.
fn operator(folder: &Path, files: &TlsFiles) -> Settings {
    let environment = Environment {
        working_folder: folder.to_owned(),
        system_folder: folder.join("etc"),
        home: Some(folder.to_owned()),
        config_home: None,
        data_home: None,
        data: None,
        config: None,
        variables: std::collections::BTreeMap::new(),
    };
    let request = Request {
        config: None,
        data: Some(folder.join("data")),
        set: vec![format!("fetch.roots={}", files.certificates.display())],
        folder_file: FolderFile::Skip,
    };
    load(&environment, &request).unwrap().settings
}

pub(crate) fn claims() -> Value {
    let exp = jsonwebtoken::get_current_timestamp() + 300;
    json!({"iss": "https://issuer.example", "aud": "bailiwick", "sub": "ada", "exp": exp, "scope": "call author"})
}

#[tokio::test]
async fn a_token_is_checked_by_the_keys_that_its_issuer_publishes() {
    let folder = tempfile::tempdir().unwrap();
    let issuer = Issuer::start(folder.path(), "/keys");
    let tokens = Tokens::open(&issuer.jwt, &issuer.settings).await.unwrap();
    let server = Running::start_with(Differs { tokens: Some(tokens), ..Differs::default() }, |_, _| {});
    let good = issuer.sign(&claims());
    let answer = server.ask("GET", "/who", &[&format!("authorization: Bearer {good}")]).await;
    let who: Value = serde_json::from_str(&answer.body).unwrap();
    assert_eq!(who, json!({"key": "jwt:ada", "client": "http", "scopes": ["call"], "id": null}));
    let mut old = claims();
    old["exp"] = 1.into();
    for wrong in [issuer.sign(&old), good[..good.len() - 4].to_owned(), "a.b.c".to_owned()] {
        let answer = server.ask("GET", "/who", &[&format!("authorization: Bearer {wrong}")]).await;
        assert_eq!((answer.status, answer.code().as_str()), (401, "UNAUTHORIZED"), "{answer:?}");
        assert!(answer.header("www-authenticate").unwrap().contains("invalid_token"));
        assert!(!answer.body.contains(&wrong));
    }
    // A token is no key.
    assert_eq!(server.ask("GET", "/who", &[&format!("x-api-key: {good}")]).await.status, 401);
    // A key still counts.
    let key = format!("authorization: Bearer {}", crate::server::GOOD);
    assert_eq!(server.ask("GET", "/who", &[&key]).await.status, 200);
    server.end().await;
    issuer.closing.begin();
}

#[tokio::test]
async fn an_issuer_that_does_not_answer_well_lets_nobody_in() {
    for path in ["/nowhere", "/moved", "/large"] {
        let folder = tempfile::tempdir().unwrap();
        let issuer = Issuer::start(folder.path(), path);
        let tokens = Tokens::open(&issuer.jwt, &issuer.settings).await.unwrap();
        assert!(tokens.check(&issuer.sign(&claims())).await.is_err(), "{path}");
        issuer.closing.begin();
    }
}

#[tokio::test]
async fn keys_in_a_file_have_to_be_there_at_the_start() {
    let folder = tempfile::tempdir().unwrap();
    let mut issuer = Issuer::start(folder.path(), "/keys");
    let path = folder.path().join("keys.json");
    issuer.jwt.jwks = JwksPlace::File(path.clone());
    assert!(Tokens::open(&issuer.jwt, &issuer.settings).await.is_err());
    replace(&path, "{\"keys\": []}", Readers::Everybody).unwrap();
    assert!(Tokens::open(&issuer.jwt, &issuer.settings).await.is_err());
    issuer.closing.begin();
}
