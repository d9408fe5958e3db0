//! Ports of a sandbox that the server's own machine can reach.

use axum::Json as Out;
use axum::extract::State;
use bailiwick_api::{Expose, ExposedPort, ExposedPorts};
use bailiwick_core::sandboxes::ExposedPort as Inner;
use bailiwick_core::{Action, Reply};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::Served;
use super::asker::{Asker, held};
use super::input::{At, Json};
use super::problem::Refused;

pub(crate) fn routes() -> OpenApiRouter<Served> {
    OpenApiRouter::new().routes(routes!(list, expose))
}

/// The ports of a sandbox that are exposed, by the port inside
#[utoipa::path(get, path = "/sandboxes/{sandbox}/ports", tag = "sandboxes", operation_id = "listPorts",
    params(("sandbox" = String, Path, description = "Its id, the beginning of it, or its name")),
    responses((status = 200, body = ExposedPorts)))]
async fn list(
    State(served): State<Served>,
    asker: Asker,
    At(sandbox): At<String>,
) -> Result<Out<ExposedPorts>, Refused> {
    let ports = held!(served.perform(&asker, Action::SandboxPorts { sandbox }).await?, Ports);
    Ok(Out(ExposedPorts { ports: ports.into_iter().map(Into::into).collect() }))
}

/// Has a port of the server's loopback lead to a port inside of a sandbox
///
/// The sandbox has to be made with it: `expose`. One that is exposed already stays where it is.
#[utoipa::path(post, path = "/sandboxes/{sandbox}/ports", tag = "sandboxes", operation_id = "exposePort",
    params(("sandbox" = String, Path, description = "Its id, the beginning of it, or its name")),
    request_body = Expose, responses((status = 200, body = ExposedPort)))]
async fn expose(
    State(served): State<Served>,
    asker: Asker,
    At(sandbox): At<String>,
    Json(Expose { port }): Json<Expose>,
) -> Result<Out<ExposedPort>, Refused> {
    match served.perform(&asker, Action::SandboxExpose { sandbox, port }).await? {
        Reply::Exposed { port, host_port } => Ok(Out(Inner { port, host_port }.into())),
        _ => Err(Refused::unexpected()),
    }
}
