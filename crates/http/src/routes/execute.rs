//! Running: published tools, code that is no tool, and what code finds when it runs.

use axum::Json as Out;
use axum::extract::State;
use axum::http::HeaderValue;
use axum::response::{IntoResponse as _, Response};
use bailiwick_api::schema::{CallReport, ServerSent};
use bailiwick_api::{CodeChecked, Execute, LimitsView, Validate};
use bailiwick_core::{Action, Reply};
use serde_json::Value;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::Served;
use super::asker::{Asker, held};
use super::input::Json;
use super::problem::Refused;
use super::stream::{StreamQuery, Wants, to_the_end};
use crate::correlation;

pub(crate) fn routes() -> OpenApiRouter<Served> {
    OpenApiRouter::new().routes(routes!(limits)).routes(routes!(execute)).routes(routes!(validate))
}

/// What code finds and how far it may go
///
/// Under the operator's bare policy.
#[utoipa::path(get, path = "/execution/limits", tag = "execution", operation_id = "limits",
    responses((status = 200, body = LimitsView)))]
async fn limits(State(served): State<Served>, asker: Asker) -> Result<Out<Value>, Refused> {
    Ok(Out(held!(served.perform(&asker, Action::Limits).await?, Limits)))
}

/// Runs a published tool, or code
///
/// A call that ran, or that policy or a person refused, is a 200 with `ok: false`. As server-sent events it gives `log`
/// for each console line, `approval` when it waits for a person and while it does, and `result` with the report at the
/// end, or `error` with a problem. Whoever goes away ends the call.
#[utoipa::path(post, path = "/execute", tag = "execution", operation_id = "execute",
    params(StreamQuery), request_body = Execute,
    responses((status = 200, content(
        (CallReport = "application/json"), (ServerSent = "text/event-stream")))))]
async fn execute(
    State(served): State<Served>,
    asker: Asker,
    wants: Wants,
    Json(request): Json<Execute>,
) -> Result<Response, Refused> {
    let action = request.action(&asker.correlation);
    if wants == Wants::Stream {
        return Ok(to_the_end(&served, &asker, action, |reply| match reply {
            Reply::Called(report) => serde_json::to_string(&report).map_err(|_| Refused::unexpected()),
            _ => Err(Refused::unexpected()),
        }));
    }
    let report = held!(served.perform(&asker, action).await?, Called);
    let cause = HeaderValue::from_str(report.correlation_id().as_str());
    let mut response = Out(report).into_response();
    if let Ok(cause) = cause {
        response.headers_mut().insert(correlation::HEADER, cause);
    }
    Ok(response)
}

/// Looks at code without running it
#[utoipa::path(post, path = "/validate", tag = "execution", operation_id = "validate",
    request_body = Validate, responses((status = 200, body = CodeChecked)))]
async fn validate(
    State(served): State<Served>,
    asker: Asker,
    Json(request): Json<Validate>,
) -> Result<Out<CodeChecked>, Refused> {
    let action = Action::CodeCheck { code: request.into() };
    Ok(Out(held!(served.perform(&asker, action).await?, CodeChecked).into()))
}
