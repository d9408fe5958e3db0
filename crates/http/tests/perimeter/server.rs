//! A server with a few routes of its own behind the real perimeter, and a client that sends raw bytes.

use std::collections::HashMap;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::response::sse::{Event, Sse};
use axum::routing::{get, post};
use axum::{Extension, Json, Router};
use bailiwick_config::Server;
use bailiwick_core::Room as _;
use bailiwick_http::perimeter::{
    KeyShown, Keyring, NoAuth, NotAKey, Perimeter, PerimeterSettings, Principal, Slot, Tokens,
};
use bailiwick_http::{Closing, Counters, Peer, ServeError, Serving, bind, serve};
use bailiwick_types::{KeyId, Scope, Scopes};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::{Notify, Semaphore};
use tokio::task::JoinHandle;

use crate::mounted;

/// Longer than anything here takes; only a test that hangs ever waits for it.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

pub(crate) const GOOD: &str =
    "bwk_00000000000000000000000000000001_the-secret-part-of-a-good-key-0000000000000";
pub(crate) const SLOW: &str =
    "bwk_00000000000000000000000000000002_the-secret-part-of-a-slow-key-0000000000000";
pub(crate) const NARROW: &str =
    "bwk_00000000000000000000000000000003_the-secret-part-of-a-narrow-key-00000000000";
pub(crate) const UNABLE: &str =
    "bwk_00000000000000000000000000000006_the-secret-part-of-an-unable-key-00000000000";
pub(crate) const EXPIRED: &str =
    "bwk_00000000000000000000000000000004_the-secret-part-of-an-old-key-0000000000000";
pub(crate) const REVOKED: &str =
    "bwk_00000000000000000000000000000005_the-secret-part-of-a-lost-key-0000000000000";

/// Keys of a test.
pub(crate) struct Ring(HashMap<&'static str, Result<KeyShown, NotAKey>>);

impl Ring {
    pub(crate) fn new() -> Self {
        let shown = |number: u8, name: &str, scopes, per_second, at_once| {
            let id = KeyId::from_parts(1, &[number; 10]);
            let dialogue = name == "good";
            Ok(KeyShown {
                id,
                name: name.to_owned(),
                scopes,
                expires_ms: None,
                per_second,
                at_once,
                dialogue,
            })
        };
        Self(HashMap::from([
            (GOOD, shown(1, "good", Scopes::ALL, None, None)),
            (SLOW, shown(2, "slow", Scopes::of([Scope::Call]), Some(1), None)),
            (NARROW, shown(3, "narrow", Scopes::of([Scope::Call]), None, Some(1))),
            (UNABLE, shown(6, "unable", Scopes::of([Scope::Approve, Scope::Operate]), None, None)),
            (EXPIRED, Err(NotAKey::Expired)),
            (REVOKED, Err(NotAKey::Revoked)),
        ]))
    }
}

impl Keyring for Ring {
    fn authenticate(&self, shown: &str) -> Result<KeyShown, NotAKey> {
        if !shown.starts_with("bwk_") {
            return Err(NotAKey::Malformed);
        }
        self.0.get(shown).cloned().unwrap_or(Err(NotAKey::Unknown))
    }
}

/// What the routes of a test share with it.
#[derive(Clone)]
pub(crate) struct Stage {
    /// A request that waits has begun.
    pub(crate) waits: Arc<Notify>,
    /// Lets one request that waits go on.
    pub(crate) go: Arc<Semaphore>,
    /// What the routes were given, to look for what they must not see.
    pub(crate) seen: Arc<Mutex<Vec<String>>>,
}

/// The settings of a server on this address.
pub(crate) fn settings() -> Server {
    Server {
        listen: "127.0.0.1:0".parse().unwrap(),
        hosts: vec!["tools.example".to_owned(), "other.example:8443".to_owned()],
        origins: vec!["https://pages.example".to_owned()],
        keyless: true,
        tls: None,
        jwt: None,
        body_bytes: 1 << 20,
        bodies_bytes: None,
        per_second: 100_000,
        at_once: 1000,
        calls: 2,
        grace_ms: 20_000,
        preset: "none".to_owned(),
    }
}

/// A running server.
pub(crate) struct Running {
    pub(crate) address: SocketAddr,
    pub(crate) closing: Closing,
    pub(crate) stage: Stage,
    pub(crate) ended: JoinHandle<Result<(), ServeError>>,
}

/// How a test's server differs.
#[derive(Default)]
pub(crate) struct Differs {
    pub(crate) no_auth: NoAuth,
    pub(crate) tokens: Option<Tokens>,
}

impl Running {
    /// A server with settings that the test changes.
    pub(crate) fn start(change: impl FnOnce(&mut Server, &mut Serving)) -> Self {
        Self::start_with(Differs::default(), change)
    }

    pub(crate) fn start_with(differs: Differs, change: impl FnOnce(&mut Server, &mut Serving)) -> Self {
        let mut server = settings();
        let mut serving = Serving::of(&server);
        change(&mut server, &mut serving);
        serving.body_bytes = server.body_bytes;
        serving.bodies_bytes = server.bodies_bytes;
        serving.tls.clone_from(&server.tls);
        let listener = bind(server.listen).unwrap();
        let address = listener.local_addr().unwrap();
        let counters = Counters::install().unwrap();
        let stage = Stage { waits: Arc::default(), go: Arc::new(Semaphore::new(0)), seen: Arc::default() };
        let service = bailiwick_http::mounted(mounted::service(&stage), &server);
        let routes = routes(&stage).merge(counters.route()).merge(service);
        let perimeter = Perimeter::new(
            PerimeterSettings { server: &server, bound: address, no_auth: differs.no_auth },
            Arc::new(Ring::new()),
            differs.tokens,
            counters,
        );
        let closing = serving.closing.clone();
        let app = perimeter.around(routes);
        let ended = tokio::spawn(serve(listener, app, serving, std::future::pending()));
        Self { address, closing, stage, ended }
    }

    pub(crate) fn plain() -> Self {
        Self::start(|_, _| {})
    }

    /// Sends these bytes as they are, and gives back everything that comes until the end.
    pub(crate) async fn raw(&self, bytes: impl AsRef<[u8]>) -> String {
        let mut stream = self.connect().await;
        // A server may refuse before it has read all.
        let _sent = stream.write_all(bytes.as_ref()).await;
        read_all(&mut stream).await
    }

    pub(crate) async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.address).await.unwrap()
    }

    /// A request with these header lines, on a connection of its own.
    pub(crate) async fn ask(&self, method: &str, target: &str, headers: &[&str]) -> Answer {
        self.ask_with(method, target, headers, "").await
    }

    pub(crate) async fn ask_with(&self, method: &str, target: &str, headers: &[&str], body: &str) -> Answer {
        let mut request = format!("{method} {target} HTTP/1.1\r\nconnection: close\r\n");
        let names_host = headers.iter().any(|line| line.to_ascii_lowercase().starts_with("host:"));
        if !names_host {
            request = format!("{request}host: {}\r\n", self.address);
        }
        if !body.is_empty() {
            request = format!("{request}content-length: {}\r\n", body.len());
        }
        for line in headers {
            request.push_str(line);
            request.push_str("\r\n");
        }
        Answer::read(&self.raw(format!("{request}\r\n{body}")).await)
    }

    /// Ends the server, and waits for it.
    pub(crate) async fn end(self) {
        self.closing.begin();
        tokio::time::timeout(PATIENCE, self.ended).await.unwrap().unwrap().unwrap();
    }
}

