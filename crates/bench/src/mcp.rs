//! `tools/call` over HTTP on this machine, each call in a cell of its own; and the same of a server of `FastMCP`, which
//! has no wall, where `make bench-peers` has installed one.

use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::failure::Failure;
use crate::load::{Client, Request, load};
use crate::row::{Row, Target};
use crate::running_server::RunningServer;
use crate::server::{answered, published};
use crate::turns::{FEW_TURNS, Programs};

/// The row that the peer is compared with.
const CALLS: &str = "mcp.calls";
/// Calls in flight.
const MANY: usize = 64;
const FEW: usize = 4;
/// For how long they are made.
const LASTS: Duration = Duration::from_secs(10);
/// How long the peer may take to start.
const STARTS: Duration = Duration::from_secs(30);

/// The version in which each request stands by itself; the peer speaks it, too.
const VERSION: &str = "2026-07-28";

/// A tool that gives the same, as its documentation says that it is written, answering as briefly as it can.
const PEER: &str = "import sys\nfrom fastmcp import FastMCP\nserver = FastMCP('peer')\n@server.tool\n\
    def answer() -> int:\n    return 42\n\
    server.run(transport='http', host='127.0.0.1', port=int(sys.argv[1]), show_banner=False, \
    log_level='ERROR', stateless_http=True, json_response=True)\n";

/// The rows about calls over MCP, and about the peer.
pub(crate) async fn mcp(programs: &Programs, peers: Option<&Path>) -> Result<Vec<Row>, Failure> {
    let mut rows = programs.in_turns(FEW_TURNS, calls).await?;
    let Some(peer) = peers.and_then(Peer::start) else { return Ok(rows) };
    let request = Request::over_mcp(peer.address, VERSION, "answer", 42);
    peer.ready(&request).await?;
    answered(load(peer.address, &request, MANY, Duration::from_secs(2)).await)?;
    let theirs = answered(load(peer.address, &request, MANY, LASTS).await)?;
    let ours = rows.iter().find(|row| row.id == CALLS).map_or(f64::NAN, |row| row.value);
    rows.extend([
        Row::new("mcp.peer.fastmcp", theirs.rate(), "/s", theirs.fine.count()),
        Row::wrong("mcp.peer.fastmcp.wrong", theirs.wrong),
        Row {
            against: Some("a FastMCP server"),
            ratio: Some(ours / theirs.rate()),
            target: Some(Target::RatioAtLeast(3.0)),
            ..Row::new("mcp.beside-fastmcp", ours, "/s", theirs.fine.count())
        },
    ]);
    Ok(rows)
}

/// The rows about calls over MCP.
async fn calls(program: &Path) -> Result<Vec<Row>, Failure> {
    let directory = published().await?;
    let server =
        RunningServer::start(program, &directory, &["server.perSecond=1000000", "server.atOnce=100000"])
            .await?;
    let address = server.address;
    let request = Request::over_mcp(address, VERSION, "answer", 42);
    answered(load(address, &request, MANY, Duration::from_secs(2)).await)?;
    let many = answered(load(address, &request, MANY, LASTS).await)?;
    let few = answered(load(address, &request, FEW, LASTS).await)?;
    let resident = server.resident_mib()?;
    Ok(vec![
        Row {
            target: Some(Target::AtLeast(1000.0)),
            ..Row::new(CALLS, many.rate(), "/s", many.fine.count())
        },
        Row::new("mcp.calls.p50", many.fine.median(), "ms", many.fine.count()),
        Row::new("mcp.calls.p99", many.fine.percentile(99), "ms", many.fine.count()),
        Row::wrong("mcp.calls.wrong", many.wrong + many.busy.count()),
        Row {
            target: Some(Target::AtMost(2.0)),
            ..Row::new("mcp.few.p50", few.fine.median(), "ms", few.fine.count())
        },
        Row {
            target: Some(Target::AtMost(10.0)),
            ..Row::new("mcp.few.p99", few.fine.percentile(99), "ms", few.fine.count())
        },
        Row::wrong("mcp.few.wrong", few.wrong + few.busy.count()),
        Row::new("mcp.memory", resident, "MiB", 1),
    ])
}

/// A server of `FastMCP`, ended when it is dropped.
struct Peer {
    child: Child,
    address: SocketAddr,
}

impl Peer {
    /// Starts one, where it is installed.
    #[expect(
        clippy::disallowed_methods,
        clippy::disallowed_types,
        reason = "a peer, installed and asked for by the operator"
    )]
    fn start(directory: &Path) -> Option<Self> {
        let python = directory.join("python/bin/python3");
        // A port that was free a moment ago.
        let address = std::net::TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr()).ok()?;
        let mut command = Command::new(python);
        command.args(["-c", PEER, &address.port().to_string()]);
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().ok()?;
        Some(Self { child, address })
    }

    /// Waits until it answers.
    async fn ready(&self, request: &Request) -> Result<(), Failure> {
        let until = Instant::now() + STARTS;
        loop {
            if let Ok(mut client) = Client::connect(self.address).await
                && let Ok(response) = client.ask(request.bytes()).await
            {
                if response.status == 200 {
                    return Ok(());
                }
                let said = std::io::Error::other(format!("{} {}", response.status, response.body));
                return Err(Failure::Measure { what: "a server of FastMCP", source: said });
            }
            if Instant::now() > until {
                let late = std::io::ErrorKind::TimedOut.into();
                return Err(Failure::Measure { what: "a server of FastMCP", source: late });
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ended = self.child.kill();
        let _waited = self.child.wait();
    }
}
