//! How a client comes by a token for this server: what we are, and who gives them (RFC 9728).

use axum::{Extension, Json as Out};
use bailiwick_types::{ErrorCode, Scope};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::Served;
use super::problem::Refused;
use crate::perimeter::Resource;

pub(crate) fn routes() -> OpenApiRouter<Served> {
    OpenApiRouter::new().routes(routes!(of_all)).routes(routes!(of_mcp))
}

/// What a client that has tokens of the operator's issuer has to know. The names of the fields are those of RFC 9728.
#[derive(Debug, Serialize, ToSchema)]
struct ProtectedResource {
    /// By which name tokens for this server are asked for: `server.jwt.audience` where that is an address, and where it
    /// is not, the address of `/mcp`.
    resource: String,
    /// Who gives them.
    authorization_servers: Vec<String>,
    /// The most that one of them covers.
    scopes_supported: Vec<&'static str>,
    /// How they are shown: in a header.
    bearer_methods_supported: Vec<&'static str>,
    /// What this is.
    resource_name: &'static str,
}

/// Who gives tokens for this server
#[utoipa::path(get, path = "/.well-known/oauth-protected-resource", tag = "about", operation_id = "protectedResource",
    security(()), responses((status = 200, body = ProtectedResource)))]
async fn of_all(resource: Option<Extension<Resource>>) -> Result<Out<ProtectedResource>, Refused> {
    told(resource)
}

/// Who gives tokens for what is at `/mcp`
#[utoipa::path(get, path = "/.well-known/oauth-protected-resource/mcp", tag = "about",
    operation_id = "protectedResourceMcp", security(()), responses((status = 200, body = ProtectedResource)))]
async fn of_mcp(resource: Option<Extension<Resource>>) -> Result<Out<ProtectedResource>, Refused> {
    told(resource)
}

fn told(resource: Option<Extension<Resource>>) -> Result<Out<ProtectedResource>, Refused> {
    let Some(Extension(resource)) = resource else {
        return Err(Refused::new(
            ErrorCode::NotFound,
            "no issuer of tokens is set up here",
            "show a key: Authorization: Bearer bwk_…; or have the operator set server.jwt",
        ));
    };
    Ok(Out(ProtectedResource {
        resource: resource.identifier(),
        authorization_servers: vec![resource.issuer().to_owned()],
        scopes_supported: resource.scopes().iter().map(Scope::word).collect(),
        bearer_methods_supported: vec!["header"],
        resource_name: "Bailiwick",
    }))
}
