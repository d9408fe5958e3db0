//! Everything of a server put together: the routes, the counters, and the perimeter around both.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use bailiwick_config::Settings;
use bailiwick_core::{Core, Desk};
use tokio::net::TcpListener;
use tokio_util::task::TaskTracker;

use crate::counters::Counters;
use crate::listen::{Closing, ServeError, Serving, serve};
use crate::mounted::mounted;
use crate::perimeter::{NoAuth, Perimeter, PerimeterSettings, Tokens, may_listen};
use crate::routes::{Served, router};

/// What a server stands on.
#[derive(Debug)]
pub struct Ground<'a> {
    /// The operator's settings.
    pub settings: &'a Settings,
    /// Where the listener is bound.
    pub bound: SocketAddr,
    /// Whether everybody may call tools.
    pub no_auth: NoAuth,
    /// Where actions are asked for.
    pub desk: Arc<Desk>,
    /// Who knows the keys.
    pub core: Core,
    /// What speaks MCP at `/mcp`, if anything does: a router with that route and no other.
    pub mcp: Option<Router>,
}

/// A server that can be let loose on a listener.
#[derive(Debug)]
pub struct App {
    routes: Router,
    serving: Serving,
    going_on: TaskTracker,
}

impl App {
    /// Puts it together. Refused where others could reach it and nobody could show who they are.
    pub async fn new(ground: Ground<'_>) -> Result<Self, ServeError> {
        let Ground { settings, bound, no_auth, desk, core, mcp } = ground;
        let said = &settings.server;
        may_listen(bound, core.somebody_has_a_key() || said.jwt.is_some(), no_auth)?;
        let tokens = match &said.jwt {
            Some(jwt) => Some(Tokens::open(jwt, settings).await?),
            None => None,
        };
        let counters = Counters::install()?;
        let serving = Serving::of(said);
        let served = Served::new(desk, Arc::new(said.clone()), serving.closing.token());
        let going_on = served.going_on();
        let mut routes = router(served).merge(counters.route());
        if let Some(service) = mcp {
            routes = routes.merge(mounted(service, said));
        }
        let perimeter = PerimeterSettings { server: said, bound, no_auth };
        let routes = Perimeter::new(perimeter, Arc::new(core), tokens, counters).around(routes);
        Ok(Self { routes, serving, going_on })
    }

    /// What begins its end.
    pub fn closing(&self) -> Closing {
        self.serving.closing.clone()
    }

    /// How long calls may go on after that.
    pub const fn grace(&self) -> std::time::Duration {
        self.serving.grace
    }

    /// Serves until [`Self::closing`] begins, and then until the last call ended or the grace is over.
    pub async fn serve(self, listener: TcpListener) -> Result<(), ServeError> {
        let Self { routes, serving, going_on } = self;
        let grace = serving.grace;
        let ended = serve(listener, routes, serving, std::future::pending()).await;
        going_on.close();
        if tokio::time::timeout(grace, going_on.wait()).await.is_err() {
            tracing::warn!("what callers left to be finished was not, within the time that calls have");
        }
        ended
    }
}
