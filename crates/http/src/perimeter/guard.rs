//! The way in: every check in its order, once per request.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;

use axum::extract::{MatchedPath, State};
use axum::middleware::{Next, from_fn, from_fn_with_state};
use axum::response::Response;
use axum::{Router, body::Body};
use bailiwick_config::Server;
use governor::clock::DefaultClock;
use http::{HeaderName, Method, Request, header};
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::compression::CompressionLayer;
use tracing::Instrument as _;

use super::held::{Held, HeldBody};
use super::host::Hosts;
use super::origin::{self, Asker};
use super::rates::{Allowed, MOST_TRACKED, Over, Rates, Who};
use super::resource::{METADATA, METADATA_OF_MCP, Published};
use super::slots::Slots;
use super::{Keyring, Tokens, refusals, who};
use crate::correlation::correlate;
use crate::counters::{Counters, word};
use crate::listen::{BodyCharge, Closing, Crowded, Peer, Seat, ServeError, counted_for};
use crate::mounted;
use crate::routes::{MAY_RUN, RUNS, UPGRADES};

/// Requests that show wrong credentials, a second, from one address.
const FAILURES: Allowed = Allowed { per_second: 10, at_once: u32::MAX };

/// What anybody may ask, whoever they are: it tells that we live, or where credentials are come by, and nothing else.
const OPEN: &[&str] = &["/healthz", "/readyz", METADATA, METADATA_OF_MCP];

/// Headers that only somebody between sets: then whoever asks is not on this machine, whatever the address says.
const FROM_ELSEWHERE: [HeaderName; 4] = [
    header::FORWARDED,
    HeaderName::from_static("x-forwarded-for"),
    HeaderName::from_static("x-real-ip"),
    header::VIA,
];

/// Who needs no credentials to call tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Keyless {
    /// Nobody.
    Nobody,
    /// Whoever is on this machine.
    ThisMachine,
    /// Everybody: the operator typed `--insecure-no-auth`.
    Everybody,
}

/// Whether the operator typed `--insecure-no-auth`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum NoAuth {
    /// They did not.
    #[default]
    Refused,
    /// They did: everybody who can connect may call tools.
    Insecure,
}

/// What the perimeter stands on.
#[derive(Clone, Copy)]
pub struct PerimeterSettings<'a> {
    /// The operator's settings.
    pub server: &'a Server,
    /// Where the listener is bound.
    pub bound: SocketAddr,
    /// Whether everybody may call tools.
    pub no_auth: NoAuth,
}

/// Refuses a listener that others can reach while there is nothing that anybody could show.
pub fn may_listen(bound: SocketAddr, has_credentials: bool, no_auth: NoAuth) -> Result<(), ServeError> {
    let open = !bound.ip().to_canonical().is_loopback();
    if open && !has_credentials && no_auth == NoAuth::Refused {
        return Err(ServeError::Open { address: bound });
    }
    Ok(())
}

/// The way in.
pub struct Perimeter {
    pub(super) keyless: Keyless,
    pub(super) keyring: Arc<dyn Keyring>,
    pub(super) tokens: Option<Tokens>,
    hosts: Hosts,
    published: Option<Arc<Published>>,
    origins: Vec<String>,
    usual: Allowed,
    rates: Rates<DefaultClock>,
    slots: Slots,
    counters: Counters,
}

impl std::fmt::Debug for Perimeter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Perimeter").field("keyless", &self.keyless).finish_non_exhaustive()
    }
}

impl Perimeter {
    /// As the operator's settings say. On an address that others reach, everybody needs credentials.
    pub fn new(
        settings: PerimeterSettings<'_>,
        keyring: Arc<dyn Keyring>,
        tokens: Option<Tokens>,
        counters: Counters,
    ) -> Self {
        let PerimeterSettings { server, bound, no_auth } = settings;
        let keyless = match no_auth {
            NoAuth::Insecure => Keyless::Everybody,
            NoAuth::Refused if server.keyless && bound.ip().to_canonical().is_loopback() => {
                Keyless::ThisMachine
            }
            NoAuth::Refused => Keyless::Nobody,
        };
        Self {
            keyless,
            keyring,
            tokens,
            hosts: Hosts::new(&server.hosts),
            published: server.jwt.as_ref().map(Published::of),
            origins: server.origins.clone(),
            usual: Allowed { per_second: server.per_second, at_once: server.at_once },
            rates: Rates::new(DefaultClock::default(), MOST_TRACKED),
            slots: Slots::new(server.calls),
            counters,
        }
    }

    /// The same routes, behind the perimeter.
    pub fn around(self, routes: Router) -> Router {
        routes
            .layer(from_fn(correlate))
            .layer(CompressionLayer::new())
            .layer(CatchPanicLayer::custom(refusals::panicked))
            .layer(from_fn_with_state(Arc::new(self), guard))
            .layer(from_fn(correlate))
    }

    /// Answers a request: itself, or by its route.
    async fn answer(&self, mut request: Request<Body>, next: Next) -> Response {
        let (Some(peer), Some(closing)) =
            (request.extensions().get::<Peer>().copied(), request.extensions().get::<Closing>().cloned())
        else {
            return refusals::not_ours();
        };
        let host = match self.hosts.check(&request, peer) {
            Ok(host) => host,
            Err(why) => return refusals::host(why),
        };
        let asker = match origin::check(request.headers(), &host, peer, &self.origins) {
            Ok(asker) => asker,
            Err(why) => return refusals::origin(why),
        };
        let resource = self.published.as_ref().map(|published| published.at(&host, peer.encrypted));
        if let Some(resource) = &resource {
            request.extensions_mut().insert(resource.clone());
        }
        let to_mcp = request.uri().path() == mounted::PATH;
        let method = request.method().clone();
        let mut response = match origin::preflight(&request, &asker) {
            Some(answer) => answer,
            None => match self.admit(&mut request, peer).await {
                Ok(held) => hold(next.run(request).await, held, &method, &closing),
                Err(refusal) => refusal,
            },
        };
        if let Some(resource) = resource {
            refusals::point(&mut response, &resource, to_mcp);
        }
        if asker != Asker::Own || !self.origins.is_empty() {
            origin::allow(response.headers_mut(), &asker);
        }
        response
    }

