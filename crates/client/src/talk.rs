//! A command that is talked with while it runs, over a WebSocket: its three streams, signals, its end.
//!
//! Nothing runs before [`Talk::begin`]: until then there is only a connection, and a server that may or may not have such a
//! sandbox. Whoever drops a talk ends the command. Every message is bounded, and a server that falls silent is not waited for.

use std::time::Duration;

use bailiwick_api::{TerminalSaid, TerminalStart, TerminalTold};
use bailiwick_core::Refusal;
use bailiwick_types::ErrorCode;
use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt as _, StreamExt as _};
use hyper::header::{AUTHORIZATION, HeaderValue, USER_AGENT};
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_tungstenite::{WebSocketStream, client_async_with_config};

use crate::ask::{Ask, segment};
use crate::connect::{AGENT, Line, line, not_reached, not_understood, shown};
use crate::place::Server;
use crate::remote::Remote;

/// The largest message of a server's: its last, which tells what was refused.
const LARGEST: usize = 4 << 20;
/// How long a server may take to change its protocol.
const CHANGES: Duration = Duration::from_secs(15);
/// How long a server may be silent; it asks every twenty seconds whether somebody is there.
const SILENCE: Duration = Duration::from_mins(1);
/// How long a message may take to be taken by the network.
const SENT: Duration = Duration::from_secs(30);

/// A connection to a sandbox, over which one command can be begun.
pub struct Talk {
    socket: WebSocketStream<Line>,
    server: Server,
}

/// What the command is told.
pub struct Says {
    sink: SplitSink<WebSocketStream<Line>, Message>,
    server: Server,
}

/// What the command says.
pub struct Hears {
    stream: SplitStream<WebSocketStream<Line>>,
    server: Server,
}

/// What a server tells.
#[derive(Debug, Clone, PartialEq)]
pub enum Told {
    /// Output, with the byte of its stream in front.
    Bytes(bytes::Bytes),
    /// So many messages of input were taken.
    Taken(u64),
    /// It ended.
    Ended(Box<bailiwick_api::Executed>),
}

impl std::fmt::Debug for Talk {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Talk").field("server", &self.server).finish_non_exhaustive()
    }
}

impl std::fmt::Debug for Says {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Says").field("server", &self.server).finish_non_exhaustive()
    }
}

impl std::fmt::Debug for Hears {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Hears").field("server", &self.server).finish_non_exhaustive()
    }
}

impl Remote {
    /// A connection to a sandbox that is kept. No command was asked for yet.
    pub async fn talk(&self, sandbox: &str) -> Result<Talk, Refusal> {
        let server = self.server.clone();
        let stream = line(&server).await?;
        let place = server.path(&format!("/v1/sandboxes/{}/exec", segment(sandbox)));
        let strange = |why: &dyn std::fmt::Display| not_understood(&self.server, &why.to_string());
        let mut request = format!("ws://{}{place}", server.authority())
            .into_client_request()
            .map_err(|error| strange(&error))?;
        let headers = request.headers_mut();
        headers.insert(USER_AGENT, HeaderValue::from_static(AGENT));
        if let Some(key) = shown(&server)? {
            headers.insert(AUTHORIZATION, key);
        }
        let config = WebSocketConfig::default().max_message_size(Some(LARGEST)).max_frame_size(Some(LARGEST));
        match timeout(CHANGES, client_async_with_config(request, stream, Some(config))).await {
            Ok(Ok((socket, _))) => Ok(Talk { socket, server }),
            Ok(Err(Error::Http(response))) => {
                // What it says about that may not have come yet; whether there is such a sandbox, it can be asked.
                let seen = self.body(Ask::get(&format!("/v1/sandboxes/{}", segment(sandbox)))).await;
                let (head, body) = response.into_parts();
                seen.and_then(|_| Err(self.told(head.status, &head.headers, &body.unwrap_or_default())))
            }
            Ok(Err(error)) => Err(strange(&error)),
            Err(_) => Err(not_reached(&server, "it does not change to a WebSocket")),
        }
    }
}

impl Talk {
    /// Begins a command. From here on it may run, whatever becomes of the connection.
    pub async fn begin(self, start: TerminalStart) -> Result<(Says, Hears), Refusal> {
        let Self { socket, server } = self;
        let (sink, stream) = socket.split();
        let mut says = Says { sink, server: server.clone() };
        says.tell(&TerminalTold::Start(Box::new(start))).await?;
        Ok((says, Hears { stream, server }))
    }
}

impl Says {
    /// Says something in words.
    pub async fn tell(&mut self, told: &TerminalTold) -> Result<(), Refusal> {
        let text = serde_json::to_string(told).map_err(|error| {
            Refusal::new(ErrorCode::InvalidInput, format!("this cannot be asked of a server: {error}"))
        })?;
        self.send(Message::text(text)).await
    }

    /// Hands input on.
    pub async fn bytes(&mut self, bytes: bytes::Bytes) -> Result<(), Refusal> {
        self.send(Message::Binary(bytes)).await
    }

    async fn send(&mut self, message: Message) -> Result<(), Refusal> {
        match timeout(SENT, self.sink.send(message)).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(error)) => Err(lost(&self.server, &error.to_string())),
            Err(_) => Err(lost(&self.server, "it takes nothing more")),
        }
    }
}

impl Hears {
    /// The next that the server tells.
    pub async fn next(&mut self) -> Result<Told, Refusal> {
        loop {
            let message = match timeout(SILENCE, self.stream.next()).await {
                Ok(Some(Ok(message))) => message,
                Ok(Some(Err(Error::Capacity(error)))) => {
                    return Err(not_understood(&self.server, &error.to_string()));
                }
                Ok(Some(Err(error))) => return Err(lost(&self.server, &error.to_string())),
                Ok(None) => return Err(lost(&self.server, "it went away before the command ended")),
                Err(_) => return Err(lost(&self.server, "it fell silent")),
            };
            match message {
                Message::Binary(bytes) => return Ok(Told::Bytes(bytes)),
                Message::Text(text) => return self.words(&text),
                Message::Close(_) => return Err(lost(&self.server, "it closed before the command ended")),
                // It asks whether somebody is there, and is answered by reading on.
                Message::Ping(_) | Message::Pong(_) | Message::Frame(_) => {}
            }
        }
    }

    fn words(&self, text: &str) -> Result<Told, Refusal> {
        match serde_json::from_str::<TerminalSaid>(text) {
            Ok(TerminalSaid::Taken(messages)) => Ok(Told::Taken(messages)),
            Ok(TerminalSaid::Result(executed)) => Ok(Told::Ended(executed)),
            Ok(TerminalSaid::Error(problem)) => Err(Refusal::from(*problem)),
            Err(error) => Err(not_understood(&self.server, &error.to_string())),
        }
    }
}

/// A connection that is gone while a command may run.
fn lost(server: &Server, why: &str) -> Refusal {
    let refusal = not_reached(server, why);
    Refusal::new(refusal.code, format!("{}; what the command did until then is done", refusal.message))
        .with_hint("the server ends a command whose connection is gone; it has it on its record")
}
