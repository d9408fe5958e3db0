//! A client that speaks raw JSON, over each way there is. Whatever comes back, on whichever stream, comes out of one queue
//! in the order in which it came.

use axum::body::Body;
use axum::extract::Request;
use axum::response::Response;
use axum::{Extension, Router};
use bailiwick_core::Admitted;
use http_body_util::BodyExt as _;
use serde_json::{Map, Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, WriteHalf};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt as _;

use crate::stage::{Stage, soon};

pub(crate) const OLD: &str = "2025-11-25";
pub(crate) const NEW: &str = "2026-07-28";

/// How a client talks to a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// HTTP, with a session.
    Session,
    /// HTTP, each request by itself.
    Alone,
    /// A pipe, in the older era.
    OldPipe,
    /// A pipe, in the newer one.
    NewPipe,
}

impl Way {
    pub(crate) const ALL: [Self; 4] = [Self::Session, Self::Alone, Self::OldPipe, Self::NewPipe];
    pub(crate) const OLD: [Self; 2] = [Self::Session, Self::OldPipe];
    pub(crate) const NEW: [Self; 2] = [Self::Alone, Self::NewPipe];

    pub(crate) fn is_new(self) -> bool {
        matches!(self, Self::Alone | Self::NewPipe)
    }
}

enum Wire {
    Http { router: Router, session: Option<String> },
    Pipe { writes: WriteHalf<DuplexStream>, served: JoinHandle<Result<(), bailiwick_mcp::PipeError>> },
}

/// A client.
pub(crate) struct Client {
    pub(crate) way: Way,
    wire: Wire,
    capabilities: Value,
    pub(crate) name: String,
    heard: mpsc::UnboundedReceiver<Value>,
    into: mpsc::UnboundedSender<Value>,
    last: u64,
    /// The requests over HTTP that are under way, by their id.
    tasks: Vec<(u64, JoinHandle<()>)>,
    pub(crate) ending: CancellationToken,
}

impl Drop for Client {
    fn drop(&mut self) {
        self.tasks.iter().for_each(|(_, task)| task.abort());
        if let Wire::Pipe { served, .. } = &self.wire {
            served.abort();
        }
    }
}

impl Client {
    /// What a client says of itself that can show forms.
    pub(crate) fn shows_forms() -> Value {
        json!({"elicitation": {}})
    }

    pub(crate) async fn open(stage: &Stage, way: Way, who: Admitted, capabilities: &Value) -> Self {
        Self::named(stage, way, who, capabilities, "a-test").await
    }

    pub(crate) async fn named(
        stage: &Stage,
        way: Way,
        who: Admitted,
        capabilities: &Value,
        name: &str,
    ) -> Self {
        let (into, heard) = mpsc::unbounded_channel();
        let ending = CancellationToken::new();
        let wire = match way {
            Way::Session | Way::Alone => {
                Wire::Http { router: stage.router.clone().layer(Extension(who)), session: None }
            }
            Way::OldPipe | Way::NewPipe => {
                let (ours, theirs) = tokio::io::duplex(1 << 16);
                let (reads, writes) = tokio::io::split(ours);
                let (their_reads, their_writes) = tokio::io::split(theirs);
                let (mcp, ends) = (stage.mcp.clone(), ending.clone());
                let served =
                    tokio::spawn(async move { mcp.pipe(their_reads, their_writes, who, ends).await });
                let into = into.clone();
                tokio::spawn(async move {
                    let mut lines = BufReader::new(reads).lines();
                    while let Ok(Some(line)) = lines.next_line().await {
                        let message = serde_json::from_str(&line).unwrap_or_else(|_| json!({"broken": line}));
                        if into.send(message).is_err() {
                            return;
                        }
                    }
                    let _ = into.send(json!({"end": "of the pipe"}));
                });
                Wire::Pipe { writes, served }
            }
        };
        let (capabilities, name) = (capabilities.clone(), name.to_owned());
        let mut client =
            Self { way, wire, capabilities, name, heard, into, last: 0, tasks: Vec::new(), ending };
        if !way.is_new() {
            client.begin().await;
        }
        client
    }

