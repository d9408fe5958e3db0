//! `bailiwick sandbox …`: sandboxes that outlive a command. The process that owns the data folder keeps them; these
//! commands ask it.

mod copy;
mod expose;
pub(super) mod inside;
mod list;
mod review;

use std::sync::Arc;

use bailiwick_core::sandboxes::{SandboxView, SnapshotLine};
use bailiwick_core::{Action, Deaf, Reply};
use bailiwick_types::{format_size, shortened};
use serde_json::json;

use super::exec::{NO_CELLS, wish};
use crate::desk::{At, Person, ask, at_desk, caller};
use crate::failure::Failure;
use crate::render::table::{Cell, Table};
use crate::render::{Screen, faint, good, plain, strong, to_stderr, warning};
use crate::resolved::Session;
use crate::typed::sandbox::{Create, Fork, Rm, Sandbox, Snapshot};

/// `bailiwick sandbox …`
pub(crate) fn sandbox(screen: &mut Screen, session: &Session, what: &Sandbox) -> Result<u8, Failure> {
    match what {
        // These exit as the command does, so a failure of ours has a code of its own.
        Sandbox::Exec(what) => Ok(inside::exec(screen, session, what)),
        Sandbox::Shell(what) => Ok(inside::shell(screen, session, what)),
        Sandbox::Create(what) => create(screen, session, what),
        Sandbox::Ls => list::list(screen, session),
        Sandbox::Show(what) => list::show(screen, session, &what.sandbox),
        Sandbox::Cp(what) => copy::copy(screen, session, what),
        Sandbox::Snapshot(what) => snapshot(screen, session, what),
        Sandbox::Hibernate(what) => {
            let action = Action::SandboxHibernate { sandbox: what.sandbox.clone() };
            done(screen, session, action, &what.sandbox, "asleep")
        }
        Sandbox::Resume(what) => {
            let action = Action::SandboxResume { sandbox: what.sandbox.clone() };
            done(screen, session, action, &what.sandbox, "awake")
        }
        Sandbox::Stop(what) => {
            let action = Action::SandboxStop { sandbox: what.sandbox.clone() };
            done(screen, session, action, &what.sandbox, "stopped")
        }
        Sandbox::Fork(what) => fork(screen, session, what),
        Sandbox::Expose(what) => expose::expose(screen, session, what),
        Sandbox::Diff(what) => review::diff(screen, session, what),
        Sandbox::Commit(what) => review::commit(screen, session, what),
        Sandbox::Discard(what) => review::discard(screen, session, what),
        Sandbox::Rm(what) => remove(screen, session, what),
    }
}

/// Asks at the data folder, or at a server.
fn at<T>(session: &Session, job: impl AsyncFnOnce(&At) -> Result<T, Failure>) -> Result<T, Failure> {
    at_desk(session, &NO_CELLS, job)
}

fn create(screen: &mut Screen, session: &Session, what: &Create) -> Result<u8, Failure> {
    let wish = wish::of_create(session, what)?;
    let made = at(session, async |desk| one(asked(desk, Action::SandboxCreate(Box::new(wish))).await?))?;
    made_one(screen, &made);
    Ok(0)
}

fn fork(screen: &mut Screen, session: &Session, what: &Fork) -> Result<u8, Failure> {
    let Fork { sandbox, name } = what;
    let made = at(session, async |desk| {
        let action = Action::SandboxFork { sandbox: sandbox.clone(), name: name.clone() };
        one(asked(desk, action).await?)
    })?;
    made_one(screen, &made);
    Ok(0)
}

/// Asks for something as the person at this machine.
async fn asked(desk: &At, action: Action) -> Result<Reply, Failure> {
    Ok(desk.perform(caller(Person::Nobody, Arc::new(Deaf)), action).await?)
}

fn one(reply: Reply) -> Result<SandboxView, Failure> {
    match reply {
        Reply::Sandbox(view) => Ok(*view),
        _ => Err(Failure::StrangeReply("a sandbox")),
    }
}

/// Tells of a sandbox that was made: its id alone on stdout, so that a script can take it.
fn made_one(screen: &mut Screen, made: &SandboxView) {
    if screen.wants_json() {
        return screen.json(&json!(made));
    }
    for line in made.warnings.iter().filter(|_| !screen.is_quiet()) {
        to_stderr(&[warning("warning: "), plain(line)]);
    }
    screen.line(&[plain(&made.line.id.to_string())]);
}

fn done(
    screen: &mut Screen,
    session: &Session,
    action: Action,
    sandbox: &str,
    now: &str,
) -> Result<u8, Failure> {
    at(session, async |desk| match ask(desk, action).await? {
        Reply::Done => Ok(()),
        _ => Err(Failure::StrangeReply("done")),
    })?;
    told(screen, sandbox, now);
    Ok(0)
}

fn told(screen: &mut Screen, sandbox: &str, now: &str) {
    if screen.wants_json() {
        screen.json(&json!({"sandbox": sandbox, "state": now}));
    } else {
        screen.line(&[plain(&shortened(sandbox)), plain(" "), good(now)]);
    }
}

fn remove(screen: &mut Screen, session: &Session, Rm { sandboxes }: &Rm) -> Result<u8, Failure> {
    at(session, async |desk| {
        for sandbox in sandboxes {
            match ask(desk, Action::SandboxRemove { sandbox: sandbox.clone() }).await? {
                Reply::Done => {}
                _ => return Err(Failure::StrangeReply("done")),
            }
            if !screen.wants_json() {
                told(screen, sandbox, "removed");
            }
        }
        Ok(())
    })?;
    if screen.wants_json() {
        screen.json(&json!({"removed": sandboxes}));
    }
    Ok(0)
}

fn snapshot(screen: &mut Screen, session: &Session, what: &Snapshot) -> Result<u8, Failure> {
    let action = match (&what.sandbox, &what.forget) {
        (_, Some(snapshot)) => Action::SnapshotForget { snapshot: snapshot.clone() },
        (Some(sandbox), None) => Action::SandboxSnapshot { sandbox: sandbox.clone() },
        (None, None) => Action::SnapshotList,
    };
    match at(session, async |desk| asked(desk, action).await)? {
        Reply::Done => told(screen, what.forget.as_deref().unwrap_or_default(), "forgotten"),
        Reply::Snapshots(lines) if what.list && !screen.wants_json() => snapshots(screen, &lines),
        Reply::Snapshots(lines) if what.list => screen.json(&json!({"snapshots": lines})),
        Reply::Snapshots(lines) => {
            for line in &lines {
                if screen.wants_json() {
                    screen.json(&json!(line));
                } else {
                    screen.line(&[plain(&line.snapshot.id.to_string())]);
                }
            }
        }
        _ => return Err(Failure::StrangeReply("snapshots")),
    }
    Ok(0)
}

fn snapshots(screen: &mut Screen, lines: &[SnapshotLine]) {
    if lines.is_empty() {
        return screen.line(&[plain("there are no snapshots")]);
    }
    let mut table = Table::new(&["ID", "BACKEND", "SIZE", "TAKEN", "OF"]);
    for SnapshotLine { snapshot, of, created_at } in lines {
        table.row(vec![
            Cell::new(snapshot.id.to_string(), strong),
            Cell::new(&snapshot.backend, plain),
            Cell::new(format_size(snapshot.bytes), plain),
            Cell::new(created_at, plain),
            Cell::new(of.to_string(), faint),
        ]);
    }
    table.show(screen);
}
