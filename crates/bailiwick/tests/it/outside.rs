//! A pretended world around a runtime: names, addresses and upstreams on loopback, folders, and a person.
//!
//! Nothing real is ever dialled: an address without a route leads nowhere.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use bailiwick::gateway::net::{Dial, Dialling, Net, Resolve, ResolveFailed, Resolving};
use bailiwick::policy::{Baseline, Checked, EffectivePolicy};
use bailiwick::types::CallReport;
use bailiwick::{Builder, Call, Folders, Runtime};
use bailiwick_testkit::authority::Authority;
use bailiwick_testkit::dns::{Fault, Reply, Script, Table};
use bailiwick_testkit::routes::Routes;
use bailiwick_testkit::upstream::Upstream;
use serde_json::{Value, json};

use crate::stage::{few, policy};

/// Where `a.test` pretends to be.
pub(crate) const A: &str = "93.184.215.14";
/// Where `b.test` pretends to be.
pub(crate) const B: &str = "1.1.1.1";

struct Names(Table);

impl Resolve for Names {
    fn resolve<'a>(&'a self, name: &'a str) -> Resolving<'a> {
        let found = self.0.lookup(name).map_err(|fault: Fault| ResolveFailed(fault.to_string()));
        Box::pin(std::future::ready(found))
    }
}

struct Routed(Routes);

impl Dial for Routed {
    fn dial(&self, to: Checked<SocketAddr>) -> Dialling<'_> {
        let real = self.0.lookup(to.into_inner());
        Box::pin(async move {
            let real = real.ok_or(std::io::ErrorKind::ConnectionRefused)?;
            tokio::net::TcpStream::connect(real).await
        })
    }

    fn dial_operators_proxy(&self, to: SocketAddr) -> Dialling<'_> {
        Box::pin(async move { Err(std::io::Error::other(format!("{to} is no proxy"))) })
    }
}

/// What a test wants otherwise in its runtime.
type Change = Box<dyn FnOnce(Builder) -> Builder + Send>;

/// The world of one test.
pub(crate) struct Outside {
    pub(crate) routes: Routes,
    pub(crate) authority: Authority,
    folder: tempfile::TempDir,
    baseline: Arc<Baseline>,
    changes: Mutex<Vec<Change>>,
}

impl Outside {
    /// With the names `a.test` and `b.test`, and nobody behind them.
    pub(crate) fn new() -> Self {
        Self {
            routes: Routes::new(),
            authority: Authority::new(),
            folder: tempfile::tempdir().expect("a folder"),
            baseline: Arc::new(Baseline::shipped()),
            changes: Mutex::default(),
        }
    }

    /// With an upstream behind a pretended address.
    pub(crate) fn route(mut self, pretended: &str, upstream: &Upstream) -> Self {
        self.routes = self.routes.route(pretended.parse().expect("an address"), upstream.address());
        self
    }

    /// With an upstream behind `a.test` over http.
    pub(crate) fn at_a(self, upstream: &Upstream) -> Self {
        self.route(&format!("{A}:80"), upstream)
    }

    /// With another runtime than the usual.
    pub(crate) fn with(self, change: impl FnOnce(Builder) -> Builder + Send + 'static) -> Self {
        self.changes.lock().unwrap_or_else(PoisonError::into_inner).push(Box::new(change));
        self
    }

    /// The folder of the workspace that calls have by default.
    pub(crate) fn workspace(&self) -> std::path::PathBuf {
        let path = self.folder.path().join("data/workspaces/default");
        std::fs::create_dir_all(&path).expect("a workspace");
        path
    }

    /// A runtime in this world.
    pub(crate) async fn runtime(&self) -> Runtime {
        let names =
            Script::new().name("a.test", &[Reply::addresses(&[A])]).name("b.test", &[Reply::addresses(&[B])]);
        let net = Net::builder()
            .resolve(Arc::new(Names(Table::new(names))))
            .dial(Arc::new(Routed(self.routes.clone())))
            .extra_roots(self.authority.pem())
            .only_extra_roots()
            .build()
            .expect("a network");
        let folders =
            Folders { data: self.folder.path().join("data"), config: self.folder.path().join("config") };
        for folder in [&folders.data, &folders.config] {
            std::fs::create_dir_all(folder).expect("a folder");
        }
        let builder = few().baseline(Arc::clone(&self.baseline)).net(Arc::new(net)).folders(folders);
        let changes = std::mem::take(&mut *self.changes.lock().unwrap_or_else(PoisonError::into_inner));
        let builder = changes.into_iter().fold(builder, |builder, change| change(builder));
        builder.build().await.expect("cells can be made here")
    }
}

/// A policy that reaches public hosts and has timers.
#[track_caller]
pub(crate) fn strict(limits: &str) -> Arc<EffectivePolicy> {
    with("network: strict", limits)
}

/// A policy with these overrides beside timers, and these limits.
#[track_caller]
pub(crate) fn with(overrides: &str, limits: &str) -> Arc<EffectivePolicy> {
    policy(&format!(
        "overrides: {{addAllow: [timers], removeDeny: [timers], {overrides}}}\nlimits: {{{limits}}}\n"
    ))
}

/// Runs the body of a function under a policy.
pub(crate) async fn run(runtime: &Runtime, source: &str, policy: &Arc<EffectivePolicy>) -> CallReport {
    let call = Call::body(source).policy(Arc::clone(policy));
    runtime.run(call).await.expect("the call is started")
}

/// What the body of a function gives under a policy, which has to give something.
pub(crate) async fn value(runtime: &Runtime, source: &str, policy: &Arc<EffectivePolicy>) -> Value {
    let report = run(runtime, source, policy).await;
    assert_eq!(report.failure(), None, "{source}");
    report.value().clone()
}

/// A report as it is told to everybody.
pub(crate) fn told(report: &CallReport) -> String {
    json!(report).to_string()
}
