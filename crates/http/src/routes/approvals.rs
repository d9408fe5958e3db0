//! Questions that wait for a person: listed, answered, and what is remembered of the answers.

use axum::Json as Out;
use axum::extract::State;
use axum::http::StatusCode;
use bailiwick_api::{Answer, Approvals, Remembered};
use bailiwick_core::Action;
use bailiwick_types::{ApprovalId, ErrorCode};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::Served;
use super::asker::{Asker, held};
use super::input::{At, Json};
use super::problem::Refused;

pub(crate) fn routes() -> OpenApiRouter<Served> {
    OpenApiRouter::new()
        .routes(routes!(list))
        .routes(routes!(answer))
        .routes(routes!(remembered))
        .routes(routes!(forget))
}

/// The questions that wait for a person
#[utoipa::path(get, path = "/approvals", tag = "approvals", operation_id = "listApprovals",
    responses((status = 200, body = Approvals)))]
async fn list(State(served): State<Served>, asker: Asker) -> Result<Out<Approvals>, Refused> {
    let waiting = held!(served.perform(&asker, Action::ApprovalList).await?, Approvals);
    Ok(Out(Approvals { approvals: waiting.into_iter().map(Into::into).collect() }))
}

/// Answers a question
///
/// The first answer wins; a later one is a 409.
#[utoipa::path(post, path = "/approvals/{id}", tag = "approvals", operation_id = "answerApproval",
    params(("id" = bailiwick_api::schema::Uuid, Path, description = "Its id")),
    request_body = Answer, responses((status = 204, description = "It is answered")))]
async fn answer(
    State(served): State<Served>,
    asker: Asker,
    At(id): At<String>,
    Json(answer): Json<Answer>,
) -> Result<StatusCode, Refused> {
    served.perform(&asker, answer.action(parsed(&id)?)).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// The answers that are remembered
#[utoipa::path(get, path = "/approvals/remembered", tag = "approvals", operation_id = "listRemembered",
    responses((status = 200, body = Remembered)))]
async fn remembered(State(served): State<Served>, asker: Asker) -> Result<Out<Remembered>, Refused> {
    let remembered = held!(served.perform(&asker, Action::ApprovalRemembered).await?, Remembered);
    Ok(Out(Remembered { remembered: remembered.into_iter().map(Into::into).collect() }))
}

/// Forgets a remembered answer
#[utoipa::path(delete, path = "/approvals/remembered/{id}", tag = "approvals",
    operation_id = "forgetRemembered",
    params(("id" = bailiwick_api::schema::Uuid, Path, description = "The question it was said to")),
    responses((status = 204, description = "It is forgotten")))]
async fn forget(
    State(served): State<Served>,
    asker: Asker,
    At(id): At<String>,
) -> Result<StatusCode, Refused> {
    served.perform(&asker, Action::ApprovalForget { id: parsed(&id)? }).await?;
    Ok(StatusCode::NO_CONTENT)
}

fn parsed(id: &str) -> Result<ApprovalId, Refused> {
    ApprovalId::parse(id).map_err(|error| {
        Refused::new(ErrorCode::InvalidInput, error.to_string(), "GET /v1/approvals tells the ids")
    })
}
