//! Tokens that count and tokens that do not, with keys made here.

use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use ring::rand::SystemRandom;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair as _, RSA_PKCS1_SHA256,
    RSA_PSS_SHA256, RsaKeyPair,
};
use serde_json::{Value, json};

use super::*;

/// The keys of an issuer.
struct Issuer {
    ec: EcdsaKeyPair,
    ed: Ed25519KeyPair,
    rsa: RsaKeyPair,
}

/// How a token is signed.
#[derive(Clone, Copy)]
enum By {
    Ec,
    Ed,
    Rs,
    Ps,
    Nobody,
    Hmac,
}

fn encoded(bytes: impl AsRef<[u8]>) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

impl Issuer {
    fn new() -> Self {
        let random = SystemRandom::new();
        let algorithm = &ECDSA_P256_SHA256_FIXED_SIGNING;
        let ec = EcdsaKeyPair::generate_pkcs8(algorithm, &random).unwrap();
        let ed = Ed25519KeyPair::generate_pkcs8(&random).unwrap();
        let text: String = include_str!("tests/rsa.txt").lines().skip(1).collect();
        Self {
            ec: EcdsaKeyPair::from_pkcs8(algorithm, ec.as_ref(), &random).unwrap(),
            ed: Ed25519KeyPair::from_pkcs8(ed.as_ref()).unwrap(),
            rsa: RsaKeyPair::from_pkcs8(&STANDARD.decode(text).unwrap()).unwrap(),
        }
    }

    fn jwks(&self) -> Value {
        let point = self.ec.public_key().as_ref();
        let (x, y) = (encoded(&point[1..33]), encoded(&point[33..65]));
        let ed = encoded(self.ed.public_key().as_ref());
        let public: ring::rsa::PublicKeyComponents<Vec<u8>> = self.rsa.public().into();
        let (n, e) = (encoded(&public.n), encoded(&public.e));
        json!({"keys": [
            {"kty": "EC", "crv": "P-256", "kid": "ec", "alg": "ES256", "use": "sig", "x": x, "y": y},
            {"kty": "OKP", "crv": "Ed25519", "kid": "ed", "x": ed},
            {"kty": "RSA", "kid": "rs", "n": n, "e": e},
            {"kty": "RSA", "kid": "ps", "alg": "PS256", "n": n, "e": e},
            {"kty": "RSA", "kid": "for-secrets", "use": "enc", "n": n, "e": e},
            {"kty": "RSA", "kid": "rs512", "alg": "RS512", "n": n, "e": e},
            {"kty": "oct", "kid": "shared", "alg": "HS256", "k": ed},
            {"kty": "EC", "crv": "P-256", "kid": "crossed", "alg": "RS256", "x": x, "y": y},
            {"kty": "of the future", "kid": "future"},
        ]})
    }

    fn sign(&self, by: By, header: &Value, claims: &Value) -> String {
        let message = format!("{}.{}", encoded(header.to_string()), encoded(claims.to_string()));
        let random = SystemRandom::new();
        let of_rsa = |padding: &'static dyn ring::signature::RsaEncoding| {
            let mut signed = vec![0; self.rsa.public().modulus_len()];
            self.rsa.sign(padding, &random, message.as_bytes(), &mut signed).unwrap();
            signed
        };
        let signed = match by {
            By::Ec => self.ec.sign(&random, message.as_bytes()).unwrap().as_ref().to_vec(),
            By::Ed => self.ed.sign(message.as_bytes()).as_ref().to_vec(),
            By::Rs => of_rsa(&RSA_PKCS1_SHA256),
            By::Ps => of_rsa(&RSA_PSS_SHA256),
            By::Nobody => Vec::new(),
            By::Hmac => {
                // The classic: what everybody can read, taken for what nobody knows.
                let public = ring::hmac::Key::new(ring::hmac::HMAC_SHA256, self.ed.public_key().as_ref());
                ring::hmac::sign(&public, message.as_bytes()).as_ref().to_vec()
            }
        };
        format!("{message}.{}", encoded(signed))
    }
}

