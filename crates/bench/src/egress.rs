//! The way out of a sandbox, beside the same program without one: how much comes through, how many tunnels stand at once, and
//! whether the host grows by requests.
//!
//! The client is the same Python program inside and outside, so that only the way differs. The destination is one server on loopback,
//! which the sandbox knows by a name; it has a thread of its own, so that the server does not slow the proxy down.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::process::{Command as Program, Stdio};
use std::sync::Arc;

use bailiwick::gateway::egress::EgressBuilder;
use bailiwick::gateway::net::{Net, Resolve, Resolving};
use bailiwick::policy::{HostRule, Purpose};
use bailiwick_sandbox::{Backend, Command, Limit, Limits, Preset, Sandbox, SandboxError, SandboxSpec};
use bailiwick_sandbox_process::{Options, ProcessBackend};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;

use crate::failure::Failure;
use crate::machine::read;
use crate::row::{Row, Target, Times};

/// Rounds in which the two take turns.
const ROUNDS: usize = 5;
/// The body of one answer, in MiB.
const BODY: usize = 256;
/// Tunnels at once.
const TUNNELS: usize = 1000;
/// Requests before it is looked whether anything grows, and after.
const BEFORE: usize = 10_000;
const AFTER: usize = 100_000;
const NAME: &str = "bench.test";

/// Reads one long answer as fast as it comes; prints MiB a second. Arguments: where to connect, what to ask for, its host.
const READS: &str = "import socket, sys, time
host, port, target, name = sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4]
s = socket.create_connection((host, port))
began = time.perf_counter()
s.sendall(f'GET {target} HTTP/1.1\\r\\nHost: {name}\\r\\nConnection: close\\r\\n\\r\\n'.encode())
room, taken = bytearray(1 << 20), 0
while True:
    n = s.recv_into(room)
    if n == 0: break
    taken += n
print(taken / (time.perf_counter() - began) / (1 << 20))
";

/// Opens so many tunnels, says hello in each, and waits until all have answered; prints how many did.
const TUNNELLED: &str = "import resource, socket, ssl, sys
count, name, port = int(sys.argv[1]), sys.argv[2], sys.argv[3]
resource.setrlimit(resource.RLIMIT_NOFILE, (count + 64, count + 64))
out = ssl.MemoryBIO()
tls = ssl.create_default_context().wrap_bio(ssl.MemoryBIO(), out, server_hostname=name)
try: tls.do_handshake()
except ssl.SSLWantReadError: pass
hello = out.read()
open_ = []
for _ in range(count):
    s = socket.create_connection(('127.0.0.1', 3128)); s.sendall(f'CONNECT {name}:{port} HTTP/1.1\\r\\nHost: {name}:{port}\\r\\n\\r\\n'.encode())
    open_.append(s)
for s in open_:
    head = b''
    while b'\\r\\n\\r\\n' not in head: head += s.recv(4096)
    assert head.startswith(b'HTTP/1.1 200'), head
    s.sendall(hello)
print(sum(s.recv(5) == b'hello' for s in open_))
";

/// Makes so many small requests, on connections of a hundred each.
const ASKS: &str = "import socket, sys
count, name = int(sys.argv[1]), sys.argv[2]
ask = f'GET http://{name}/small HTTP/1.1\\r\\nHost: {name}\\r\\n\\r\\n'.encode()
done = 0
while done < count:
    s = socket.create_connection(('127.0.0.1', 3128)); f = s.makefile('rb')
    for _ in range(100):
        s.sendall(ask); length = 0
        assert f.readline().startswith(b'HTTP/1.1 200')
        while (line := f.readline()) != b'\\r\\n':
            if line.lower().startswith(b'content-length:'): length = int(line.split(b':')[1])
        f.read(length); done += 1
    f.close(); s.close()
print(done)
";

/// Knows one name.
struct One;

impl Resolve for One {
    fn resolve<'a>(&'a self, _name: &'a str) -> Resolving<'a> {
        Box::pin(std::future::ready(Ok(vec![IpAddr::V4(Ipv4Addr::LOCALHOST)])))
    }
}

fn failed(source: std::io::Error) -> Failure {
    Failure::Measure { what: "the way out of a sandbox", source }
}

