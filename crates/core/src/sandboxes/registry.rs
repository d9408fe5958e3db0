//! The sandboxes that outlive a command: how many, whose, how long. They end in time, when somebody removes them, and with
//! the core; nothing of one is left then.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use bailiwick_audit::rfc3339;
use bailiwick_sandbox::{Backends, Sandbox, SandboxError, Snapshot};
use bailiwick_types::{ErrorCode, KeyId, SandboxId, Scope, Scopes, SnapshotId, shortened};
use tokio::sync::Notify;
use tokio::task::JoinSet;

use super::background::Execs;
use super::holder::Holder;
use super::review::Overlaid;
use super::told;
use super::view::{ExposedPort, SnapshotLine};
use crate::core::Inner;
use crate::{Caller, Core, Presence, Refusal};

/// How long nobody looks again where nothing ends in time.
const LOOK_AGAIN: Duration = Duration::from_hours(1);
/// The most snapshots that are kept.
const MOST_SNAPSHOTS: usize = 256;

/// What is kept.
pub(crate) struct Sandboxes {
    pub(crate) backends: Backends,
    presence: Presence,
    most: usize,
    kept: Mutex<Kept>,
    /// Something that ends in time may have changed.
    changed: Arc<Notify>,
    is_swept: AtomicBool,
    /// Commands that run while nobody waits for them, in all sandboxes.
    pub(crate) unattended: Arc<AtomicUsize>,
}

#[derive(Default)]
struct Kept {
    by_id: BTreeMap<SandboxId, Arc<One>>,
    snapshots: BTreeMap<SnapshotId, (SnapshotLine, Option<KeyId>)>,
    /// Sandboxes that are being made.
    making: Vec<Making>,
    is_closed: bool,
}

/// A sandbox that is being made.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Making {
    /// The name that it will have.
    name: Option<String>,
    /// The key of whoever makes it.
    key: Option<KeyId>,
    /// The agent whose it will be, where a native tool makes it.
    holder: Option<Holder>,
}

/// A sandbox that is kept.
pub(crate) struct One {
    pub(crate) sandbox: Arc<dyn Sandbox>,
    pub(crate) name: Option<String>,
    /// The key of whoever made it.
    pub(crate) key: Option<KeyId>,
    pub(crate) by: String,
    pub(crate) created_ms: u64,
    /// What it sees of the host's as if it could change it.
    pub(crate) overlaid: Vec<Overlaid>,
    /// The agent whose it is, where a native tool made it.
    pub(crate) holder: Option<Holder>,
    /// Commands that run in it while nobody waits for them.
    pub(crate) execs: Execs,
    /// Whether a Python keeps variables in it; held while that runs something.
    pub(crate) has_python: tokio::sync::Mutex<bool>,
    /// The ports inside that were exposed, and where.
    exposed: Mutex<BTreeMap<u16, u16>>,
    use_: Mutex<Use>,
}

/// How a sandbox is used.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Use {
    /// When it was used last.
    pub(crate) at_ms: u64,
    pub(crate) running: u32,
    pub(crate) is_asleep: bool,
}

/// Somebody uses a sandbox: it does not end for want of use meanwhile.
pub(crate) struct Using {
    pub(crate) one: Arc<One>,
    /// Not held: what runs on while nobody waits is in nobody's way.
    core: Weak<Inner>,
}

/// Room for one more sandbox.
pub(crate) struct Place<'a> {
    sandboxes: &'a Sandboxes,
    making: Making,
}

