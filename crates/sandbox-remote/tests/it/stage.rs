//! A server by a script: what it is asked is kept, what it answers is chosen. Where the script says nothing it answers as one
//! that means well.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bailiwick_api::{Executed, TerminalSaid};
use bailiwick_redact::Secret;
use bailiwick_sandbox::{Captured, Demand, ExecResult, ExecUsage, Exit, Limit, Limits, Preset};
use bailiwick_sandbox_remote::{Door, Options, RemoteBackend};
use bailiwick_types::{CorrelationId, Receipt, SandboxId, Tier, WallStatus, Wallpart};
use futures_util::{SinkExt as _, StreamExt as _};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;
use tokio_tungstenite::tungstenite::protocol::Role;

/// The key of the stage.
pub(crate) const KEY: &str =
    "bwk_00000000000000000000000000000001_the-secret-part-of-a-key-000000000000000000";
/// Longer than anything here takes; only a test that hangs ever waits for it.
pub(crate) const PATIENCE: Duration = Duration::from_mins(1);

/// A request, as far as anybody here looks.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    pub(crate) line: String,
    pub(crate) head: String,
    pub(crate) body: Value,
}

impl Request {
    pub(crate) fn is(&self, line: &str) -> bool {
        self.line.starts_with(line)
    }

    /// The value of a header.
    pub(crate) fn header(&self, name: &str) -> Option<String> {
        let of = |line: &str| {
            let (named, value) = line.split_once(':')?;
            named.eq_ignore_ascii_case(name).then(|| value.trim().to_owned())
        };
        self.head.lines().find_map(of)
    }

    pub(crate) fn is_a_talk(&self) -> bool {
        self.is("GET /v1/sandboxes/") && self.line.contains("/exec ")
    }
}

/// What is answered.
#[derive(Debug, Clone)]
pub(crate) enum Answer {
    /// This, with a status.
    Json(u16, Value),
    /// These bytes, as they are.
    Raw(String),
    /// A head, and then a body without an end.
    Endless(&'static str),
    /// Nothing at all, and the connection stays.
    Nothing,
    /// These messages on a WebSocket, once a command was begun, and then nothing.
    Talk(Vec<Message>),
    /// The same without an end.
    TalkForEver(Message),
}

type Script = dyn Fn(&Request) -> Option<Answer> + Send + Sync;

/// A server.
pub(crate) struct Stage {
    pub(crate) address: SocketAddr,
    asked: Arc<Mutex<Vec<Request>>>,
}

impl Stage {
    pub(crate) async fn new(script: impl Fn(&Request) -> Option<Answer> + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let (asked, script): (Arc<Mutex<Vec<Request>>>, Arc<Script>) = (Arc::default(), Arc::new(script));
        let keeps = asked.clone();
        tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.expect("a connection");
                tokio::spawn(attend(stream, keeps.clone(), script.clone()));
            }
        });
        Self { address, asked }
    }

    pub(crate) fn asked(&self) -> Vec<Request> {
        self.asked.lock().expect("nobody panicked").clone()
    }

    pub(crate) fn backend(&self) -> RemoteBackend {
        let (address, key) = (format!("http://{}", self.address), Secret::new(KEY.to_owned()));
        RemoteBackend::new(Options::new(move || {
            Door::new(&address, Some((&key, "a test".to_owned())), None, Duration::ZERO)
        }))
    }
}

async fn attend(mut stream: TcpStream, asked: Arc<Mutex<Vec<Request>>>, script: Arc<Script>) {
    let Some(request) = read(&mut stream).await else { return };
    asked.lock().expect("nobody panicked").push(request.clone());
    let answer = script(&request).unwrap_or_else(|| well_meant(&request));
    // Whoever has heard enough goes.
    let _gone = answered(stream, &request, answer).await;
}

/// Reads a request: its head, and the body that it tells of.
async fn read(stream: &mut TcpStream) -> Option<Request> {
    let mut all = Vec::new();
    loop {
        let end = all.windows(4).position(|window| window == b"\r\n\r\n");
        if let Some(end) = end {
            let head = String::from_utf8_lossy(&all[..end]).into_owned();
            let line = head.lines().next().unwrap_or_default().to_owned();
            let request = Request { line, head, body: Value::Null };
            let length =
                request.header("content-length").map_or(0, |length| length.parse().expect("a length"));
            let body = all.get(end + 4..).unwrap_or_default();
            if body.len() >= length {
                return Some(Request { body: serde_json::from_slice(body).unwrap_or_default(), ..request });
            }
        }
        let mut piece = [0; 4096];
        match stream.read(&mut piece).await {
            Ok(0) | Err(_) => return None,
            Ok(read) => all.extend_from_slice(&piece[..read]),
        }
    }
}

