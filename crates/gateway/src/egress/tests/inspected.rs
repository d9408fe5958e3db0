//! With an authority of the sandbox's own: every request inside TLS is seen, and sealed secrets are put in.

use bailiwick_redact::Secret;
use bailiwick_sandbox::SandboxError;
use bailiwick_testkit::upstream::{Coding, Request};
use base64::Engine as _;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName};
use serde_json::json;
use tokio_rustls::TlsConnector;

use super::*;
use crate::net::{Seal, Sealed, SealedSet};

const VALUE: &str = "s3cr3t-VALUE/of+the=owner";
/// The same in hex, which can be the name of a header.
const HEX: &str = "7333637233742d56414c55452f6f662b7468653d6f776e6572";

/// A world whose `a.test` and `b.test` speak TLS, with an authority in each sandbox.
fn inspected(answers: impl Fn(&Request) -> Answer + Send + Sync + 'static) -> (World, Upstream) {
    let world = World::new().names(&[("a.test", &[PUBLIC]), ("b.test", &["1.1.1.1"])]);
    let upstream = Upstream::https(answers, &world.authority.issue(&["a.test", "b.test"]));
    let world = world
        .route(&format!("{PUBLIC}:443"), &upstream)
        .route("1.1.1.1:443", &upstream)
        .route(&format!("{PUBLIC}:80"), &upstream)
        .with(|builder| builder.inspection(Inspection::Authority));
    (world, upstream)
}

/// A client that believes what the sandbox's files say, and nobody else.
fn believer(outlet: &Arc<dyn Outlet>) -> TlsConnector {
    let (_, pem) =
        outlet.files().into_iter().find(|(path, _)| path.as_str() == "/etc/bailiwick-ca.pem").unwrap();
    let mut roots = rustls::RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(pem.as_bytes()).unwrap()).unwrap();
    let mut config =
        rustls::ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    TlsConnector::from(Arc::new(config))
}

/// What is answered to this, said in TLS to a host.
fn inside(outlet: &Arc<dyn Outlet>, host: &'static str, words: &[u8]) -> String {
    run(async {
        let mut stream = proxied(outlet);
        let connect = format!("CONNECT {host}:443 HTTP/1.1\r\nHost: {host}:443\r\n\r\n");
        stream.write_all(connect.as_bytes()).await.unwrap();
        let yes = head(&mut stream).await;
        assert!(yes.starts_with("HTTP/1.1 200 "), "{yes}");
        let mut tls = believer(outlet).connect(ServerName::try_from(host).unwrap(), stream).await.unwrap();
        assert_eq!(tls.get_ref().1.alpn_protocol(), Some(&b"http/1.1"[..]));
        // It may be closed in the middle of it.
        let _ = tls.write_all(words).await;
        let _ = tls.shutdown().await;
        rest(&mut tls).await
    })
}

fn request(host: &str, path: &str, header: &str) -> Vec<u8> {
    format!("GET {path} HTTP/1.1\r\nHost: {host}\r\n{header}\r\n").into_bytes()
}

#[test]
fn an_answer_that_is_the_last_one_is_followed_by_the_goodbye_of_tls() {
    let (world, _upstream) = inspected(|_: &_| Answer::http10("the last"));
    let outlet = world.outlet("allow:a.test");
    run(async {
        for version in ["1.0", "1.1"] {
            let mut stream = proxied(&outlet);
            stream.write_all(b"CONNECT a.test:443 HTTP/1.1\r\nHost: a.test:443\r\n\r\n").await.unwrap();
            head(&mut stream).await;
            let name = ServerName::try_from("a.test").unwrap();
            let mut tls = believer(&outlet).connect(name, stream).await.unwrap();
            let words = format!("GET / HTTP/{version}\r\nHost: a.test\r\nConnection: close\r\n\r\n");
            tls.write_all(words.as_bytes()).await.unwrap();
            let mut said = String::new();
            // Without it, nobody can tell an end from a cut.
            tls.read_to_string(&mut said).await.expect("an end that was said");
            assert!(said.contains("the last"), "{said}");
        }
    });
}

