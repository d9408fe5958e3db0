//! Whether the process lives, and whether it can serve.

use std::time::Duration;

use axum::Json as Out;
use axum::extract::State;
use bailiwick_core::{Action, Actor, Caller};
use bailiwick_types::ErrorCode;
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::Served;
use super::problem::Refused;

/// How long the store may take to answer.
const PATIENCE: Duration = Duration::from_secs(5);

pub(crate) fn routes() -> OpenApiRouter<Served> {
    OpenApiRouter::new().routes(routes!(lives)).routes(routes!(ready))
}

/// How it is.
#[derive(Debug, Serialize, ToSchema)]
struct Health {
    /// `ok`
    status: &'static str,
}

/// Whether the process lives
#[utoipa::path(get, path = "/healthz", tag = "health", operation_id = "healthz", security(()),
    responses((status = 200, body = Health)))]
async fn lives() -> Out<Health> {
    Out(Health { status: "ok" })
}

/// Whether it can serve: the store answers and can be written, and nobody told it to end
#[utoipa::path(get, path = "/readyz", tag = "health", operation_id = "readyz", security(()),
    responses((status = 200, body = Health)))]
async fn ready(State(served): State<Served>) -> Result<Out<Health>, Refused> {
    let not_ready = |why: &str| Refused::new(ErrorCode::Unavailable, why, "ask again, or ask another server");
    if served.closing.is_cancelled() {
        return Err(not_ready("the server is about to end"));
    }
    let caller = Caller::alone(Actor { key: None, client: "readyz".to_owned() });
    let looked = served.desk.perform(caller, Action::ToolList { after: None, limit: 1 });
    match tokio::time::timeout(PATIENCE, looked).await {
        Ok(Ok(_)) => {}
        // Why is for the operator: whoever asks here showed nothing.
        Ok(Err(refusal)) => {
            tracing::warn!(%refusal, "the store does not answer");
            return Err(not_ready("the store does not answer"));
        }
        Err(_) => return Err(not_ready("the store does not answer in time")),
    }
    let Some(core) = served.desk.core() else { return Ok(Out(Health { status: "ok" })) };
    match tokio::time::timeout(PATIENCE, core.can_record()).await {
        Ok(Ok(())) => Ok(Out(Health { status: "ok" })),
        Ok(Err(refusal)) => {
            tracing::warn!(%refusal, "nothing can be recorded");
            Err(not_ready(
                "nothing can be recorded: the disk of the data directory is full or cannot be written",
            ))
        }
        Err(_) => Err(not_ready("the store does not take a write in time")),
    }
}
