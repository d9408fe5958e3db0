//! What a sandbox changed of folders under its overlays: shown, taken, dropped. Whose word lets it land is not decided here.

use axum::Json as Out;
use axum::extract::State;
use bailiwick_api::{Commit, Discard, Landed, Shown};
use bailiwick_core::Action;
use bailiwick_core::sandboxes::{ReviewWish, SandboxPath};
use bailiwick_types::{ErrorCode, shortened};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::Served;
use super::asker::{Asker, held};
use super::input::{Asked, At, Maybe};
use super::problem::Refused;

pub(crate) fn routes() -> OpenApiRouter<Served> {
    OpenApiRouter::new().routes(routes!(diff)).routes(routes!(commit)).routes(routes!(discard))
}

/// Which changes are asked for. A path may be named more than once, so the query is read pair by pair.
fn asked(pairs: Vec<(String, String)>) -> Result<ReviewWish, Refused> {
    let wrong = |name: &str, why: &str, hint: &str| {
        Refused::new(ErrorCode::InvalidInput, format!("`{}`: {why}", shortened(name)), hint)
    };
    let mut wish = ReviewWish::default();
    for (name, value) in pairs {
        let is_twice = match name.as_str() {
            "path" => {
                wish.paths.push(value);
                false
            }
            "at" => {
                let at = SandboxPath::new(&value)
                    .map_err(|error| wrong(&name, &error.to_string(), "write it from the root: /work"))?;
                wish.at.replace(at).is_some()
            }
            "patchBytes" => {
                let most =
                    value.parse().map_err(|_| wrong(&name, "it is no number", "write it in digits"))?;
                wish.patch_bytes.replace(most).is_some()
            }
            _ => {
                let hint = "GET /v1/openapi.json tells which there are";
                return Err(wrong(&name, "there is no such parameter", hint));
            }
        };
        if is_twice {
            return Err(wrong(&name, "it is there twice", "say it once"));
        }
    }
    Ok(wish)
}

/// What a sandbox changed of a folder under an overlay
///
/// Nothing of it is in the folder. What is shown here is what a commit with the same key takes.
#[utoipa::path(get, path = "/sandboxes/{sandbox}/diff", tag = "sandboxes", operation_id = "diffSandbox",
    params(
        ("sandbox" = String, Path, description = "Its id, the beginning of it, or its name"),
        ("path" = Option<Vec<String>>, Query,
            description = "A path below the folder, with all that is in it; may be there more than once, and all without"),
        ("at" = Option<String>, Query, description = "The overlay, by its place inside, where there are several"),
        ("patchBytes" = Option<u64>, Query,
            description = "The most bytes of the patch's lines, where that is less than 2 MiB; every change is listed all the same"),
    ),
    responses((status = 200, body = Shown)))]
async fn diff(
    State(served): State<Served>,
    asker: Asker,
    At(sandbox): At<String>,
    Asked(pairs): Asked<Vec<(String, String)>>,
) -> Result<Out<Shown>, Refused> {
    let action = Action::SandboxDiff { sandbox, wish: asked(pairs)? };
    let shown = held!(served.perform(&asker, action).await?, Changes);
    Ok(Out((*shown).into()))
}

/// Writes such changes to the folder of the server's machine, all that were named or none
///
/// Needs the scope `approve` or `operate`. Only what was shown to the same key is taken. What somebody changed in the folder
/// meanwhile is a 409 with each conflict among its `faults`, and nothing is written then.
#[utoipa::path(post, path = "/sandboxes/{sandbox}/commit", tag = "sandboxes", operation_id = "commitSandbox",
    params(("sandbox" = String, Path, description = "Its id, the beginning of it, or its name")),
    request_body = Option<Commit>, responses((status = 200, body = Landed)))]
async fn commit(
    State(served): State<Served>,
    asker: Asker,
    At(sandbox): At<String>,
    Maybe(which): Maybe<Commit>,
) -> Result<Out<Landed>, Refused> {
    let action = Action::SandboxCommit { sandbox, wish: which.into() };
    let landed = held!(served.perform(&asker, action).await?, Landed);
    Ok(Out((*landed).into()))
}

/// Drops such changes: the sandbox sees again what the folder has
#[utoipa::path(post, path = "/sandboxes/{sandbox}/discard", tag = "sandboxes", operation_id = "discardSandbox",
    params(("sandbox" = String, Path, description = "Its id, the beginning of it, or its name")),
    request_body = Option<Discard>, responses((status = 200, body = Landed)))]
async fn discard(
    State(served): State<Served>,
    asker: Asker,
    At(sandbox): At<String>,
    Maybe(which): Maybe<Discard>,
) -> Result<Out<Landed>, Refused> {
    let action = Action::SandboxDiscard { sandbox, wish: which.into() };
    let landed = held!(served.perform(&asker, action).await?, Landed);
    Ok(Out((*landed).into()))
}
