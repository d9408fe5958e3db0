//! Sandboxes and commands at a server: what each action is as a request, lists by their pages, and what a command is told.
//!
//! A command gets all of its input with the request, so that is read to its end first. A terminal is not asked for here.

use bailiwick_api as api;
use bailiwick_core::sandboxes::{
    CommandWish, ExecWish, FileWish, GivenInput, InputBytes, ReviewWish, SandboxPath, SandboxWish, Target,
};
use bailiwick_core::{Action, Caller, Input, Refusal, Reply};
use bailiwick_types::ErrorCode;
use hyper::Method;

use crate::ask::{Accept, Ask, Expected, not_offered, segment};
use crate::remote::Remote;

/// The most bytes of a command's input.
const MOST_INPUT: usize = 4 << 20;
/// The most pages of one list: more than any server has.
const MOST_PAGES: usize = 1000;

/// The request for an action on sandboxes that is one request.
pub(crate) fn of(action: Action) -> Result<(Ask, Expected), Refusal> {
    let at = |sandbox: &str, what: &str| format!("/v1/sandboxes/{}{what}", segment(sandbox));
    let post = |path: &str| Ask::empty(Method::POST, path);
    Ok(match action {
        Action::SandboxCreate(wish) => {
            can_cross(&wish)?;
            (Ask::post("/v1/sandboxes", &api::SandboxWish::from(*wish))?, Expected::Sandbox)
        }
        Action::SandboxShow { sandbox } => (Ask::get(&at(&sandbox, "")), Expected::Sandbox),
        Action::SandboxRemove { sandbox } => {
            (Ask::empty(Method::DELETE, &at(&sandbox, "")), Expected::Nothing)
        }
        Action::SandboxSnapshot { sandbox } => (post(&at(&sandbox, "/snapshot")), Expected::Snapshot),
        Action::SandboxHibernate { sandbox } => (post(&at(&sandbox, "/hibernate")), Expected::Nothing),
        Action::SandboxResume { sandbox } => (post(&at(&sandbox, "/resume")), Expected::Nothing),
        Action::SandboxStop { sandbox } => (post(&at(&sandbox, "/stop")), Expected::Nothing),
        Action::SandboxFork { sandbox, name } => {
            (Ask::post(&at(&sandbox, "/fork"), &api::Fork { name })?, Expected::Sandbox)
        }
        Action::SnapshotForget { snapshot } => {
            let path = format!("/v1/snapshots/{}", segment(&snapshot));
            (Ask::empty(Method::DELETE, &path), Expected::Nothing)
        }
        Action::SandboxFiles { sandbox, wish } => files(&at(&sandbox, "/files"), wish),
        Action::SandboxExec(wish) => exec(*wish)?,
        Action::SandboxDiff { sandbox, wish } => (diff(&at(&sandbox, "/diff"), &wish), Expected::Changes),
        Action::SandboxCommit { sandbox, wish } => {
            (Ask::post(&at(&sandbox, "/commit"), &api::Commit::from(wish))?, Expected::Landed)
        }
        Action::SandboxDiscard { sandbox, wish } => {
            (Ask::post(&at(&sandbox, "/discard"), &api::Discard::from(wish))?, Expected::Landed)
        }
        Action::SandboxExpose { sandbox, port } => {
            (Ask::post(&at(&sandbox, "/ports"), &api::Expose { port })?, Expected::Exposed)
        }
        Action::SandboxPorts { sandbox } => (Ask::get(&at(&sandbox, "/ports")), Expected::Ports),
        other => return Err(not_offered(other.name())),
    })
}

/// Refuses what is not asked for over a wire, and would be left out there.
fn can_cross(wish: &SandboxWish) -> Result<(), Refusal> {
    let local = [("a secret", !wish.secrets.is_empty()), ("taking changes at once", wish.commit)];
    if let Some((what, _)) = local.iter().find(|(_, is_asked)| *is_asked) {
        return Err(Refusal::new(ErrorCode::Unsupported, format!("{what} is not asked for over a wire"))
            .with_hint("run it on the server's own machine, at its data folder"));
    }
    Ok(())
}

fn diff(at: &str, wish: &ReviewWish) -> Ask {
    // Links are for what is taken.
    let ReviewWish { at: overlay, paths, links_out: _, patch_bytes } = wish;
    let most = patch_bytes.map(|most| most.to_string());
    let mut query = vec![("at", overlay.as_ref().map(SandboxPath::as_str)), ("patchBytes", most.as_deref())];
    query.extend(paths.iter().map(|path| ("path", Some(path.as_str()))));
    Ask::page(at, &query)
}

