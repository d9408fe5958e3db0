//! The backend itself: which server is asked, what a look at it found, and what of it still stands.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

use bailiwick_core::{Action, Refusal};
use bailiwick_sandbox::{
    Available, Backend, Demand, Doing, Location, Probe, Sandbox, SandboxError, SandboxSpec, Snapshot,
};
use bailiwick_types::{ErrorCode, SandboxId, Tier};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::ID;
use crate::door::Door;
use crate::fault::fault;
use crate::look::{Seen, look};
use crate::place::{Place, make};
use crate::sandbox::RemoteSandbox;
use crate::wish::{can_cross, is_held_there};

/// How long whoever asks waits for a look; it goes on without them.
const WAITS: Duration = Duration::from_secs(9);
/// For how long a server that was seen to work is believed to.
const WORKS: Duration = Duration::from_mins(1);
/// For how long one that was not is left alone.
const FAILS: Duration = Duration::from_secs(5);
/// How long one small request may take.
const SMALL: Duration = Duration::from_secs(30);
/// How long everything that still stands may take to end.
const CLOSES: Duration = Duration::from_secs(20);
/// How long what a look has made may take to end. It lives for two minutes at most.
const LOOKS_CLOSE: Duration = Duration::from_secs(2);

/// Who finds the server and its key when they are needed.
pub type Finds = Arc<dyn Fn() -> Result<Door, Refusal> + Send + Sync>;

/// What the backend is told.
#[derive(Clone)]
pub struct Options {
    /// Finds the server: asked again when a look is, so that a key that was changed is taken up.
    pub finds: Finds,
    /// The backend that is asked for there; without, the server's own choice.
    pub backend: Option<String>,
    /// Walls that may be partial, because the operator said so.
    pub accept: Vec<Demand>,
    /// Settings of this machine that say more about networks than a spec does. Where there are any, no other server knows them, and
    /// nothing with a network is asked of one.
    pub rules_here: Vec<&'static str>,
}

impl std::fmt::Debug for Options {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { finds: _, backend, accept, rules_here } = self;
        let mut told = f.debug_struct("Options");
        told.field("backend", backend).field("accept", accept).field("rules_here", rules_here);
        told.finish_non_exhaustive()
    }
}

impl Options {
    /// With whoever finds the server.
    pub fn new(finds: impl Fn() -> Result<Door, Refusal> + Send + Sync + 'static) -> Self {
        Self { finds: Arc::new(finds), backend: None, accept: Vec::new(), rules_here: Vec::new() }
    }
}

/// The backend `remote`.
#[derive(Debug, Clone)]
pub struct RemoteBackend {
    inner: Arc<Inner>,
}

#[derive(Debug)]
pub(crate) struct Inner {
    pub(crate) options: Options,
    looked: tokio::sync::Mutex<Option<Looked>>,
    /// How strong the server said it is, when it was last asked.
    said: Mutex<Option<Tier>>,
    /// What stands there for us.
    pub(crate) standing: Mutex<BTreeMap<SandboxId, Weak<Place>>>,
    /// What goes on without anybody who waits: commands, ends.
    pub(crate) going_on: TaskTracker,
    /// Looks, and the end of what they made.
    pub(crate) looks: TaskTracker,
    /// Says that nobody needs the looks that are under way.
    unneeded: Mutex<CancellationToken>,
}

/// What a look found, and when.
#[derive(Debug)]
struct Looked {
    probe: Probe,
    seen: Option<Seen>,
    at: Instant,
}

impl Looked {
    fn holds(&self) -> bool {
        self.at.elapsed() < if self.seen.is_some() { WORKS } else { FAILS }
    }
}

impl RemoteBackend {
    /// A backend. Nothing is asked before it is needed.
    pub fn new(options: Options) -> Self {
        let inner = Inner {
            options,
            looked: tokio::sync::Mutex::new(None),
            said: Mutex::new(None),
            standing: Mutex::new(BTreeMap::new()),
            going_on: TaskTracker::new(),
            looks: TaskTracker::new(),
            unneeded: Mutex::default(),
        };
        Self { inner: Arc::new(inner) }
    }

    /// What a look found, as it is remembered or made now. It is not waited for longer than a caller would.
    async fn looked(&self) -> Result<(Probe, Option<Seen>), SandboxError> {
        let inner = self.inner.clone();
        let unneeded = self.inner.unneeded.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let looks = async move {
            let mut looked = inner.looked.lock().await;
            if let Some(known) = looked.as_ref().filter(|known| known.holds()) {
                return (known.probe.clone(), known.seen.clone());
            }
            let (probe, seen) = look(&inner).await;
            *inner.said.lock().unwrap_or_else(PoisonError::into_inner) = seen.as_ref().map(|seen| seen.tier);
            *looked = Some(Looked { probe: probe.clone(), seen: seen.clone(), at: Instant::now() });
            (probe, seen)
        };
        // Where it is dropped in the middle, what it has asked for is ended by whoever asked.
        let looking = self.inner.looks.spawn(unneeded.run_until_cancelled_owned(Box::pin(looks)));
        let late = || SandboxError::Unavailable {
            backend: ID.to_owned(),
            reason: format!("the server did not make a sandbox within {} seconds", WAITS.as_secs()),
            fix: Some("ask again: the look goes on, and what it finds is remembered".to_owned()),
        };
        match tokio::time::timeout(WAITS, looking).await {
            Ok(Ok(Some(looked))) => Ok(looked),
            Ok(Ok(None)) => Err(SandboxError::Unavailable {
                backend: ID.to_owned(),
                reason: "it was closed while it looked".to_owned(),
                fix: None,
            }),
            Ok(Err(_)) => Err(SandboxError::Failed {
                step: "look at the server".to_owned(),
                reason: "it failed by a mistake of ours".to_owned(),
            }),
            Err(_) => Err(late()),
        }
    }

