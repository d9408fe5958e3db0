//! The proxy on the wire: reads what is asked, then carries bytes both ways.

use std::io::{ErrorKind, Result};
use std::net::SocketAddr;
use std::sync::Arc;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use super::{Asked, Record, Refusal, Setup};
use crate::message::{Conversation, Head, bytes_of};

/// A first line of an answer is no longer than this.
const LINE_MOST: usize = 1 << 16;

pub(super) async fn accept(listener: TcpListener, setup: Arc<Setup>, record: Arc<Record>) {
    let mut connection = 0;
    // A listener that fails is out of descriptors; its test will see no answer.
    while let Ok((stream, _)) = listener.accept().await {
        connection += 1;
        let (setup, record) = (Arc::clone(&setup), Arc::clone(&record));
        // Either side went away; the test looks at its own.
        tokio::spawn(async move { converse(stream, connection, &setup, &record).await.ok() });
    }
}

/// Serves one connection: requests that are refused may follow each other, one that is granted is its last.
async fn converse(stream: TcpStream, connection: usize, setup: &Setup, record: &Record) -> Result<()> {
    stream.set_nodelay(true)?;
    let mut client = Conversation::new(stream);
    while let Some(head) = client.head().await? {
        let Some(target) = Target::of(&head) else {
            refuse(&mut client.stream, 400).await?;
            continue;
        };
        let decision = setup.decide(&target.authority, head.header("proxy-authorization"));
        record.with(|asked| {
            asked.push(Asked {
                method: head.method.clone(),
                target: head.target.clone(),
                authority: target.authority.clone(),
                headers: head.headers.clone(),
                connection,
                led_to: decision.ok(),
            });
        });
        match decision {
            Ok(real) => return carry(client, &head, target.origin.as_deref(), real).await,
            Err(Refusal::Status(status)) => {
                if target.origin.is_some() && !client.body(&head).await?.1 {
                    return Ok(());
                }
                refuse(&mut client.stream, status).await?;
            }
            Err(Refusal::HangUp) => return Ok(()),
            Err(Refusal::Silence) => {
                // Until the client goes away.
                return tokio::io::copy(&mut client.stream, &mut tokio::io::sink()).await.map(drop);
            }
        }
    }
    Ok(())
}

/// What a request is for.
struct Target {
    authority: String,
    /// What the upstream is asked for; `None` for a tunnel.
    origin: Option<String>,
}

impl Target {
    /// `None` for what no proxy is asked for.
    fn of(head: &Head) -> Option<Self> {
        if head.method == "CONNECT" {
            return Some(Self { authority: head.target.clone(), origin: None });
        }
        let (scheme, rest) = head.target.split_at_checked(7)?;
        if !scheme.eq_ignore_ascii_case("http://") {
            return None;
        }
        let (authority, origin) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
        let has_port = authority
            .rsplit_once(':')
            .is_some_and(|(_, port)| !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit()));
        let authority = if has_port { authority.to_owned() } else { format!("{authority}:80") };
        let origin = if origin.starts_with('/') { origin.to_owned() } else { format!("/{origin}") };
        Some(Self { authority, origin: Some(origin) })
    }
}

async fn refuse(client: &mut TcpStream, status: u16) -> Result<()> {
    let demand = if status == 407 { "proxy-authenticate: Basic realm=\"proxy\"\r\n" } else { "" };
    let answer = format!("HTTP/1.1 {status} Refused\r\n{demand}content-length: 0\r\n\r\n");
    client.write_all(answer.as_bytes()).await
}

async fn carry(
    mut client: Conversation<TcpStream>,
    head: &Head,
    origin: Option<&str>,
    real: SocketAddr,
) -> Result<()> {
    let Ok(mut upstream) = TcpStream::connect(real).await else {
        return refuse(&mut client.stream, 502).await;
    };
    upstream.set_nodelay(true)?;
    let Some(origin) = origin else {
        let (mut stream, early) = client.into_parts();
        stream.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n").await?;
        upstream.write_all(&early).await?;
        return tokio::io::copy_bidirectional(&mut stream, &mut upstream).await.map(drop);
    };
    let (body, is_whole) = client.body(head).await?;
    upstream.write_all(&request(head, origin, &body)).await?;
    if !is_whole {
        return Ok(());
    }
    answer(&mut upstream, &mut client.stream).await
}

/// The request as the upstream gets it: without what is for the proxy, the body with its length, and the last one of
/// its connection.
fn request(head: &Head, origin: &str, body: &[u8]) -> Vec<u8> {
    const OURS: [&str; 6] = [
        "proxy-authorization",
        "proxy-connection",
        "connection",
        "content-length",
        "transfer-encoding",
        "expect",
    ];
    let mut request = bytes_of(&format!("{} {origin} HTTP/1.1\r\n", head.method));
    for (name, value) in &head.headers {
        if !OURS.iter().any(|ours| name.eq_ignore_ascii_case(ours)) {
            request.extend(bytes_of(&format!("{name}: {value}\r\n")));
        }
    }
    if !body.is_empty() || head.header("content-length").is_some() {
        request.extend(format!("content-length: {}\r\n", body.len()).into_bytes());
    }
    request.extend(b"connection: close\r\n\r\n");
    request.extend(body);
    request
}

/// Carries the answer as it comes, but says in its head that the connection ends with it. An interim answer in front
/// of it takes that word instead.
async fn answer(upstream: &mut TcpStream, client: &mut TcpStream) -> Result<()> {
    let mut begin = Vec::new();
    let line = loop {
        if let Some(end) = begin.windows(2).position(|two| two == b"\r\n") {
            break Some(end + 2);
        }
        if begin.len() > LINE_MOST || upstream.read_buf(&mut begin).await? == 0 {
            break None;
        }
    };
    match line.and_then(|end| begin.split_at_checked(end)) {
        Some((line, rest)) if line.starts_with(b"HTTP/1.") => {
            client.write_all(&[line, b"connection: close\r\n", rest].concat()).await?;
        }
        // Not ours to repair.
        _ => client.write_all(&begin).await?,
    }
    match tokio::io::copy(upstream, client).await {
        // What the upstream broke off breaks off here too.
        Err(fault) if fault.kind() == ErrorKind::ConnectionReset => client.set_zero_linger(),
        other => other.map(drop),
    }
}