    /// Everything that is asked of a request before a route sees it.
    async fn admit(&self, request: &mut Request<Body>, peer: Peer) -> Result<Held, Response> {
        let query = request.uri().query().map(str::to_owned);
        let shown = super::credentials::Credentials::take(request.headers_mut(), query.as_deref());
        if is_open(request) {
            return Ok(Held::of_nobody());
        }
        let shown = shown.map_err(refusals::unclear)?;
        let known = match who::is(self, shown, peer, came_through_somebody(request)).await {
            Ok(known) => known,
            Err(why) => return Err(self.failed(peer, refusals::not_known(&why))),
        };
        let Some(known) = known else {
            // The counters, for whoever is on this machine: see `crate::counters`.
            return Ok(Held::of_nobody());
        };
        let allowed = Allowed {
            per_second: known.per_second.unwrap_or(self.usual.per_second),
            at_once: known.at_once.unwrap_or(self.usual.at_once),
        };
        let name = format!("{:?}", known.counted_as);
        let place =
            self.rates.enter(known.counted_as, allowed).map_err(|over| refusals::over(over, allowed))?;
        let rank = known.principal.rank();
        // Requests that did not come over our listener have no connection of ours.
        let staying = request.extensions().get::<Seat>().map(|seat| seat.stay(rank)).transpose();
        let staying = staying.map_err(|Crowded| refusals::crowded())?;
        if let Some(charge) = request.extensions().get::<BodyCharge>() {
            charge.is_of(rank, name);
        }
        match needs(request) {
            Needs::Nothing => {}
            Needs::Room if self.slots.are_taken(rank) => return Err(refusals::busy()),
            Needs::Room | Needs::PerhapsRoom => {
                request.extensions_mut().insert(self.slots.one(rank));
            }
        }
        request.extensions_mut().insert(known.principal);
        let held = Held::of_caller(place, staying);
        if upgrades(request) {
            // What is spoken after an upgrade is no answer whose end gives the place back.
            request.extensions_mut().insert(held.clone());
        }
        Ok(held)
    }

    /// Counts wrong credentials, and says so more curtly to whoever shows many.
    fn failed(&self, peer: Peer, refusal: Response) -> Response {
        metrics::counter!("bailiwick_http_unauthorized_total").increment(1);
        match self.rates.enter(Who::Failed(counted_for(peer.address.ip())), FAILURES) {
            Ok(_) | Err(Over::AtOnce) => refusal,
            Err(over) => refusals::over(over, FAILURES),
        }
    }
}

async fn guard(State(perimeter): State<Arc<Perimeter>>, request: Request<Body>, next: Next) -> Response {
    let started = Instant::now();
    let method = request.method().clone();
    let route = request.extensions().get::<MatchedPath>().cloned();
    let route = route.as_ref().map(MatchedPath::as_str);
    // The name of the route and never the address: that may hold anything.
    let span = tracing::info_span!("request", route, method = word(&method), status = tracing::field::Empty);
    let response = perimeter.answer(request, next).instrument(span.clone()).await;
    span.record("status", response.status().as_u16());
    perimeter.counters.answered(route, &method, response.status(), started.elapsed());
    response
}

/// Keeps what is held until the answer is sent.
fn hold(response: Response, held: Held, method: &Method, closing: &Closing) -> Response {
    let kind = response.headers().get(header::CONTENT_TYPE).map(|value| value.as_bytes().to_owned());
    let is_stream = kind.is_some_and(|kind| kind.starts_with(b"text/event-stream"));
    let ends = (is_stream && method == Method::GET).then(|| closing.begun_owned());
    response.map(|body| Body::new(HeldBody::new(body, held, ends)))
}

fn is_open(request: &Request<Body>) -> bool {
    matches!(*request.method(), Method::GET | Method::HEAD) && OPEN.contains(&request.uri().path())
}

fn came_through_somebody(request: &Request<Body>) -> who::Way {
    let through = FROM_ELSEWHERE.iter().any(|name| request.headers().contains_key(name));
    let counters = *request.method() == Method::GET && request.uri().path() == crate::counters::PATH;
    match (through, counters) {
        (true, _) => who::Way::ThroughSomebody,
        (false, true) => who::Way::ToTheCounters,
        (false, false) => who::Way::Direct,
    }
}

/// What a request needs of the room for calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Needs {
    /// It runs nothing.
    Nothing,
    /// It runs something, so it need not be read where there is no room.
    Room,
    /// Its message tells, so it has to be read.
    PerhapsRoom,
}

/// Whether it asks for a connection of its own, over which something runs.
fn upgrades(request: &Request<Body>) -> bool {
    let route = request.extensions().get::<MatchedPath>().map(MatchedPath::as_str);
    *request.method() == Method::GET && route.is_some_and(|route| UPGRADES.contains(&route))
}

fn needs(request: &Request<Body>) -> Needs {
    let route = request.extensions().get::<MatchedPath>().map(MatchedPath::as_str);
    match route.filter(|_| request.method() == Method::POST) {
        _ if upgrades(request) => Needs::Room,
        Some(route) if RUNS.contains(&route) => Needs::Room,
        Some(route) if MAY_RUN.contains(&route) => Needs::PerhapsRoom,
        _ => Needs::Nothing,
    }
}