/// What the issuer publishes, and how often it was asked.
#[derive(Clone)]
struct Published {
    text: Arc<Mutex<Result<String, String>>>,
    reads: Arc<AtomicUsize>,
}

impl Published {
    fn new(text: &Value) -> Self {
        Self { text: Arc::new(Mutex::new(Ok(text.to_string()))), reads: Arc::default() }
    }

    fn reads(&self) -> usize {
        self.reads.load(Ordering::SeqCst)
    }
}

impl KeySource for Published {
    fn read(&self) -> Pin<Box<dyn Future<Output = Result<String, String>> + Send + '_>> {
        self.reads.fetch_add(1, Ordering::SeqCst);
        let text = self.text.lock().unwrap().clone();
        Box::pin(std::future::ready(text))
    }
}

fn tokens(published: &Published) -> Tokens {
    let jwt = Jwt {
        issuer: "https://issuer.example".to_owned(),
        audience: "bailiwick".to_owned(),
        jwks: JwksPlace::File("/unused".into()),
        scopes: Scopes::of([Scope::Call, Scope::Author]),
    };
    Tokens::with(&jwt, Box::new(published.clone()))
}

fn claims() -> Value {
    let now = jsonwebtoken::get_current_timestamp();
    json!({
        "iss": "https://issuer.example", "aud": "bailiwick", "sub": "ada@example.com", "exp": now + 300,
        "scope": "call operate openid",
    })
}

/// A token with changed claims: a null takes one away.
async fn check(changes: Value, expected: Result<&str, NotAToken>) {
    let issuer = Issuer::new();
    let mut claims = claims();
    let all = claims.as_object_mut().unwrap();
    for (name, value) in changes.as_object().unwrap() {
        if value.is_null() {
            all.remove(name);
        } else {
            all.insert(name.clone(), value.clone());
        }
    }
    let token = issuer.sign(By::Ec, &json!({"alg": "ES256", "kid": "ec", "typ": "at+jwt"}), &claims);
    let got = tokens(&Published::new(&issuer.jwks())).check(&token).await;
    assert_eq!(got.map(|shown| shown.subject).as_deref(), expected.as_ref().copied(), "{changes}");
}

#[tokio::test]
async fn what_a_token_says_has_to_be_for_us_and_in_time() {
    let now = jsonwebtoken::get_current_timestamp();
    let ada = Ok("ada@example.com");
    check(json!({}), ada.clone()).await;
    check(json!({"aud": ["other", "bailiwick"]}), ada.clone()).await;
    check(json!({"exp": now - 5}), ada.clone()).await;
    check(json!({"nbf": now + 5}), ada).await;
    check(json!({"exp": now - 120}), Err(NotAToken::Expired)).await;
    check(json!({"exp": "soon"}), Err(NotAToken::Lacks)).await;
    check(json!({"exp": null}), Err(NotAToken::Lacks)).await;
    check(json!({"nbf": now + 120}), Err(NotAToken::NotYet)).await;
    check(json!({"nbf": "tomorrow"}), Err(NotAToken::Malformed)).await;
    check(json!({"nbf": [now + 120]}), Err(NotAToken::Malformed)).await;
    check(json!({"scope": ["author"]}), Err(NotAToken::Malformed)).await;
    check(json!({"iss": "https://evil.example"}), Err(NotAToken::Issuer)).await;
    check(json!({"iss": null}), Err(NotAToken::Lacks)).await;
    check(json!({"aud": "other"}), Err(NotAToken::Audience)).await;
    check(json!({"aud": []}), Err(NotAToken::Audience)).await;
    check(json!({"aud": null}), Err(NotAToken::Lacks)).await;
    check(json!({"sub": null}), Err(NotAToken::Lacks)).await;
    check(json!({"sub": ""}), Err(NotAToken::Subject)).await;
    check(json!({"sub": "x".repeat(129)}), Err(NotAToken::Subject)).await;
    check(json!({"sub": "a\u{1b}[2J"}), Err(NotAToken::Subject)).await;
    check(json!({"sub": "a\u{202e}b"}), Err(NotAToken::Subject)).await;
    check(json!({"sub": "a\nb"}), Err(NotAToken::Subject)).await;
}