    async fn begin(&mut self) {
        let hello = json!({"protocolVersion": OLD, "capabilities": self.capabilities,
            "clientInfo": {"name": self.name, "version": "1"}});
        if let Wire::Http { router, session } = &mut self.wire {
            let body = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello});
            let response = router.clone().oneshot(post(None, OLD, &body)).await.expect("an answer");
            assert_eq!(response.status(), 200);
            let id = response.headers().get("mcp-session-id").expect("a session").to_str().expect("a text");
            *session = Some(id.to_owned());
        } else {
            let id = self.send("initialize", hello).await;
            let said = self.result(id).await;
            assert_eq!(said["protocolVersion"], OLD, "{said}");
        }
        self.notify("notifications/initialized", json!({})).await;
        if self.way == Way::Session {
            self.hear_all().await;
        }
    }

    /// The id of the session.
    pub(crate) fn session(&self) -> String {
        match &self.wire {
            Wire::Http { session: Some(session), .. } => session.clone(),
            _ => panic!("no session"),
        }
    }

    /// Opens the stream of whatever belongs to no request.
    async fn hear_all(&mut self) {
        let Wire::Http { router, session: Some(session) } = &self.wire else { return };
        let request = get(Some(session), OLD);
        let response = router.clone().oneshot(request).await.expect("an answer");
        assert_eq!(response.status(), 200);
        let into = self.into.clone();
        self.tasks.push((u64::MAX, tokio::spawn(async move { pass_on(response, &into).await })));
    }

    /// What every request of the newer era says of its client.
    pub(crate) fn about(&self) -> Value {
        json!({"io.modelcontextprotocol/protocolVersion": NEW,
            "io.modelcontextprotocol/clientCapabilities": self.capabilities,
            "io.modelcontextprotocol/clientInfo": {"name": self.name, "version": "1"}})
    }

    /// Begins a request, and gives its id.
    pub(crate) async fn send(&mut self, method: &str, params: Value) -> u64 {
        self.last += 1;
        let id = self.last;
        self.send_as(id, method, params).await;
        id
    }

    /// Begins a request of this id.
    pub(crate) async fn send_as(&mut self, id: u64, method: &str, mut params: Value) {
        if self.way.is_new() {
            let mut about = self.about();
            if let (Some(about), Some(more)) = (about.as_object_mut(), params["_meta"].as_object()) {
                about.extend(more.clone());
            }
            params["_meta"] = about;
        }
        let message = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        match &mut self.wire {
            Wire::Pipe { .. } => self.line(&message.to_string()).await,
            Wire::Http { router, session } => {
                let version = if self.way.is_new() { NEW } else { OLD };
                let request = post(session.as_deref(), version, &message);
                let (router, into) = (router.clone(), self.into.clone());
                let task = tokio::spawn(async move {
                    let response = router.oneshot(request).await.expect("an answer");
                    pass_on(response, &into).await;
                });
                self.tasks.push((id, task));
            }
        }
    }

    /// Writes a line as it is.
    pub(crate) async fn line(&mut self, line: &str) {
        let Wire::Pipe { writes, .. } = &mut self.wire else { panic!("no pipe") };
        // A pipe whose other end is gone is told by what is heard.
        let _ = writes.write_all(format!("{line}\n").as_bytes()).await;
    }

    /// Writes bytes as they are, without an end of the line.
    pub(crate) async fn bytes(&mut self, bytes: &[u8]) {
        let Wire::Pipe { writes, .. } = &mut self.wire else { panic!("no pipe") };
        let _ = writes.write_all(bytes).await;
    }

    /// Goes away: closes the pipe for writing.
    pub(crate) async fn hang_up(&mut self) {
        let Wire::Pipe { writes, .. } = &mut self.wire else { panic!("no pipe") };
        writes.shutdown().await.expect("closed");
    }

    /// Waits until the server is done with the pipe.
    pub(crate) async fn served(&mut self) -> Result<(), bailiwick_mcp::PipeError> {
        let Wire::Pipe { served, .. } = &mut self.wire else { panic!("no pipe") };
        soon(served).await.expect("no panic")
    }

    /// Drops the stream of a request, as a client that is not interested any more.
    pub(crate) fn drop_stream(&mut self, id: u64) {
        self.tasks.iter().filter(|(of, _)| *of == id).for_each(|(_, task)| task.abort());
    }

    /// Waits until every stream over HTTP is at its end.
    pub(crate) async fn streams_end(&mut self) {
        for (_, task) in self.tasks.drain(..) {
            task.await.expect("no panic");
        }
    }

    /// Sends a message that nobody answers.
    async fn post(&mut self, message: &Value) {
        match &self.wire {
            Wire::Pipe { .. } => self.line(&message.to_string()).await,
            Wire::Http { router, session } => {
                let version = if self.way.is_new() { NEW } else { OLD };
                let request = post(session.as_deref(), version, message);
                let response = soon(router.clone().oneshot(request)).await.expect("an answer");
                assert_eq!(response.status(), 202);
            }
        }
    }

    pub(crate) async fn notify(&mut self, method: &str, params: Value) {
        self.post(&json!({"jsonrpc": "2.0", "method": method, "params": params})).await;
    }

    /// Answers a request of the server.
    pub(crate) async fn respond(&mut self, id: &Value, result: Value) {
        self.post(&json!({"jsonrpc": "2.0", "id": id, "result": result})).await;
    }

    /// Answers it by an error.
    pub(crate) async fn fail(&mut self, id: &Value) {
        let error = json!({"code": -32000, "message": "no"});
        self.post(&json!({"jsonrpc": "2.0", "id": id, "error": error})).await;
    }

    /// Begins a call.
    pub(crate) async fn call(&mut self, tool: &str, arguments: Value) -> u64 {
        self.send("tools/call", json!({"name": tool, "arguments": arguments})).await
    }

    /// Begins a call that wants to hear how far it is.
    pub(crate) async fn call_with_token(&mut self, tool: &str, arguments: Value, token: &str) -> u64 {
        let meta = json!({"progressToken": token});
        self.send("tools/call", json!({"name": tool, "arguments": arguments, "_meta": meta})).await
    }

    /// The next message.
    pub(crate) async fn next(&mut self) -> Value {
        soon(self.heard.recv()).await.expect("a message")
    }

    /// The next message, if one is there already.
    pub(crate) fn now(&mut self) -> Option<Value> {
        self.heard.try_recv().ok()
    }

    /// Waits for a message of this kind; what comes before is thrown away.
    pub(crate) async fn until(&mut self, is: impl Fn(&Value) -> bool) -> Value {
        loop {
            let message = self.next().await;
            if is(&message) {
                return message;
            }
            assert!(message["end"].is_null(), "the pipe ended");
        }
    }

    /// Waits for a notification or request of this method.
    pub(crate) async fn method(&mut self, method: &str) -> Value {
        self.until(|message| message["method"] == method).await
    }

    /// Waits for an answer, and gives it with what came before.
    pub(crate) async fn answer(&mut self, id: u64) -> (Value, Vec<Value>) {
        let mut before = Vec::new();
        loop {
            let message = self.next().await;
            if message["id"] == id && message["method"].is_null() {
                return (message, before);
            }
            assert!(message["end"].is_null(), "the pipe ended; before: {before:#?}");
            before.push(message);
        }
    }

    /// Waits for a result.
    pub(crate) async fn result(&mut self, id: u64) -> Value {
        let (answer, before) = self.answer(id).await;
        assert!(answer["result"].is_object(), "{answer:#} after {before:#?}");
        answer["result"].clone()
    }

    /// Waits for an error of the protocol, and gives its code and message.
    pub(crate) async fn error(&mut self, id: u64) -> (i64, String) {
        let (answer, _) = self.answer(id).await;
        let code = answer["error"]["code"].as_i64();
        let code = code.unwrap_or_else(|| panic!("it was to be an error: {answer:#}"));
        (code, answer["error"]["message"].as_str().unwrap_or_default().to_owned())
    }

    /// Calls, and waits for the result.
    pub(crate) async fn called(&mut self, tool: &str, arguments: Value) -> Value {
        let id = self.call(tool, arguments).await;
        self.result(id).await
    }

    /// The names of all tools.
    pub(crate) async fn names(&mut self) -> Vec<String> {
        let id = self.send("tools/list", json!({})).await;
        let listed = self.result(id).await;
        let tools = listed["tools"].as_array().expect("tools");
        tools.iter().filter_map(|tool| tool["name"].as_str().map(str::to_owned)).collect()
    }

    /// Asks to hear of changes, in whichever way the era has.
    pub(crate) async fn listen(&mut self) -> u64 {
        if !self.way.is_new() {
            return 0;
        }
        let id =
            self.send("subscriptions/listen", json!({"notifications": {"toolsListChanged": true}})).await;
        self.method("notifications/subscriptions/acknowledged").await;
        id
    }
}

