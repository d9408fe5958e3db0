//! Tools as they are kept: in a list, in full, taken in, replaced, removed, as documents.

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::{Json as Out, Router, routing};
use bailiwick_api::{
    Change, DocumentIn, Documents, Export, Import, Imported, ImportedAll, ToolPage, ToolView,
};
use bailiwick_core::Action;
use bailiwick_types::ErrorCode;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::Served;
use super::asker::{Asker, held};
use super::input::{Asked, At, Document, Json, Maybe};
use super::page::{Page, cursor, cut, limit, place};
use super::problem::Refused;

pub(crate) fn routes() -> OpenApiRouter<Served> {
    OpenApiRouter::new()
        .routes(routes!(list, create))
        .routes(routes!(import))
        .routes(routes!(export))
        .routes(routes!(show, replace, remove))
        .routes(routes!(document))
}

/// Words that stand in a path where the name of a tool may stand, too.
const WORDS: [&str; 7] = ["check", "export", "import", "policy", "publish", "test", "try"];

/// The places of tools that are named like such a word.
pub(crate) fn named_like_words(router: Router<Served>) -> Router<Served> {
    WORDS.into_iter().fold(router, |router, word| {
        let at = move || At(word.to_owned());
        let place = routing::get(move |served, asker| show(served, asker, at()))
            .put(move |served, asker, headers, document| replace(served, asker, at(), headers, document))
            .delete(move |served, asker, headers| remove(served, asker, at(), headers));
        router.route(&format!("/v1/tools/{word}"), place)
    })
}

/// Tools by name
///
/// Whoever may not author is shown what is published.
#[utoipa::path(get, path = "/tools", tag = "tools", operation_id = "listTools", params(Page),
    responses((status = 200, body = ToolPage)))]
async fn list(
    State(served): State<Served>,
    asker: Asker,
    Asked(page): Asked<Page>,
) -> Result<Out<ToolPage>, Refused> {
    let limit = limit(page.limit)?;
    let after = page.after.as_deref().map(place).transpose()?;
    let action = Action::ToolList { after, limit: limit.saturating_add(1) };
    let mut lines = held!(served.perform(&asker, action).await?, Tools);
    let more = cut(&mut lines, limit).is_some();
    let next = lines.last().filter(|_| more).map(|last| cursor(&last.name));
    Ok(Out(ToolPage { tools: lines.into_iter().map(Into::into).collect(), next }))
}

/// Takes a document in
///
/// A tool of the same id or name is changed. It is a draft until it passes.
#[utoipa::path(post, path = "/tools", tag = "tools", operation_id = "createTool",
    request_body(content((DocumentIn = "application/json"), (String = "application/yaml"))),
    responses((status = 201, body = Imported, description = "A new tool"),
        (status = 200, body = Imported, description = "A tool that was there already")))]
async fn create(
    State(served): State<Served>,
    asker: Asker,
    Document(document): Document,
) -> Result<Response, Refused> {
    let approval_off = document.approval_off;
    let action = Action::ToolImport { documents: vec![document.document()], approval_off };
    let imported = one(held!(served.perform(&asker, action).await?, Imported))?;
    let status = if imported.change == Change::Added { StatusCode::CREATED } else { StatusCode::OK };
    Ok((status, tagged(imported.version), Out(imported)).into_response())
}

/// Takes documents in: all of them, or none
#[utoipa::path(post, path = "/tools/import", tag = "tools", operation_id = "importTools",
    request_body = Import, responses((status = 200, body = ImportedAll)))]
async fn import(
    State(served): State<Served>,
    asker: Asker,
    Json(request): Json<Import>,
) -> Result<Out<ImportedAll>, Refused> {
    let Import { documents, approval_off } = request;
    let documents = documents.into_iter().map(Into::into).collect();
    let imported =
        held!(served.perform(&asker, Action::ToolImport { documents, approval_off }).await?, Imported);
    Ok(Out(ImportedAll { imported: imported.into_iter().map(Into::into).collect() }))
}

/// Gives tools as documents
#[utoipa::path(post, path = "/tools/export", tag = "tools", operation_id = "exportTools",
    request_body = Option<Export>, responses((status = 200, body = Documents)))]
async fn export(
    State(served): State<Served>,
    asker: Asker,
    Maybe(Export { tools }): Maybe<Export>,
) -> Result<Out<Documents>, Refused> {
    let documents = held!(served.perform(&asker, Action::ToolExport { tools }).await?, Exported);
    Ok(Out(Documents { documents: documents.into_iter().map(Into::into).collect() }))
}

