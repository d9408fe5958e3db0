//! What is done with tools on their way: looked at, tried, tested, published, and which policy they get.

use axum::Json as Out;
use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use bailiwick_api::schema::ServerSent;
use bailiwick_api::{
    Checked, DocumentIn, PolicyView, Publish, PublishDocument, Published, Test, TestWhich, Tested, TestedAll,
    ToolLine, Try,
};
use bailiwick_core::{Action, Reply, Which};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::Served;
use super::asker::{Asker, held};
use super::input::{At, Document, Json, Maybe};
use super::problem::Refused;
use super::stream::{StreamQuery, Wants, to_the_end};
use super::tools::exported;

pub(crate) fn routes() -> OpenApiRouter<Served> {
    OpenApiRouter::new()
        .routes(routes!(check))
        .routes(routes!(try_out))
        .routes(routes!(draft_policy))
        .routes(routes!(test_which))
        .routes(routes!(publish_document))
        .routes(routes!(test))
        .routes(routes!(publish))
        .routes(routes!(unpublish))
        .routes(routes!(policy))
}

/// Looks at a document: its rules, its code, its texts, its policy
///
/// Keeps nothing.
#[utoipa::path(post, path = "/tools/check", tag = "tools", operation_id = "checkDocument",
    request_body(content((DocumentIn = "application/json"), (String = "application/yaml"))),
    responses((status = 200, body = Checked)))]
async fn check(
    State(served): State<Served>,
    asker: Asker,
    Document(document): Document,
) -> Result<Out<Checked>, Refused> {
    let action = Action::ToolCheck { document: document.document() };
    Ok(Out((*held!(served.perform(&asker, action).await?, Checked)).into()))
}

/// The policy and the badge of a document as it would be kept
///
/// Looks at no code and keeps nothing: fit to be asked at every change of a draft.
#[utoipa::path(post, path = "/tools/policy", tag = "tools", operation_id = "draftPolicy",
    request_body(content((DocumentIn = "application/json"), (String = "application/yaml"))),
    responses((status = 200, body = PolicyView)))]
async fn draft_policy(
    State(served): State<Served>,
    asker: Asker,
    Document(document): Document,
) -> Result<Out<PolicyView>, Refused> {
    let action = Action::ToolPolicy { document: document.document() };
    Ok(Out((*held!(served.perform(&asker, action).await?, Policy)).into()))
}

/// The policy and the badge of a kept tool
#[utoipa::path(get, path = "/tools/{tool}/policy", tag = "tools", operation_id = "toolPolicy",
    params(("tool" = String, Path, description = "Its name or id")),
    responses((status = 200, body = PolicyView)))]
async fn policy(
    State(served): State<Served>,
    asker: Asker,
    At(tool): At<String>,
) -> Result<Out<PolicyView>, Refused> {
    let document = exported(&served, &asker, tool).await?;
    let action = Action::ToolPolicy { document };
    Ok(Out((*held!(served.perform(&asker, action).await?, Policy)).into()))
}

/// Runs a document's tests as a Local Pass would
///
/// Keeps nothing. As server-sent events it gives `test` for each test and `result` at the end.
#[utoipa::path(post, path = "/tools/try", tag = "tools", operation_id = "tryDocument",
    params(StreamQuery), request_body = Try,
    responses((status = 200, content((Tested = "application/json"), (ServerSent = "text/event-stream")))))]
async fn try_out(
    State(served): State<Served>,
    asker: Asker,
    wants: Wants,
    Json(request): Json<Try>,
) -> Result<Response, Refused> {
    let action = Action::ToolTry { document: request.document(), live: request.live };
    one_pass(&served, &asker, wants, action).await
}

/// Runs the Local Pass of a kept tool, and keeps it
///
/// As server-sent events it gives `test` for each test and `result` at the end.
#[utoipa::path(post, path = "/tools/{tool}/test", tag = "tools", operation_id = "testTool",
    params(("tool" = String, Path, description = "Its name or id"), StreamQuery),
    request_body = Option<Test>,
    responses((status = 200, content((Tested = "application/json"), (ServerSent = "text/event-stream")))))]
async fn test(
    State(served): State<Served>,
    asker: Asker,
    At(tool): At<String>,
    wants: Wants,
    Maybe(Test { live }): Maybe<Test>,
) -> Result<Response, Refused> {
    one_pass(&served, &asker, wants, Action::ToolTest { which: Which::Named(vec![tool]), live }).await
}

