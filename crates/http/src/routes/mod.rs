//! What can be asked for: each route turns a request into one action and its reply into a shape of `api`.
//!
//! No route decides anything. Who asks comes from the perimeter as an extension of the request; a route that finds
//! nobody refuses. Start reading at [`router`], then at the file of an area.

mod approvals;
pub(crate) mod asker;
mod audit;
mod events;
mod exec;
mod execute;
mod files;
mod health;
mod idempotency;
pub(crate) mod input;
mod keys;
mod lifecycle;
mod metadata;
mod openapi;
mod page;
mod ports;
mod problem;
mod review;
mod room;
mod said;
mod sandboxes;
mod stream;
mod terminal;
mod tools;

use std::sync::Arc;

use axum::extract::DefaultBodyLimit;
use axum::{Router, middleware};
use bailiwick_config::Server;
use bailiwick_core::Desk;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use utoipa_axum::router::OpenApiRouter;

pub use problem::Refused;
pub use room::{MAY_RUN, RUNS, RUNS_NOTHING, UPGRADES};

use crate::correlation::correlate;

/// What routes serve from. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Served {
    desk: Arc<Desk>,
    settings: Arc<Server>,
    closing: CancellationToken,
    kept: idempotency::Kept,
    /// What goes on though its sender is gone; whoever ends the server waits for it.
    going_on: TaskTracker,
}

impl Served {
    /// Serves from this desk, until `closing` says that the server is about to end: then it is not ready any more, and
    /// whoever only watches is let go.
    pub fn new(desk: Arc<Desk>, settings: Arc<Server>, closing: CancellationToken) -> Self {
        let going_on = TaskTracker::new();
        Self { desk, settings, closing, kept: idempotency::Kept::default(), going_on }
    }

    /// What goes on though its sender is gone.
    pub fn going_on(&self) -> TaskTracker {
        self.going_on.clone()
    }
}

/// Every route, without the perimeter: whoever mounts it sees to it that each request carries its
/// [`Principal`](crate::perimeter::Principal).
pub fn router(served: Served) -> Router {
    let most = usize::try_from(served.settings.body_bytes).unwrap_or(usize::MAX);
    let (routes, _) = described();
    routes
        .fallback(problem::no_such_route)
        .method_not_allowed_fallback(problem::no_such_method)
        .layer(middleware::from_fn_with_state(served.clone(), idempotency::once))
        .layer(DefaultBodyLimit::max(most))
        .layer(middleware::from_fn(correlate))
        .with_state(served)
}

/// The `OpenAPI` document of every route, as it is served and committed.
pub fn openapi() -> String {
    let (_, document) = described();
    // A document is made of texts and numbers, which can always be written.
    let mut text = document.to_pretty_json().unwrap_or_default();
    text.push('\n');
    text
}

/// Every route, and the document about it.
fn described() -> (Router<Served>, utoipa::openapi::OpenApi) {
    let v1 = OpenApiRouter::new()
        .merge(execute::routes())
        .merge(tools::routes())
        .merge(lifecycle::routes())
        .merge(exec::routes())
        .merge(sandboxes::routes())
        .merge(files::routes())
        .merge(review::routes())
        .merge(ports::routes())
        .merge(approvals::routes())
        .merge(keys::routes())
        .merge(audit::routes())
        .merge(events::routes())
        .merge(openapi::routes());
    let all = OpenApiRouter::with_openapi(openapi::base())
        .merge(health::routes())
        .merge(metadata::routes())
        .nest("/v1", v1);
    let (router, mut document) = all.split_for_parts();
    openapi::complete(&mut document);
    (tools::named_like_words(router), document)
}
