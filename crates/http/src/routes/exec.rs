//! Commands: in a sandbox that is kept, or in one of their own; at the end, or as it happens.

use axum::Json as Out;
use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use bailiwick_api::schema::{ExecResult, ServerSent};
use bailiwick_api::{Exec, ExecFresh, Executed};
use bailiwick_core::{Action, Reply};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::Served;
use super::asker::{Asker, held};
use super::input::{At, Json};
use super::problem::Refused;
use super::said::spoken;
use super::stream::{StreamQuery, Wants, talked_to_the_end};
use super::terminal;

pub(crate) fn routes() -> OpenApiRouter<Served> {
    OpenApiRouter::new().routes(routes!(fresh)).routes(routes!(kept, terminal::terminal))
}

/// Runs a command in a sandbox of its own, which is gone afterwards
///
/// A command that ran is a 200, whatever it ended with. As server-sent events it gives `output` as the command speaks and
/// `result` at the end, or `error` with a problem; whoever reads slowly slows the command down. Whoever goes away ends it.
#[utoipa::path(post, path = "/exec", tag = "sandboxes", operation_id = "exec",
    params(StreamQuery), request_body = ExecFresh,
    responses((status = 200, content(
        (ExecResult = "application/json"), (ServerSent = "text/event-stream")))))]
async fn fresh(
    State(served): State<Served>,
    asker: Asker,
    wants: Wants,
    Json(request): Json<ExecFresh>,
) -> Result<Response, Refused> {
    let action = request.action(wants == Wants::Once, &asker.correlation)?;
    run(&served, &asker, wants, action).await
}

/// Runs a command in a sandbox that is kept
///
/// A command that ran is a 200, whatever it ended with. As server-sent events it gives `output` as the command speaks and
/// `result` at the end, or `error` with a problem; whoever reads slowly slows the command down. Whoever goes away ends it.
#[utoipa::path(post, path = "/sandboxes/{sandbox}/exec", tag = "sandboxes", operation_id = "execInSandbox",
    params(("sandbox" = String, Path, description = "Its id, the beginning of it, or its name"), StreamQuery),
    request_body = Exec,
    responses((status = 200, content(
        (ExecResult = "application/json"), (ServerSent = "text/event-stream")))))]
async fn kept(
    State(served): State<Served>,
    asker: Asker,
    At(sandbox): At<String>,
    wants: Wants,
    Json(request): Json<Exec>,
) -> Result<Response, Refused> {
    let action = request.action(sandbox, wants == Wants::Once, &asker.correlation)?;
    run(&served, &asker, wants, action).await
}

async fn run(served: &Served, asker: &Asker, wants: Wants, action: Action) -> Result<Response, Refused> {
    if wants == Wants::Stream {
        return Ok(talked_to_the_end(served, asker, action, spoken(), |reply| match reply {
            Reply::Executed(executed) => {
                serde_json::to_string(&Executed::from(*executed)).map_err(|_| Refused::unexpected())
            }
            _ => Err(Refused::unexpected()),
        }));
    }
    let executed = *held!(served.perform(asker, action).await?, Executed);
    Ok(Out(Executed::from(executed)).into_response())
}