impl One {
    pub(crate) fn use_now(&self) -> Use {
        *self.use_.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self, change: impl FnOnce(&mut Use)) {
        change(&mut self.use_.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// It was put to sleep, or woken.
    pub(crate) fn sleeps(&self, is_asleep: bool) {
        self.change(|use_| use_.is_asleep = is_asleep);
    }

    /// A port inside is exposed at a port of the host.
    pub(crate) fn exposes(&self, port: u16, host_port: u16) {
        self.exposed.lock().unwrap_or_else(PoisonError::into_inner).insert(port, host_port);
    }

    /// The ports that are exposed, by the port inside. One that has ended exposes none.
    pub(crate) fn exposed(&self) -> Vec<ExposedPort> {
        let exposed = self.exposed.lock().unwrap_or_else(PoisonError::into_inner);
        let all = exposed.iter().filter(|_| self.sandbox.is_alive());
        all.map(|(port, host_port)| ExposedPort { port: *port, host_port: *host_port }).collect()
    }

    /// How long it still lives; none when its time is over.
    fn remaining(&self, now: u64) -> Option<Duration> {
        let (use_, ttl) = (self.use_now(), self.sandbox.spec().ttl);
        let left =
            |since: u64, time: Duration| time.checked_sub(Duration::from_millis(now.saturating_sub(since)));
        let absolute = left(self.created_ms, ttl.absolute).filter(|left| !left.is_zero())?;
        if use_.running > 0 {
            return Some(absolute);
        }
        left(use_.at_ms, ttl.idle).filter(|left| !left.is_zero()).map(|idle| idle.min(absolute))
    }

    /// Whether this caller may know of it: whoever made it, and the operator.
    fn is_visible_to(&self, caller: &Caller) -> bool {
        is_visible(self.key, caller.key, caller.scopes)
    }
}

/// Whether somebody with this key and these scopes may know of what was made with that key.
pub(crate) fn is_visible(made_with: Option<KeyId>, key: Option<KeyId>, scopes: Scopes) -> bool {
    scopes.covers(Scope::Operate) || (made_with.is_some() && made_with == key)
}

impl Drop for Using {
    fn drop(&mut self) {
        let core = self.core.upgrade().map(|inner| Core { inner });
        let now = core.as_ref().map(Core::now_ms);
        self.one.change(|use_| {
            use_.running = use_.running.saturating_sub(1);
            use_.at_ms = now.unwrap_or(use_.at_ms);
        });
        if let Some(core) = core {
            core.inner.sandboxes.changed.notify_one();
        }
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.sandboxes.change(|kept| {
            let own = kept.making.iter().position(|making| *making == self.making);
            own.map(|own| kept.making.swap_remove(own));
        });
    }
}

/// How many sandboxes a server may keep by the descriptors that it may open: each has some sixteen of them, and a quarter of
/// all is for sandboxes.
fn by_descriptors() -> u64 {
    (bailiwick_sys::capacity::descriptors() / 64).max(1)
}

impl Sandboxes {
    pub(crate) fn new(backends: Backends, presence: Presence, most: u32) -> Self {
        Self {
            backends,
            presence,
            most: usize::try_from(u64::from(most).min(by_descriptors())).unwrap_or(usize::MAX),
            kept: Mutex::default(),
            changed: Arc::default(),
            is_swept: AtomicBool::new(false),
            unattended: Arc::default(),
        }
    }

    fn change<T>(&self, change: impl FnOnce(&mut Kept) -> T) -> T {
        change(&mut self.kept.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Room for one more, if this process stays and there is any.
    pub(crate) fn place(&self, caller: &Caller, name: Option<&str>) -> Result<Place<'_>, Refusal> {
        self.place_of(caller, name, None)
    }

    /// The same for an agent, who keeps only so many.
    pub(crate) fn place_of(
        &self,
        caller: &Caller,
        name: Option<&str>,
        agent: Option<(&Holder, u32)>,
    ) -> Result<Place<'_>, Refusal> {
        if self.presence == Presence::Brief {
            let message = "a sandbox that outlives the command needs a process that stays, and none does";
            return Err(Refusal::new(ErrorCode::Unavailable, message)
                .with_hint("start one: bailiwick serve; or run one command: bailiwick exec -- COMMAND"));
        }
        self.change(|kept| {
            if kept.is_closed {
                return Err(Refusal::new(ErrorCode::Unavailable, "the data folder is being closed"));
            }
            if kept.by_id.len() + kept.making.len() >= self.most {
                let message = format!("{} sandboxes are kept, and not more at once", self.most);
                return Err(Refusal::new(ErrorCode::Busy, message).with_hint(
                    "remove one: bailiwick sandbox rm; the operator's key is sandbox.most, and never more than a 64th of the \
                     descriptors that the server may open (ulimit -n)",
                ));
            }
            // What others call their sandboxes is none of this caller's business.
            let theirs = |one: &Option<String>, key| {
                one.as_deref() == name && is_visible(key, caller.key, caller.scopes)
            };
            if let Some(name) = name
                && (kept.by_id.values().any(|one| theirs(&one.name, one.key))
                    || kept.making.iter().any(|making| theirs(&making.name, making.key)))
            {
                let message = format!("there is a sandbox `{name}` already");
                return Err(Refusal::new(ErrorCode::Conflict, message).with_hint("choose another name"));
            }
            let holder = agent.map(|(holder, _)| holder.clone());
            if let Some((_, most)) = agent {
                let theirs = kept.by_id.values().filter(|one| one.holder == holder).count()
                    + kept.making.iter().filter(|making| making.holder == holder).count();
                if theirs >= usize::try_from(most).unwrap_or(usize::MAX) {
                    let message =
                        format!("{theirs} sandboxes are kept for this caller, and not more at once");
                    return Err(Refusal::new(ErrorCode::Busy, message)
                        .with_hint("close one with sandbox_close; the operator's key is mcp.sandbox.most"));
                }
            }
            let making = Making { name: name.map(str::to_owned), key: caller.key, holder };
            kept.making.push(making.clone());
            Ok(Place { sandboxes: self, making })
        })
    }

    /// The sandbox of an agent, by its whole id: nobody finds one by guessing at its beginning.
    pub(crate) fn find_held(&self, holder: &Holder, text: &str) -> Result<Arc<One>, Refusal> {
        let found = SandboxId::parse(text)
            .ok()
            .and_then(|id| self.change(|kept| kept.by_id.get(&id).cloned()))
            .filter(|one| one.holder.as_ref() == Some(holder));
        found.ok_or_else(|| {
            let message = format!("there is no sandbox `{}`", shortened(text));
            Refusal::new(ErrorCode::NotFound, message)
                .with_hint("it was closed, its time was over, or it is not yours; sandbox_create makes one")
        })
    }

    /// The sandboxes that this caller may know of, the oldest first.
    pub(crate) fn all(&self, caller: &Caller) -> Vec<Arc<One>> {
        let mut all: Vec<Arc<One>> = self
            .change(|kept| kept.by_id.values().filter(|one| one.is_visible_to(caller)).cloned().collect());
        all.sort_by_key(|one| one.created_ms);
        all
    }

    /// One by its id, its name or the beginning of its id, in this order: nobody takes an id by calling theirs so. The operator sees
    /// the sandboxes of all, and several may have one name: then theirs is meant, or none.
    pub(crate) fn find(&self, caller: &Caller, text: &str) -> Result<Arc<One>, Refusal> {
        let all = self.all(caller);
        if let Ok(id) = SandboxId::parse(text)
            && let Some(exact) = all.iter().find(|one| one.sandbox.id() == id)
        {
            return Ok(exact.clone());
        }
        let named: Vec<&Arc<One>> = all.iter().filter(|one| one.name.as_deref() == Some(text)).collect();
        let own: Vec<&Arc<One>> = named.iter().copied().filter(|one| one.key == caller.key).collect();
        match (named.as_slice(), own.as_slice()) {
            ([], _) => {}
            ([one], _) | (_, [one]) => return Ok((*one).clone()),
            _ => {
                let message =
                    format!("{} sandboxes of different keys are called `{}`", named.len(), shortened(text));
                return Err(Refusal::new(ErrorCode::Conflict, message).with_hint("write its id"));
            }
        }
        let found = by_beginning(&all, text, |one| one.sandbox.id().to_string());
        found.map(|one| (*one).clone()).map_err(|ambiguous| not_one("sandbox", text, ambiguous))
    }

    /// The snapshots that this caller may know of.
    pub(crate) fn snapshots(&self, caller: &Caller) -> Vec<SnapshotLine> {
        self.change(|kept| {
            let visible =
                kept.snapshots.values().filter(|(_, key)| is_visible(*key, caller.key, caller.scopes));
            visible.map(|(line, _)| line.clone()).collect()
        })
    }

    /// A snapshot by its id or the beginning of it.
    pub(crate) fn snapshot(&self, caller: &Caller, text: &str) -> Result<Snapshot, Refusal> {
        let all = self.snapshots(caller);
        let found = by_beginning(&all, text, |line| line.snapshot.id.to_string());
        found.map(|line| line.snapshot.clone()).map_err(|ambiguous| not_one("snapshot", text, ambiguous))
    }

    /// Whether there is room for another snapshot.
    pub(crate) fn has_room_for_snapshot(&self) -> Result<(), Refusal> {
        if self.change(|kept| kept.snapshots.len()) < MOST_SNAPSHOTS {
            return Ok(());
        }
        Err(Refusal::new(ErrorCode::Busy, format!("{MOST_SNAPSHOTS} snapshots are kept, and not more"))
            .with_hint("forget one: bailiwick sandbox snapshot --forget ID"))
    }

    pub(crate) fn keep_snapshot(&self, line: SnapshotLine, key: Option<KeyId>) {
        self.change(|kept| kept.snapshots.insert(line.snapshot.id, (line, key)));
    }

    /// Forgets a snapshot.
    pub(crate) async fn forget(&self, snapshot: &Snapshot) -> Result<(), Refusal> {
        if let Some(backend) = self.backends.by_id(&snapshot.backend) {
            backend.forget(snapshot).await?;
        }
        self.change(|kept| kept.snapshots.remove(&snapshot.id));
        Ok(())
    }

    /// Takes a sandbox out, and ends it.
    pub(crate) async fn remove(&self, id: SandboxId) -> Result<(), SandboxError> {
        let (one, left) = self.change(|kept| (kept.by_id.remove(&id), kept.by_id.len()));
        told::kept(left);
        match one {
            Some(one) => one.sandbox.terminate().await,
            None => Ok(()),
        }
    }

    /// Time has gone by in some other way than by waiting.
    pub(crate) fn time_has_gone(&self) {
        self.changed.notify_one();
    }

    /// Ends everything, at the end of the core.
    pub(crate) async fn close(&self) {
        let (all, snapshots) = self.change(|kept| {
            kept.is_closed = true;
            told::kept(0);
            (std::mem::take(&mut kept.by_id), std::mem::take(&mut kept.snapshots))
        });
        let mut ending = JoinSet::new();
        for one in all.into_values() {
            ending.spawn(async move { one.sandbox.terminate().await });
        }
        while let Some(ended) = ending.join_next().await {
            if let Ok(Err(error)) = ended {
                tracing::warn!(%error, "a sandbox did not end as it should");
            }
        }
        // Nobody could find them after this process.
        for (line, _) in snapshots.into_values() {
            if let Some(backend) = self.backends.by_id(&line.snapshot.backend)
                && let Err(error) = backend.forget(&line.snapshot).await
            {
                tracing::warn!(%error, "a snapshot could not be forgotten");
            }
        }
        for backend in self.backends.all() {
            backend.close().await;
        }
    }
}

/// The one of these whose id begins so; else how many there are.
fn by_beginning<'a, T>(all: &'a [T], text: &str, id: impl Fn(&T) -> String) -> Result<&'a T, usize> {
    let text = text.to_ascii_lowercase();
    let mut found = all.iter().filter(|one| !text.is_empty() && id(one).starts_with(&text));
    match (found.next(), found.count()) {
        (Some(one), 0) => Ok(one),
        (None, _) => Err(0),
        (Some(_), more) => Err(more + 1),
    }
}