/// The code of a failed call.
#[track_caller]
pub(crate) fn failed(result: &Value) -> String {
    assert_eq!(result["isError"], true, "{result:#}");
    let code = result["_meta"]["bailiwick/error"]["code"].as_str();
    code.unwrap_or_else(|| panic!("no code: {result:#}")).to_owned()
}

/// The text of a result.
pub(crate) fn text(result: &Value) -> String {
    result["content"][0]["text"].as_str().unwrap_or_default().to_owned()
}

/// A request that posts a message.
pub(crate) fn post(session: Option<&str>, version: &str, message: &Value) -> Request<Body> {
    let mut request = Request::post("/mcp")
        .header("host", "127.0.0.1")
        .header("accept", "application/json, text/event-stream")
        .header("content-type", "application/json")
        .header("mcp-protocol-version", version);
    if let Some(session) = session {
        request = request.header("mcp-session-id", session);
    }
    if version == NEW {
        if let Some(method) = message["method"].as_str() {
            request = request.header("mcp-method", method);
        }
        let params = &message["params"];
        if let Some(name) =
            [&params["name"], &params["uri"], &params["taskId"]].into_iter().find_map(Value::as_str)
        {
            request = request.header("mcp-name", name);
        }
    }
    request.body(Body::from(message.to_string())).expect("a request")
}

