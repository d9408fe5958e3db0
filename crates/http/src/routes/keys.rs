//! Keys, and the names of secrets.

use axum::Json as Out;
use axum::extract::State;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use bailiwick_api::{KeyMade, KeyWish, Keys, Secrets};
use bailiwick_core::Action;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::Served;
use super::asker::{Asker, held};
use super::idempotency::ToldOnce;
use super::input::{At, Json};
use super::problem::Refused;

pub(crate) fn routes() -> OpenApiRouter<Served> {
    OpenApiRouter::new().routes(routes!(list, create)).routes(routes!(revoke)).routes(routes!(secrets))
}

/// The keys, without what opens anything
#[utoipa::path(get, path = "/keys", tag = "keys", operation_id = "listKeys",
    responses((status = 200, body = Keys)))]
async fn list(State(served): State<Served>, asker: Asker) -> Result<Out<Keys>, Refused> {
    let keys = held!(served.perform(&asker, Action::KeyList).await?, Keys);
    Ok(Out(Keys { keys: keys.into_iter().map(Into::into).collect() }))
}

/// Makes a key
///
/// The key itself is told this once, and never again.
#[utoipa::path(post, path = "/keys", tag = "keys", operation_id = "createKey",
    request_body = KeyWish, responses((status = 201, body = KeyMade)))]
async fn create(
    State(served): State<Served>,
    asker: Asker,
    Json(wish): Json<KeyWish>,
) -> Result<Response, Refused> {
    let made = *held!(served.perform(&asker, Action::KeyCreate(wish.into())).await?, KeyMade);
    let once = ToldOnce(format!("the key {} was made by this request before, and told then", made.line.id));
    let mut response = (StatusCode::CREATED, Out(KeyMade::from(made))).into_response();
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response.extensions_mut().insert(once);
    Ok(response)
}

/// Makes a key worthless
#[utoipa::path(delete, path = "/keys/{key}", tag = "keys", operation_id = "revokeKey",
    params(("key" = String, Path, description = "Its id or name")),
    responses((status = 204, description = "It is worthless")))]
async fn revoke(
    State(served): State<Served>,
    asker: Asker,
    At(key): At<String>,
) -> Result<StatusCode, Refused> {
    served.perform(&asker, Action::KeyRevoke { key }).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// The names of the secrets that are set
#[utoipa::path(get, path = "/secrets", tag = "secrets", operation_id = "listSecrets",
    responses((status = 200, body = Secrets)))]
async fn secrets(State(served): State<Served>, asker: Asker) -> Result<Out<Secrets>, Refused> {
    let secrets = held!(served.perform(&asker, Action::SecretList).await?, Secrets);
    Ok(Out(Secrets { secrets: secrets.into_iter().map(Into::into).collect() }))
}
