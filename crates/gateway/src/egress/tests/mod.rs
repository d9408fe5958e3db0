//! Tests of the egress, at the level of an outlet: what programs inside a sandbox send, against upstreams on loopback
//! that pretend to be anywhere.

mod bulk;
mod direct;
mod hostile;
mod inspected;
mod names;
mod plain;
mod rules;
mod smuggling;
mod socks;
mod tunnels;

use std::net::SocketAddrV4;
use std::sync::Arc;
use std::time::Duration;

use bailiwick_policy::{HostRule, Purpose};
use bailiwick_sandbox::{Egress as _, Outlet, SandboxSpec};
use bailiwick_testkit::authority::Authority;
use bailiwick_testkit::dns::{Reply, Script, Table};
use bailiwick_testkit::routes::Routes;
use bailiwick_testkit::upstream::{Answer, Upstream};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream};

use super::*;
use crate::net::tests::{Names, PUBLIC, Routed};
use crate::net::{Net, UpstreamProxy};

/// Far longer than anything here takes.
const PATIENCE: Duration = Duration::from_secs(30);

/// Names, upstreams, and what the operator says.
struct World {
    table: Arc<Table>,
    routes: Routes,
    authority: Authority,
    proxy: Option<String>,
    shape: Box<dyn Fn(EgressBuilder) -> EgressBuilder>,
}

impl World {
    fn new() -> Self {
        Self {
            table: Arc::default(),
            routes: Routes::new(),
            authority: Authority::new(),
            proxy: None,
            shape: Box::new(|builder| builder),
        }
    }

    /// Names that answer with one list of addresses each.
    fn names(mut self, names: &[(&str, &[&str])]) -> Self {
        let script = names.iter().fold(Script::new(), |script, (name, addresses)| {
            script.name(name, &[Reply::addresses(addresses)])
        });
        self.table = Arc::new(Table::new(script));
        self
    }

    fn route(mut self, pretended: &str, upstream: &Upstream) -> Self {
        self.routes = self.routes.route(pretended.parse().unwrap(), upstream.address());
        self
    }

    /// With something said to the builder.
    fn with(mut self, shape: impl Fn(EgressBuilder) -> EgressBuilder + 'static) -> Self {
        let before = self.shape;
        self.shape = Box::new(move |builder| shape(before(builder)));
        self
    }

    fn egress(&self) -> SandboxEgress {
        let mut builder = Net::builder()
            .resolve(Arc::new(Names(self.table.clone())))
            .dial(Arc::new(Routed(self.routes.clone())))
            .extra_roots(self.authority.pem())
            .only_extra_roots();
        if let Some(proxy) = &self.proxy {
            builder = builder.proxy(UpstreamProxy::parse(proxy).unwrap());
        }
        (self.shape)(EgressBuilder::new(Arc::new(builder.build().unwrap()))).build()
    }

    /// The way out of a sandbox with this network.
    fn outlet(&self, network: &str) -> Arc<dyn Outlet> {
        let spec = SandboxSpec { network: network.parse().unwrap(), ..SandboxSpec::default() };
        self.egress().outlet(&spec).unwrap()
    }
}

/// A world with a plain upstream behind `a.test` and `b.test`, of which the specs here name the first.
fn usual() -> (World, Upstream) {
    let upstream = Upstream::http(|request: &bailiwick_testkit::upstream::Request| match request.path() {
        "/echo" => Answer::echo(),
        path => Answer::ok(format!("hello from {path}")),
    });
    let world = World::new()
        .names(&[("a.test", &[PUBLIC]), ("b.test", &["1.1.1.1"]), ("www.a.test", &[PUBLIC])])
        .route(&format!("{PUBLIC}:80"), &upstream)
        .route(&format!("{PUBLIC}:8080"), &upstream)
        .route("1.1.1.1:80", &upstream);
    (world, upstream)
}

fn rule(text: &str) -> HostRule {
    HostRule::parse(text, Purpose::Grant).unwrap()
}

fn run<F: Future>(future: F) -> F::Output {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async { tokio::time::timeout(PATIENCE, future).await.expect("it takes for ever") })
}

/// A connection to the proxy inside.
fn proxied(outlet: &Arc<dyn Outlet>) -> DuplexStream {
    let (ours, theirs) = tokio::io::duplex(64 * 1024);
    tokio::spawn(outlet.proxied(Box::new(theirs)));
    ours
}

/// A connection to an address inside.
fn directed(outlet: &Arc<dyn Outlet>, to: SocketAddrV4) -> DuplexStream {
    let (ours, theirs) = tokio::io::duplex(64 * 1024);
    tokio::spawn(outlet.direct(Box::new(theirs), to));
    ours
}

/// Says something and nothing more; gives all that is said back.
async fn say(stream: &mut DuplexStream, words: &[u8]) -> String {
    // It may have been closed in the middle of it.
    let _ = stream.write_all(words).await;
    let _ = stream.shutdown().await;
    rest(stream).await
}

/// All that is still said.
async fn rest(stream: &mut (impl tokio::io::AsyncRead + Unpin)) -> String {
    let mut said = Vec::new();
    let _ = stream.read_to_end(&mut said).await;
    String::from_utf8_lossy(&said).into_owned()
}

/// What is said up to the end of a head.
async fn head(stream: &mut (impl tokio::io::AsyncRead + Unpin)) -> String {
    let mut said = Vec::new();
    while !said.ends_with(b"\r\n\r\n") {
        match stream.read_u8().await {
            Ok(byte) => said.push(byte),
            Err(_) => break,
        }
    }
    String::from_utf8_lossy(&said).into_owned()
}

/// What a proxy is asked in one go, and what it answers.
fn ask(outlet: &Arc<dyn Outlet>, words: &[u8]) -> String {
    run(async { say(&mut proxied(outlet), words).await })
}

/// The reasons of all refusals so far.
fn reasons(outlet: &Arc<dyn Outlet>) -> Vec<&'static str> {
    outlet.denials(0).iter().map(|denial| denial.reason.word()).collect()
}

fn get(url: &str) -> String {
    let authority = url.split('/').nth(2).unwrap_or_default();
    format!("GET {url} HTTP/1.1\r\nHost: {authority}\r\n\r\n")
}
