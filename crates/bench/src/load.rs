//! Clients for figures: each holds one connection to a server on this machine and asks for the same thing again and
//! again. As little as can be, since it shares the machine with what it measures.

#[cfg(test)]
mod tests;

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

use crate::calls::milliseconds;
use crate::row::Times;

/// What many clients measured.
pub(crate) struct LoadResult {
    /// How long each answer that was as wanted took, in milliseconds.
    pub(crate) fine: Times,
    /// How long each refusal for want of room took.
    pub(crate) busy: Times,
    /// How many answers were neither.
    pub(crate) wrong: usize,
    /// For how long they asked.
    pub(crate) took: Duration,
    /// One of the wrong answers.
    pub(crate) example: Option<String>,
}

impl LoadResult {
    /// Answers as wanted, a second.
    #[expect(clippy::cast_precision_loss, reason = "a figure to read")]
    pub(crate) fn rate(&self) -> f64 {
        self.fine.count() as f64 / self.took.as_secs_f64()
    }

    /// Refusals for want of room, a second.
    #[expect(clippy::cast_precision_loss, reason = "a figure to read")]
    pub(crate) fn rate_of_busy(&self) -> f64 {
        self.busy.count() as f64 / self.took.as_secs_f64()
    }
}

/// What a client asks for: the bytes of a request, and how its answer is known.
#[derive(Clone)]
pub(crate) struct Request {
    bytes: Vec<u8>,
    wants: Wants,
}

/// How an answer is known.
#[derive(Clone, Copy)]
enum Wants {
    /// Any that is one.
    Anything,
    /// The report of a call that gave this value.
    Report(i64),
    /// The result of a call over MCP whose text is this value.
    Text(i64),
}

impl Request {
    /// A call of a tool without arguments.
    pub(crate) fn call(address: SocketAddr, tool: &str, value: i64) -> Self {
        let body = format!(r#"{{"tool":"{tool}","arguments":{{}}}}"#);
        let request = format!(
            "POST /v1/execute HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        Self { bytes: request.into_bytes(), wants: Wants::Report(value) }
    }

    /// The same over MCP, each call by itself as the protocol of this version has it.
    pub(crate) fn over_mcp(address: SocketAddr, version: &str, tool: &str, value: i64) -> Self {
        let body = serde_json::json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
            "name": tool, "arguments": {}, "_meta": {
                "io.modelcontextprotocol/protocolVersion": version,
                "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"},
                "io.modelcontextprotocol/clientCapabilities": {},
            },
        }})
        .to_string();
        let request = format!(
            "POST /mcp HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: {version}\r\n\
             Mcp-Method: tools/call\r\nMcp-Name: {tool}\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        Self { bytes: request.into_bytes(), wants: Wants::Text(value) }
    }

    /// Whether the server lives.
    pub(crate) fn health(address: SocketAddr) -> Self {
        let request = format!("GET /healthz HTTP/1.1\r\nHost: {address}\r\n\r\n");
        Self { bytes: request.into_bytes(), wants: Wants::Anything }
    }

    /// As it is sent.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Whether this is the answer to it: the call went well and gave this very value.
    fn is_met_by(&self, response: &Response) -> bool {
        let read = || serde_json::from_str::<Value>(&response.body).unwrap_or_default();
        let is_wanted = match self.wants {
            Wants::Anything => true,
            Wants::Report(value) => {
                let report = read();
                report.get("ok") == Some(&Value::Bool(true))
                    && report.get("value").and_then(Value::as_i64) == Some(value)
            }
            Wants::Text(value) => {
                let answer = read();
                let text = answer.pointer("/result/content/0/text").and_then(Value::as_str);
                let failed = answer.pointer("/result/isError") == Some(&Value::Bool(true));
                !failed && text.and_then(|text| text.parse().ok()) == Some(value)
            }
        };
        response.status == 200 && is_wanted
    }
}

/// One connection.
pub(crate) struct Client {
    stream: TcpStream,
    buffer: Vec<u8>,
}

/// One answer.
pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) body: String,
    /// The server said that this was the last on its connection.
    is_last: bool,
}

impl Client {
    pub(crate) async fn connect(address: SocketAddr) -> std::io::Result<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, buffer: Vec::with_capacity(8192) })
    }

    pub(crate) async fn ask(&mut self, request: &[u8]) -> std::io::Result<Response> {
        self.stream.write_all(request).await?;
        self.buffer.clear();
        let head = loop {
            if let Some(at) = self.buffer.windows(4).position(|four| four == b"\r\n\r\n") {
                break at + 4;
            }
            self.more().await?;
        };
        let text = String::from_utf8_lossy(self.buffer.get(..head).unwrap_or_default()).to_ascii_lowercase();
        let status = text.split(' ').nth(1).and_then(|word| word.parse().ok());
        let length = text
            .lines()
            .find_map(|line| line.strip_prefix("content-length:"))
            .and_then(|value| value.trim().parse::<usize>().ok());
        let (Some(status), Some(length)) = (status, length) else {
            return Err(std::io::Error::other(format!("an answer that is none: {text}")));
        };
        while self.buffer.len() < head + length {
            self.more().await?;
        }
        let body = self.buffer.get(head..head + length).unwrap_or_default();
        let is_last = text.lines().any(|line| line.trim_end() == "connection: close");
        Ok(Response { status, is_last, body: String::from_utf8_lossy(body).into_owned() })
    }

    async fn more(&mut self) -> std::io::Result<()> {
        if self.stream.read_buf(&mut self.buffer).await? == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        Ok(())
    }
}

/// Has so many clients ask for as long as this.
pub(crate) async fn load(
    address: SocketAddr,
    request: &Request,
    clients: usize,
    lasts: Duration,
) -> std::io::Result<LoadResult> {
    let started = Instant::now();
    let until = started + lasts;
    let mut tasks = JoinSet::new();
    for _ in 0..clients {
        let request = request.clone();
        tasks.spawn(async move { one(address, &request, until).await });
    }
    let (mut fine, mut busy, mut wrong, mut example) = (Vec::new(), Vec::new(), 0, None);
    while let Some(ended) = tasks.join_next().await {
        let result = ended.map_err(std::io::Error::other)?;
        fine.extend(result.fine);
        busy.extend(result.busy);
        wrong += result.wrong;
        example = example.or(result.example);
    }
    Ok(LoadResult { fine: Times::new(fine), busy: Times::new(busy), wrong, took: started.elapsed(), example })
}

/// What one client measured.
#[derive(Default)]
struct ClientResult {
    fine: Vec<f64>,
    busy: Vec<f64>,
    wrong: usize,
    example: Option<String>,
}

async fn one(address: SocketAddr, request: &Request, until: Instant) -> ClientResult {
    let mut result = ClientResult::default();
    let mut client = None;
    while Instant::now() < until {
        let began = Instant::now();
        let response = match &mut client {
            Some(client) => Client::ask(client, &request.bytes).await,
            None => match Client::connect(address).await {
                Ok(made) => {
                    client = Some(made);
                    continue;
                }
                Err(error) => Err(error),
            },
        };
        let took = milliseconds(began.elapsed());
        if response.as_ref().is_ok_and(|response| response.is_last) {
            client = None;
        }
        match response {
            Ok(response) if request.is_met_by(&response) => result.fine.push(took),
            Ok(response) if response.status == 503 && response.body.contains("BUSY") => {
                result.busy.push(took);
            }
            other => {
                result.wrong += 1;
                client = None;
                result.example.get_or_insert_with(|| match other {
                    Ok(response) => format!("{} {}", response.status, response.body),
                    Err(error) => error.to_string(),
                });
            }
        }
    }
    result
}
