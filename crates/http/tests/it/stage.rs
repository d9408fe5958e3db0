//! A router with somebody behind its desk, and the few words most tests are made of.

use std::future::Future;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use axum::body::Body;
use axum::extract::Request;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use axum::{Extension, Router};
use bailiwick_config::{Environment, FolderFile, Loaded, Server, load};
use bailiwick_core::{
    Action, Actor, Boxed, Caller, Desk, Dialogue, Fallback, Opening, Opens, Ownership, Performs, Presence,
    Refusal, Reply, Runtime,
};
use bailiwick_http::perimeter::{
    KeyShown, Keyring, NoAuth, NotAKey, Perimeter, PerimeterSettings, Principal,
};
use bailiwick_http::routes::{Served, router};
use bailiwick_http::{Closing, Counters, Peer, ServeError, Serving, bind, serve};
use bailiwick_types::Scopes;
use http_body_util::BodyExt as _;
use serde_json::Value;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt as _;

/// Runs a test on a tokio runtime of its own.
pub(crate) fn block_on<T>(test: impl Future<Output = T>) -> T {
    let tokio = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    tokio.expect("a tokio runtime").block_on(test)
}

/// What somebody does who is asked for an action.
type Does = dyn Fn(Caller, Action) -> Boxed<Result<Reply, Refusal>> + Send + Sync;

/// Replies by a script, and remembers what was asked.
struct Script {
    does: Arc<Does>,
    asked: Arc<Mutex<Vec<Action>>>,
    _ownership: Ownership,
}

impl Performs for Script {
    fn perform(&self, caller: Caller, action: Action) -> Boxed<Result<Reply, Refusal>> {
        self.asked.lock().expect("not poisoned").push(action.clone());
        (self.does)(caller, action)
    }

    fn close(&self) -> Boxed<Result<(), Refusal>> {
        Box::pin(std::future::ready(Ok(())))
    }
}

struct ScriptOpens {
    data: PathBuf,
    does: Arc<Does>,
    asked: Arc<Mutex<Vec<Action>>>,
}

impl Opens for ScriptOpens {
    fn data(&self) -> &Path {
        &self.data
    }

    fn open(self: Box<Self>, ownership: Ownership) -> Boxed<Result<Arc<dyn Performs>, Refusal>> {
        let script = Script { does: self.does, asked: self.asked, _ownership: ownership };
        Box::pin(std::future::ready(Ok(Arc::new(script) as Arc<dyn Performs>)))
    }
}

/// A router, and what stands behind it.
pub(crate) struct Stage {
    router: Router,
    server: Server,
    pub(crate) asked: Arc<Mutex<Vec<Action>>>,
    pub(crate) closing: CancellationToken,
    _folder: tempfile::TempDir,
}

/// Somebody with a key that covers this much.
pub(crate) fn principal(scopes: Scopes) -> Principal {
    let actor = Actor { key: Some("test".to_owned()), client: "http".to_owned() };
    Principal { actor, scopes, key: None, dialogue: Dialogue::Ignored, ends_s: None }
}

pub(crate) fn private_folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a folder")
}

fn settings(folder: &Path) -> Loaded {
    let home = folder.join("home");
    let environment = Environment {
        working_folder: home.clone(),
        system_folder: home.join("etc"),
        home: Some(home),
        config_home: None,
        data_home: None,
        data: None,
        config: None,
        variables: std::collections::BTreeMap::new(),
    };
    let request = bailiwick_config::Request {
        config: None,
        data: Some(folder.join("data")),
        set: vec!["server.body=64KiB".to_owned()],
        folder_file: FolderFile::Skip,
    };
    load(&environment, &request).expect("settings")
}

/// A whole core in a folder.
pub(crate) fn opening(folder: &Path, presence: Presence) -> Opening {
    Opening {
        data: folder.join("data"),
        config: folder.join("config"),
        settings: settings(folder).settings,
        fallback: Fallback::none(),
        cells: Runtime::builder().parked(1),
        backends: bailiwick_core::Backends::default(),
        presence,
    }
}

impl Stage {
    /// Somebody who replies by a script.
    pub(crate) async fn script(
        does: impl Fn(Caller, Action) -> Boxed<Result<Reply, Refusal>> + Send + Sync + 'static,
    ) -> Self {
        let folder = private_folder();
        let asked: Arc<Mutex<Vec<Action>>> = Arc::default();
        let opens =
            ScriptOpens { data: folder.path().join("data"), does: Arc::new(does), asked: asked.clone() };
        let server = settings(folder.path()).settings.server;
        Self::of(Desk::open(opens).await.expect("a desk"), server, asked, folder)
    }

    /// Somebody who always replies alike.
    pub(crate) async fn replying(reply: Result<Reply, Refusal>) -> Self {
        Self::script(move |_, _| Box::pin(std::future::ready(reply.clone()))).await
    }

    /// A whole core.
    pub(crate) async fn real() -> Self {
        let folder = private_folder();
        let opening = opening(folder.path(), Presence::Serving);
        let server = opening.settings.server.clone();
        Self::of(Desk::open(opening).await.expect("a desk"), server, Arc::default(), folder)
    }

    fn of(desk: Desk, server: Server, asked: Arc<Mutex<Vec<Action>>>, folder: tempfile::TempDir) -> Self {
        let closing = CancellationToken::new();
        let router = router(Served::new(Arc::new(desk), Arc::new(server.clone()), closing.clone()));
        Self { router, server, asked, closing, _folder: folder }
    }

