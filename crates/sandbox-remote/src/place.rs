//! A sandbox at a server: made there under our id, ended when nobody here has it any more.
//!
//! What was asked for and not answered is ended by its name; where the server cannot be reached for that, its time to live
//! ends it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use bailiwick_core::sandboxes::SandboxView;
use bailiwick_core::{Action, Refusal, Reply};
use bailiwick_sandbox::{SandboxError, SandboxSpec};
use bailiwick_types::{ErrorCode, SandboxId};
use tokio_util::task::TaskTracker;

use crate::backend::Inner;
use crate::door::Door;
use crate::fault::{fault, strange};
use crate::look::Seen;
use crate::made::{Made, believed};
use crate::wish::wish;

/// How long a sandbox may take to be made.
const MADE: Duration = Duration::from_secs(90);
/// How long one may take to end.
const ENDED: Duration = Duration::from_secs(15);

/// A sandbox at a server.
#[derive(Debug)]
pub(crate) struct Place {
    pub(crate) id: SandboxId,
    /// What the server calls it.
    pub(crate) there: String,
    /// The backend that the server used for it.
    pub(crate) backend: String,
    pub(crate) spec: SandboxSpec,
    pub(crate) made: Made,
    pub(crate) door: Arc<Door>,
    pub(crate) inner: Arc<Inner>,
    /// Where what goes on without anybody is counted.
    pub(crate) going_on: TaskTracker,
    seen: Seen,
    alive: AtomicBool,
    runtime: tokio::runtime::Handle,
}

/// Makes a sandbox, or leaves nothing behind.
pub(crate) async fn make(
    inner: &Arc<Inner>,
    going_on: &TaskTracker,
    seen: &Seen,
    spec: SandboxSpec,
) -> Result<Arc<Place>, SandboxError> {
    let id = fresh_id()?;
    let wish = wish(&spec, id, seen.backend.as_deref());
    taken(inner, going_on, seen, spec, id, Action::SandboxCreate(Box::new(wish))).await
}

/// Has a sandbox made by an action, under this id, and looks at it.
async fn taken(
    inner: &Arc<Inner>,
    going_on: &TaskTracker,
    seen: &Seen,
    spec: SandboxSpec,
    id: SandboxId,
    action: Action,
) -> Result<Arc<Place>, SandboxError> {
    let door = &seen.door;
    let asked = Asked { going_on, door, id, is_settled: false };
    let view = match door.ask(action, MADE).await {
        Ok(Reply::Sandbox(view)) => view,
        Ok(_) => return Err(strange(door, "a sandbox was asked for")),
        Err(refusal) => {
            asked.refused(&refusal);
            return Err(fault(door, &refusal));
        }
    };
    let made = believed(door, &spec, &view, seen.tier, &inner.options.accept)?;
    asked.settled();
    let SandboxView { line, .. } = *view;
    let place = Arc::new(Place {
        id,
        there: line.id.to_string(),
        backend: door.told(&line.backend),
        spec,
        made,
        door: door.clone(),
        inner: inner.clone(),
        going_on: going_on.clone(),
        seen: seen.clone(),
        alive: AtomicBool::new(true),
        runtime: tokio::runtime::Handle::current(),
    });
    let mut standing = inner.standing.lock().unwrap_or_else(PoisonError::into_inner);
    standing.insert(id, Arc::downgrade(&place));
    Ok(place)
}

fn fresh_id() -> Result<SandboxId, SandboxError> {
    let mut random = [0; 10];
    bailiwick_sys::clock::random(&mut random)
        .map_err(|errno| SandboxError::Failed { step: "make an id".to_owned(), reason: errno.to_string() })?;
    let now = u64::try_from(bailiwick_sys::clock::realtime().as_millis()).unwrap_or_default();
    Ok(SandboxId::from_parts(now, &random))
}

/// Something that was asked for. Until it is settled the server may have it, and it is ended there.
struct Asked<'a> {
    going_on: &'a TaskTracker,
    door: &'a Arc<Door>,
    id: SandboxId,
    is_settled: bool,
}

