//! `tools/call` over HTTP on this machine, each call in a cell of its own; and the same of a server of `FastMCP`, which
//! has no wall, where `make bench-peers` has installed one.

use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::load::{Client, Wish, load};
use super::row::{Row, Target};
use super::server::{count, figure, published, told};
use super::serving::Serving;
use crate::failure::Failure;

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

/// The rows about calls over MCP.
pub(super) async fn mcp(peers: Option<&Path>) -> Result<Vec<Row>, Failure> {
    let ground = published().await?;
    let serving = Serving::start(&ground, &["server.perSecond=1000000", "server.atOnce=100000"]).await?;
    let address = serving.address;
    let wish = Wish::over_mcp(address, VERSION, "answer", 42);
    told(load(address, &wish, MANY, Duration::from_secs(2)).await)?;
    let many = told(load(address, &wish, MANY, LASTS).await)?;
    let few = told(load(address, &wish, FEW, LASTS).await)?;
    let resident = serving.resident_mib()?;
    let mut rows = vec![
        Row {
            target: Some(Target::AtLeast(1000.0)),
            ..figure("mcp.calls", many.rate(), "/s", many.fine.count())
        },
        figure("mcp.calls.p50", many.fine.median(), "ms", many.fine.count()),
        figure("mcp.calls.p99", many.fine.percentile(99), "ms", many.fine.count()),
        count("mcp.calls.wrong", many.wrong + many.busy.count()),
        Row {
            target: Some(Target::AtMost(2.0)),
            ..figure("mcp.few.p50", few.fine.median(), "ms", few.fine.count())
        },
        Row {
            target: Some(Target::AtMost(10.0)),
            ..figure("mcp.few.p99", few.fine.percentile(99), "ms", few.fine.count())
        },
        count("mcp.few.wrong", few.wrong + few.busy.count()),
        figure("mcp.memory", resident, "MiB", 1),
    ];
    drop(serving);
    if let Some(peer) = peers.and_then(Peer::start) {
        let theirs = Wish::over_mcp(peer.address, VERSION, "answer", 42);
        peer.ready(&theirs).await?;
        told(load(peer.address, &theirs, MANY, Duration::from_secs(2)).await)?;
        let got = told(load(peer.address, &theirs, MANY, LASTS).await)?;
        rows.push(figure("mcp.peer.fastmcp", got.rate(), "/s", got.fine.count()));
        rows.push(count("mcp.peer.fastmcp.wrong", got.wrong));
        rows.push(Row {
            against: Some("a FastMCP server"),
            ratio: Some(many.rate() / got.rate()),
            target: Some(Target::RatioAtLeast(3.0)),
            ..figure("mcp.beside-fastmcp", many.rate(), "/s", many.fine.count())
        });
    }
    Ok(rows)
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
    fn start(folder: &Path) -> Option<Self> {
        let python = folder.join("python/bin/python3");
        // A port that was free a moment ago.
        let address = std::net::TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr()).ok()?;
        let mut command = Command::new(python);
        command.args(["-c", PEER, &address.port().to_string()]);
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().ok()?;
        Some(Self { child, address })
    }

    /// Waits until it answers.
    async fn ready(&self, wish: &Wish) -> Result<(), Failure> {
        let until = Instant::now() + STARTS;
        loop {
            if let Ok(mut client) = Client::connect(self.address).await
                && let Ok(heard) = client.ask(wish.bytes()).await
            {
                if heard.status == 200 {
                    return Ok(());
                }
                let said = std::io::Error::other(format!("{} {}", heard.status, heard.body));
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
