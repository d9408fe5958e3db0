//! The record: pages of it, what belongs together, its proof, all of it as lines, and how much is kept.

#![expect(unused_qualifications, reason = "what `utoipa::path` makes names a type of its own module in full")]

use axum::Json as Out;
use axum::body::Body;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse as _, Response};
use bailiwick_api::{RecordPage, Records, Retain, Retained, Verified, schema};
use bailiwick_core::{Action, ExportPage, Reply};
use bailiwick_types::ErrorCode;
use futures_util::{StreamExt as _, stream};
use serde::Deserialize;
use serde_json::Value;
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::Served;
use super::asker::{Asker, held};
use super::input::{Asked, At, Json};
use super::page::{bad_cursor, cursor, cut, limit, place};
use super::problem::Refused;

/// How many records an export reads at once.
const AT_ONCE: u32 = 500;

pub(crate) fn routes() -> OpenApiRouter<Served> {
    OpenApiRouter::new()
        .routes(routes!(page))
        .routes(routes!(show))
        .routes(routes!(verify))
        .routes(routes!(export))
        .routes(routes!(retain))
}

/// A page of the record that somebody wants.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct PageQuery {
    /// `next` of the page before.
    after: Option<String>,
    /// At most so many.
    #[param(minimum = 1, maximum = 500, default = 100)]
    limit: Option<u32>,
    /// Which come first: the newest, where nobody says. Must be that of the page before.
    #[param(inline)]
    order: Option<Order>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
enum Order {
    #[default]
    Newest,
    Oldest,
}

/// Records, the newest first
#[utoipa::path(get, path = "/audit", tag = "audit", operation_id = "listRecords", params(PageQuery),
    responses((status = 200, body = schema::RecordPage)))]
async fn page(
    State(served): State<Served>,
    asker: Asker,
    Asked(query): Asked<PageQuery>,
) -> Result<Out<RecordPage>, Refused> {
    let limit = limit(query.limit)?;
    let newest_first = query.order.unwrap_or_default() == Order::Newest;
    let number = |text: &str| place(text)?.parse::<u64>().map_err(|_| bad_cursor());
    let from = query.after.as_deref().map(number).transpose()?;
    let action = Action::AuditPage { from, newest_first, limit: limit.saturating_add(1) };
    let mut records = held!(served.perform(&asker, action).await?, Records);
    let next = cut(&mut records, limit);
    let next = next.and_then(|record| record.get("seq").and_then(Value::as_u64));
    Ok(Out(RecordPage { records, next: next.map(|seq| cursor(&seq.to_string())) }))
}

/// The records that belong together, the oldest first
#[utoipa::path(get, path = "/audit/{about}", tag = "audit", operation_id = "showRecords",
    params(("about" = String, Path, description = "A record's number, a call id or a correlation id")),
    responses((status = 200, body = schema::Records)))]
async fn show(
    State(served): State<Served>,
    asker: Asker,
    At(about): At<String>,
) -> Result<Out<Records>, Refused> {
    let records = held!(served.perform(&asker, Action::AuditShow { about }).await?, Records);
    Ok(Out(Records { records }))
}

/// Proves the chain
#[utoipa::path(post, path = "/audit/verify", tag = "audit", operation_id = "verifyRecords",
    responses((status = 200, body = Verified)))]
async fn verify(State(served): State<Served>, asker: Asker) -> Result<Out<Verified>, Refused> {
    Ok(Out(held!(served.perform(&asker, Action::AuditVerify).await?, Verified).into()))
}

/// Removes the oldest records, as far as a signed head allows
#[utoipa::path(post, path = "/audit/retain", tag = "audit", operation_id = "retainRecords",
    request_body = Retain, responses((status = 200, body = Retained)))]
async fn retain(
    State(served): State<Served>,
    asker: Asker,
    Json(Retain { days, records }): Json<Retain>,
) -> Result<Out<Retained>, Refused> {
    records.map_or(Ok(()), |records| within(records, "records"))?;
    match served.perform(&asker, Action::AuditRetain { days, records }).await? {
        Reply::Retained { removed } => Ok(Out(Retained { removed })),
        _ => Err(Refused::unexpected()),
    }
}

/// Where an export begins.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct ExportQuery {
    /// The number of the first record; 1 where nobody says.
    from: Option<u64>,
}

/// The record as lines of JSON, with the signed heads among them
///
/// Byte by byte as they were hashed and signed: fit for `bailiwick audit verify FILE`.
#[utoipa::path(get, path = "/audit/export", tag = "audit", operation_id = "exportRecords",
    params(ExportQuery), responses((status = 200, content((String = "application/x-ndjson")))))]
async fn export(
    State(served): State<Served>,
    asker: Asker,
    Asked(query): Asked<ExportQuery>,
) -> Result<Response, Refused> {
    // The first part before the answer begins: from then on a refusal can only be told by breaking off.
    let first = part(&served, &asker, query.from.unwrap_or(1)).await?;
    let parts = stream::unfold(Some(Part::Read(first)), move |part_now| {
        let (served, asker) = (served.clone(), asker.clone());
        async move {
            let page = match part_now? {
                Part::Read(page) => Ok(page),
                Part::From(from) => part(&served, &asker, from).await,
            };
            match page {
                Ok(ExportPage { lines, next }) => {
                    let text: String = lines.into_iter().flat_map(|line| [line, "\n".to_owned()]).collect();
                    Some((Ok(text), next.map(Part::From)))
                }
                Err(refused) => Some((Err(std::io::Error::other(refused.problem().detail)), None)),
            }
        }
    });
    Ok(([(header::CONTENT_TYPE, "application/x-ndjson")], Body::from_stream(parts.fuse())).into_response())
}

/// A part of an export.
enum Part {
    Read(ExportPage),
    From(u64),
}

async fn part(served: &Served, asker: &Asker, from: u64) -> Result<ExportPage, Refused> {
    within(from, "from")?;
    Ok(held!(served.perform(asker, Action::AuditExport { from, limit: AT_ONCE }).await?, Lines))
}

/// Refuses a number that no record can have.
fn within(number: u64, name: &str) -> Result<(), Refused> {
    if i64::try_from(number).is_ok() {
        return Ok(());
    }
    let message = format!("`{name}` is a number that no record can have");
    Err(Refused::new(
        ErrorCode::InvalidInput,
        message,
        "the newest record tells its number: GET /v1/audit?limit=1",
    ))
}
