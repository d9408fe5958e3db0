//! `bailiwick sandbox diff`, `commit` and `discard`: changes under overlays, shown, taken and dropped.

use bailiwick_core::sandboxes::{Landed, ReviewWish, Shown};
use bailiwick_core::{Action, Reply};
use serde_json::json;

use super::super::exec::wish;
use super::at;
use crate::desk::ask;
use crate::failure::Failure;
use crate::render::{Screen, bad, good, plain, strong, to_stderr, warning};
use crate::resolved::Session;
use crate::typed::sandbox::{Review, Take};

fn wished(what: &Review) -> Result<ReviewWish, Failure> {
    let at = what.at.as_deref().map(wish::inside).transpose()?;
    Ok(ReviewWish { at, paths: what.paths.clone(), ..ReviewWish::default() })
}

/// `bailiwick sandbox diff`
pub(super) fn diff(screen: &mut Screen, session: &Session, what: &Review) -> Result<u8, Failure> {
    let action = Action::SandboxDiff { sandbox: what.sandbox.clone(), wish: wished(what)? };
    let shown = at(session, async |desk| match ask(desk, action).await? {
        Reply::Changes(shown) => Ok(*shown),
        _ => Err(Failure::StrangeReply("changes")),
    })?;
    if screen.wants_json() {
        screen.json(&json!(shown));
        return Ok(0);
    }
    let Shown { from, to, changes: _, patch, count, conflicts, sensitive } = &shown;
    for line in patch.lines() {
        let look = match line.as_bytes().first() {
            Some(b'+') => good,
            Some(b'-') => bad,
            Some(b'd') if line.starts_with("diff ") => strong,
            _ => plain,
        };
        screen.line(&[look(line)]);
    }
    to_stderr(&[plain(&format!("{count} changes of {} at {to}", from.display()))]);
    for line in sensitive {
        to_stderr(&[warning("look twice: "), plain(line)]);
    }
    for line in conflicts {
        to_stderr(&[bad("cannot be taken: "), plain(line)]);
    }
    Ok(0)
}

/// `bailiwick sandbox commit`
pub(super) fn commit(screen: &mut Screen, session: &Session, what: &Take) -> Result<u8, Failure> {
    let wish = ReviewWish { links_out: what.links_out, ..wished(&what.review)? };
    let action = Action::SandboxCommit { sandbox: what.review.sandbox.clone(), wish };
    landed(screen, session, action, "written to")
}

/// `bailiwick sandbox discard`
pub(super) fn discard(screen: &mut Screen, session: &Session, what: &Review) -> Result<u8, Failure> {
    let action = Action::SandboxDiscard { sandbox: what.sandbox.clone(), wish: wished(what)? };
    landed(screen, session, action, "dropped; as in")
}

fn landed(screen: &mut Screen, session: &Session, action: Action, word: &str) -> Result<u8, Failure> {
    let landed = at(session, async |desk| match ask(desk, action).await? {
        Reply::Landed(landed) => Ok(*landed),
        _ => Err(Failure::StrangeReply("what became of changes")),
    })?;
    if screen.wants_json() {
        screen.json(&json!(landed));
        return Ok(0);
    }
    let Landed { from, done, left } = &landed;
    for path in done {
        screen.line(&[plain(path)]);
    }
    to_stderr(&[plain(&format!("{} changes {word} {}", done.len(), from.display()))]);
    for line in left {
        to_stderr(&[warning("left alone: "), plain(line)]);
    }
    Ok(0)
}