fn files(at: &str, wish: FileWish) -> (Ask, Expected) {
    match wish {
        FileWish::Read { path } => {
            let ask = Ask::page(at, &[("path", Some(path.as_str()))]);
            (Ask { accept: Accept::Bytes, ..ask }, Expected::FileBytes)
        }
        FileWish::List { path } => {
            (Ask::page(at, &[("path", Some(path.as_str())), ("list", Some("true"))]), Expected::FileEntries)
        }
        FileWish::Write { path, bytes, executable } => {
            let executable = executable.then_some("true");
            let ask = Ask::page(at, &[("path", Some(path.as_str())), ("executable", executable)]);
            let body = bytes.into_bytes().to_vec();
            let content = Some("application/octet-stream");
            (Ask { method: Method::PUT, content, body, ..ask }, Expected::Nothing)
        }
        FileWish::Remove { path } => {
            let ask = Ask::page(at, &[("path", Some(path.as_str()))]);
            (Ask { method: Method::DELETE, ..ask }, Expected::Nothing)
        }
    }
}

fn exec(wish: ExecWish) -> Result<(Ask, Expected), Refusal> {
    let ExecWish { target, command, correlation } = wish;
    if command.terminal.is_some() {
        let message = "a terminal at a server over HTTP is a WebSocket, which this program does not speak";
        return Err(Refusal::new(ErrorCode::Unsupported, message)
            .with_hint("leave out --tty, or work on the server's own machine with its data folder"));
    }
    let keeps = command.keep_output;
    let ask = match target {
        Target::Fresh(wish) => {
            can_cross(&wish)?;
            Ask::post("/v1/exec", &api::ExecFresh::of(*wish, command, correlation))?
        }
        Target::Kept(sandbox) => {
            let path = format!("/v1/sandboxes/{}/exec", segment(&sandbox));
            Ask::post(&path, &api::Exec::of(command, correlation))?
        }
    };
    Ok((if keeps { ask } else { ask.streamed() }, Expected::Executed))
}

/// The same command with all of its input, where that was still to come.
pub(crate) async fn whole(caller: &Caller, mut wish: ExecWish) -> Result<ExecWish, Refusal> {
    let CommandWish { input, terminal, .. } = &mut wish.command;
    if terminal.is_some() || *input != GivenInput::Comes {
        return Ok(wish);
    }
    let mut all: Vec<u8> = Vec::new();
    while let Some(Input::Bytes(bytes)) = caller.talk.input().await {
        if all.len() + bytes.len() > MOST_INPUT {
            let message = format!("a command at a server takes at most {MOST_INPUT} bytes of input");
            return Err(Refusal::new(ErrorCode::InvalidInput, message)
                .with_hint("copy it into the sandbox as a file: bailiwick sandbox cp FILE ID:/work/"));
        }
        all.extend_from_slice(&bytes);
    }
    *input = GivenInput::Bytes(InputBytes::new(all));
    Ok(wish)
}

/// All sandboxes, page by page.
pub(crate) async fn list(remote: &Remote) -> Result<Reply, Refusal> {
    let mut all = Vec::new();
    let mut after: Option<String> = None;
    for _ in 0..MOST_PAGES {
        let body = remote.body(Ask::page("/v1/sandboxes", &[("after", after.as_deref())])).await?;
        let page: api::SandboxPage = match serde_json::from_slice(&body) {
            Ok(page) => page,
            Err(error) => return Err(remote.strange(&error.to_string()).await),
        };
        all.extend(page.sandboxes.into_iter().map(Into::into));
        after = page.next;
        if after.is_none() {
            return Ok(Reply::Sandboxes(all));
        }
    }
    Err(remote.strange("its list of sandboxes does not end").await)
}

/// All snapshots, page by page.
pub(crate) async fn snapshots(remote: &Remote) -> Result<Reply, Refusal> {
    let mut all = Vec::new();
    let mut after: Option<String> = None;
    for _ in 0..MOST_PAGES {
        let body = remote.body(Ask::page("/v1/snapshots", &[("after", after.as_deref())])).await?;
        let page: api::SnapshotPage = match serde_json::from_slice(&body) {
            Ok(page) => page,
            Err(error) => return Err(remote.strange(&error.to_string()).await),
        };
        all.extend(page.snapshots.into_iter().map(Into::into));
        after = page.next;
        if after.is_none() {
            return Ok(Reply::Snapshots(all));
        }
    }
    Err(remote.strange("its list of snapshots does not end").await)
}