    /// The server, if it works.
    async fn seen(&self) -> Result<Seen, SandboxError> {
        match self.looked().await? {
            (_, Some(seen)) => Ok(seen),
            (Probe { availability: Available::No { reason, fix }, .. }, None) => {
                Err(SandboxError::Unavailable { backend: ID.to_owned(), reason, fix })
            }
            (_, None) => Err(SandboxError::Unavailable {
                backend: ID.to_owned(),
                reason: "it was not seen to work".to_owned(),
                fix: None,
            }),
        }
    }

    /// Looks again next time: what was found does not hold any more.
    async fn forgets(&self) {
        *self.inner.looked.lock().await = None;
    }
}

impl Backend for RemoteBackend {
    fn id(&self) -> &str {
        ID
    }

    fn tier(&self) -> Tier {
        self.inner.said.lock().unwrap_or_else(PoisonError::into_inner).unwrap_or(Tier::Process)
    }

    fn may_be(&self) -> Tier {
        self.inner.said.lock().unwrap_or_else(PoisonError::into_inner).unwrap_or(Tier::MicroVm)
    }

    fn location(&self) -> Location {
        Location::Remote
    }

    fn priority(&self) -> u32 {
        // Whoever does not ask for another machine stays on this one if they can.
        1
    }

    fn probe(&self) -> Doing<'_, Probe> {
        Box::pin(async {
            self.looked().await.map_or_else(
                |error| Probe {
                    availability: Available::No { reason: error.to_string(), fix: error.hint() },
                    enforces: Vec::new(),
                    found: Vec::new(),
                },
                |(probe, _)| probe,
            )
        })
    }

    fn can_run(&self, spec: &SandboxSpec) -> Result<(), SandboxError> {
        can_cross(spec)?;
        is_held_there(spec, &self.inner.options.rules_here)
    }

    fn advice(&self, _: Demand) -> Option<String> {
        Some("it is that server's to hold: bailiwick doctor --fix there says what would give it".to_owned())
    }

    fn create(&self, spec: SandboxSpec) -> Doing<'_, Result<Box<dyn Sandbox>, SandboxError>> {
        Box::pin(async move {
            spec.check()?;
            self.can_run(&spec)?;
            let seen = self.seen().await?;
            let made = make(&self.inner, &self.inner.going_on, &seen, spec).await;
            if matches!(
                made,
                Err(SandboxError::Unavailable { .. }
                    | SandboxError::Unenforceable { .. }
                    | SandboxError::NoBackend { .. })
            ) {
                self.forgets().await;
            }
            Ok(Box::new(RemoteSandbox::new(made?)) as Box<dyn Sandbox>)
        })
    }

    fn forget<'a>(&'a self, snapshot: &'a Snapshot) -> Doing<'a, Result<(), SandboxError>> {
        Box::pin(async move {
            let Seen { door, .. } = self.seen().await?;
            let action = Action::SnapshotForget { snapshot: snapshot.id.to_string() };
            match door.ask(action, SMALL).await {
                Ok(_) => Ok(()),
                Err(refusal) if refusal.code == ErrorCode::NotFound => Ok(()),
                Err(refusal) => Err(fault(&door, &refusal)),
            }
        })
    }

    fn close(&self) -> Doing<'_, ()> {
        Box::pin(async {
            std::mem::take(&mut *self.inner.unneeded.lock().unwrap_or_else(PoisonError::into_inner)).cancel();
            let standing: Vec<Arc<Place>> = {
                let mut standing = self.inner.standing.lock().unwrap_or_else(PoisonError::into_inner);
                std::mem::take(&mut *standing).into_values().filter_map(|place| place.upgrade()).collect()
            };
            for place in &standing {
                place.ends_without_anybody();
            }
            drop(standing);
            let closing = Instant::now();
            for (tracker, within) in [(&self.inner.going_on, CLOSES), (&self.inner.looks, LOOKS_CLOSE)] {
                tracker.close();
                let left = within.saturating_sub(closing.elapsed());
                if tokio::time::timeout(left, tracker.wait()).await.is_err() {
                    tracing::warn!(
                        "the server did not end everything in time; what is left there ends with its time to live"
                    );
                }
                tracker.reopen();
            }
        })
    }
}
