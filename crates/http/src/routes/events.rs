//! What happens, as it happens, to whoever watches.

#![expect(unused_qualifications, reason = "what `utoipa::path` makes names a type of its own module in full")]

use axum::extract::State;
use axum::response::Response;
use bailiwick_api::schema::ServerSent;
use bailiwick_types::{ErrorCode, shortened};
use serde::Deserialize;
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::Served;
use super::asker::Asker;
use super::input::Asked;
use super::problem::Refused;
use super::stream::watching;

/// What one can watch for.
const TYPES: &[&str] = &["approval", "tool", "key", "sandbox", "audit"];

pub(crate) fn routes() -> OpenApiRouter<Served> {
    OpenApiRouter::new().routes(routes!(events))
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct EventsQuery {
    /// Which events, by name and with commas between; all where nobody says. There are `approval`, `tool`, `key`,
    /// `sandbox` and `audit`.
    types: Option<String>,
}

/// What happens, as it happens
///
/// Server-sent events. `approval` goes to whoever has the scope `approve`; `key` and `audit` to whoever has `operate`;
/// `sandbox` to whoever made it, and to whoever has
/// `operate`; `tool` to everybody where the tool is or was published, and to whoever has `author` where it is a draft. What the
/// scopes do not cover is left out without a word. A reader who is too slow is told `missed`, with how many were left out.
/// Whose key is revoked or expires is told `error`, and the stream ends.
#[utoipa::path(get, path = "/events", tag = "events", operation_id = "watch", params(EventsQuery),
    responses((status = 200, content((ServerSent = "text/event-stream")))))]
async fn events(
    State(served): State<Served>,
    asker: Asker,
    Asked(query): Asked<EventsQuery>,
) -> Result<Response, Refused> {
    let types = query.types.as_deref().map(wanted).transpose()?;
    Ok(watching(&served, &asker, types))
}

fn wanted(types: &str) -> Result<Vec<String>, Refused> {
    let one = |name: &str| {
        let name = name.trim();
        if TYPES.contains(&name) {
            return Ok(name.to_owned());
        }
        let message = format!("`{}` is not an event to watch for", shortened(name));
        Err(Refused::new(
            ErrorCode::InvalidInput,
            message,
            "there are approval, tool, key, sandbox and audit",
        ))
    };
    types.split(',').map(one).collect()
}
