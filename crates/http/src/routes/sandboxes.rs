//! Sandboxes that are kept: made, listed, shown, put to sleep, doubled, ended; and the snapshots that were taken of them.

use axum::Json as Out;
use axum::extract::State;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use bailiwick_api::{Fork, SandboxPage, SandboxView, SandboxWish, SnapshotLine, SnapshotPage};
use bailiwick_core::Action;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::Served;
use super::asker::{Asker, held};
use super::input::{Asked, At, Json, Maybe};
use super::page::{Page, cursor, cut, limit, place};
use super::problem::Refused;

pub(crate) fn routes() -> OpenApiRouter<Served> {
    OpenApiRouter::new()
        .routes(routes!(list, create))
        .routes(routes!(show, remove))
        .routes(routes!(snapshot))
        .routes(routes!(hibernate))
        .routes(routes!(resume))
        .routes(routes!(stop))
        .routes(routes!(fork))
        .routes(routes!(snapshots))
        .routes(routes!(forget))
}

/// A page of a list that comes whole: what stands behind the cursor, and no more than was asked for.
struct Cut {
    after: Option<String>,
    limit: u32,
}

impl Cut {
    fn of(page: &Page) -> Result<Self, Refused> {
        let after = page.after.as_deref().map(place).transpose()?;
        Ok(Self { after, limit: limit(page.limit)? })
    }

    /// The page, and the cursor of the next; `at` is the place of one in the order of the list.
    fn out_of<T>(&self, all: Vec<T>, at: impl Fn(&T) -> String) -> (Vec<T>, Option<String>) {
        let is_behind = |one: &T| self.after.as_ref().is_none_or(|after| at(one) > *after);
        let mut all: Vec<T> = all.into_iter().filter(is_behind).collect();
        let more = cut(&mut all, self.limit).is_some();
        let next = all.last().filter(|_| more).map(|last| cursor(&at(last)));
        (all, next)
    }
}

/// A sandbox that was made, and where it is.
fn made(view: bailiwick_core::sandboxes::SandboxView) -> Response {
    let at = HeaderValue::from_str(&format!("/v1/sandboxes/{}", view.line.id));
    let mut response = (StatusCode::CREATED, Out(SandboxView::from(view))).into_response();
    if let Ok(at) = at {
        response.headers_mut().insert(header::LOCATION, at);
    }
    response
}

/// Sandboxes, the oldest first
///
/// Whoever is not the operator is shown their own.
#[utoipa::path(get, path = "/sandboxes", tag = "sandboxes", operation_id = "listSandboxes", params(Page),
    responses((status = 200, body = SandboxPage)))]
async fn list(
    State(served): State<Served>,
    asker: Asker,
    Asked(page): Asked<Page>,
) -> Result<Out<SandboxPage>, Refused> {
    let page = Cut::of(&page)?;
    let lines = held!(served.perform(&asker, Action::SandboxList).await?, Sandboxes);
    // By its time first, since that is the order; the id tells those of one moment apart.
    let (lines, next) = page.out_of(lines, |line| format!("{} {}", line.created_at, line.id));
    Ok(Out(SandboxPage { sandboxes: lines.into_iter().map(Into::into).collect(), next }))
}

/// Makes a sandbox that stays until its time is over or somebody removes it
///
/// Needs the scope `author`. Every mount has to lie under a folder that the operator listed.
#[utoipa::path(post, path = "/sandboxes", tag = "sandboxes", operation_id = "createSandbox",
    request_body = SandboxWish, responses((status = 201, body = SandboxView)))]
async fn create(
    State(served): State<Served>,
    asker: Asker,
    Json(mut wish): Json<SandboxWish>,
) -> Result<Response, Refused> {
    wish.correlation_id.get_or_insert_with(|| asker.correlation.clone());
    let action = Action::SandboxCreate(Box::new(wish.into()));
    Ok(made(*held!(served.perform(&asker, action).await?, Sandbox)))
}

/// One sandbox in full
#[utoipa::path(get, path = "/sandboxes/{sandbox}", tag = "sandboxes", operation_id = "showSandbox",
    params(("sandbox" = String, Path, description = "Its id, the beginning of it, or its name")),
    responses((status = 200, body = SandboxView)))]
async fn show(
    State(served): State<Served>,
    asker: Asker,
    At(sandbox): At<String>,
) -> Result<Out<SandboxView>, Refused> {
    let view = held!(served.perform(&asker, Action::SandboxShow { sandbox }).await?, Sandbox);
    Ok(Out((*view).into()))
}

/// Ends a sandbox and removes everything of it
#[utoipa::path(delete, path = "/sandboxes/{sandbox}", tag = "sandboxes", operation_id = "removeSandbox",
    params(("sandbox" = String, Path, description = "Its id, the beginning of it, or its name")),
    responses((status = 204, description = "Nothing of it is left")))]