#[test]
fn a_request_inside_tls_must_be_for_the_host() {
    let (world, upstream) = inspected(|_: &_| Answer::ok("seen"));
    let outlet = world.outlet("allow:a.test,b.test");
    assert!(inside(&outlet, "a.test", &request("a.test", "/", "")).ends_with("seen"));
    assert_eq!(upstream.requests()[0].tls.as_ref().unwrap().sni.as_deref(), Some("a.test"));
    for (words, reason) in [
        (request("b.test", "/", ""), "host-mismatch"),
        (b"GET https://b.test/ HTTP/1.1\r\nHost: b.test\r\n\r\n".to_vec(), "host-mismatch"),
        (b"GET http://a.test/ HTTP/1.1\r\nHost: a.test\r\n\r\n".to_vec(), "bad-request"),
        (b"CONNECT b.test:443 HTTP/1.1\r\nHost: b.test:443\r\n\r\n".to_vec(), "host-mismatch"),
    ] {
        let before = outlet.refused();
        let said = inside(&outlet, "a.test", &words);
        assert!(said.starts_with("HTTP/1.1 40"), "{said}");
        assert_eq!(outlet.denials(before)[0].reason.word(), reason);
    }
    assert_eq!(upstream.requests().len(), 1, "fronting is stopped here");
    assert!(outlet.walls()[1].mechanism.contains("authority of this sandbox"));
    let variables = outlet.variables();
    for name in
        ["SSL_CERT_FILE", "CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE", "NODE_EXTRA_CA_CERTS", "GIT_SSL_CAINFO"]
    {
        assert!(variables.contains(&(name.to_owned(), "/etc/bailiwick-ca.pem".to_owned())), "{name}");
    }
}

#[test]
fn methods_and_paths_hold_inside_tls() {
    let (world, upstream) = inspected(|_: &_| Answer::ok("seen"));
    let world = world.with(|builder| {
        let path = bailiwick_policy::PathGlob::parse("/v1/**").unwrap();
        builder.narrow([rule("a.test").with_paths(vec![path])])
    });
    let outlet = world.outlet("allow:a.test");
    assert!(inside(&outlet, "a.test", &request("a.test", "/v1/x", "")).ends_with("seen"));
    assert!(inside(&outlet, "a.test", &request("a.test", "/v2/x", "")).starts_with("HTTP/1.1 403 "));
    assert_eq!(upstream.requests().len(), 1);
}

#[test]
fn a_host_that_cannot_prove_who_it_is_is_not_spoken_to() {
    let world = World::new().names(&[("a.test", &[PUBLIC])]);
    let upstream = Upstream::https(|_: &_| Answer::ok("no"), &Authority::self_signed(&["a.test"]));
    let world = world
        .route(&format!("{PUBLIC}:443"), &upstream)
        .with(|builder| builder.inspection(Inspection::Authority));
    let outlet = world.outlet("allow:a.test");
    let said = inside(&outlet, "a.test", &request("a.test", "/", ""));
    assert!(said.starts_with("HTTP/1.1 502 ") && said.contains("tls"), "{said}");
    assert!(upstream.requests().is_empty());
}

#[test]
fn each_sandbox_has_an_authority_of_its_own() {
    let (world, _upstream) = inspected(|_: &_| Answer::ok("seen"));
    let (one, other) = (world.outlet("allow:a.test"), world.outlet("allow:a.test"));
    let failed = run(async {
        let mut stream = proxied(&one);
        stream.write_all(b"CONNECT a.test:443 HTTP/1.1\r\nHost: a.test:443\r\n\r\n").await.unwrap();
        head(&mut stream).await;
        believer(&other).connect(ServerName::try_from("a.test").unwrap(), stream).await
    });
    assert!(failed.is_err());
}

fn seal(world: World, document: serde_json::Value) -> World {
    world.with(move |builder| {
        let document = document.clone();
        builder.sealed_by(move |_| {
            let seal = Seal::parse(&document).unwrap();
            let sealed = Sealed::new("TOKEN", seal, Secret::new(VALUE.to_owned())).unwrap();
            Ok(SealedSet::new(vec![sealed]).unwrap())
        })
    })
}

fn placeholder(outlet: &Arc<dyn Outlet>) -> String {
    outlet.variables().into_iter().find(|(name, _)| name == "TOKEN").unwrap().1
}