fn not_one(kind: &str, text: &str, ambiguous: usize) -> Refusal {
    let shown = shortened(text);
    if ambiguous == 0 {
        return Refusal::new(ErrorCode::NotFound, format!("there is no {kind} `{shown}`"))
            .with_hint("bailiwick sandbox ls lists them");
    }
    Refusal::new(ErrorCode::Conflict, format!("`{shown}` is the beginning of {ambiguous} ids"))
        .with_hint("write more of it")
}

impl Core {
    /// Keeps a sandbox that was made.
    pub(crate) fn keep(
        &self,
        sandbox: Arc<dyn Sandbox>,
        name: Option<String>,
        caller: &Caller,
        overlaid: Vec<Overlaid>,
    ) -> Arc<One> {
        self.keep_for(sandbox, name, caller, overlaid, None)
    }

    /// Keeps one that an agent's tool made.
    pub(crate) fn keep_for(
        &self,
        sandbox: Arc<dyn Sandbox>,
        name: Option<String>,
        caller: &Caller,
        overlaid: Vec<Overlaid>,
        holder: Option<Holder>,
    ) -> Arc<One> {
        let now = self.now_ms();
        let one = Arc::new(One {
            sandbox,
            name,
            key: caller.key,
            by: caller.actor.key.clone().unwrap_or_else(|| caller.actor.client.clone()),
            created_ms: now,
            overlaid,
            holder,
            execs: Execs::default(),
            has_python: tokio::sync::Mutex::default(),
            exposed: Mutex::default(),
            use_: Mutex::new(Use { at_ms: now, running: 0, is_asleep: false }),
        });
        let sandboxes = &self.inner.sandboxes;
        let count = sandboxes.change(|kept| {
            kept.by_id.insert(one.sandbox.id(), one.clone());
            kept.by_id.len()
        });
        told::kept(count);
        self.tell_sandbox("sandbox.create", &one, 0, None);
        self.sweep();
        sandboxes.changed.notify_one();
        one
    }