async fn remove(
    State(served): State<Served>,
    asker: Asker,
    At(sandbox): At<String>,
) -> Result<StatusCode, Refused> {
    served.perform(&asker, Action::SandboxRemove { sandbox }).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Keeps the state of a sandbox's files, from which others can begin
#[utoipa::path(post, path = "/sandboxes/{sandbox}/snapshot", tag = "sandboxes", operation_id = "snapshotSandbox",
    params(("sandbox" = String, Path, description = "Its id, the beginning of it, or its name")),
    responses((status = 201, body = SnapshotLine)))]
async fn snapshot(
    State(served): State<Served>,
    asker: Asker,
    At(sandbox): At<String>,
) -> Result<(StatusCode, Out<SnapshotLine>), Refused> {
    let mut lines = held!(served.perform(&asker, Action::SandboxSnapshot { sandbox }).await?, Snapshots);
    let line = lines.pop().ok_or_else(Refused::unexpected)?;
    Ok((StatusCode::CREATED, Out(line.into())))
}

/// Puts a sandbox to sleep: nothing in it runs until it is used again
#[utoipa::path(post, path = "/sandboxes/{sandbox}/hibernate", tag = "sandboxes",
    operation_id = "hibernateSandbox",
    params(("sandbox" = String, Path, description = "Its id, the beginning of it, or its name")),
    responses((status = 204, description = "It sleeps")))]
async fn hibernate(
    State(served): State<Served>,
    asker: Asker,
    At(sandbox): At<String>,
) -> Result<StatusCode, Refused> {
    served.perform(&asker, Action::SandboxHibernate { sandbox }).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Wakes a sandbox
#[utoipa::path(post, path = "/sandboxes/{sandbox}/resume", tag = "sandboxes", operation_id = "resumeSandbox",
    params(("sandbox" = String, Path, description = "Its id, the beginning of it, or its name")),
    responses((status = 204, description = "It is awake")))]
async fn resume(
    State(served): State<Served>,
    asker: Asker,
    At(sandbox): At<String>,
) -> Result<StatusCode, Refused> {
    served.perform(&asker, Action::SandboxResume { sandbox }).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Ends what runs in a sandbox: politely, and after a while by force
///
/// Its files are kept.
#[utoipa::path(post, path = "/sandboxes/{sandbox}/stop", tag = "sandboxes", operation_id = "stopSandbox",
    params(("sandbox" = String, Path, description = "Its id, the beginning of it, or its name")),
    responses((status = 204, description = "Nothing runs in it")))]
async fn stop(
    State(served): State<Served>,
    asker: Asker,
    At(sandbox): At<String>,
) -> Result<StatusCode, Refused> {
    served.perform(&asker, Action::SandboxStop { sandbox }).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Makes another sandbox of the same kind that begins with the state of this one's files
#[utoipa::path(post, path = "/sandboxes/{sandbox}/fork", tag = "sandboxes", operation_id = "forkSandbox",
    params(("sandbox" = String, Path, description = "Its id, the beginning of it, or its name")),
    request_body = Option<Fork>, responses((status = 201, body = SandboxView)))]
async fn fork(
    State(served): State<Served>,
    asker: Asker,
    At(sandbox): At<String>,
    Maybe(Fork { name }): Maybe<Fork>,
) -> Result<Response, Refused> {
    let action = Action::SandboxFork { sandbox, name };
    Ok(made(*held!(served.perform(&asker, action).await?, Sandbox)))
}

/// Snapshots, by id
///
/// Whoever is not the operator is shown their own.
#[utoipa::path(get, path = "/snapshots", tag = "sandboxes", operation_id = "listSnapshots", params(Page),
    responses((status = 200, body = SnapshotPage)))]
async fn snapshots(
    State(served): State<Served>,
    asker: Asker,
    Asked(page): Asked<Page>,
) -> Result<Out<SnapshotPage>, Refused> {
    let page = Cut::of(&page)?;
    let lines = held!(served.perform(&asker, Action::SnapshotList).await?, Snapshots);
    let (lines, next) = page.out_of(lines, |line| line.snapshot.id.to_string());
    Ok(Out(SnapshotPage { snapshots: lines.into_iter().map(Into::into).collect(), next }))
}

/// Forgets a snapshot
#[utoipa::path(delete, path = "/snapshots/{snapshot}", tag = "sandboxes", operation_id = "forgetSnapshot",
    params(("snapshot" = String, Path, description = "Its id, or the beginning of it")),
    responses((status = 204, description = "It is gone")))]
async fn forget(
    State(served): State<Served>,
    asker: Asker,
    At(snapshot): At<String>,
) -> Result<StatusCode, Refused> {
    served.perform(&asker, Action::SnapshotForget { snapshot }).await?;
    Ok(StatusCode::NO_CONTENT)
}
