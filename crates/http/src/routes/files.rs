//! Files of a sandbox that is kept: bytes in, bytes out, and what is in a folder.
//!
//! What a sandbox holds is a stranger's: it goes out as bytes to be saved and never as a page of ours.

#![expect(unused_qualifications, reason = "what `utoipa::path` makes names a type of its own module in full")]

use axum::Json as Out;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use bailiwick_api::Entries;
use bailiwick_api::schema::RawBytes;
use bailiwick_core::Action;
use bailiwick_core::sandboxes::{FileWish, InputBytes, SandboxPath};
use bailiwick_types::ErrorCode;
use serde::Deserialize;
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::Served;
use super::asker::{Asker, held};
use super::input::{Asked, At, bytes};
use super::problem::Refused;

pub(crate) fn routes() -> OpenApiRouter<Served> {
    OpenApiRouter::new().routes(routes!(read, write, remove))
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct ReadQuery {
    /// The file or folder, from the sandbox's root: `/work/a.txt`.
    path: String,
    /// Gives what is in a folder instead of the bytes of a file.
    list: Option<bool>,
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct WriteQuery {
    /// The file, from the sandbox's root: `/work/a.txt`.
    path: String,
    /// Whether it can be run.
    executable: Option<bool>,
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct RemoveQuery {
    /// The file or folder, from the sandbox's root: `/work/a.txt`.
    path: String,
}

fn inside(path: &str) -> Result<SandboxPath, Refused> {
    SandboxPath::new(path).map_err(|error| {
        Refused::new(
            ErrorCode::InvalidInput,
            format!("`path`: {error}"),
            "write it from the root: /work/a.txt",
        )
    })
}

/// The bytes of a file, or what is in a folder
#[utoipa::path(get, path = "/sandboxes/{sandbox}/files", tag = "sandboxes", operation_id = "readFile",
    params(("sandbox" = String, Path, description = "Its id, the beginning of it, or its name"), ReadQuery),
    responses((status = 200, content(
        (RawBytes = "application/octet-stream"), (Entries = "application/json")))))]
async fn read(
    State(served): State<Served>,
    asker: Asker,
    At(sandbox): At<String>,
    Asked(query): Asked<ReadQuery>,
) -> Result<Response, Refused> {
    let path = inside(&query.path)?;
    if query.list == Some(true) {
        let action = Action::SandboxFiles { sandbox, wish: FileWish::List { path } };
        let entries = held!(served.perform(&asker, action).await?, FileEntries);
        let entries = Entries { entries: entries.into_iter().map(Into::into).collect() };
        return Ok(Out(entries).into_response());
    }
    let action = Action::SandboxFiles { sandbox, wish: FileWish::Read { path } };
    let bytes = held!(served.perform(&asker, action).await?, FileBytes).into_bytes();
    let mut response = Response::new(Body::from(bytes));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/octet-stream"));
    headers.insert(header::CONTENT_DISPOSITION, HeaderValue::from_static("attachment"));
    Ok(response)
}

/// Writes a file, and the folders above it that are missing
#[utoipa::path(put, path = "/sandboxes/{sandbox}/files", tag = "sandboxes", operation_id = "writeFile",
    params(("sandbox" = String, Path, description = "Its id, the beginning of it, or its name"), WriteQuery),
    request_body(content = RawBytes, content_type = "application/octet-stream"),
    responses((status = 204, description = "It is written")))]
async fn write(
    State(served): State<Served>,
    asker: Asker,
    At(sandbox): At<String>,
    Asked(query): Asked<WriteQuery>,
    request: Request,
) -> Result<StatusCode, Refused> {
    let path = inside(&query.path)?;
    let bytes = InputBytes::new(bytes(request, &()).await?);
    let wish = FileWish::Write { path, bytes, executable: query.executable.unwrap_or_default() };
    served.perform(&asker, Action::SandboxFiles { sandbox, wish }).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Removes a file, or a folder with all that is in it
#[utoipa::path(delete, path = "/sandboxes/{sandbox}/files", tag = "sandboxes", operation_id = "removeFile",
    params(("sandbox" = String, Path, description = "Its id, the beginning of it, or its name"), RemoveQuery),
    responses((status = 204, description = "It is gone")))]
async fn remove(
    State(served): State<Served>,
    asker: Asker,
    At(sandbox): At<String>,
    Asked(query): Asked<RemoveQuery>,
) -> Result<StatusCode, Refused> {
    let wish = FileWish::Remove { path: inside(&query.path)? };
    served.perform(&asker, Action::SandboxFiles { sandbox, wish }).await?;
    Ok(StatusCode::NO_CONTENT)
}
