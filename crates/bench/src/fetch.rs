//! What a request costs from inside a cell, beside a plain client that makes the same requests to the same server.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;

use bailiwick::gateway::net::{Fetches, Net, Terms, Transport};
use bailiwick::gateway::person::Nobody;
use bailiwick::policy::{Baseline, EffectivePolicy, FetchBounds, ToolPolicy, resolve};
use bailiwick::types::{FetchRequest, RedirectMode, Refused};
use bailiwick::{Call, Runtime};
use bailiwick_document::{Bounds, Format, parse};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use crate::failure::Failure;
use crate::row::{Row, Target, Times};

/// Rounds in which cell and client take turns.
const ROUNDS: usize = 15;
/// Requests of one round, one after the other on one connection; the ceiling of a call.
const REQUESTS: u32 = 100;
const BODY: usize = 1024;

/// The rows about requests.
pub(crate) async fn fetch() -> Result<Vec<Row>, Failure> {
    let failed = |source| Failure::Measure { what: "requests", source };
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.map_err(failed)?;
    let address = listener.local_addr().map_err(failed)?;
    let server = tokio::spawn(serve(listener));
    let policy = Arc::new(policy(address)?);
    let net = Net::builder().build().map_err(|error| failed(std::io::Error::other(error)))?;
    let net = Arc::new(net);
    let runtime = Runtime::builder().net(Arc::clone(&net)).build().await?;
    let url = format!("http://{address}/");
    let (mut from_cells, mut by_gateway, mut plain) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..=ROUNDS {
        let cell = from_cell(&runtime, &policy, &url).await?;
        let gateway = from_gateway(&net, &policy, &url).await?;
        let client = by_client(&url).await?;
        // The first round warms both.
        if round > 0 {
            from_cells.push(cell);
            by_gateway.push(gateway);
            plain.push(client);
        }
    }
    server.abort();
    let (from_cells, by_gateway, plain) = (Times::new(from_cells), Times::new(by_gateway), Times::new(plain));
    let beside = |id: &'static str, times: &Times| Row {
        against: Some("plain reqwest"),
        ratio: Some(times.median() / plain.median()),
        target: Some(Target::RatioAtMost(1.5)),
        ..Row::of_times(id, times, "ms")
    };
    Ok(vec![
        beside("fetch.call", &from_cells),
        beside("fetch.gateway", &by_gateway),
        Row::of_times("fetch.plain", &plain, "ms"),
    ])
}

/// Milliseconds a request takes from inside a cell, by the clock outside: the whole call, less an empty one.
async fn from_cell(runtime: &Runtime, policy: &Arc<EffectivePolicy>, url: &str) -> Result<f64, Failure> {
    let code = format!(
        "for (let i = 0; i < {REQUESTS}; i++) {{ const r = await fetch(url); if ((await r.text()).length !== {BODY}) throw r.status }}"
    );
    let empty = timed(runtime, Call::body("").policy(Arc::clone(policy))).await?;
    let call = Call::body(code).argument("url", url).policy(Arc::clone(policy));
    let whole = timed(runtime, call).await?;
    Ok((whole - empty) / f64::from(REQUESTS))
}

/// The same without a cell: the guard and the client alone.
async fn from_gateway(net: &Arc<Net>, policy: &Arc<EffectivePolicy>, url: &str) -> Result<f64, Failure> {
    let terms = Terms {
        policy: Arc::clone(policy),
        bounds: FetchBounds::SHIPPED,
        answered: Arc::default(),
        person: Arc::new(Nobody),
        sealed: Arc::default(),
        redactor: bailiwick_redact::Redactor::default(),
    };
    let fetches = Fetches::new(Transport::Real(Arc::clone(net)), terms);
    let started = Instant::now();
    for _ in 0..REQUESTS {
        let request = FetchRequest {
            method: "GET".to_owned(),
            url: url.to_owned(),
            headers: Vec::new(),
            body: None,
            redirect: RedirectMode::Follow,
            max_bytes: None,
            offset: 0,
        };
        let failed = |refused: Refused| Failure::Measure {
            what: "requests",
            source: std::io::Error::other(refused.message),
        };
        fetches.fetch(request).await.map_err(failed)?;
    }
    Ok(started.elapsed().as_secs_f64() * 1000.0 / f64::from(REQUESTS))
}

async fn timed(runtime: &Runtime, call: Call) -> Result<f64, Failure> {
    let started = Instant::now();
    let report = runtime.run(call).await?;
    let took = started.elapsed().as_secs_f64() * 1000.0;
    match report.failure() {
        None => Ok(took),
        Some(failure) => {
            Err(Failure::Measure { what: "requests", source: std::io::Error::other(failure.message.clone()) })
        }
    }
}

async fn by_client(url: &str) -> Result<f64, Failure> {
    let failed = |error: reqwest::Error| Failure::Measure {
        what: "a plain client",
        source: std::io::Error::other(error),
    };
    // A client of its own each round, as each call has: connections are not carried over.
    let client = reqwest::Client::builder().no_proxy().build().map_err(failed)?;
    let started = Instant::now();
    for _ in 0..REQUESTS {
        let body = client.get(url).send().await.map_err(failed)?.text().await.map_err(failed)?;
        debug_assert_eq!(body.len(), BODY);
    }
    Ok(started.elapsed().as_secs_f64() * 1000.0 / f64::from(REQUESTS))
}

fn policy(address: SocketAddr) -> Result<EffectivePolicy, Failure> {
    let text = format!(
        "overrides: {{network: allowlist, hosts: [{{host: 127.0.0.1, port: {}, private: true}}]}}\nlimits: {{fetches: {REQUESTS}, wall: 30s}}\n",
        address.port()
    );
    let tree = parse("bench", &text, Format::Yaml, Bounds::WRITTEN_BY_HAND)?;
    let ToolPolicy { layer, .. } = ToolPolicy::read("bench", &tree)?;
    Ok(resolve(&Arc::new(Baseline::shipped()), None, Some(&Arc::new(layer)))?)
}

/// A server that answers every request with the same kilobyte, for as long as the connection lasts.
async fn serve(listener: TcpListener) {
    while let Ok((stream, _)) = listener.accept().await {
        tokio::spawn(async move {
            // A client that is gone is the end of its connection, and nothing else.
            let _gone = answer(stream).await;
        });
    }
}

async fn answer(mut stream: TcpStream) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let head = format!("HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: {BODY}\r\n\r\n");
    let reply = [head.into_bytes(), vec![b'x'; BODY]].concat();
    let (mut buffer, mut pending) = (vec![0; 8192], Vec::new());
    loop {
        let read = stream.read(&mut buffer).await?;
        if read == 0 {
            return Ok(());
        }
        pending.extend_from_slice(buffer.get(..read).unwrap_or_default());
        while let Some(end) = pending.windows(4).position(|four| four == b"\r\n\r\n") {
            pending.drain(..end + 4);
            stream.write_all(&reply).await?;
        }
    }
}
