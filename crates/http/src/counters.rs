//! What is counted, for Prometheus: requests by route and status, and whatever other crates count.
//!
//! There are numbers and the names of routes in it, never a path, a name or an address that somebody sent. So whoever
//! is on this machine may read it without a key; everybody else needs the scope `operate`.

use std::sync::Arc;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use axum::{Extension, Router};
use bailiwick_types::{ErrorCode, Scope};
use http::{Method, StatusCode, header};
use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle};

use crate::Peer;
use crate::listen::ServeError;
use crate::perimeter::Principal;
use crate::problem::problem;

/// Where they are read.
pub const PATH: &str = "/metrics";
/// Upper ends of the buckets of durations, in seconds.
const BUCKETS: &[f64] =
    &[0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 120.0];
/// How often what was measured is put into its buckets.
const KEEP_UP: Duration = Duration::from_secs(5);

/// The one recorder of this process.
static RECORDER: OnceLock<PrometheusHandle> = OnceLock::new();

/// Counts requests, and tells what was counted.
#[derive(Clone)]
pub struct Counters {
    recorder: PrometheusHandle,
    begun: Instant,
    kept_up_ms: Arc<AtomicU64>,
}

impl std::fmt::Debug for Counters {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Counters").finish_non_exhaustive()
    }
}

impl Counters {
    /// Takes the counters of this process. A second time gives the same ones.
    pub fn install() -> Result<Self, ServeError> {
        static ONE_AT_A_TIME: std::sync::Mutex<()> = std::sync::Mutex::new(());
        let _guard = ONE_AT_A_TIME.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let recorder = if let Some(recorder) = RECORDER.get() {
            recorder.clone()
        } else {
            let builder = PrometheusBuilder::new().set_buckets(BUCKETS).map_err(|_| ServeError::Metrics)?;
            let recorder = builder.build_recorder();
            let handle = recorder.handle();
            metrics::set_global_recorder(recorder).map_err(|_| ServeError::Metrics)?;
            RECORDER.get_or_init(|| handle).clone()
        };
        describe();
        Ok(Self { recorder, begun: Instant::now(), kept_up_ms: Arc::default() })
    }

    /// The route that tells them.
    pub fn route(&self) -> Router {
        Router::new().route(PATH, get(tell).with_state(self.clone()))
    }

    /// Counts one answer.
    pub(crate) fn answered(&self, route: Option<&str>, method: &Method, status: StatusCode, took: Duration) {
        let route = route.unwrap_or("none").to_owned();
        metrics::counter!(
            "bailiwick_http_requests_total",
            "route" => route.clone(), "method" => word(method), "status" => status.as_u16().to_string()
        )
        .increment(1);
        metrics::histogram!("bailiwick_http_request_seconds", "route" => route).record(took.as_secs_f64());
        self.keep_up();
    }

    /// Puts what was measured into its buckets now and then; until then every measurement is kept by itself.
    fn keep_up(&self) {
        let now = u64::try_from(self.begun.elapsed().as_millis()).unwrap_or(u64::MAX);
        let last = self.kept_up_ms.load(Ordering::Relaxed);
        let due = u128::from(now.saturating_sub(last)) >= KEEP_UP.as_millis();
        if due && self.kept_up_ms.compare_exchange(last, now, Ordering::Relaxed, Ordering::Relaxed).is_ok() {
            self.recorder.run_upkeep();
        }
    }
}

fn describe() {
    metrics::describe_counter!("bailiwick_http_requests_total", "Requests that were answered.");
    metrics::describe_histogram!("bailiwick_http_request_seconds", "How long until an answer began.");
    metrics::describe_gauge!("bailiwick_http_requests_under_way", "Requests whose answer is not sent yet.");
    metrics::describe_counter!("bailiwick_http_refused_total", "Requests that were not let in, by reason.");
    metrics::describe_counter!("bailiwick_http_unauthorized_total", "Requests without valid credentials.");
    metrics::describe_counter!("bailiwick_http_rate_limited_total", "Requests over somebody's rate.");
    metrics::describe_counter!("bailiwick_http_busy_total", "Calls for which there was no room.");
    metrics::describe_counter!("bailiwick_sandboxes_made_total", "Sandboxes that were made, by backend.");
    metrics::describe_gauge!("bailiwick_sandboxes_kept", "Sandboxes that are kept now.");
    metrics::describe_counter!("bailiwick_execs_total", "Commands that ran in sandboxes, by how they ended.");
    describe_budgets();
    metrics::describe_counter!(
        "bailiwick_http_connections_refused_total",
        "Connections for which there was no room."
    );
}

/// What callers share, and how much of it is in use.
fn describe_budgets() {
    metrics::describe_gauge!("bailiwick_http_connections", "Connections that are open.");
    metrics::describe_counter!(
        "bailiwick_http_connections_evicted_total",
        "Idle connections that made room for others."
    );
    metrics::describe_gauge!("bailiwick_http_body_bytes", "Bytes of request bodies in memory.");
    metrics::describe_counter!("bailiwick_http_bodies_refused_total", "Request bodies without room.");
    metrics::describe_gauge!("bailiwick_egress_connections", "Connections of sandboxes to the proxy.");
    metrics::describe_gauge!("bailiwick_data_free_bytes", "Free disk space of the data directory.");
    metrics::describe_counter!("bailiwick_audit_bytes_total", "Bytes that callers added to the audit log.");
    metrics::describe_counter!(
        "bailiwick_audit_refused_total",
        "Actions for whose records there was no room, by reason."
    );
}

/// A method as it is counted: whatever nobody has heard of is one.
pub(crate) fn word(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::HEAD => "HEAD",
        Method::POST => "POST",
        Method::PUT => "PUT",
        Method::PATCH => "PATCH",
        Method::DELETE => "DELETE",
        Method::OPTIONS => "OPTIONS",
        _ => "other",
    }
}

async fn tell(
    State(counters): State<Counters>,
    Extension(peer): Extension<Peer>,
    principal: Option<Extension<Principal>>,
) -> Response {
    let may = match principal {
        // Somebody here without a key: the perimeter lets nobody else come without a principal.
        None => peer.is_loopback(),
        Some(Extension(principal)) => {
            let keyless_here = principal == Principal::keyless() && peer.is_loopback();
            principal.scopes.covers(Scope::Operate) || keyless_here
        }
    };
    if !may {
        let hint = "use a key with the scope `operate`, or ask from this machine without one";
        return problem(ErrorCode::Forbidden, "these credentials do not cover the counters", hint);
    }
    counters.recorder.run_upkeep();
    let kind = [(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")];
    (kind, counters.recorder.render()).into_response()
}
