//! Sessions that were put aside.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::{Extension, Router};
use bailiwick_core::{Actor, Admitted, Refusal};
use bailiwick_types::{Scope, Scopes};
use http::Request;
use http_body_util::BodyExt as _;
use rmcp::model::CallToolResult;
use rmcp::transport::streamable_http_server::session::SessionManager as _;
use serde_json::{Value, json};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt as _;

use super::Sessions;
use crate::{Call, Era, Failed, Future, Mcp, Offers, Page, Settings};

/// Offers nothing.
struct Nothing;

impl Offers for Nothing {
    fn tools<'a>(&'a self, _: &'a Admitted, _: Option<String>, _: Era) -> Future<'a, Result<Page, Refusal>> {
        Box::pin(std::future::ready(Ok(Page::default())))
    }

    fn call(&self, call: Call) -> Future<'_, Result<CallToolResult, Failed>> {
        Box::pin(std::future::ready(Err(Failed::Unknown(call.name))))
    }

    fn changes(&self, _: Admitted, _: Arc<Notify>) -> Future<'_, Result<(), Refusal>> {
        Box::pin(std::future::pending())
    }
}

fn somebody(name: &str) -> Admitted {
    Admitted::alone(
        Actor { key: Some(name.to_owned()), client: "http".to_owned() },
        Scopes::of([Scope::Call]),
    )
}

/// Posts a message; gives the status, the session and what came back.
async fn post(
    router: &Router,
    who: &str,
    session: Option<&str>,
    message: &Value,
) -> (u16, Option<String>, String) {
    let mut request = Request::post("/mcp")
        .header("host", "127.0.0.1")
        .header("accept", "application/json, text/event-stream")
        .header("content-type", "application/json");
    if let Some(session) = session {
        request = request.header("mcp-session-id", session);
    }
    let request = request.body(Body::from(message.to_string())).unwrap();
    let response = router.clone().layer(Extension(somebody(who))).oneshot(request).await.unwrap();
    let status = response.status().as_u16();
    let session = response.headers().get("mcp-session-id").map(|id| id.to_str().unwrap().to_owned());
    let body = response.into_body().collect().await.unwrap().to_bytes();
    (status, session, String::from_utf8_lossy(&body).into_owned())
}

#[tokio::test]
async fn a_session_that_was_put_aside_is_set_up_again_for_its_opener_and_nobody_else() {
    let settings =
        Settings { deadline: Duration::ZERO, body_bytes: 1 << 16, closing: CancellationToken::new() };
    let mcp = Mcp::new(Arc::new(Nothing), settings).unwrap();
    let sessions = Sessions::new();
    let router = mcp.router_of(Arc::clone(&sessions));
    let hello = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "a-test", "version": "1"}}});
    let (status, session, _) = post(&router, "agent", None, &hello).await;
    assert_eq!(status, 200);
    let session = session.unwrap();
    // As when nothing was heard of it for long.
    sessions.manager().close_session(&session.as_str().into()).await.unwrap();
    assert!(!sessions.manager().has_session(&session.as_str().into()).await.unwrap());
    let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}});
    let (status, _, told) = post(&router, "other", Some(&session), &list).await;
    assert_eq!(status, 404, "{told}");
    assert!(!sessions.manager().has_session(&session.as_str().into()).await.unwrap());
    let (status, _, told) = post(&router, "agent", Some(&session), &list).await;
    assert_eq!(status, 200, "{told}");
    assert!(told.contains("\"tools\":[]"), "{told}");
}
