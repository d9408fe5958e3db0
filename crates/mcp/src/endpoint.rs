//! `/mcp` over HTTP. Who asks was made sure of by whoever mounts it, and comes with each request as an [`Admitted`]; a
//! request that nobody vouches for is refused.

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use axum::routing::any;
use bailiwick_core::Admitted;
use http::{HeaderValue, Method, Request, StatusCode, header};
use rmcp::model::ProtocolVersion;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};

use crate::Mcp;
use crate::door::Door;
use crate::sessions::{Sessions, owner};

/// Where it is.
const PATH: &str = "/mcp";
const SESSION: &str = "mcp-session-id";
const VERSION: &str = "mcp-protocol-version";

#[derive(Clone)]
struct Endpoint {
    service: StreamableHttpService<Door, LocalSessionManager>,
    sessions: Arc<Sessions>,
}

impl Mcp {
    /// The one route, to be mounted behind a door that says who asks, checks host and origin, and bounds what comes.
    pub fn router(&self) -> Router {
        let sessions = Sessions::new();
        let mut config = StreamableHttpServerConfig::default()
            // The door in front knows by which names it may be reached, and from which pages.
            .disable_allowed_hosts()
            .disable_allowed_origins()
            .with_max_request_body_bytes(self.0.body_bytes)
            .with_json_response(true);
        config.session_store = Some(Arc::clone(&sessions) as _);
        let shared = Arc::clone(&self.0);
        let service = StreamableHttpService::new(
            move || Ok(Door::new(Arc::clone(&shared), None)),
            sessions.manager(),
            config,
        );
        Router::new().route(PATH, any(serve)).with_state(Endpoint { service, sessions })
    }
}

async fn serve(State(endpoint): State<Endpoint>, request: Request<Body>) -> Response {
    let Endpoint { service, sessions } = endpoint;
    let Some(who) = request.extensions().get::<Admitted>().map(owner) else {
        return (StatusCode::UNAUTHORIZED, "nobody vouches for this request").into_response();
    };
    match text(&request, SESSION) {
        Some(id) if !sessions.is_of(&id, &who) => {
            return (StatusCode::NOT_FOUND, "Not Found: there is no such session; initialize again")
                .into_response();
        }
        Some(_) => {}
        None if may_open(&request) && !sessions.have_room() => {
            let busy =
                (StatusCode::SERVICE_UNAVAILABLE, "BUSY: there are too many sessions; try again later");
            let mut busy = busy.into_response();
            busy.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("10"));
            return busy;
        }
        None => {}
    }
    let response = service.handle(request).await.map(Body::new);
    let opened = response.headers().get(SESSION).and_then(|id| id.to_str().ok()).map(str::to_owned);
    if let Some(id) = opened {
        sessions.give(&id, who).await;
    }
    response
}

/// Whether a request without a session may open one.
fn may_open(request: &Request<Body>) -> bool {
    let is_stateless = text(request, VERSION)
        .is_some_and(|version| version.as_str() >= ProtocolVersion::V_2026_07_28.as_str());
    *request.method() == Method::POST && !is_stateless
}

fn text(request: &Request<Body>, name: &str) -> Option<String> {
    request.headers().get(name).and_then(|value| value.to_str().ok()).map(str::to_owned)
}