    /// Somebody uses a sandbox.
    pub(crate) fn use_of(&self, one: Arc<One>) -> Using {
        let now = self.now_ms();
        one.change(|use_| {
            use_.running += 1;
            use_.at_ms = now;
            use_.is_asleep = false;
        });
        Using { one, core: Arc::downgrade(&self.inner) }
    }

    /// A snapshot as it is listed.
    pub(crate) fn snapshot_line(&self, snapshot: Snapshot, of: SandboxId) -> SnapshotLine {
        SnapshotLine { snapshot, of, created_at: rfc3339(self.now_ms()) }
    }

    /// Ends sandboxes whose time is over, from the first one on.
    fn sweep(&self) {
        if self.inner.sandboxes.is_swept.swap(true, Ordering::SeqCst) {
            return;
        }
        let (core, closing) = (Arc::downgrade(&self.inner), self.inner.closing.clone());
        let changed = self.inner.sandboxes.changed.clone();
        self.inner.late.spawn(async move {
            loop {
                // It holds no core while it waits, so that one that nobody closes goes all the same.
                let Some(inner) = core.upgrade() else { return };
                let next = Self { inner }.end_expired().await.unwrap_or(LOOK_AGAIN);
                tokio::select! {
                    () = closing.cancelled() => return,
                    () = changed.notified() => {}
                    () = tokio::time::sleep(next) => {}
                }
            }
        });
    }