#[test]
fn a_sealed_value_stands_in_its_header_for_its_host_and_nowhere_else() {
    let (world, upstream) = inspected(|_: &_| Answer::ok("fine"));
    let world = seal(world, json!({"hosts": ["a.test"], "in": "header:Authorization", "paths": ["/v1/**"]}));
    let outlet = world.outlet("allow:a.test,b.test");
    let key = placeholder(&outlet);
    assert!(!key.contains(VALUE) && placeholder(&world.outlet("allow:a.test")) != key);
    let bearer = format!("Authorization: Bearer {key}\r\n");
    assert!(
        inside(&outlet, "a.test", &request("a.test", "/v1/x", &bearer)).ends_with("4\r\nfine\r\n0\r\n\r\n")
    );
    assert_eq!(upstream.requests()[0].header("authorization"), Some(&*format!("Bearer {VALUE}")));
    let encode = |text: &str| base64::engine::general_purpose::STANDARD.encode(text);
    let basic = format!("Authorization: Basic {}\r\n", encode(&format!("git:{key}")));
    assert!(inside(&outlet, "a.test", &request("a.test", "/v1/x", &basic)).contains("fine"));
    assert_eq!(
        upstream.requests()[1].header("authorization"),
        Some(&*format!("Basic {}", encode(&format!("git:{VALUE}"))))
    );
    let chunks = |body: &[&str]| {
        let chunks: Vec<String> = body.iter().map(|part| format!("{:x}\r\n{part}\r\n", part.len())).collect();
        let chunks = chunks.concat();
        format!("POST /v1/x HTTP/1.1\r\nHost: a.test\r\nTransfer-Encoding: chunked\r\n\r\n{chunks}0\r\n\r\n")
    };
    for (what, host, words) in [
        ("another host", "b.test", request("b.test", "/v1/x", &bearer)),
        ("another path", "a.test", request("a.test", "/v2/x", &bearer)),
        ("another header", "a.test", request("a.test", "/v1/x", &format!("X-Key: {key}\r\n"))),
        ("a header's name", "a.test", request("a.test", "/v1/x", &format!("{key}: x\r\n"))),
        ("the query", "a.test", request("a.test", &format!("/v1/x?k={key}"), "")),
        ("the path", "a.test", request("a.test", &format!("/v1/{key}"), "")),
        ("twice, once elsewhere", "a.test", request("a.test", &format!("/v1/{key}"), &bearer)),
        (
            "base64 in another header",
            "a.test",
            request("a.test", "/v1/x", &format!("X: {}\r\n", encode(&key))),
        ),
        ("the body", "a.test", chunks(&["k=", &key]).into_bytes()),
        ("the body in pieces", "a.test", chunks(&[&key[..10], &key[10..]]).into_bytes()),
    ] {
        let before = outlet.refused();
        let said = inside(&outlet, host, &words);
        assert!(said.starts_with("HTTP/1.1 403 "), "{what}: {said}");
        assert_eq!(outlet.denials(before)[0].reason.word(), "sealed-place", "{what}");
    }
    let plain =
        ask(&outlet, format!("GET http://a.test/v1/x HTTP/1.1\r\nHost: a.test\r\n{bearer}\r\n").as_bytes());
    assert!(plain.starts_with("HTTP/1.1 403 ") && plain.contains("sealed-place"), "only over https: {plain}");
    let told = format!("{:?}", upstream.requests().get(2..));
    assert!(!told.contains(&key) && !told.contains(VALUE), "{told}");
    assert!(outlet.walls().iter().any(|wall| wall.demand == "sealed secrets"));
}

