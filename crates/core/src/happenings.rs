//! What happens, told to whoever watches: questions, tools, keys that go, sandboxes, records.
//!
//! Telling never waits: whoever is too slow misses some, and is told how many. It must never tell a watcher what their
//! credentials do not cover, nor go on telling somebody whose key is gone.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bailiwick_audit::record_line;
use bailiwick_store::{Hears, StoredRecord, ToolRow};
use bailiwick_types::{ErrorCode, KeyId, Scope};
use tokio::sync::broadcast::{self, Receiver, Sender, error::RecvError};

use crate::catalogue::{is_offered, line_of};
use crate::{Caller, Core, Event, Happening, Refusal, Reply, ToolChange};

/// How many happenings wait for whoever is slow.
const WAITING: usize = 1024;

/// Where happenings are told. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Happenings {
    told: Sender<Arc<Happening>>,
    /// How many watch who may answer for others.
    approvers: Arc<AtomicUsize>,
}

impl Default for Happenings {
    fn default() -> Self {
        Self { told: broadcast::channel(WAITING).0, approvers: Arc::default() }
    }
}

impl Happenings {
    pub(crate) fn tell(&self, happening: Happening) {
        // Nobody has to watch.
        let _ = self.told.send(Arc::new(happening));
    }

    /// Whether anybody watches.
    pub(crate) fn are_watched(&self) -> bool {
        self.told.receiver_count() > 0
    }

    /// Whether somebody watches who may answer for others.
    pub(crate) fn approver_watches(&self) -> bool {
        self.approvers.load(Ordering::Relaxed) > 0
    }
}

/// Records are told by the thread that wrote them, so that each is, in order, whoever asked for it.
impl Hears for Happenings {
    fn is_listening(&self) -> bool {
        self.are_watched()
    }

    fn hear(&self, records: Vec<StoredRecord>) {
        for record in records {
            // What was just written as JSON is JSON.
            if let Ok(value) = serde_json::from_str(&record_line(&record.body, &record.hash)) {
                self.tell(Happening::Record(value));
            }
        }
    }
}

impl Core {
    /// Tells whoever watches.
    pub(crate) fn tell(&self, happening: Happening) {
        self.inner.happenings.tell(happening);
    }

    /// How many watch.
    pub fn watchers(&self) -> usize {
        self.inner.happenings.told.receiver_count()
    }

    /// Everything that happens from here on. What a watcher may be told is for whoever asks this to see to:
    /// [`Happening::is_for`].
    pub fn watch(&self) -> Receiver<Arc<Happening>> {
        self.inner.happenings.told.subscribe()
    }
}

impl Core {
    /// Tells of a change of a tool; `now` is its row afterwards.
    pub(crate) fn tell_tool(
        &self,
        action: &str,
        name: &str,
        published_as: Option<String>,
        now: Option<&ToolRow>,
    ) {
        // What a line takes is not worth it for nobody.
        if !self.inner.happenings.are_watched() {
            return;
        }
        let tool = now.map(|row| line_of(self, row));
        self.tell(Happening::Tool(ToolChange {
            action: action.to_owned(),
            name: name.to_owned(),
            is_published: tool.as_ref().is_some_and(is_offered),
            tool,
            was_published: published_as.is_some(),
            published_as,
        }));
    }

    /// The name by which a row, as it was, could be called.
    pub(crate) fn was_offered(&self, row: Option<&ToolRow>) -> Option<String> {
        let row = row.filter(|_| self.inner.happenings.are_watched())?;
        is_offered(&line_of(self, row)).then(|| row.name.clone())
    }
}

/// Somebody who watches and may answer, for as long as they do.
struct Attends(Arc<AtomicUsize>);

impl Attends {
    fn by(caller: &Caller, happenings: &Happenings) -> Option<Self> {
        caller.scopes.covers(Scope::Approve).then(|| {
            happenings.approvers.fetch_add(1, Ordering::Relaxed);
            Self(Arc::clone(&happenings.approvers))
        })
    }
}

impl Drop for Attends {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// What a caller may know of a happening: of a tool that is no longer published only that, by the name it had.
fn as_far_as(caller: &Caller, happening: Happening) -> Happening {
    match happening {
        Happening::Tool(change) if !change.is_published && !caller.scopes.covers(Scope::Author) => {
            let name = change.published_as.clone().unwrap_or_default();
            Happening::Tool(ToolChange { tool: None, name, ..change })
        }
        other => other,
    }
}

/// Tells a caller what happens, until their key goes or the core closes.
pub(crate) async fn attend(core: &Core, caller: &Caller) -> Result<Reply, Refusal> {
    let mut told = core.watch();
    let _attends = Attends::by(caller, &core.inner.happenings);
    // It may have gone before this watched.
    core.still_holds(caller)?;
    loop {
        let happening = tokio::select! {
            biased;
            () = core.inner.closing.cancelled() => return Ok(Reply::Done),
            happening = told.recv() => happening,
        };
        match happening {
            Ok(happening) => {
                if let Happening::KeyGone(line) = &*happening
                    && caller.key == Some(line.id)
                {
                    return Err(gone());
                }
                if happening.is_for(caller.scopes, caller.key) {
                    let happening = as_far_as(caller, (*happening).clone());
                    caller.listener.hear(Event::Happened(Box::new(happening)));
                }
            }
            Err(RecvError::Lagged(missed)) => {
                core.still_holds(caller)?;
                caller.listener.hear(Event::Happened(Box::new(Happening::Missed(missed))));
            }
            Err(RecvError::Closed) => return Ok(Reply::Done),
        }
    }
}

impl Core {
    /// Refuses whoever asked by a key that was revoked or has expired since.
    pub(crate) fn still_holds(&self, caller: &Caller) -> Result<(), Refusal> {
        let holds = |id: KeyId| self.inner.keys.is_live(id, self.now_ms());
        if caller.key.is_none_or(holds) { Ok(()) } else { Err(gone()) }
    }
}

fn gone() -> Refusal {
    Refusal::new(ErrorCode::Unauthorized, "the key that this was asked by does not hold any more")
        .with_hint("ask the operator for a new key")
}