    /// Ends what is over; gives how long until the next is.
    async fn end_expired(&self) -> Option<Duration> {
        let (sandboxes, now) = (&self.inner.sandboxes, self.now_ms());
        let all: Vec<Arc<One>> = sandboxes.change(|kept| kept.by_id.values().cloned().collect());
        let mut next: Option<Duration> = None;
        for one in all {
            match one.remaining(now).filter(|_| one.sandbox.is_alive()) {
                Some(left) => next = Some(next.map_or(left, |next| next.min(left))),
                None => self.expire(&one).await,
            }
        }
        next
    }

    async fn expire(&self, one: &One) {
        let id = one.sandbox.id();
        let why = if one.sandbox.is_alive() { "its time to live is over" } else { "it had ended" };
        let ended = self.inner.sandboxes.remove(id).await;
        self.tell_sandbox("sandbox.expire", one, 0, None);
        let outcome = serde_json::json!({
            "ok": ended.is_ok(), "sandboxId": id, "why": why, "message": ended.err().map(|error| error.to_string()),
        });
        let actor = crate::Actor { key: None, client: "bailiwick".to_owned() };
        let entry = crate::journal::told(crate::journal::change(&actor, "sandbox.expire", None), outcome);
        if let Err(error) = self.append(entry, bailiwick_store::Durability::Process).await {
            tracing::warn!(%error, "the end of a sandbox is not on the record");
        }
    }
}