#[test]
fn a_value_that_a_program_writes_itself_goes_to_no_other_host_and_place() {
    let (world, upstream) = inspected(|_: &_| Answer::ok("fine"));
    let world = seal(world, json!({"hosts": ["a.test"], "in": "header:Authorization"}));
    let outlet = world.outlet("allow:a.test,b.test");
    let chunks = |host: &str, body: &[&str]| {
        let chunks: Vec<String> = body.iter().map(|part| format!("{:x}\r\n{part}\r\n", part.len())).collect();
        let chunks = chunks.concat();
        format!("POST /x HTTP/1.1\r\nHost: {host}\r\nTransfer-Encoding: chunked\r\n\r\n{chunks}0\r\n\r\n")
            .into_bytes()
    };
    let escaped = r"s3cr3t-VALUE/of\u002bthe&#61;owner";
    let path = "/x?q=s3cr3t-VALUE%2Fof%2Bthe%3Downer";
    for (what, host, words) in [
        ("a header", "b.test", request("b.test", "/x", &format!("Authorization: {VALUE}\r\n"))),
        ("a query", "b.test", request("b.test", path, "")),
        ("a body", "b.test", chunks("b.test", &["k=", VALUE])),
        ("a body in pieces", "b.test", chunks("b.test", &[&VALUE[..10], &VALUE[10..]])),
        ("a body in escapes and pieces", "b.test", chunks("b.test", &[&escaped[..17], &escaped[17..]])),
        ("an escape that nothing follows", "b.test", chunks("b.test", &["s3cr3t-VALUE/of+the=owne&#114"])),
        ("another header of its host", "a.test", request("a.test", "/x", &format!("X: {escaped}\r\n"))),
        ("the query of its host", "a.test", request("a.test", path, "")),
        ("a body of its host", "a.test", chunks("a.test", &[escaped])),
    ] {
        let before = outlet.refused();
        let said = inside(&outlet, host, &words);
        assert!(said.starts_with("HTTP/1.1 403 ") && !said.contains("owner"), "{what}: {said}");
        let denial = outlet.denials(before)[0].clone();
        assert_eq!((denial.reason.word(), denial.fix.is_none()), ("sealed-value", true), "{what}");
        assert!(!format!("{denial:?}").contains("s3cr3t"), "{what}: {denial:?}");
    }
    let plain = format!("GET http://b.test/x HTTP/1.1\r\nHost: b.test\r\nX: {VALUE}\r\n\r\n");
    let plain = ask(&outlet, plain.as_bytes());
    assert!(plain.starts_with("HTTP/1.1 403 ") && plain.contains("sealed-value"), "in the clear: {plain}");
    let told = format!("{:?}", upstream.requests());
    assert!(!told.contains("owner") && !told.contains("VALUE/of"), "{told}");
    let in_its_place = request("a.test", "/x", &format!("Authorization: {VALUE}\r\n"));
    assert!(inside(&outlet, "a.test", &in_its_place).contains("fine"));
    let harmless = chunks("b.test", &[r"s3cr3t-VALUE/of\u002bthe&#6", "2;owner & more, up to the last %"]);
    assert!(inside(&outlet, "b.test", &harmless).contains("fine"));
    let sent = upstream.requests().pop().unwrap().text();
    assert_eq!(sent, r"s3cr3t-VALUE/of\u002bthe&#62;owner & more, up to the last %");
}

#[test]
fn a_value_that_comes_back_is_taken_out_also_where_it_is_cut() {
    let (world, _upstream) = inspected(|request: &Request| match request.path() {
        "/cut" => Answer::chunked(&[b"you sent s3cr3t-VAL", b"UE/of+the=owner!"]).header("x-echo", VALUE),
        "/head" => Answer::raw(format!("HTTP/1.1 200 {VALUE}\r\nX-{HEX}: x\r\nContent-Length: 3\r\n\r\n***")),
        "/packed" => Answer::packed(Coding::Gzip, VALUE.as_bytes()),
        _ => Answer::ok(format!("you sent {VALUE}!")),
    });
    let world = seal(world, json!({"hosts": ["a.test"], "in": "header:Authorization"}));
    let outlet = world.outlet("allow:a.test,b.test");
    let bearer =
        format!("Authorization: {}\r\nRange: bytes=3-\r\nAccept-Encoding: gzip\r\n", placeholder(&outlet));
    for path in ["/", "/cut", "/head"] {
        let said = inside(&outlet, "a.test", &request("a.test", path, &bearer));
        assert!(said.starts_with("HTTP/1.1 200 "), "{said}");
        assert!(!said.contains("s3cr3t") && !said.contains("owner") && !said.contains(HEX), "{path}: {said}");
        assert!(said.contains("***"), "{said}");
    }
    let packed = inside(&outlet, "a.test", &request("a.test", "/packed", &bearer));
    assert!(packed.starts_with("HTTP/1.1 502 "), "what cannot be read is not handed on: {packed}");
    let socket = format!("{bearer}Connection: upgrade\r\nUpgrade: websocket\r\n");
    assert!(inside(&outlet, "a.test", &request("a.test", "/", &socket)).starts_with("HTTP/1.1 403 "));
}

#[test]
fn a_sealed_secret_needs_an_authority_and_a_header() {
    let spec = SandboxSpec { network: "allow:a.test".parse().unwrap(), ..SandboxSpec::default() };
    let (world, _upstream) = usual();
    let world = seal(world, json!({"hosts": ["a.test"], "in": "header:Authorization"}));
    let refused = world.egress().outlet(&spec).unwrap_err();
    assert_eq!(refused.code(), bailiwick_types::ErrorCode::Unenforceable);
    for place in ["query:key", "body"] {
        let (world, _upstream) = inspected(|_: &_| Answer::ok("x"));
        let world = seal(world, json!({"hosts": ["a.test"], "in": place}));
        let refused = world.egress().outlet(&spec).unwrap_err();
        assert!(matches!(refused, SandboxError::Unenforceable { .. }), "{place}: {refused}");
    }
}
