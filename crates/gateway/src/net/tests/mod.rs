//! Tests of the guarded fetch: against upstreams on loopback that pretend to be anywhere, and that lie.

mod canned;
mod guard;
mod lies;
mod redirects;
mod sealed;
mod sharing;

use std::net::SocketAddr;
use std::sync::Arc;

use bailiwick_document::{Bounds, Format, parse};
use bailiwick_policy::{Baseline, EffectivePolicy, FetchBounds, Layer, resolve};
use bailiwick_testkit::authority::Authority;
use bailiwick_testkit::dns::{Fault, Reply, Script, Table};
use bailiwick_testkit::routes::Routes;
use bailiwick_testkit::upstream::Upstream;
use bailiwick_types::{FetchAnswer, FetchRequest, LayerName, RedirectMode, Refused};

use super::*;
use crate::person::{Answered, Nobody, Person};

/// Any public address will do; nothing of it is ever dialled for real.
pub(crate) const PUBLIC: &str = "93.184.215.14";

pub(crate) struct Names(pub(crate) Arc<Table>);

impl Resolve for Names {
    fn resolve<'a>(&'a self, name: &'a str) -> Resolving<'a> {
        let found = self.0.lookup(name).map_err(|fault: Fault| ResolveFailed(fault.to_string()));
        Box::pin(std::future::ready(found))
    }
}

pub(crate) struct Routed(pub(crate) Routes);

impl Routed {
    fn go(&self, to: SocketAddr) -> Dialling<'_> {
        let real = self.0.lookup(to);
        Box::pin(async move {
            let real = real.ok_or(std::io::ErrorKind::ConnectionRefused)?;
            tokio::net::TcpStream::connect(real).await
        })
    }
}

impl Dial for Routed {
    fn dial(&self, to: bailiwick_policy::Checked<SocketAddr>) -> Dialling<'_> {
        self.go(to.into_inner())
    }

    fn dial_operators_proxy(&self, to: SocketAddr) -> Dialling<'_> {
        self.go(to)
    }
}

/// A world of names and upstreams, and the terms of the calls made in it.
struct World {
    table: Arc<Table>,
    routes: Routes,
    authority: Arc<Authority>,
    baseline: Baseline,
    overrides: String,
    bounds: FetchBounds,
    sealed: Arc<SealedSet>,
    person: Arc<dyn Person>,
    proxy: Option<String>,
}

impl World {
    fn new(overrides: &str) -> Self {
        Self {
            table: Arc::default(),
            routes: Routes::new(),
            authority: Arc::new(Authority::new()),
            baseline: Baseline::shipped(),
            overrides: overrides.to_owned(),
            bounds: FetchBounds::SHIPPED,
            sealed: Arc::default(),
            person: Arc::new(Nobody),
            proxy: None,
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

    fn policy(&self) -> Arc<EffectivePolicy> {
        let tree = parse("o.yaml", &self.overrides, Format::Yaml, Bounds::WRITTEN_BY_HAND).unwrap();
        let layer = Layer::read("o.yaml", &tree, LayerName::Tool).unwrap();
        let resolved = resolve(&Arc::new(self.baseline.clone()), None, Some(&Arc::new(layer)));
        Arc::new(resolved.unwrap_or_else(|conflicts| panic!("{conflicts}")))
    }

    fn net(&self) -> Arc<Net> {
        let mut builder = Net::builder()
            .resolve(Arc::new(Names(self.table.clone())))
            .dial(Arc::new(Routed(self.routes.clone())))
            .extra_roots(self.authority.pem())
            .only_extra_roots();
        if let Some(proxy) = &self.proxy {
            builder = builder.proxy(UpstreamProxy::parse(proxy).unwrap());
        }
        Arc::new(builder.build().unwrap())
    }

    fn terms(&self) -> Terms {
        Terms {
            policy: self.policy(),
            bounds: self.bounds,
            answered: Arc::new(Answered::default()),
            person: self.person.clone(),
            sealed: self.sealed.clone(),
            redactor: bailiwick_redact::Redactor::default(),
        }
    }

    /// A call in this world.
    fn call(&self) -> Fetches {
        Fetches::new(Transport::Real(self.net()), self.terms())
    }

    /// One request in a call of its own.
    fn get(&self, url: &str) -> Result<FetchAnswer, Refused> {
        self.send(get(url))
    }

    fn send(&self, request: FetchRequest) -> Result<FetchAnswer, Refused> {
        run(self.call().fetch(request))
    }

    /// The reason of the no to one request.
    #[track_caller]
    fn refused(&self, url: &str) -> String {
        match self.get(url) {
            Ok(answer) => panic!("{url} gave {}", answer.status),
            Err(refused) => refused.reason.into_owned(),
        }
    }
}

fn get(url: &str) -> FetchRequest {
    FetchRequest {
        method: "GET".to_owned(),
        url: url.to_owned(),
        headers: Vec::new(),
        body: None,
        redirect: RedirectMode::Follow,
        max_bytes: None,
        offset: 0,
    }
}

fn with_header(mut request: FetchRequest, name: &str, value: &str) -> FetchRequest {
    request.headers.push((name.to_owned(), value.to_owned()));
    request
}

fn post(url: &str, body: &str) -> FetchRequest {
    FetchRequest { method: "POST".to_owned(), body: Some(body.as_bytes().to_vec().into()), ..get(url) }
}

fn text(answer: &FetchAnswer) -> String {
    String::from_utf8_lossy(&answer.body.0).into_owned()
}

fn run<F: Future>(future: F) -> F::Output {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}