/// A request for the stream of a session.
pub(crate) fn get(session: Option<&str>, version: &str) -> Request<Body> {
    let mut request = Request::get("/mcp").header("host", "127.0.0.1").header("accept", "text/event-stream");
    request = request.header("mcp-protocol-version", version);
    if let Some(session) = session {
        request = request.header("mcp-session-id", session);
    }
    request.body(Body::empty()).expect("a request")
}

/// Passes on every message of an answer; what is none is told as such.
async fn pass_on(response: Response, into: &mpsc::UnboundedSender<Value>) {
    let status = response.status();
    let kind = response.headers().get("content-type").and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let is_stream = kind.starts_with("text/event-stream");
    let mut body = response.into_body();
    let mut rest = Vec::new();
    while let Some(Ok(frame)) = body.frame().await {
        let Ok(data) = frame.into_data() else { continue };
        rest.extend_from_slice(&data);
        while let Some(end) = rest.windows(2).position(|two| two == b"\n\n").filter(|_| is_stream) {
            let event: Vec<u8> = rest.drain(..end + 2).collect();
            for message in messages_of(&event) {
                let _ = into.send(message);
            }
        }
    }
    if !is_stream {
        let told = serde_json::from_slice::<Value>(&rest).ok().filter(Value::is_object);
        let _ = into.send(told.unwrap_or_else(|| {
            let body = String::from_utf8_lossy(&rest).into_owned();
            Value::Object(Map::from_iter([
                ("status".to_owned(), json!(status.as_u16())),
                ("body".to_owned(), json!(body)),
            ]))
        }));
    }
}

fn messages_of(event: &[u8]) -> Vec<Value> {
    let text = String::from_utf8_lossy(event);
    let data = text.lines().filter_map(|line| line.strip_prefix("data:"));
    data.filter_map(|data| serde_json::from_str(data.trim()).ok()).collect()
}

/// All of an answer.
pub(crate) async fn read(response: Response) -> (u16, String) {
    let status = response.status().as_u16();
    let body = response.into_body().collect().await.expect("a body").to_bytes();
    (status, String::from_utf8_lossy(&body).into_owned())
}