    /// The same routes behind the perimeter, as whoever is on this machine meets them at this address.
    pub(crate) fn door(self, bound: SocketAddr, change: impl FnOnce(&mut Server)) -> Door {
        let mut server = self.server.clone();
        change(&mut server);
        let settings = PerimeterSettings { server: &server, bound, no_auth: NoAuth::Refused };
        let counters = Counters::install().expect("counters");
        let perimeter = Perimeter::new(settings, Arc::new(NoKeys), None, counters);
        Door { router: perimeter.around(self.router.clone()), bound, _stage: Arc::new(self) }
    }

    /// The same routes behind the perimeter on a listener of their own, for whoever has one of these keys.
    pub(crate) fn listen(self, keys: Arc<dyn Keyring>, change: impl FnOnce(&mut Server)) -> Listening {
        let mut server = self.server.clone();
        change(&mut server);
        let listener = bind(SocketAddr::from(([127, 0, 0, 1], 0))).expect("a listener");
        let bound = listener.local_addr().expect("an address");
        let settings = PerimeterSettings { server: &server, bound, no_auth: NoAuth::Refused };
        let perimeter = Perimeter::new(settings, keys, None, Counters::install().expect("counters"));
        let serving = Serving::of(&server);
        let (app, closing) = (perimeter.around(self.router.clone()), serving.closing.clone());
        let ended = tokio::spawn(serve(listener, app, serving, std::future::pending()));
        Listening { address: bound, closing, ended, stage: self }
    }

    /// Sends a request of somebody with all scopes.
    pub(crate) async fn send(&self, request: Request) -> Response {
        self.send_as(principal(Scopes::ALL), request).await
    }

    /// Sends a request of somebody.
    pub(crate) async fn send_as(&self, who: Principal, request: Request) -> Response {
        let router = self.router.clone().layer(Extension(who));
        router.oneshot(request).await.expect("an answer")
    }

    /// Sends a request that nobody vouches for.
    pub(crate) async fn send_alone(&self, request: Request) -> Response {
        self.router.clone().oneshot(request).await.expect("an answer")
    }

    /// Sends a request and reads all of its answer.
    pub(crate) async fn ask(&self, request: Request) -> Answer {
        Answer::of(self.send(request).await).await
    }

    /// What was asked of whoever stands behind the desk.
    pub(crate) fn asked(&self) -> Vec<Action> {
        self.asked.lock().expect("not poisoned").clone()
    }
}

/// A stage on a listener.
pub(crate) struct Listening {
    pub(crate) address: SocketAddr,
    pub(crate) closing: Closing,
    pub(crate) ended: tokio::task::JoinHandle<Result<(), ServeError>>,
    pub(crate) stage: Stage,
}

/// Knows no key.
struct NoKeys;

impl Keyring for NoKeys {
    fn authenticate(&self, _shown: &str) -> Result<KeyShown, NotAKey> {
        Err(NotAKey::Unknown)
    }
}

/// A stage behind the perimeter.
#[derive(Clone)]
pub(crate) struct Door {
    router: Router,
    bound: SocketAddr,
    _stage: Arc<Stage>,
}

impl Door {
    /// Sends a request from this machine, that names us as its host unless it names somebody else.
    pub(crate) async fn send(&self, mut request: Request) -> Response {
        let peer = Peer { address: self.bound, reached: self.bound, encrypted: false };
        request.extensions_mut().insert(peer);
        request.extensions_mut().insert(Closing::new());
        let host = self.bound.to_string().parse().expect("a host");
        request.headers_mut().entry("host").or_insert(host);
        self.router.clone().oneshot(request).await.expect("an answer")
    }
}

/// An answer, read to its end.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) text: String,
}

impl Answer {
    pub(crate) async fn of(response: Response) -> Self {
        let (parts, body) = response.into_parts();
        let bytes = body.collect().await.expect("a body").to_bytes();
        let text = String::from_utf8(bytes.to_vec()).expect("text");
        Self { status: parts.status, headers: parts.headers, text }
    }

    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|error| panic!("{error}: {}", self.text))
    }

    #[track_caller]
    pub(crate) fn header(&self, name: &str) -> &str {
        let value = self.headers.get(name).unwrap_or_else(|| panic!("no header {name}: {self:?}"));
        value.to_str().expect("text")
    }

    /// The kind of its body, without parameters.
    pub(crate) fn kind(&self) -> Option<&str> {
        let kind = self.headers.get("content-type")?.to_str().ok()?;
        kind.split(';').next()
    }
}

/// A request without a body.
pub(crate) fn bare(method: &str, uri: &str) -> Request {
    Request::builder().method(method).uri(uri).body(Body::empty()).expect("a request")
}

pub(crate) fn get(uri: &str) -> Request {
    bare("GET", uri)
}

/// A request with a body in JSON.
pub(crate) fn json(method: &str, uri: &str, body: &Value) -> Request {
    text(method, uri, "application/json", &body.to_string())
}

/// A request with a body.
pub(crate) fn text(method: &str, uri: &str, kind: &str, body: &str) -> Request {
    let request = Request::builder().method(method).uri(uri).header("content-type", kind);
    request.body(Body::from(body.to_owned())).expect("a request")
}

/// A request with one more header.
pub(crate) fn with(mut request: Request, name: &'static str, value: &str) -> Request {
    request.headers_mut().append(name, value.parse().expect("a value"));
    request
}