pub(crate) async fn read_all(stream: &mut TcpStream) -> String {
    let mut all = Vec::new();
    // A reset after the answer is an end, too.
    let _end = tokio::time::timeout(PATIENCE, stream.read_to_end(&mut all))
        .await
        .expect("the connection never ended");
    String::from_utf8_lossy(&all).into_owned()
}

/// An answer, taken apart.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
}

impl Answer {
    #[track_caller]
    pub(crate) fn read(text: &str) -> Self {
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((text, ""));
        let mut lines = head.split("\r\n");
        let first = lines.next().unwrap_or_default();
        let status = first.split(' ').nth(1).and_then(|code| code.parse().ok());
        let headers = lines
            .filter_map(|line| line.split_once(": "))
            .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
            .collect();
        Self {
            status: status.unwrap_or_else(|| panic!("no answer: {text:?}")),
            headers,
            body: body.to_owned(),
        }
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(one, _)| one == name).map(|(_, value)| value.as_str())
    }

    /// The code of a problem; empty where it is none.
    pub(crate) fn code(&self) -> String {
        let body: Value = serde_json::from_str(&self.body).unwrap_or_default();
        body["code"].as_str().unwrap_or_default().to_owned()
    }
}

async fn breaks() -> &'static str {
    panic!("a secret of the handler")
}

fn routes(stage: &Stage) -> Router {
    let all = |stage: Stage| {
        move |principal: Extension<Principal>, request: axum::extract::Request| async move {
            stage.seen.lock().unwrap().push(format!("{request:?} {principal:?}"));
            let Extension(Principal { actor, scopes, key, dialogue: _, ends_s: _ }) = principal;
            Json(json!({"key": actor.key, "client": actor.client, "scopes": scopes, "id": key}))
        }
    };
    let waiting = stage.clone();
    let running = stage.clone();
    let events = |Extension(_): Extension<Principal>| async move {
        let first = futures_util::stream::once(async { Ok::<_, Infallible>(Event::default().data("hello")) });
        Sse::new(futures_util::StreamExt::chain(first, futures_util::stream::pending()))
    };
    Router::new()
        .route("/large", get(async || Body::from(Bytes::from(vec![b'x'; 1 << 20]))))
        .route("/who", get(all(stage.clone())).post(all(stage.clone())))
        .route("/healthz", get(|| async { "fine" }))
        .route(
            "/readyz",
            get(|Extension(closing): Extension<Closing>| async move {
                if closing.has_begun() { http::StatusCode::SERVICE_UNAVAILABLE } else { http::StatusCode::OK }
            }),
        )
        .route("/peer", get(|Extension(peer): Extension<Peer>| async move { peer.address.to_string() }))
        .route("/echo", post(|body: Bytes| async move { body.len().to_string() }))
        .route("/ignores", post(|| async { "did not look" }))
        .route("/panics", get(breaks))
        .route("/long", get(|| async { "tell me ".repeat(1000) }))
        .route(
            "/endless",
            get(|| async {
                let piece = Bytes::from(vec![b'x'; 64 << 10]);
                Body::from_stream(futures_util::stream::repeat_with(move || {
                    Ok::<_, Infallible>(piece.clone())
                }))
            }),
        )
        .route("/v1/events", get(events).post(events))
        .route(
            "/waits",
            get(move || async move {
                waiting.waits.notify_one();
                waiting.go.acquire().await.unwrap().forget();
                "went on"
            }),
        )
        .route(
            "/v1/execute",
            post(move |Extension(slot): Extension<Slot>, body: String| async move {
                slot.take().unwrap();
                if body == "runs" {
                    running.waits.notify_one();
                    running.go.acquire().await.unwrap().forget();
                }
                "ran"
            }),
        )
}