/// Runs the Local Passes of many kept tools, and keeps them
///
/// As server-sent events it gives `test` for each test and `result` at the end.
#[utoipa::path(post, path = "/tools/test", tag = "tools", operation_id = "testTools",
    params(StreamQuery), request_body = TestWhich,
    responses((status = 200, content((TestedAll = "application/json"), (ServerSent = "text/event-stream")))))]
async fn test_which(
    State(served): State<Served>,
    asker: Asker,
    wants: Wants,
    Json(request): Json<TestWhich>,
) -> Result<Response, Refused> {
    let TestWhich { which, live } = request;
    let action = Action::ToolTest { which: which.into(), live };
    if wants == Wants::Stream {
        return Ok(to_the_end(&served, &asker, action, |reply| written(&all_of(reply)?)));
    }
    Ok(Out(all_of(served.perform(&asker, action).await?)?).into_response())
}

/// Publishes a kept tool
///
/// As server-sent events it gives `test` for each test of a pass that runs for it, and `result` at the end.
#[utoipa::path(post, path = "/tools/{tool}/publish", tag = "tools", operation_id = "publishTool",
    params(("tool" = String, Path, description = "Its name or id"), StreamQuery),
    request_body = Option<Publish>,
    responses((status = 200, content((Published = "application/json"), (ServerSent = "text/event-stream")))))]
async fn publish(
    State(served): State<Served>,
    asker: Asker,
    At(tool): At<String>,
    wants: Wants,
    Maybe(reasons): Maybe<Publish>,
) -> Result<Response, Refused> {
    publication(&served, &asker, wants, Action::ToolPublish { tool, reasons: reasons.into() }).await
}

/// Takes a document in, passes it and publishes it
///
/// Nothing changes if any part fails. As server-sent events it gives `test` for each test and `result` at the end.
#[utoipa::path(post, path = "/tools/publish", tag = "tools", operation_id = "publishDocument",
    params(StreamQuery), request_body = PublishDocument,
    responses((status = 200, content((Published = "application/json"), (ServerSent = "text/event-stream")))))]
async fn publish_document(
    State(served): State<Served>,
    asker: Asker,
    wants: Wants,
    Json(request): Json<PublishDocument>,
) -> Result<Response, Refused> {
    let (document, reasons, approval_off) = request.parts();
    let action = Action::ToolPublishDocument { document, reasons, approval_off };
    publication(&served, &asker, wants, action).await
}

async fn publication(
    served: &Served,
    asker: &Asker,
    wants: Wants,
    action: Action,
) -> Result<Response, Refused> {
    if wants == Wants::Stream {
        return Ok(to_the_end(served, asker, action, |reply| written(&published(reply)?)));
    }
    Ok(Out(published(served.perform(asker, action).await?)?).into_response())
}

fn published(reply: Reply) -> Result<Published, Refused> {
    Ok((*held!(reply, Published)).into())
}

/// Takes a tool off the list of published ones
#[utoipa::path(post, path = "/tools/{tool}/unpublish", tag = "tools", operation_id = "unpublishTool",
    params(("tool" = String, Path, description = "Its name or id")),
    responses((status = 200, body = ToolLine)))]
async fn unpublish(
    State(served): State<Served>,
    asker: Asker,
    At(tool): At<String>,
) -> Result<Out<ToolLine>, Refused> {
    let mut lines = held!(served.perform(&asker, Action::ToolUnpublish { tool }).await?, Tools);
    lines.pop().map(|line| Out(line.into())).ok_or_else(Refused::unexpected)
}

async fn one_pass(served: &Served, asker: &Asker, wants: Wants, action: Action) -> Result<Response, Refused> {
    if wants == Wants::Stream {
        return Ok(to_the_end(served, asker, action, |reply| written(&one_of(reply)?)));
    }
    Ok(Out(one_of(served.perform(asker, action).await?)?).into_response())
}

fn one_of(reply: Reply) -> Result<Tested, Refused> {
    held!(reply, Tested).pop().map(Into::into).ok_or_else(Refused::unexpected)
}

fn all_of(reply: Reply) -> Result<TestedAll, Refused> {
    Ok(TestedAll { tested: held!(reply, Tested).into_iter().map(Into::into).collect() })
}

fn written(shape: &impl serde::Serialize) -> Result<String, Refused> {
    serde_json::to_string(shape).map_err(|_| Refused::unexpected())
}