/// One tool in full
#[utoipa::path(get, path = "/tools/{tool}", tag = "tools", operation_id = "showTool",
    params(("tool" = String, Path, description = "Its name or id")),
    responses((status = 200, body = ToolView, headers(("etag" = String, description = "Its version")))))]
async fn show(State(served): State<Served>, asker: Asker, At(tool): At<String>) -> Result<Response, Refused> {
    let view: ToolView = (*held!(served.perform(&asker, Action::ToolShow { tool }).await?, Tool)).into();
    Ok((tagged(view.line.version), Out(view)).into_response())
}

/// Puts a document in the place of a tool
///
/// The tool keeps its id. With `if-match` nothing is done unless it is at that version.
#[utoipa::path(put, path = "/tools/{tool}", tag = "tools", operation_id = "replaceTool",
    params(("tool" = String, Path, description = "Its name or id"),
        ("if-match" = Option<String>, Header, description = "The etag of the tool as it was seen last")),
    request_body(content((DocumentIn = "application/json"), (String = "application/yaml"))),
    responses((status = 200, body = Imported, headers(("etag" = String, description = "Its version")))))]
async fn replace(
    State(served): State<Served>,
    asker: Asker,
    At(tool): At<String>,
    headers: HeaderMap,
    Document(document): Document,
) -> Result<Response, Refused> {
    let version = seen(&headers)?;
    let approval_off = document.approval_off;
    let action = Action::ToolReplace { tool, version, document: document.document(), approval_off };
    let imported = one(held!(served.perform(&asker, action).await?, Imported))?;
    Ok((tagged(imported.version), Out(imported)).into_response())
}

/// Removes a tool
#[utoipa::path(delete, path = "/tools/{tool}", tag = "tools", operation_id = "removeTool",
    params(("tool" = String, Path, description = "Its name or id")),
    responses((status = 204, description = "It is gone")))]
async fn remove(
    State(served): State<Served>,
    asker: Asker,
    At(tool): At<String>,
    headers: HeaderMap,
) -> Result<StatusCode, Refused> {
    if headers.contains_key(header::IF_MATCH) {
        return Err(Refused::new(
            ErrorCode::InvalidInput,
            "a tool is removed whatever its version is, so `if-match` cannot be kept",
            "leave it out",
        ));
    }
    served.perform(&asker, Action::ToolRemove { tool }).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// One tool as a document in YAML
#[utoipa::path(get, path = "/tools/{tool}/document", tag = "tools", operation_id = "toolDocument",
    params(("tool" = String, Path, description = "Its name or id")),
    responses((status = 200, content((serde_json::Value = "application/yaml")))))]
async fn document(
    State(served): State<Served>,
    asker: Asker,
    At(tool): At<String>,
) -> Result<Response, Refused> {
    let bailiwick_core::Document { name: _, text } = exported(&served, &asker, tool).await?;
    Ok(([(header::CONTENT_TYPE, "application/yaml")], text).into_response())
}

/// A kept tool as a document.
pub(crate) async fn exported(
    served: &Served,
    asker: &Asker,
    tool: String,
) -> Result<bailiwick_core::Document, Refused> {
    let action = Action::ToolExport { tools: vec![tool] };
    held!(served.perform(asker, action).await?, Exported).pop().ok_or_else(Refused::unexpected)
}

fn one(mut imported: Vec<bailiwick_core::Imported>) -> Result<Imported, Refused> {
    imported.pop().map(Into::into).ok_or_else(Refused::unexpected)
}

fn tagged(version: u64) -> [(header::HeaderName, String); 1] {
    [(header::ETAG, format!("\"{version}\""))]
}

/// The version that whoever asks saw last, by `if-match`.
fn seen(headers: &HeaderMap) -> Result<Option<u64>, Refused> {
    let mut values = headers.get_all(header::IF_MATCH).iter();
    let (first, second) = (values.next(), values.next());
    let Some(value) = first else { return Ok(None) };
    let text = value.to_str().unwrap_or_default().trim();
    if text == "*" && second.is_none() {
        return Ok(None);
    }
    let version = text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    match (version.and_then(|digits| digits.parse().ok()), second) {
        (Some(version), None) => Ok(Some(version)),
        _ => Err(Refused::new(
            ErrorCode::InvalidInput,
            "`if-match` is not one etag of a tool",
            "give the etag of the answer that showed it, in its quotes",
        )),
    }
}
