//! What is mounted beside the routes: a service at `/mcp` that speaks a protocol of its own.
//!
//! The service knows nothing of HTTP's perimeter, so all of that is done in front of it: whoever asks was let in and
//! covers `call`, a message is whole and within its bounds, and what the service is told of its sender
//! ([`bailiwick_core::Admitted`]) is an extension of the request, which nothing that is sent can set. It must never read
//! a message: what one means, and what is wrong with one, is the service's to say.

use axum::body::Body;
use axum::extract::{DefaultBodyLimit, Request};
use axum::http::{HeaderValue, Method, header};
use axum::middleware::{Next, from_fn};
use axum::response::Response;
use axum::{Extension, Router};
use bailiwick_config::Server;
use bailiwick_types::{ErrorCode, Scope};
use tower::Layer as _;

use crate::perimeter::Resource;
use crate::problem::problem;
use crate::routes::Refused;
use crate::routes::asker::Asker;
use crate::routes::input::{bounded, bytes};

/// Where the service is.
pub const PATH: &str = "/mcp";
/// What whoever speaks to it has to cover.
const NEEDS: Scope = Scope::Call;

/// The service as a route, to be put behind the [`Perimeter`](crate::perimeter::Perimeter). Nothing of it can be reached
/// but [`PATH`], whatever else it has.
pub fn mounted(service: Router, server: &Server) -> Router {
    let most = usize::try_from(server.body_bytes).unwrap_or(usize::MAX);
    Router::new().route_service(PATH, from_fn(enter).layer(service)).layer(DefaultBodyLimit::max(most))
}

/// Lets a request on to the service.
async fn enter(
    asker: Asker,
    resource: Option<Extension<Resource>>,
    mut request: Request,
    next: Next,
) -> Result<Response, Refused> {
    if !asker.principal.scopes.covers(NEEDS) {
        return Ok(not_covered(resource.as_ref().map(|Extension(resource)| resource)));
    }
    if request.method() == Method::POST {
        let mut sent = Request::new(std::mem::take(request.body_mut()));
        // The limit of bodies travels with the request.
        *sent.extensions_mut() = request.extensions().clone();
        let message = bytes(sent, &()).await?;
        bounded(&message)?;
        *request.body_mut() = Body::from(message);
    }
    request.extensions_mut().insert(asker.admitted());
    Ok(next.run(request).await)
}

/// What somebody is told who is known and may not call tools.
fn not_covered(resource: Option<&Resource>) -> Response {
    let mut response = problem(
        ErrorCode::Forbidden,
        format!("this needs the scope `{NEEDS}`, and these credentials do not have it"),
        "use a key or a token that has it: bailiwick key create NAME --scope call",
    );
    let demand = format!("Bearer error=\"insufficient_scope\", scope=\"{NEEDS}\"");
    let demand = resource.map(|resource| resource.pointed(&demand)).unwrap_or(demand);
    // All of it is our own words, and the operator's.
    if let Ok(demand) = HeaderValue::from_str(&demand) {
        response.headers_mut().insert(header::WWW_AUTHENTICATE, demand);
    }
    response
}