impl Asked<'_> {
    fn settled(mut self) {
        self.is_settled = true;
    }

    /// What a server refuses it has not made; where it only fell silent, nobody knows.
    fn refused(mut self, refusal: &Refusal) {
        use ErrorCode::{Cancelled, Internal, Timeout, Unavailable};
        self.is_settled = !matches!(refusal.code, Cancelled | Internal | Timeout | Unavailable);
    }
}

impl Drop for Asked<'_> {
    fn drop(&mut self) {
        if !self.is_settled
            && let Ok(runtime) = tokio::runtime::Handle::try_current()
        {
            let (door, name) = (self.door.clone(), self.id.to_string());
            self.going_on.spawn_on(ended(door, name), &runtime);
        }
    }
}

/// Ends a sandbox. One that is not there has ended.
async fn ended(door: Arc<Door>, sandbox: String) -> Result<(), SandboxError> {
    match door.ask(Action::SandboxRemove { sandbox: sandbox.clone() }, ENDED).await {
        Ok(_) => Ok(()),
        Err(refusal) if refusal.code == ErrorCode::NotFound => Ok(()),
        Err(refusal) => {
            let error = fault(&door, &refusal);
            tracing::warn!(%sandbox, %error, "a sandbox at a server could not be ended; its time to live ends it");
            Err(error)
        }
    }
}

impl Place {
    pub(crate) fn is_alive(&self) -> bool {
        self.alive.load(Ordering::SeqCst)
    }

    /// Refuses where it was ended.
    pub(crate) fn stands(&self) -> Result<(), SandboxError> {
        if self.is_alive() { Ok(()) } else { Err(self.gone("it was ended")) }
    }

    pub(crate) fn gone(&self, why: &str) -> SandboxError {
        SandboxError::Gone { id: self.id, why: why.to_owned() }
    }

    /// Asks for something to be done with it.
    pub(crate) async fn ask(&self, action: Action, within: Duration) -> Result<Reply, SandboxError> {
        self.stands()?;
        match self.door.ask(action, within).await {
            Ok(reply) => Ok(reply),
            Err(refusal) => Err(self.fault(refusal).await),
        }
    }

    /// The error of a refusal: where something is not found, it may be the sandbox itself.
    pub(crate) async fn fault(&self, refusal: Refusal) -> SandboxError {
        if refusal.code == ErrorCode::NotFound {
            let shown = self.door.ask(Action::SandboxShow { sandbox: self.there.clone() }, ENDED).await;
            if shown.is_err_and(|error| error.code == ErrorCode::NotFound) {
                self.alive.store(false, Ordering::SeqCst);
                return self.gone(&format!("{} does not have it any more", self.door.address()));
            }
        }
        fault(&self.door, &refusal)
    }

    /// Another one that begins with the state of this one's files.
    pub(crate) async fn fork(&self) -> Result<Arc<Self>, SandboxError> {
        self.stands()?;
        let id = fresh_id()?;
        let action = Action::SandboxFork { sandbox: self.there.clone(), name: Some(id.to_string()) };
        taken(&self.inner, &self.going_on, &self.seen, self.spec.clone(), id, action).await
    }

    /// Ends it and waits for that.
    pub(crate) async fn end(&self) -> Result<(), SandboxError> {
        if !self.alive.swap(false, Ordering::SeqCst) {
            return Ok(());
        }
        self.unlisted();
        // It goes on where nobody waits for it any more.
        let ending = self.going_on.spawn(ended(self.door.clone(), self.there.clone()));
        ending.await.unwrap_or_else(|_| {
            let step = "end a sandbox at a server".to_owned();
            Err(SandboxError::Failed { step, reason: "it failed by a mistake of ours".to_owned() })
        })
    }

    /// Ends it in the background, and with it whatever runs there.
    pub(crate) fn ends_without_anybody(&self) {
        self.unlisted();
        if self.alive.swap(false, Ordering::SeqCst) {
            self.going_on.spawn_on(ended(self.door.clone(), self.there.clone()), &self.runtime);
        }
    }

    fn unlisted(&self) {
        self.inner.standing.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.id);
    }
}