fn wrong(error: &SandboxError) -> Failure {
    failed(std::io::Error::other(error.to_string()))
}

/// The rows.
pub(crate) async fn egress() -> Result<Vec<Row>, Failure> {
    let state = tempfile::tempdir().map_err(failed)?;
    let (at, server) = serve_apart().await?;
    let other = |error: &dyn std::fmt::Display| failed(std::io::Error::other(error.to_string()));
    let net = Net::builder().resolve(Arc::new(One)).build().map_err(|error| other(&error))?;
    let rule = HostRule::parse(&format!("{NAME}:{}", at.port()), Purpose::Grant);
    let rule = rule.map_err(|error| other(&error))?;
    let egress = EgressBuilder::new(Arc::new(net)).private([rule]).build();
    let options = Options { egress: Some(Arc::new(egress)), ..Options::new(state.path()) };
    let backend = ProcessBackend::new(options);
    let network = format!("allow:{NAME}:{}", at.port()).parse().map_err(|error| other(&error))?;
    let limits = Limits::preset(Preset::Dev).with(Limit::Timeout, "10m").map_err(|error| other(&error))?;
    let sandbox = backend.create(SandboxSpec { network, ..SandboxSpec::new(limits) }).await;
    let sandbox = sandbox.map_err(|error| wrong(&error))?;
    let mut rows = vec![throughput(sandbox.as_ref(), at).await?];
    rows.push(tunnels(sandbox.as_ref(), at).await?);
    rows.extend(growth(sandbox.as_ref(), at).await?);
    sandbox.terminate().await.map_err(|error| wrong(&error))?;
    backend.close().await;
    drop(server);
    Ok(rows)
}

/// Runs a program in the sandbox; gives the number that it prints.
async fn inside(sandbox: &dyn Sandbox, script: &str, words: &[&str]) -> Result<f64, Failure> {
    let all = ["/usr/bin/python3", "-c", script].into_iter().chain(words.iter().copied());
    let command = Command::new(all).map_err(|error| wrong(&error.into()))?;
    let result = sandbox.exec(command).await.map_err(|error| wrong(&error))?;
    let said = String::from_utf8_lossy(&result.stdout.bytes).trim().to_owned();
    said.parse().map_err(|_| {
        let errors = String::from_utf8_lossy(&result.stderr.bytes).into_owned();
        failed(std::io::Error::other(format!("{said} {errors}")))
    })
}

/// Runs the same program as it is.
#[expect(clippy::disallowed_methods, reason = "a peer, started by the operator to be measured beside")]
fn outside(script: &str, words: &[&str]) -> Result<f64, Failure> {
    let output =
        Program::new("/usr/bin/python3").args(["-c", script]).args(words).stdin(Stdio::null()).output();
    let output = output.map_err(failed)?;
    let said = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    said.parse()
        .map_err(|_| failed(std::io::Error::other(String::from_utf8_lossy(&output.stderr).into_owned())))
}

async fn throughput(sandbox: &dyn Sandbox, at: SocketAddr) -> Result<Row, Failure> {
    let (port, host) = (at.port().to_string(), format!("{NAME}:{}", at.port()));
    let target = format!("http://{host}/long");
    let (mut ours, mut direct) = (Vec::new(), Vec::new());
    for round in 0..=ROUNDS {
        let through = inside(sandbox, READS, &["127.0.0.1", "3128", &target, &host]).await?;
        let words = [port.clone(), host.clone()];
        let plain = tokio::task::spawn_blocking(move || {
            let [port, host] = words;
            outside(READS, &["127.0.0.1", &port, "/long", &host])
        });
        let plain = plain.await.map_err(|error| failed(std::io::Error::other(error)))??;
        // The first round warms both.
        if round > 0 {
            ours.push(through);
            direct.push(plain);
        }
    }
    let (ours, direct) = (Times::new(ours), Times::new(direct));
    Ok(Row {
        against: Some("direct loopback"),
        ratio: Some(ours.median() / direct.median()),
        target: Some(Target::RatioAtLeast(0.5)),
        spread: Some(ours.spread()),
        ..Row::new("egress.throughput", ours.median(), "MiB/s", ours.count())
    })
}

