//! `/mcp` over HTTP. Who asks was made sure of by whoever mounts it, and comes with each request as an [`Admitted`]; a
//! request that nobody vouches for is refused.

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use axum::routing::any;
use bailiwick_core::Admitted;
use futures_util::StreamExt as _;
use http::{Method, Request, StatusCode, header};
use rmcp::model::ErrorCode;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::Mcp;
use crate::door::Door;
use crate::sessions::{Sessions, owner};

/// Where it is.
const PATH: &str = "/mcp";
const SESSION: &str = "mcp-session-id";
const JSON: &str = "application/json";

#[derive(Clone)]
struct Endpoint {
    service: StreamableHttpService<Door, LocalSessionManager>,
    sessions: Arc<Sessions>,
    closing: CancellationToken,
}

impl Mcp {
    /// The one route, to be mounted behind a door that says who asks, checks host and origin, and bounds what comes.
    pub fn router(&self) -> Router {
        self.router_of(Sessions::new())
    }

    fn router_of(&self, sessions: Arc<Sessions>) -> Router {
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
        Router::new().route(PATH, any(serve)).with_state(Endpoint {
            service,
            sessions,
            closing: self.0.closing.clone(),
        })
    }
}

async fn serve(State(endpoint): State<Endpoint>, request: Request<Body>) -> Response {
    let Endpoint { service, sessions, closing } = endpoint;
    let Some(who) = request.extensions().get::<Admitted>().map(owner) else {
        return (StatusCode::UNAUTHORIZED, "nobody vouches for this request").into_response();
    };
    if text(&request, SESSION).is_some_and(|id| !sessions.is_of(&id, &who)) {
        let gone = "Not Found: there is no such session; initialize again";
        return (StatusCode::NOT_FOUND, gone).into_response();
    }
    let only_watches = *request.method() == Method::GET;
    let is_json = text(&request, header::CONTENT_TYPE.as_str()).is_some_and(|kind| kind.starts_with(JSON));
    let response = service.handle(request).await.map(Body::new);
    let opened = response.headers().get(SESSION).and_then(|id| id.to_str().ok()).map(str::to_owned);
    if let Some(id) = opened {
        sessions.give(&id, who).await;
    }
    if is_json && response.status() == StatusCode::UNSUPPORTED_MEDIA_TYPE {
        return no_message();
    }
    if only_watches {
        // Nothing is lost with it, so it is not waited for.
        return response
            .map(|body| Body::from_stream(body.into_data_stream().take_until(closing.cancelled_owned())));
    }
    response
}

/// The body says that it is JSON and is no message.
fn no_message() -> Response {
    let message = "Parse error: the body is not one message of JSON-RPC 2.0";
    let error = json!({"jsonrpc": "2.0", "id": null, "error": {"code": ErrorCode::PARSE_ERROR.0, "message": message}});
    (StatusCode::BAD_REQUEST, [(header::CONTENT_TYPE, JSON)], error.to_string()).into_response()
}

fn text(request: &Request<Body>, name: &str) -> Option<String> {
    request.headers().get(name).and_then(|value| value.to_str().ok()).map(str::to_owned)
}

#[cfg(test)]
mod tests;