async fn answered(mut stream: TcpStream, request: &Request, answer: Answer) -> std::io::Result<()> {
    match answer {
        Answer::Json(status, value) => {
            let (text, kind) = (value.to_string(), if status < 300 { "json" } else { "problem+json" });
            let text = if status == 204 { String::new() } else { text };
            let head = format!(
                "HTTP/1.1 {status} X\r\ncontent-type: application/{kind}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
                text.len()
            );
            stream.write_all(head.as_bytes()).await?;
            stream.write_all(text.as_bytes()).await?;
            stream.shutdown().await
        }
        Answer::Raw(text) => {
            stream.write_all(text.as_bytes()).await?;
            stream.shutdown().await
        }
        Answer::Endless(head) => {
            stream.write_all(head.as_bytes()).await?;
            let piece = vec![b'['; 64 << 10];
            loop {
                stream.write_all(&piece).await?;
            }
        }
        Answer::Nothing => {
            let mut piece = [0; 64];
            while stream.read(&mut piece).await? > 0 {}
            Ok(())
        }
        Answer::Talk(messages) => {
            let mut socket = begun(stream, request).await?;
            for message in messages {
                let _gone = socket.send(message).await;
            }
            while let Some(Ok(_)) = socket.next().await {}
            Ok(())
        }
        Answer::TalkForEver(message) => {
            let mut socket = begun(stream, request).await?;
            while socket.send(message.clone()).await.is_ok() {}
            Ok(())
        }
    }
}

/// Changes the protocol, and waits for the first message.
async fn begun(mut stream: TcpStream, request: &Request) -> std::io::Result<WebSocketStream<TcpStream>> {
    let key = request.header("sec-websocket-key").unwrap_or_default();
    let accept = derive_accept_key(key.as_bytes());
    let text = format!(
        "HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\nsec-websocket-accept: {accept}\r\n\r\n"
    );
    stream.write_all(text.as_bytes()).await?;
    let mut socket = WebSocketStream::from_raw_socket(stream, Role::Server, None).await;
    let _first = socket.next().await;
    Ok(socket)
}

/// What a server that means well answers.
pub(crate) fn well_meant(request: &Request) -> Answer {
    if request.is("GET /v1/openapi.json") {
        return Answer::Json(200, described(env!("CARGO_PKG_VERSION")));
    }
    if request.is("POST /v1/sandboxes ") {
        return Answer::Json(201, made(&request.body));
    }
    if request.is("DELETE ") {
        return Answer::Json(204, Value::Null);
    }
    if request.is_a_talk() {
        return Answer::Talk(vec![result()]);
    }
    Answer::Json(404, json!({"code": "NOT_FOUND", "detail": "there is no such thing"}))
}

/// The description of a server of this version.
pub(crate) fn described(version: &str) -> Value {
    json!({"info": {"title": "Bailiwick", "version": version}})
}

/// The last message of a command that ended well.
pub(crate) fn result() -> Message {
    let said = TerminalSaid::Result(Box::new(Executed { result: ran(), warnings: Vec::new() }));
    Message::text(serde_json::to_string(&said).expect("JSON"))
}

fn ran() -> ExecResult {
    ExecResult {
        exit: Exit::Code(0),
        timed_out: false,
        oom: false,
        stdout: Captured::default(),
        stderr: Captured::default(),
        usage: ExecUsage::default(),
        denials: Vec::new(),
        receipt: receipt(),
        sandbox_id: SandboxId::from_parts(1, &[1; 10]),
        backend: "process".to_owned(),
        tier: Tier::Container,
        correlation_id: CorrelationId::parse("c").expect("an id"),
    }
}

fn receipt() -> Receipt {
    let wall = |demand: Demand| Wallpart {
        demand: demand.name().to_owned(),
        mechanism: format!("a wall against {}", demand.name()),
        status: WallStatus::Enforced,
    };
    Receipt { tier: Tier::Container, walls: Demand::ALL.map(wall).to_vec(), insecure: false }
}

/// The sandbox that is made of a wish.
pub(crate) fn made(wish: &Value) -> Value {
    let preset: Preset = wish["preset"].as_str().expect("a preset").parse().expect("one of ours");
    let typed = |limits: Limits, limit: Limit| match wish["limits"][limit.name()].as_str() {
        Some(text) => limits.with(limit, text).expect("a limit"),
        None => limits,
    };
    let limits = Limit::ALL.into_iter().fold(Limits::preset(preset), typed);
    json!({
        "id": SandboxId::from_parts(1, &[1; 10]), "name": wish["name"], "backend": "process", "tier": "CONTAINER",
        "state": "idle", "running": 0, "network": wish["network"], "by": "x", "createdAt": "", "usedAt": "", "endsAt": "",
        "spec": {
            "limits": limits, "network": wish["network"], "mounts": [], "overlays": [], "secrets": [], "expose": [],
        },
        "receipt": receipt(), "warnings": [], "usage": null, "correlationId": null,
    })
}

/// Runs a test; nothing hangs.
pub(crate) fn block_on<T>(doing: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    runtime
        .expect("a runtime")
        .block_on(async { tokio::time::timeout(PATIENCE, doing).await.expect("nothing hangs") })
}