#[expect(clippy::cast_precision_loss, reason = "a figure to read")]
async fn tunnels(sandbox: &dyn Sandbox, at: SocketAddr) -> Result<Row, Failure> {
    let (count, port) = (TUNNELS.to_string(), at.port().to_string());
    let answered = inside(sandbox, TUNNELLED, &[&count, NAME, &port]).await?;
    let target = Some(Target::AtLeast(TUNNELS as f64));
    Ok(Row { target, ..Row::new("egress.tunnels", answered, "at once", TUNNELS) })
}

/// What this process holds after many requests and did not before.
#[expect(clippy::cast_precision_loss, reason = "a figure to read")]
async fn growth(sandbox: &dyn Sandbox, at: SocketAddr) -> Result<Vec<Row>, Failure> {
    let host = format!("{NAME}:{}", at.port());
    inside(sandbox, ASKS, &[&BEFORE.to_string(), &host]).await?;
    let (descriptors, memory) = (descriptors(), resident_kib());
    inside(sandbox, ASKS, &[&AFTER.to_string(), &host]).await?;
    let more = self::descriptors().saturating_sub(descriptors) as f64;
    let grown = (resident_kib() - memory) / 1024.0;
    Ok(vec![
        Row {
            target: Some(Target::AtMost(0.0)),
            ..Row::new("egress.growth.descriptors", more, "more", AFTER)
        },
        // What an allocator keeps differs by as much from one run to the next.
        Row { target: Some(Target::AtMost(8.0)), ..Row::new("egress.growth.memory", grown, "MiB", AFTER) },
    ])
}

fn descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").map_or(0, Iterator::count)
}

/// The memory of this process, in KiB.
fn resident_kib() -> f64 {
    let status = read("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|rest| rest.split_whitespace().next()?.parse().ok()).unwrap_or(f64::NAN)
}

/// Starts the server in a thread of its own; it ends when the sender is dropped.
async fn serve_apart() -> Result<(SocketAddr, oneshot::Sender<()>), Failure> {
    let (sends_address, address) = oneshot::channel();
    let (end, ends) = oneshot::channel::<()>();
    let work = move || {
        let tokio = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
            Ok(tokio) => tokio,
            // A receiver that is gone needs no error.
            Err(error) => return drop(sends_address.send(Err(error))),
        };
        tokio.block_on(async {
            let bound = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await;
            match bound.and_then(|listener| Ok((listener.local_addr()?, listener))) {
                Ok((at, listener)) => {
                    drop(sends_address.send(Ok(at)));
                    tokio::select! {
                        () = serve(listener) => {}
                        _ = ends => {}
                    }
                }
                Err(error) => drop(sends_address.send(Err(error))),
            }
        });
    };
    std::thread::Builder::new().name("upstream".to_owned()).spawn(work).map_err(failed)?;
    let at = address.await.map_err(|_| failed(std::io::Error::other("the server did not start")))?;
    Ok((at.map_err(failed)?, end))
}

/// A server that answers long and short, and says hello to a TLS handshake.
async fn serve(listener: TcpListener) {
    while let Ok((stream, _)) = listener.accept().await {
        tokio::spawn(async move {
            // A client that disconnects has what it wanted.
            let _ended = answer(stream).await;
        });
    }
}

async fn answer(mut stream: TcpStream) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let mut heard = Vec::new();
    loop {
        if stream.read_buf(&mut heard).await? == 0 {
            return Ok(());
        }
        // The first byte of a handshake.
        if heard.first() == Some(&22) {
            stream.write_all(b"hello").await?;
            // Until the other side has seen all of its others.
            while stream.read_buf(&mut heard).await? > 0 {
                heard.clear();
            }
            return Ok(());
        }
        let Some(end) = heard.windows(4).position(|four| four == b"\r\n\r\n") else { continue };
        let is_long = heard.get(..end).is_some_and(|head| head.windows(5).any(|five| five == b"/long"));
        heard.drain(..end + 4);
        if !is_long {
            stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").await?;
            continue;
        }
        let piece = vec![b'x'; 1 << 20];
        let first = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", BODY << 20);
        stream.write_all(first.as_bytes()).await?;
        for _ in 0..BODY {
            stream.write_all(&piece).await?;
        }
        // Its reader waits for the end of the connection, as it asked for.
        return Ok(());
    }
}