#[tokio::test]
async fn a_token_covers_what_it_says_and_the_operator_allows() {
    let issuer = Issuer::new();
    let tokens = tokens(&Published::new(&issuer.jwks()));
    for (said, covers) in [
        (json!("call operate openid"), vec![Scope::Call]),
        (json!("author call"), vec![Scope::Call, Scope::Author]),
        (json!("operate approve"), vec![]),
        (json!("Call CALL call,author"), vec![]),
        (json!(""), vec![]),
    ] {
        let mut claims = claims();
        claims["scope"] = said.clone();
        let token = issuer.sign(By::Ed, &json!({"alg": "EdDSA", "kid": "ed"}), &claims);
        assert_eq!(tokens.check(&token).await.unwrap().scopes, Scopes::of(covers), "{said}");
    }
}

#[tokio::test]
async fn only_the_algorithm_of_the_issuers_own_key_counts() {
    let issuer = Issuer::new();
    let tokens = tokens(&Published::new(&issuer.jwks()));
    for (by, header, expected) in [
        (By::Ec, json!({"alg": "ES256", "kid": "ec"}), None),
        (By::Ed, json!({"alg": "EdDSA", "kid": "ed"}), None),
        (By::Rs, json!({"alg": "RS256", "kid": "rs"}), None),
        (By::Ps, json!({"alg": "PS256", "kid": "ps"}), None),
        (By::Nobody, json!({"alg": "none", "kid": "ec"}), Some(NotAToken::Algorithm)),
        (By::Nobody, json!({"alg": "NONE", "kid": "ec"}), Some(NotAToken::Algorithm)),
        (By::Nobody, json!({"alg": "ES256", "kid": "ec"}), Some(NotAToken::Signature)),
        (By::Hmac, json!({"alg": "HS256", "kid": "ed"}), Some(NotAToken::Algorithm)),
        (By::Hmac, json!({"alg": "HS256", "kid": "shared"}), Some(NotAToken::UnknownKey)),
        (By::Ps, json!({"alg": "PS256", "kid": "rs"}), Some(NotAToken::Algorithm)),
        (By::Rs, json!({"alg": "RS256", "kid": "ps"}), Some(NotAToken::Algorithm)),
        (By::Ps, json!({"alg": "RS256", "kid": "rs"}), Some(NotAToken::Signature)),
        (By::Rs, json!({"alg": "RS256", "kid": "for-secrets"}), Some(NotAToken::UnknownKey)),
        (By::Rs, json!({"alg": "RS512", "kid": "rs512"}), Some(NotAToken::UnknownKey)),
        (By::Ec, json!({"alg": "ES256", "kid": "crossed"}), Some(NotAToken::UnknownKey)),
        (By::Ec, json!({"alg": "ES256", "kid": "ed"}), Some(NotAToken::Algorithm)),
        (By::Ec, json!({"alg": "ES256"}), Some(NotAToken::UnknownKey)),
        (By::Ec, json!({"alg": "ES256", "kid": "ec", "crit": ["exp"]}), Some(NotAToken::Malformed)),
        (By::Ed, json!({"alg": "ES256", "kid": "ec"}), Some(NotAToken::Signature)),
    ] {
        let got = tokens.check(&issuer.sign(by, &header, &claims())).await.err();
        assert_eq!(got, expected, "{header}");
    }
    // A key that comes along with the token is nobody's.
    let other = Issuer::new();
    let own = other.jwks()["keys"][0].clone();
    let token = other.sign(By::Ec, &json!({"alg": "ES256", "kid": "ec", "jwk": own}), &claims());
    assert_eq!(tokens.check(&token).await.err(), Some(NotAToken::Signature));
    let whole = issuer.sign(By::Ec, &json!({"alg": "ES256", "kid": "ec"}), &claims());
    let (head, rest) = whole.split_once('.').unwrap();
    let (_, signed) = rest.split_once('.').unwrap();
    let mut forged = claims();
    forged["scope"] = "author".into();
    let forged = format!("{head}.{}.{signed}", encoded(forged.to_string()));
    assert_eq!(tokens.check(&forged).await.err(), Some(NotAToken::Signature));
    for text in ["a.b.c", "..", "a", "", &format!("{whole}.x"), &whole.replace('.', "")] {
        assert!(tokens.check(text).await.is_err(), "{text}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_unknown_key_is_looked_for_once_a_minute() {
    let (old, new) = (Issuer::new(), Issuer::new());
    let published = Published::new(&old.jwks());
    let tokens = tokens(&published);
    let header = json!({"alg": "ES256", "kid": "new"});
    let token = new.sign(By::Ec, &header, &claims());
    for _ in 0..5 {
        assert_eq!(tokens.check(&token).await.err(), Some(NotAToken::UnknownKey));
    }
    assert_eq!(published.reads(), 1);
    let mut keys = new.jwks();
    keys["keys"][0]["kid"] = "new".into();
    *published.text.lock().unwrap() = Ok(keys.to_string());
    tokio::time::advance(Duration::from_secs(59)).await;
    assert_eq!(tokens.check(&token).await.err(), Some(NotAToken::UnknownKey));
    tokio::time::advance(Duration::from_secs(2)).await;
    assert_eq!(tokens.check(&token).await.map(|shown| shown.subject).as_deref(), Ok("ada@example.com"));
    assert_eq!(published.reads(), 2);
}

#[tokio::test(start_paused = true)]
async fn keys_are_read_again_when_they_are_old_and_kept_when_that_fails() {
    let issuer = Issuer::new();
    let published = Published::new(&issuer.jwks());
    let tokens = tokens(&published);
    let token = issuer.sign(By::Ed, &json!({"alg": "EdDSA", "kid": "ed"}), &claims());
    let check = || async {
        assert!(tokens.check(&token).await.is_ok());
        // What reads in the background has its turn.
        for _ in 0..10 {
            tokio::task::yield_now().await;
        }
        published.reads()
    };
    assert_eq!(check().await, 1);
    assert_eq!(check().await, 1);
    tokio::time::advance(Duration::from_secs(601)).await;
    assert_eq!(check().await, 2);
    assert_eq!(check().await, 2);
    for broken in [Err("gone".to_owned()), Ok("no keys".to_owned()), Ok(json!({"keys": []}).to_string())] {
        *published.text.lock().unwrap() = broken;
        tokio::time::advance(Duration::from_secs(601)).await;
        let reads = published.reads();
        assert_eq!(check().await, reads + 1);
        assert_eq!(check().await, reads + 1);
    }
}

#[tokio::test(start_paused = true)]
async fn a_key_that_was_withdrawn_counts_for_nothing_after_a_pause() {
    let (old, new) = (Issuer::new(), Issuer::new());
    let published = Published::new(&old.jwks());
    let tokens = tokens(&published);
    let token = old.sign(By::Ed, &json!({"alg": "EdDSA", "kid": "ed"}), &claims());
    assert!(tokens.check(&token).await.is_ok());
    *published.text.lock().unwrap() = Ok(new.jwks().to_string());
    // Nobody came for so long that nobody read the keys again. The first who comes waits for that.
    tokio::time::advance(Duration::from_hours(1)).await;
    assert_eq!(tokens.check(&token).await.err(), Some(NotAToken::Signature));
    assert_eq!(published.reads(), 2);
}

#[tokio::test]
async fn keys_are_taken_from_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("keys.json");
    let issuer = Issuer::new();
    let token = issuer.sign(By::Ed, &json!({"alg": "EdDSA", "kid": "ed"}), &claims());
    let jwt = Jwt {
        issuer: "https://issuer.example".to_owned(),
        audience: "bailiwick".to_owned(),
        jwks: JwksPlace::File(path.clone()),
        scopes: Scopes::of([Scope::Call]),
    };
    assert_eq!(
        Tokens::with(&jwt, Box::new(File(path.clone()))).check(&token).await.err(),
        Some(NotAToken::UnknownKey)
    );
    files::replace(&path, &issuer.jwks().to_string(), files::Readers::Everybody).unwrap();
    assert!(Tokens::with(&jwt, Box::new(File(path))).check(&token).await.is_ok());
}
